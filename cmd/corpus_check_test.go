package cmd

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/fixtures"
)

// TestCheckCorpus: no directory of a real broker is called damaged, whatever its age and
// however its broker ended. Most packs lack files that their checkpoints speak of; those
// are warnings, and true.
func TestCheckCorpus(t *testing.T) {
	packs, err := filepath.Glob(filepath.Join(fixtures.Corpus(t, "kafka"), "k???.tar.gz"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("no packs in the corpus: %v", err)
	}
	for _, pack := range packs {
		name := strings.TrimSuffix(filepath.Base(pack), ".tar.gz")
		if slices.Contains(redpanda, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := fixtures.UnpackFS(t, pack)
			dirs := map[string]bool{}
			for _, log := range logFiles(t, fsys, ".") {
				dirs[filepath.Dir(filepath.Dir(log))] = true
			}
			for _, dir := range slices.Sorted(maps.Keys(dirs)) {
				got := runIn(fsys, "check", "-d", dir)
				if got.exit == exitNotFound { // a log that stands in no partition directory
					continue
				}
				if got.exit != exitOK || got.stderr != "healthy\n" {
					t.Errorf("%s: exit %d\n%s%s", dir, got.exit, got.out, got.stderr)
				}
			}
		})
	}
}
