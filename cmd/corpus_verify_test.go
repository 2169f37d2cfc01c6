package cmd

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/vfs"
)

// redpanda are the packs whose logs are not in Kafka's format.
var redpanda = []string{"k048", "k052", "k061"}

// TestVerifyCorpus holds the logs of real brokers of ten years, and their indexes, to be
// sound: whatever verify-crc calls damage there would be a false alarm.
func TestVerifyCorpus(t *testing.T) {
	packs, err := filepath.Glob(filepath.Join(fixtures.Corpus(t, "kafka"), "k???.tar.gz"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("no packs in the corpus: %v", err)
	}
	for _, pack := range packs {
		name := strings.TrimSuffix(filepath.Base(pack), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := fixtures.UnpackFS(t, pack)
			logs := logFiles(t, fsys, ".")
			if len(logs) == 0 {
				t.Skip("no logs")
			}
			got := runIn(fsys, append([]string{"verify-crc", "--deep", "--output", "tsv"}, logs...)...)
			if slices.Contains(redpanda, name) {
				if got.exit != exitDamage || strings.Contains(got.stderr, "internal error") {
					t.Errorf("exit %d: %s", got.exit, got.stderr)
				}
				return
			}
			if got.exit != exitOK {
				t.Errorf("exit %d: %s%s", got.exit, got.stderr, damagedRows(string(got.out)))
			}
		})
	}
}

// logFiles are the paths of all logs below dir.
func logFiles(t *testing.T, fsys vfs.ReadFS, dir string) []string {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			logs = append(logs, logFiles(t, fsys, path)...)
		case strings.HasSuffix(e.Name(), ".log") && e.Type() == fs.FileMode(0):
			logs = append(logs, path)
		}
	}
	return logs
}

func damagedRows(tsv string) string {
	var bad []string
	for line := range strings.Lines(tsv) {
		if f := strings.Split(line, "\t"); len(f) > 3 && f[3] != "ok" && f[3] != "missing-index" {
			bad = append(bad, line)
		}
	}
	return "\n" + strings.Join(bad, "")
}
