package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"logdir/fixtures"
	"logdir/store/vfs"
)

// TestDumpCorpus dumps every file of the corpus for which Apache Kafka's own dump tool
// said something, with the options it was run with, and requires the same bytes.
func TestDumpCorpus(t *testing.T) {
	packs := fixtures.Packs(t)
	var c dumpCount
	t.Run("packs", func(t *testing.T) {
		for _, pack := range packs {
			t.Run(pack.Name, func(t *testing.T) {
				t.Parallel()
				compareDumps(t, &c, pack)
			})
		}
	})
	t.Logf("%d dumps are the same, %d of them decoded, %d that made Kafka's tool crash are answered",
		c.same.Load(), c.decoded.Load(), c.crashed.Load())
	if c.same.Load() < 1200 || c.decoded.Load() < 300 || c.crashed.Load() != 142 {
		t.Errorf("only %d dumps were compared, %d of them decoded, and %d answered", c.same.Load(), c.decoded.Load(), c.crashed.Load())
	}
}

type dumpCount struct{ same, decoded, crashed atomic.Int64 }

// dumpRun is one line of runs.tsv.
type dumpRun struct {
	file    string
	options []string
	crashed bool
}

func compareDumps(t *testing.T, c *dumpCount, pack fixtures.Pack) {
	fsys, want := pack.FS(t), pack.Dumps(t, nil)
	for _, r := range parseRuns(want["runs.tsv"]) {
		got := runIn(fsys, append([]string{"dump-segment", r.file}, r.options...)...)
		out, stderr := want[r.file+".dump.txt"], string(want[r.file+".stderr.txt"])
		switch {
		case r.crashed:
			c.crashed.Add(1)
			requireAnswer(t, r.file, got)
			continue
		case hasDecoder(r.options):
			c.decoded.Add(1)
		}
		c.same.Add(1)
		if !bytes.Equal(got.out, out) {
			t.Errorf("%s: %s", r.file, firstDifference(got.out, out))
		}
		requireRemarks(t, r.file, got, stderr)
	}
}

func parseRuns(tsv []byte) []dumpRun {
	var runs []dumpRun
	for i, line := range strings.Split(strings.TrimSpace(string(tsv)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 || len(f) < 3 {
			continue
		}
		runs = append(runs, dumpRun{file: f[0], options: strings.Fields(f[1]), crashed: f[2] != "0"})
	}
	return runs
}

// ran is what a command left behind.
type ran struct {
	out    []byte
	stderr string
	exit   int
}

// runIn runs a command on a file system in memory.
func runIn(fsys vfs.FS, args ...string) ran {
	var out, stderr bytes.Buffer
	env := OS()
	env.FS, env.In, env.Out, env.Err = fsys, strings.NewReader(""), &out, &stderr
	env.Getenv = func(string) (string, bool) { return "", false }
	env.Environ = func() []string { return nil }
	env.StdinIsTTY, env.StdoutIsTTY, env.StderrIsTTY = false, false, false
	exit := Main(args, env)
	return ran{out.Bytes(), stderr.String(), exit}
}

func hasDecoder(options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return strings.HasSuffix(o, "-decoder") })
}

// requireAnswer: a log of Redpanda must be called what it is.
func requireAnswer(t *testing.T, file string, got ran) {
	if got.exit != exitDamage || !strings.Contains(got.stderr, "Redpanda's format") {
		t.Errorf("%s: exit %d, %s", file, got.exit, got.stderr)
	}
}

// requireRemarks compares stderr in meaning. Kafka's tool has one false remark: that -1 is
// followed by the first offset. It exits 0 whatever it finds.
func requireRemarks(t *testing.T, file string, got ran, want string) {
	exit := exitOK
	if strings.Contains(want, "failed schema validation") {
		exit = exitDamage
	} else if g, w := remarks(got.stderr), remarks(want); g != w {
		t.Errorf("%s: stderr %q, want %q", file, g, w)
	}
	if got.exit != exit {
		t.Errorf("%s: exit %d, want %d: %s", file, got.exit, exit, got.stderr)
	}
}

// remarks are the lines of stderr under a heading.
func remarks(stderr string) string {
	var kept []string
	heading := ""
	for line := range strings.Lines(stderr) {
		switch {
		case strings.HasPrefix(line, "  -1 is followed by"):
		case strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "Indexed offset: "):
			kept = append(kept, heading+line)
		case strings.HasPrefix(line, "Ignoring unknown file"):
			kept = append(kept, line)
		default:
			heading = line
		}
	}
	return strings.Join(kept, "")
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\ngot  %.300q\nwant %.300q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestDumpMadeByKafka does the same for the files that were made with Kafka's classes.
func TestDumpMadeByKafka(t *testing.T) {
	root := fixtures.Corpus(t, "kafka-made")
	dumps, err := filepath.Glob(filepath.Join(root, "*", "*", "*.dump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(root, "txn-0", "*.dump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dump := range append(dumps, more...) {
		file := strings.TrimSuffix(dump, ".dump.txt")
		name, _ := filepath.Rel(root, file)
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(dump)
			if err != nil {
				t.Fatal(err)
			}
			got := runIn(vfs.OS(), append([]string{"dump-segment", file}, optionsOfMade(name)...)...)
			_, line, _ := bytes.Cut(got.out, []byte("\n"))
			_, wantLine, _ := bytes.Cut(want, []byte("\n")) // the first names the path
			if got.exit != exitOK || !bytes.Equal(line, wantLine) {
				t.Errorf("exit %d, %s", got.exit, firstDifference(line, wantLine))
			}
		})
	}
}

// optionsOfMade are those with which Kafka's tool was run, as the corpus says.
func optionsOfMade(name string) []string {
	switch filepath.ToSlash(filepath.Dir(name)) {
	case "coordinator/co":
		return []string{"--offsets-decoder"}
	case "coordinator/md":
		return []string{"--cluster-metadata-decoder"}
	case "coordinator/tx":
		return []string{"--transaction-log-decoder"}
	}
	if filepath.Ext(name) != ".log" {
		return nil
	}
	return []string{"--deep-iteration", "--print-data-log"}
}
