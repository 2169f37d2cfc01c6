package store_test

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// put writes a file into the partition directory.
func put(t testing.TB, fs *memfs.FS, name string, data []byte) {
	t.Helper()
	if err := vfs.WriteAtomic(fs, filepath.Join(dir, name), data); err != nil {
		t.Fatal(err)
	}
}

// kv is one batch of the fixture F of many a test: record k<i>, v<i> at offset i.
func kv(t testing.TB, i int, timestamp int64) []byte {
	t.Helper()
	b := record.NewBuilder()
	m := record.NoProducer()
	m.BaseOffset, m.LeaderEpoch = int64(i), 0
	b.Reset(m)
	b.Append(&record.Record{Offset: int64(i), Timestamp: timestamp, Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "v%d", i)})
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const logName = "00000000000000000000.log"

func openReader(t testing.TB, fs vfs.ReadFS) *store.LogReader {
	t.Helper()
	r, err := store.OpenReader(fs, dir, store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReadGaps: a compacted log has offsets 0, 5 and 9 only.
func TestReadGaps(t *testing.T) {
	fs := newDir(t)
	put(t, fs, logName, append(append(kv(t, 0, moment), kv(t, 5, moment)...), kv(t, 9, moment)...))
	if diff := cmp.Diff([]string{"5=v5", "9=v9"}, contents(t, fs, 2)); diff != "" {
		t.Error(diff)
	}
	if end, damage, err := openReader(t, fs).End(); end != 10 || damage != nil || err != nil {
		t.Errorf("end %d, %v, %v, want 10", end, damage, err)
	}
}

// TestReadEmptiedBatch: compaction left a batch of offsets 0 to 4 without records.
func TestReadEmptiedBatch(t *testing.T) {
	fs := newDir(t)
	empty, err := hex.DecodeString("0000000000000000000000310000000002f48643180000000000040000018bcfe568000000018bcfe56800ffffffffffffffffffffffffffff00000000")
	if err != nil {
		t.Fatal(err)
	}
	put(t, fs, logName, append(empty, kv(t, 5, moment)...))
	if diff := cmp.Diff([]string{"5=v5"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
	if end, damage, err := openReader(t, fs).End(); end != 6 || damage != nil || err != nil {
		t.Errorf("end %d, %v, %v, want 6", end, damage, err)
	}
}

// TestFreshSegment: a segment of no bytes ends where it begins.
func TestFreshSegment(t *testing.T) {
	fs := newDir(t)
	put(t, fs, "00000000000000002076.log", nil)
	r := openReader(t, fs)
	if end, damage, err := r.End(); r.Start() != 2076 || end != 2076 || damage != nil || err != nil {
		t.Errorf("start %d end %d, %v, %v, want 2076", r.Start(), end, damage, err)
	}
}

// TestOffsetForTime has timestamps out of order: 100, 300, 200, 400. With and without
// a time index the answers are the same.
func TestOffsetForTime(t *testing.T) {
	var raw []byte
	for i, ts := range []int64{100, 300, 200, 400} {
		raw = append(raw, kv(t, i, ts)...)
	}
	for _, how := range []string{"scan", "time index"} {
		t.Run(how, func(t *testing.T) {
			fs := newDir(t)
			if how == "scan" {
				put(t, fs, logName, raw)
			} else {
				l := openLog(t, fs, config(1<<20))
				if err := l.AppendReplica(raw); err != nil {
					t.Fatal(err)
				}
				if _, err := l.CloseClean(); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct{ ts, want int64 }{{50, 0}, {150, 1}, {250, 1}, {300, 1}, {301, 3}, {400, 3}, {401, -1}} {
				offset, _, ok, err := openReader(t, fs).OffsetForTime(c.ts)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					offset = -1
				}
				if offset != c.want {
					t.Errorf("time %d: offset %d, want %d", c.ts, offset, c.want)
				}
			}
		})
	}
}

// TestOffsetForTimeInsideABatch: the time index names the last offset of a batch, but
// an earlier record of it may be the first that is late enough.
func TestOffsetForTimeInsideABatch(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, plain(t, "a"), frameAt(t, record.NoProducer(), moment+1000, "b", "c", "d"), plain(t, "e"))
	if _, err := l.CloseClean(); err != nil {
		t.Fatal(err)
	}
	offset, ts, ok, err := openReader(t, fs).OffsetForTime(moment + 1001)
	if offset != 2 || ts != moment+1001 || !ok || err != nil {
		t.Errorf("offset %d at %d, %v, %v, want 2", offset, ts, ok, err)
	}
}

// TestOffsetOfMaxTimestamp: the first of the newest records, below the end that readers see
// and not before the log start, in whichever segment it is.
func TestOffsetOfMaxTimestamp(t *testing.T) {
	var raw [][]byte
	for i, ts := range []int64{500, 300, 400, 400, 100} {
		raw = append(raw, kv(t, i, ts))
	}
	for _, c := range []struct {
		start, end, offset, timestamp int64
		ok                            bool
	}{
		{0, 5, 0, 500, true},
		{0, 1, 0, 500, true},
		{0, 0, 0, 0, false},
		{1, 5, 2, 400, true},
		{1, 2, 1, 300, true},
		{3, 99, 3, 400, true},
		{4, 5, 4, 100, true},
		{5, 5, 0, 0, false},
	} {
		for _, segmentBytes := range []int64{1 << 20, int64(len(raw[0]))} {
			fs := newDir(t)
			l := openLog(t, fs, config(segmentBytes))
			for _, r := range raw {
				if err := l.AppendReplica(r); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.CloseClean(); err != nil {
				t.Fatal(err)
			}
			r, err := store.OpenReader(fs, l.Dir(), store.ReaderOptions{LogStart: c.start})
			if err != nil {
				t.Fatal(err)
			}
			offset, ts, ok, err := r.OffsetOfMaxTimestamp(c.end)
			if err != nil || ok != c.ok || ok && (offset != c.offset || ts != c.timestamp) {
				t.Errorf("%d to %d: offset %d at %d, %v, %v; want %d at %d", c.start, c.end, offset, ts, ok, err, c.offset, c.timestamp)
			}
		}
	}
}

// TestDamageIsAValue: a flipped bit in batch 4 is met once, with what comes behind it,
// and reading can go on.
func TestDamageIsAValue(t *testing.T) {
	fs := newDir(t)
	var raw []byte
	for i := range 10 {
		raw = append(raw, kv(t, i, moment)...)
	}
	raw[4*72+69] ^= 1
	put(t, fs, logName, raw)
	c := openReader(t, fs).From(2)
	var got []string
	for c.Next() {
		if d := c.Damage(); d != nil {
			got = append(got, fmt.Sprintf("%s at %d, next %d at %d", d.Kind, d.Pos, d.NextOffset, d.NextPos))
			continue
		}
		got = append(got, fmt.Sprint(c.Batch().BaseOffset()))
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{"2", "3", "bad-crc at 288, next 5 at 360", "5", "6", "7", "8", "9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDamageBeforeTheOffset that was asked for is not met.
func TestDamageBeforeTheOffset(t *testing.T) {
	fs := newDir(t)
	var raw []byte
	for i := range 10 {
		raw = append(raw, kv(t, i, moment)...)
	}
	raw[69] ^= 1
	put(t, fs, logName, raw)
	if diff := cmp.Diff([]string{"8=v8", "9=v9"}, contents(t, fs, 8)); diff != "" {
		t.Error(diff)
	}
}

// TestMisleadingIndex: entries that lead nowhere, into a record, or to a later batch than
// they say do not hide a record.
func TestMisleadingIndex(t *testing.T) {
	var raw []byte
	for i := range 10 {
		raw = append(raw, kv(t, i, moment)...)
	}
	for name, entry := range map[string]string{
		"behind the end":  "00000003" + "00010000",
		"inside a record": "00000003" + "000000da",
		"too late":        "00000003" + "00000240", // says 3, leads to 8
		"negative":        "00000003" + "ffffffff",
	} {
		t.Run(name, func(t *testing.T) {
			fs := newDir(t)
			put(t, fs, logName, raw)
			index, err := hex.DecodeString(entry)
			if err != nil {
				t.Fatal(err)
			}
			put(t, fs, "00000000000000000000.index", index)
			if got := contents(t, fs, 4); len(got) != 6 || got[0] != "4=v4" {
				t.Errorf("from 4: %v", got)
			}
			if end, damage, err := openReader(t, fs).End(); end != 10 || damage != nil || err != nil {
				t.Errorf("end %d, %v, %v, want 10", end, damage, err)
			}
		})
	}
}

// TestTailBeingWritten: half a batch at the end is damage, unless somebody is writing it.
func TestTailBeingWritten(t *testing.T) {
	fs := newDir(t)
	put(t, fs, logName, append(kv(t, 0, moment), kv(t, 1, moment)[:40]...))
	for _, writing := range []bool{false, true} {
		r, err := store.OpenReader(fs, dir, store.ReaderOptions{Writing: func() bool { return writing }})
		if err != nil {
			t.Fatal(err)
		}
		end, damage, err := r.End()
		if end != 1 || err != nil || (damage == nil) != writing {
			t.Errorf("writing %v: end %d, %v, %v", writing, end, damage, err)
		}
	}
}

// TestTailArrivesWhileReading: the batch is whole by the time the reader asks whether
// somebody writes; then it is read.
func TestTailArrivesWhileReading(t *testing.T) {
	fs := newDir(t)
	whole := append(kv(t, 0, moment), kv(t, 1, moment)...)
	put(t, fs, logName, whole[:112])
	arrive := func() bool { tear(t, fs, filepath.Join(dir, logName), whole[112:]); return false }
	once := func() bool {
		f := arrive
		arrive = func() bool { return false }
		return f()
	}
	r, err := store.OpenReader(fs, dir, store.ReaderOptions{Writing: once})
	if err != nil {
		t.Fatal(err)
	}
	if end, damage, err := r.End(); end != 2 || damage != nil || err != nil {
		t.Errorf("end %d, %v, %v, want 2", end, damage, err)
	}
}

// countingFS counts what a look-up costs.
type countingFS struct {
	vfs.ReadFS
	opened []string
	bytes  int
}

func (c *countingFS) Open(name string) (vfs.ReadFile, error) {
	f, err := c.ReadFS.Open(name)
	if err != nil {
		return nil, err
	}
	c.opened = append(c.opened, filepath.Base(name))
	return &countingFile{f, c}, nil
}

type countingFile struct {
	vfs.ReadFile
	fs *countingFS
}

func (f *countingFile) ReadAt(p []byte, pos int64) (int, error) {
	n, err := f.ReadFile.ReadAt(p, pos)
	f.fs.bytes += n
	return n, err
}

func (f *countingFile) Stat() (fs.FileInfo, error) { return f.ReadFile.Stat() }

// TestLookupIsCheap: one record from anywhere opens two files and reads little of them.
func TestLookupIsCheap(t *testing.T) {
	mem := newDir(t)
	c := config(1 << 30)
	c.IndexInterval = 4096
	l := openLog(t, mem, c)
	const batches = 20000
	for i := range batches / 100 {
		var run []byte
		for range 100 {
			run = append(run, plain(t, fmt.Sprintf("value-%d", i))...)
		}
		appendAll(t, l, run)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int64{0, 7777, batches - 1} {
		counting := &countingFS{ReadFS: mem}
		cursor := openReader(t, counting).From(offset)
		if !cursor.Next() || cursor.Batch().BaseOffset() != offset {
			t.Fatalf("offset %d not found", offset)
		}
		if err := cursor.Close(); err != nil {
			t.Fatal(err)
		}
		if len(counting.opened) > 2 || counting.bytes > 100<<10 {
			t.Errorf("offset %d: opened %v, read %d bytes", offset, counting.opened, counting.bytes)
		}
	}
}

func TestReaderReportsUnknownAsUnknown(t *testing.T) {
	fs := newDir(t)
	put(t, fs, logName, kv(t, 0, moment)[:7])
	_, damage, err := openReader(t, fs).End()
	if err != nil || damage == nil || damage.Kind != corrupt.Torn || damage.NextPos != corrupt.Unknown {
		t.Errorf("%+v, %v", damage, err)
	}
}
