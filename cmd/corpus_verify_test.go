package cmd

import (
	"strings"
	"testing"

	"logdir/fixtures"
)

// TestVerifyCorpus holds the logs of real brokers of ten years, and their indexes, to be
// sound: whatever verify-crc calls damage there would be a false alarm.
func TestVerifyCorpus(t *testing.T) {
	for _, pack := range fixtures.Packs(t) {
		t.Run(pack.Name, func(t *testing.T) {
			t.Parallel()
			fsys := pack.FS(t)
			logs := fixtures.Logs(t, fsys)
			if len(logs) == 0 {
				t.Skip("no logs")
			}
			got := runIn(fsys, append([]string{"verify-crc", "--deep", "--output", "tsv"}, logs...)...)
			if pack.Redpanda {
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

func damagedRows(tsv string) string {
	var bad []string
	for line := range strings.Lines(tsv) {
		if f := strings.Split(line, "\t"); len(f) > 3 && f[3] != "ok" && f[3] != "missing-index" {
			bad = append(bad, line)
		}
	}
	return "\n" + strings.Join(bad, "")
}
