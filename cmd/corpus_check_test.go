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
// however its broker ended. Most packs lack files that their checkpoints speak of, and some
// were copied while their broker ran, the checkpoints last; those are warnings, and true.
func TestCheckCorpus(t *testing.T) {
	for _, pack := range fixtures.KafkaPacks(t) {
		t.Run(pack.Name, func(t *testing.T) {
			t.Parallel()
			fsys := pack.FS(t)
			dirs := map[string]bool{}
			for _, dir := range fixtures.PartitionDirs(t, fsys) {
				dirs[filepath.Dir(dir)] = true
			}
			for _, dir := range slices.Sorted(maps.Keys(dirs)) {
				got := runIn(fsys, "check", "-d", dir)
				if got.exit == exitNotFound { // a log that stands in no partition directory
					continue
				}
				verdict := "healthy\n"
				if strings.Contains(string(got.out), "beyond-end") {
					verdict = "healthy, but records are missing that once were there\n"
				}
				if got.exit != exitOK || got.stderr != verdict {
					t.Errorf("%s: exit %d\n%s%s", dir, got.exit, got.out, got.stderr)
				}
			}
		})
	}
}
