package cmd

import (
	"testing"

	"logdir/fixtures"
	"logdir/store/vfs"
)

// MiniKafka has committed tx-a (offsets 0 and 1), aborted tx-b (3) and left tx-c open (5); 2 and 4
// are markers.
func TestFetchCommittedOfMiniKafka(t *testing.T) {
	dir := fixtures.Corpus(t, "minikafka", "transactions", "data")
	for level, want := range map[string]string{readCommitted: "0 1 ", readUncommitted: "0 1 3 5 "} {
		got := runIn(vfs.OS(), "-d", dir, "fetch", "out", "--isolation-level", level, "-f", "%o ")
		if string(got.out) != want || got.exit != exitOK {
			t.Errorf("%s: %q, exit %d: %s", level, got.out, got.exit, got.stderr)
		}
	}
}
