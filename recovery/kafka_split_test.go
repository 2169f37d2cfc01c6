package recovery

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// rowWords are the rows of a plan in short.
func rowWords(p *Plan) (out []string) {
	for _, r := range p.Rows {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %d bytes %d records to %d: %s", r.Segment, r.Damage, r.LostBytes, r.LostRecords, r.LogEnd, r.Action)))
	}
	return out
}

// offsetsOf are the base offsets of the batches of each log.
func offsetsOf(t testing.TB, fsys vfs.ReadFS) map[int64][]int64 {
	t.Helper()
	out := map[int64][]int64{}
	list, err := segment.List(fsys, "d/foo-0")
	must(t, err)
	for _, s := range list.Segments {
		log := read(t, fsys, "d/foo-0/"+s.Log)
		for pos := 0; pos < len(log); pos += 12 + int(binary.BigEndian.Uint32(log[pos+8:])) {
			out[s.Base] = append(out[s.Base], int64(binary.BigEndian.Uint64(log[pos:])))
		}
	}
	return out
}

// TestKafkaSplit: segments with offsets that do not fit their base are split as a broker
// does it; nothing is lost but what it loses, a second run has nothing to do, and undo is
// exact.
func TestKafkaSplit(t *testing.T) {
	const far = farOffset
	whole := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		name  string
		make  func(testing.TB) *memfs.FS
		rows  []string
		after map[int64][]int64
	}{
		{
			"one in the middle, and the last", splitStory,
			[]string{
				"0 missing-index 0 bytes 0 records to 10: rebuilt index and time index",
				"10 bad-offset 0 bytes 0 records to 6000000006: split into 00000000000000000010, 00000000006000000000, 00000000000000000013, 00000000006000000005",
				"16 bad-index 0 bytes 0 records to 18: rebuilt time index",
			},
			map[int64][]int64{0: whole, 10: {10, 11}, 13: {13, 14}, 16: {16, 17}, far: {far}, far + 5: {far + 5}},
		},
		{
			"the first, so that the name goes", renamedSplitStory,
			[]string{
				"0 missing-index 0 bytes 0 records to 10: rebuilt index and time index",
				"10 bad-offset 0 bytes 0 records to 6000000002: split into 00000000006000000000",
			},
			map[int64][]int64{0: whole, far: {far, far + 1}},
		},
		{
			"a part takes the name of another segment", overwritingStory,
			[]string{
				"0 missing-index 0 bytes 0 records to 10: rebuilt index and time index",
				"10 bad-offset 0 bytes 0 records to 6000000006: split into 00000000000000000010, 00000000006000000000, 00000000000000000016, 00000000006000000005",
				"16  222 bytes 3 records to 16: overwritten (a segment that is split off 00000000000000000010 takes its name)",
			},
			map[int64][]int64{0: whole, 10: {10}, 16: {16}, far: {far}, far + 5: {far + 5}},
		},
		{
			"a bad checksum in a part", func(t testing.TB) *memfs.FS {
				fsys := splitStory(t)
				name := "d/foo-0/" + segment.FileName(10, segment.LogSuffix)
				log := read(t, fsys, name)
				last := appendBatch(t, nil, far+5, record.NoProducer())
				log[len(log)-len(last)-1] ^= 1 // the last byte of the batch of offset 14
				put(t, fsys, name, log)
				return fsys
			},
			[]string{
				"0 missing-index 0 bytes 0 records to 10: rebuilt index and time index",
				"10 bad-offset 0 bytes 0 records to 6000000006: split into 00000000000000000010, 00000000006000000000, 00000000000000000013, 00000000006000000005",
				"13 bad-crc 74 bytes 5 records to 14: truncated to 74 bytes, deleted 3 later segment(s)",
			},
			map[int64][]int64{0: whole, 10: {10, 11}, 13: {13}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := c.make(t)
			before := photo(t, fsys, "d")
			p := plan(t, fsys, Options{Policy: Kafka})
			if diff := cmp.Diff(c.rows, rowWords(p)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			carryOut(t, fsys, p)
			if diff := cmp.Diff(c.after, offsetsOf(t, fsys)); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
			if again := plan(t, fsys, Options{Policy: Kafka}); !again.Empty() {
				t.Errorf("a second run has work to do: %v", again.Rows)
			}
			undo(t, fsys)
			if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
				t.Errorf("after undo (-before +after):\n%s", diff)
			}
		})
	}
}

// TestPartsKeepTheTime: retention by time falls back on the modification time of a log.
func TestPartsKeepTheTime(t *testing.T) {
	fsys := splitStory(t)
	name := func(base int64) string { return "d/foo-0/" + segment.FileName(base, segment.LogSuffix) }
	must(t, fsys.Chtimes(name(10), testNow))
	carryOut(t, fsys, plan(t, fsys, Options{Policy: Kafka}))
	for _, base := range []int64{10, 13, farOffset, farOffset + 5} {
		info, err := fsys.Stat(name(base))
		must(t, err)
		if !info.ModTime().Equal(testNow) {
			t.Errorf("%s: %v, want %v", name(base), info.ModTime(), testNow)
		}
	}
}

// TestSplitBehindASwap: the swap is finished first, the split follows.
func TestSplitBehindASwap(t *testing.T) {
	fsys := splitStory(t)
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
		from := "d/foo-0/" + segment.FileName(10, suffix)
		put(t, fsys, from+segment.SwapSuffix, read(t, fsys, from))
		must(t, fsys.Remove(from))
	}
	must(t, fsys.SyncDir("d/foo-0"))
	old := contents(t, fsys)
	must(t, repair(t, fsys, Options{Policy: Kafka}))
	// The swap goes up to the offset of its last batch, over the segment of 16.
	want := map[int64][]int64{0: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10: {10, 11}, 13: {13, 14}, farOffset: {farOffset}, farOffset + 5: {farOffset + 5}}
	if diff := cmp.Diff(want, offsetsOf(t, fsys)); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	must(t, undoAll(t, fsys))
	if diff := cmp.Diff(old, contents(t, fsys)); diff != "" {
		t.Errorf("after undo (-before +after):\n%s", diff)
	}
}

// TestSplitRefused: where the split fails, nothing is changed, and it is said what a broker
// says.
func TestSplitRefused(t *testing.T) {
	fsys := single(t, fixtureF(t))
	segmentOf(t, fsys, 10, 10, farOffset, 12)
	p := plan(t, fsys, Options{Policy: Kafka})
	if !p.Empty() || len(p.Left) != 1 || !strings.Contains(p.Left[0].Error(), "Split operation is only permitted for segments with overflow") {
		t.Errorf("rows %v, left %v", rowWords(p), p.Left)
	}
}
