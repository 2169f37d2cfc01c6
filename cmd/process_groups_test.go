package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/group"
	"logdir/store/record"
)

// What a coordinator knows of 50,000 committed offsets, each committed twice, is found,
// shown and checked in less than 32 MiB, be it of one group or of many. This test's program
// is larger than the real one by up to 6 MiB.
func TestManyCommittedOffsetsAreCheap(t *testing.T) {
	fixtures.WithoutRace(t)
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the memory is Linux's to tell")
	}
	for _, groups := range []int{1, 100, 5000} {
		s := shell{t: t, dir: t.TempDir()}
		writeCommits(t, filepath.Join(s.dir, "__consumer_offsets-0"), groups, 50_000/groups)
		for _, command := range []string{"group list", "group describe", "group describe --json", "check"} {
			const limit = (32 + 6) << 10 // KiB
			used, err := watchMemory(s.command(strings.Fields(command)...))
			if err != nil || used == 0 || used > limit {
				t.Errorf("%s of %d groups: %v, %d KiB of memory, want at most %d", command, groups, err, used, limit)
			}
		}
		if rows := strings.Count(s.ok("", "group", "describe", "--no-header"), "\n"); rows != 50_000 {
			t.Errorf("%d groups: %d rows", groups, rows)
		}
	}
}

// writeCommits writes a log in which every group commits in so many partitions, twice.
func writeCommits(t *testing.T, dir string, groups, partitions int) {
	t.Helper()
	var log []byte
	b := record.NewBuilder()
	total := 2 * groups * partitions
	for first := 0; first < total; first += perBatch {
		m := record.NoProducer()
		m.BaseOffset = int64(first)
		b.Reset(m)
		for n := first; n < min(first+perBatch, total); n++ {
			b.Append(commitRecord(t, int64(n), group.OffsetCommit{
				Group: fmt.Sprint("consumer-group-", n/partitions%groups), Topic: "orders", Partition: int32(n % partitions),
				Offset: 1_000_000, LeaderEpoch: 1, ExpireTimestamp: -1,
			}))
		}
		var err error
		if log, err = b.Build(log); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000000.log"), log, 0o644); err != nil {
		t.Fatal(err)
	}
}

// perBatch is how many offsets are committed at once.
const perBatch = 50

func commitRecord(t *testing.T, offset int64, c group.OffsetCommit) *record.Record {
	t.Helper()
	key, err := c.AppendKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	value, err := c.AppendValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &record.Record{Offset: offset, Key: key, Value: value}
}
