package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures/experiments"
)

// readmeTour is the block of the README that shows the tour.
func readmeTour(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```console\n")
	tour, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("the README has no console block")
	}
	return tour
}

// The README shows the commands of the tour, as the demo does, and exactly the output
// that TestExperiments requires of it.
func TestReadmeTour(t *testing.T) {
	tour, _ := experiments.Find(experiments.Tour)
	var commands, output strings.Builder
	for line := range strings.Lines(readmeTour(t)) {
		if strings.HasPrefix(line, "$ ") {
			commands.WriteString(line)
		} else {
			output.WriteString(line)
		}
	}
	if diff := cmp.Diff(tour.Out, output.String()); diff != "" {
		t.Errorf("output (-00-tour.out +README.md):\n%s", diff)
	}
	if diff := cmp.Diff(shownCommands(t, tour.Script), commands.String()); diff != "" {
		t.Errorf("commands (-00-tour.sh +README.md):\n%s", diff)
	}
}

func shownCommands(t *testing.T, script string) string {
	t.Helper()
	all, err := splitCommands(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, c := range all {
		if isShown(c) {
			shown.WriteString("$ " + c)
		}
	}
	return shown.String()
}

// The README's table of exit codes has every code.
func TestReadmeExitCodes(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range exitNames {
		if x.code < exitCrash && !strings.Contains(string(readme), "\n| "+string(rune('0'+x.code))+" | ") {
			t.Errorf("the README does not explain exit code %d", x.code)
		}
	}
}
