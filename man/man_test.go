// The manual is held to the command tree: every command has a page, every flag and exit
// code its place in it.
package man_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd"
	"logdir/fixtures/experiments"
	"logdir/man"
)

// pageOf is the page of a top-level command; its subcommands share it.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("logdir-" + name + ".1")
	if err != nil {
		t.Errorf("the command %s has no page: %v", name, err)
	}
	return string(page)
}

func TestEveryCommandHasAPage(t *testing.T) {
	root := cmd.NewRoot(&cmd.Env{})
	for _, c := range root.Commands() {
		t.Run(c.Name(), func(t *testing.T) {
			page := pageOf(t, c.Name())
			checkFlags(t, c, page)
			checkExitCodes(t, c, page)
			checkNames(t, c, page)
		})
	}
}

func TestGlobalFlagsAreInLogdir1(t *testing.T) {
	page, _ := man.Page("logdir.1")
	names := flagsInPage(page)
	cmd.NewRoot(&cmd.Env{}).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !names[f.Name] {
			t.Errorf("logdir.1 lacks --%s", f.Name)
		}
	})
}

func TestEveryExperimentIsListed(t *testing.T) {
	page, _ := man.Page("logdir-experiments.7")
	for _, e := range experiments.All() {
		number, name, _ := strings.Cut(e.Name, "-")
		if !strings.Contains(page, "\n.It "+number+" "+name+"\n") {
			t.Errorf("logdir-experiments.7 lacks %s %s: %s", number, name, e.Title)
		}
	}
}

// checkFlags wants every flag of a command and of its subcommands.
func checkFlags(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	names := flagsInPage(page)
	visit(c, func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !names[f.Name] {
				t.Errorf("the page lacks --%s of %s", f.Name, c.CommandPath())
			}
		})
	})
}

// flagsInPage are the long flags of a page: "\-\-name" is written "Fl -name".
func flagsInPage(page string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(page) {
		_, flags, ok := strings.Cut(line, "Fl ")
		for word := range strings.FieldsSeq(flags) {
			if name, long := strings.CutPrefix(word, "-"); ok && long {
				names[strings.TrimRight(name, ",.")] = true
			}
		}
	}
	return names
}

var exitItem = regexp.MustCompile(`(?m)^\.It ([0-9]+)$`)

// checkExitCodes wants exactly the codes that the command can end with.
func checkExitCodes(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	want := map[string]bool{}
	visit(c, func(c *cobra.Command) {
		for code := range strings.FieldsSeq(c.Annotations["exit"]) {
			want[code] = true
		}
	})
	_, section, _ := strings.Cut(page, ".Sh EXIT STATUS\n")
	section, _, _ = strings.Cut(section, "\n.Sh ")
	got := map[string]bool{}
	for _, match := range exitItem.FindAllStringSubmatch(section, -1) {
		got[match[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("exit codes (-command +page):\n%s", diff)
	}
}

// checkNames wants every subcommand and alias named.
func checkNames(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	visit(c, func(c *cobra.Command) {
		for _, name := range append([]string{c.Name()}, c.Aliases...) {
			if !c.Hidden && !strings.Contains(page, name) {
				t.Errorf("the page does not name %s", name)
			}
		}
	})
}

func visit(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, sub := range c.Commands() {
		visit(sub, fn)
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.[157]")
	if err != nil || len(all) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return all
}

var crossReference = regexp.MustCompile(`(?m)Xr (logdir\S*) ([0-9])`)

// later are pages of commands that are still to come.
var later = []string{
	"logdir-check.1", "logdir-diff.1", "logdir-dlq.1", "logdir-export.1", "logdir-group.1",
	"logdir-import.1", "logdir-promote.1", "logdir-replicate.1", "logdir-salvage.1",
	"logdir-broker.1", "logdir-txn.1", "logdir-txns.1", "logdir-simulate.1",
	"logdir-compact.1", "logdir-retention.1", "logdir-delete-records.1",
}

func TestCrossReferences(t *testing.T) {
	for _, page := range pages(t) {
		source, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range crossReference.FindAllStringSubmatch(string(source), -1) {
			target := m[1] + "." + m[2]
			if _, err := os.Stat(target); err != nil && !slices.Contains(later, target) {
				t.Errorf("%s refers to %s, which is not there", page, target)
			}
		}
	}
}

// TestMandoc has the pages checked by mandoc. References are checked above: mandoc
// looks for installed pages.
func TestMandoc(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("SKIPPED: no mandoc here to check the manual pages")
	}
	out, _ := exec.CommandContext(t.Context(), mandoc, append([]string{"-Tlint"}, pages(t)...)...).CombinedOutput()
	for line := range bytes.Lines(out) {
		if !bytes.Contains(line, []byte("referenced manual not found")) && !bytes.Contains(line, []byte("mandoc.db")) {
			t.Errorf("%s", line)
		}
	}
}
