package cmd

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the output that scripts see into them")

// TestMain lets the test binary stand in for logdir, in scripts and experiments.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"logdir": func() { os.Exit(Main(os.Args[1:], OS())) },
	})
}

// TestScripts runs testdata/script/*.txtar. Each is a session on a shell, with both
// streams and the exit code checked.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Cmds:                scriptCommands(),
	})
}

// scriptCommands are what scripts can do beside testscript's own commands.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := maps.Clone(byteCommands)
	all["exits"] = exits
	return all
}

// setupScript stops the clock, keeps the user's settings out, and tells where the
// repository is.
func setupScript(env *testscript.Env) error {
	repo, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	env.Setenv("LOGDIR_NOW", "2026-01-01T00:00:00Z")
	env.Setenv("LOGDIR_DATA_DIR", env.Getenv("WORK")+"/data")
	env.Setenv("HOME", env.Getenv("WORK")+"/home")
	env.Setenv("GORACE", os.Getenv("GORACE"))
	return nil
}

// exits runs a command and requires its exit code: "! exec" could not tell 3 from 1.
//
//	exits 3 logdir fetch orders:7
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Check(err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}
