package cmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/fixtures/experiments"
	"logdir/store"
)

// demoOptions are the flags of "logdir demo".
type demoOptions struct{ list, script bool }

func newDemoCmd(env *Env) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo [NAME]",
		Short: "run an experiment and show each command with its output",
		Long: `Run one of the experiments in a temporary directory and show each of its commands with
its output. NAME is a number (6 or 06) or a name (damage-and-repair); without one it is
the sixty-second tour: create, produce, damage, verify, recover, fetch.`,
		Example: `  logdir demo
  logdir demo 06
  logdir demo --script 06 > damage.sh`,
		Args:        cobra.MaximumNArgs(1),
		ValidArgs:   experimentNames(),
		Annotations: about("0 1 2 3", "logdir-experiments(7)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args)
		},
	}
	c.Flags().BoolVar(&o.list, "list", false, "list the experiments")
	c.Flags().BoolVar(&o.script, "script", false, "print the shell script instead of running it")
	return c
}

func experimentNames() []string {
	var names []string
	for _, e := range experiments.All() {
		names = append(names, e.Name)
	}
	return names
}

func (o demoOptions) run(ctx context.Context, env *Env, args []string) error {
	if o.list {
		return env.Print(listExperiments())
	}
	name := experiments.Tour
	if len(args) > 0 {
		name = args[0]
	}
	e, ok := experiments.Find(name)
	if !ok {
		return store.Errorf(store.NotFound, "RESOURCE_NOT_FOUND", "no experiment %q%s",
			name, didYouMean(name, experimentNames())).WithHint("logdir demo --list")
	}
	if o.script {
		_, err := fmt.Fprint(env.Out, e.Script)
		return err
	}
	return perform(ctx, env, e)
}

func listExperiments() render.Report {
	t := render.Table{Columns: []string{"NAME", "TITLE"}}
	for _, e := range experiments.All() {
		t.Rows = append(t.Rows, []any{e.Name, e.Title})
	}
	return t
}

// perform runs an experiment in a folder of its own, with this very program on the
// PATH and none of the user's settings.
func perform(ctx context.Context, env *Env, e experiments.Experiment) error {
	dir, err := os.MkdirTemp("", "logdir-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := linkProgram(dir); err != nil {
		return err
	}
	script, err := annotate(ctx, e.Script)
	if err != nil {
		return err
	}
	shell := exec.CommandContext(ctx, "sh", "-c", script)
	shell.Dir, shell.Env = dir, stageEnviron(env, dir)
	shell.Stdout, shell.Stderr = env.Out, env.Err
	if err := shell.Run(); err != nil {
		return fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	return nil
}

func linkProgram(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(program, filepath.Join(dir, "logdir"))
}

// stageEnviron is the environment without our variables and the user's settings file.
func stageEnviron(env *Env, dir string) []string {
	path, _ := env.Getenv("PATH")
	var kept []string
	for _, entry := range env.Environ() {
		if !strings.HasPrefix(entry, "LOGDIR_") && !strings.HasPrefix(entry, "XDG_CONFIG_HOME=") {
			kept = append(kept, entry)
		}
	}
	return append(kept, "TMPDIR="+dir, "HOME="+dir, "PATH="+dir+string(os.PathListSeparator)+path)
}

// annotate puts before each command of a script one that shows it. What only sets the
// stage or prints a heading is not shown.
func annotate(ctx context.Context, script string) (string, error) {
	commands, err := splitCommands(ctx, script)
	var b strings.Builder
	for _, c := range commands {
		if isShown(c) {
			shown := "$ " + strings.ReplaceAll(strings.TrimSuffix(c, "\n"), "\n", "\n> ")
			fmt.Fprintf(&b, "printf '%%s\\n' %s\n", shellQuote(shown))
		}
		b.WriteString(c)
	}
	return b.String(), err
}

func isShown(command string) bool {
	for _, silent := range []string{"#", "set ", "export ", "echo '--", "\n"} {
		if strings.HasPrefix(command, silent) {
			return false
		}
	}
	return true
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// splitCommands takes a script apart where a command ends: behind the first line with
// which the shell finds it complete.
func splitCommands(ctx context.Context, script string) ([]string, error) {
	var commands []string
	open := ""
	for line := range strings.Lines(script) {
		open += line
		if isComplete(ctx, open) {
			commands, open = append(commands, open), ""
		}
	}
	if open != "" {
		return nil, fmt.Errorf("script ends inside a command: %s", open)
	}
	return commands, nil
}

// isComplete asks the shell about the syntax.
func isComplete(ctx context.Context, command string) bool {
	return exec.CommandContext(ctx, "sh", "-n", "-c", command).Run() == nil
}
