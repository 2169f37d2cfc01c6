package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures/experiments"
)

// TestExperiments runs the experiments under sh, each twice: nothing may stay behind
// from the first run.
func TestExperiments(t *testing.T) {
	for _, e := range experiments.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runExperiment(t, e, dir)
			runExperiment(t, e, dir)
		})
	}
}

func runExperiment(t *testing.T, e experiments.Experiment, dir string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	sh := exec.CommandContext(t.Context(), "sh", "-c", e.Script)
	sh.Dir, sh.Stdout, sh.Stderr = dir, &stdout, &stderr
	sh.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	if err := sh.Run(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if diff := cmp.Diff(e.Out, stdout.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s\n%s", diff, stderr.String())
	}
	for _, piece := range e.Stderr {
		if !strings.Contains(stderr.String(), piece) {
			t.Errorf("stderr lacks %q:\n%s", piece, stderr.String())
		}
	}
}

// TestDemo holds the transcript of the demo to the experiment's output: without the
// commands it shows, it is the same.
func TestDemo(t *testing.T) {
	stdout, stderr, code := run(t, "demo")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	tour, _ := experiments.Find(experiments.Tour)
	var output strings.Builder
	for line := range strings.Lines(stdout) {
		if !strings.HasPrefix(line, "$ ") {
			output.WriteString(line)
		}
	}
	if diff := cmp.Diff(tour.Out, output.String()); diff != "" {
		t.Error(diff)
	}
}

// run runs logdir as a process of its own.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), "logdir", args...)
	c.Stdout, c.Stderr = &out, &errs
	c.Env = append(os.Environ(), "HOME="+t.TempDir())
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}
