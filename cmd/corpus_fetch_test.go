package cmd

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/vfs"
)

// TestFetchCorpus reads every partition of real brokers to its end: each record once, in
// the order of their offsets.
func TestFetchCorpus(t *testing.T) {
	for _, pack := range fixtures.KafkaPacks(t) {
		t.Run(pack.Name, func(t *testing.T) {
			t.Parallel()
			fsys := pack.FS(t)
			for _, dir := range fixtures.PartitionDirs(t, fsys) {
				fetchedOffsets(t, fsys, dir)
			}
		})
	}
}

// fetchedOffsets reads the partition that stands in dir.
func fetchedOffsets(t *testing.T, fsys vfs.FS, dir string) []int64 {
	t.Helper()
	got := runIn(fsys, "fetch", "-d", dir, "./"+dir, "-f", `%o\n`)
	if got.exit != exitOK {
		t.Errorf("%s: exit %d: %s", dir, got.exit, got.stderr)
	}
	var offsets []int64
	for line := range strings.Lines(string(got.out)) {
		offset, err := strconv.ParseInt(strings.TrimSuffix(line, "\n"), 10, 64)
		if n := len(offsets); err != nil || n > 0 && offset <= offsets[n-1] {
			t.Fatalf("%s: %q behind %d records: %v", dir, line, n, err)
		}
		offsets = append(offsets, offset)
	}
	return offsets
}

// TestFetchAfterAnInterruptedCleaning: in two partitions of k104 the first segment holds batches of
// the later ones, two of which stand nowhere else. All that Kafka's tool shows of the
// segments is read, and the groups are those of a log without the older copies.
func TestFetchAfterAnInterruptedCleaning(t *testing.T) {
	fsys := fixtures.UnpackFS(t, fixtures.Corpus(t, "kafka", "k104.tar.gz"))
	dumps := fixtures.Unpack(t, fixtures.Corpus(t, "kafka", "k104.dump.tar.gz"))
	for _, partition := range []string{"__consumer_offsets-25", "__consumer_offsets-45"} {
		dir := filepath.Join("kafka", "data", partition)
		want := map[int64]bool{}
		for name, dump := range dumps {
			if filepath.Dir(name) == dir && strings.HasSuffix(name, ".log.dump.txt") {
				for line := range strings.Lines(string(dump)) {
					var offset int64
					if n, _ := fmt.Sscanf(line, "| offset: %d", &offset); n == 1 {
						want[offset] = true
					}
				}
			}
		}
		got := fetchedOffsets(t, fsys, dir)
		if len(want) == 0 || !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: %d records, want %d", dir, len(got), len(want))
		}
	}
	for group, commits := range map[string]string{
		"product-group": "cart-product-request:0:26 product-request:0:8 user-request:0:100",
		"user-group":    "cart-product-response:0:11 user-response:0:93",
	} {
		got := runIn(fsys, "group", "describe", group, "-d", "kafka/data", "--output", "tsv", "--no-header")
		var list []string
		for line := range strings.Lines(string(got.out)) {
			f := strings.Split(line, "\t")
			list = append(list, f[1]+":"+f[2]+":"+f[4])
		}
		if joined := strings.Join(list, " "); joined != commits || got.exit != exitOK {
			t.Errorf("%s: %q, want %q, exit %d: %s", group, joined, commits, got.exit, got.stderr)
		}
	}
}
