package cleaner_test

import (
	gocontext "context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store/cleaner"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

func context(t any) gocontext.Context {
	if tt, ok := t.(*testing.T); ok {
		return tt.Context()
	}
	return gocontext.Background()
}

// equal compares a log as drawn with what is wanted, line by line.
func equal(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(strings.ReplaceAll(want, "\t", "")), "\n"), strings.Split(strings.TrimSpace(got), "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestLastRecordOfEachKeyStays(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1", "b=1", "c=1")
	l.append(plain(), "b=2", "=nobody's", "a=2")
	l.append(plain(), "c=2")
	l.roll()
	l.append(plain(), "a=3", "=nobody's")
	equal(t, "before", `
		0..2: 0 a=1, 1 b=1, 2 c=1
		3..5: 3 b=2, 4 =nobody's, 5 a=2
		6..6: 6 c=2
		7..8: 7 a=3, 8 =nobody's
	`, l.batches())
	r := l.compact()
	// The active segment is left alone, and what stands in it does not count yet.
	equal(t, "after", `
		3..5: 3 b=2, 5 a=2
		6..6: 6 c=2
		7..8: 7 a=3, 8 =nobody's
	`, l.batches())
	if r.RecordsBefore != 9 || r.RecordsAfter != 5 || r.FirstDirty != 7 {
		t.Errorf("%+v", r)
	}
	if again := l.compact(); again.Changed {
		t.Error("a second pass changed something")
	}
	l.roll()
	l.compact()
	equal(t, "one more pass", `
		3..5: 3 b=2
		6..6: 6 c=2
		7..8: 7 a=3
	`, l.batches())
}

// TestTombstone: the first pass dates it, and only one after that date drops it. The record
// that it deletes goes at once.
func TestTombstone(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1", "b=1")
	l.append(plain(), "a", "c=1")
	l.roll()
	l.append(plain(), "z=1")
	l.compact()
	equal(t, "dated", `
		0..1: 1 b=1
		2..3 until +1000: 2 a, 3 c=1
		4..4: 4 z=1
	`, l.batches())
	l.now += 999
	if l.compact().Changed {
		t.Error("a pass before the horizon changed something")
	}
	l.now++
	l.compact()
	equal(t, "dropped at the horizon", `
		0..1: 1 b=1
		2..3 until +1000: 3 c=1
		4..4: 4 z=1
	`, l.batches())
	if ts := timestamps(l); ts != "1:0 3:0 4:0" {
		t.Errorf("timestamps %s: a batch with a horizon keeps those of its records", ts)
	}
}

// timestamps writes "offset:ms" of all records, ms since the moment.
func timestamps(l *lab) string {
	var out []string
	c := l.reader().From(0)
	defer c.Close()
	records := record.NewReader()
	for c.Next() {
		for records.Reset(c.Batch()); records.Next(); {
			r := records.Record()
			out = append(out, fmt.Sprintf("%d:%d", r.Offset, r.Timestamp-moment))
		}
	}
	return strings.Join(out, " ")
}

// TestTransactions: aborted records go, their marker stays with its index entry until they
// are gone, then is dated, then goes. Committed ones are records like others.
func TestTransactions(t *testing.T) {
	l := newLab(t)
	l.append(l.sent(7, 1, true), "a=aborted")
	l.append(l.sent(8, 1, true), "a=1")
	l.end(7, record.Abort)
	l.end(8, record.Commit)
	l.append(plain(), "b=1")
	l.roll()
	l.append(plain(), "z=1")
	l.compact()
	// The last batch of each producer stays, without records if need be.
	equal(t, "first pass", `
		0..0 p7
		1..1 p8: 1 a=1
		2..2 p7 marker: ABORT
		3..3 p8 marker: COMMIT
		4..4: 4 b=1
		5..5: 5 z=1
	`, l.batches())
	if got := abortedIn(t, l, 0); len(got) != 1 || got[0].FirstOffset != 0 || got[0].LastOffset != 2 {
		t.Errorf("transaction index %v", got)
	}
	l.append(plain(), "a=2")
	l.roll()
	l.now += 25 * 3600 * 1000 // nobody remembers the producers
	l.compact()
	equal(t, "second pass: the batches go, the markers wait for the next", `
		2..2 p7 marker: ABORT
		3..3 p8 marker: COMMIT
		4..4: 4 b=1
		5..5: 5 z=1
		6..6: 6 a=2
	`, l.batches())
	l.compact()
	equal(t, "third pass: nothing is left of them, so they are dated", `
		2..2 p7 until +90001000 marker: ABORT
		3..3 p8 until +90001000 marker: COMMIT
		4..4: 4 b=1
		5..5: 5 z=1
		6..6: 6 a=2
	`, l.batches())
	l.now += 1000
	l.compact()
	equal(t, "fourth pass", `
		4..4: 4 b=1
		5..5: 5 z=1
		6..6: 6 a=2
	`, l.batches())
}

func abortedIn(t *testing.T, l *lab, base int64) (all []index.AbortedTxn) {
	t.Helper()
	name := dir + "/" + segment.FileName(base, segment.TxnIndexSuffix)
	f, err := l.fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	size, err := vfs.Size(l.fs, name)
	if err != nil {
		t.Fatal(err)
	}
	for txn, err := range index.NewTxnIndex(f, size, base).All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, txn)
	}
	return all
}

// TestOpenTransactionHoldsBack: what lies at or above the last stable offset is left alone,
// and so is the segment in which it lies.
func TestOpenTransactionHoldsBack(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1")
	l.append(plain(), "a=2")
	l.roll()
	l.append(plain(), "a=3")
	l.append(l.sent(7, 1, true), "a=open")
	l.roll()
	l.append(plain(), "z=1")
	l.compact()
	equal(t, "open", `
		1..1: 1 a=2
		2..2: 2 a=3
		3..3 p7: 3 a=open
		4..4: 4 z=1
	`, l.batches())
	l.end(7, record.Abort)
	l.compact()
	equal(t, "aborted", `
		2..2: 2 a=3
		3..3 p7
		4..4: 4 z=1
		5..5 p7 marker: ABORT
	`, l.batches())
}

// TestEndStays: the batch that ends at the high watermark stays, if without records: the
// next record must not get its offset.
func TestEndStays(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1")
	l.append(plain(), "=x", "=y")
	l.roll()
	l.compact()
	equal(t, "emptied", `
		0..0: 0 a=1
		1..2
	`, l.batches())
	if end := l.logEnd(); end != 3 {
		t.Errorf("the log ends at %d, want 3", end)
	}
}

// TestSegmentsAreJoined while they fit, and keep the date of the newest.
func TestSegmentsAreJoined(t *testing.T) {
	l := newLab(t)
	for _, v := range []string{"1", "2", "3", "4"} {
		l.append(plain(), "a="+v, "b="+v, "c"+v+"="+v)
		l.roll()
	}
	l.append(plain(), "z=1")
	old := time.UnixMilli(moment - 5000)
	for _, base := range []int64{0, 3, 6, 9} {
		if err := l.fs.Chtimes(dir+"/"+segment.FileName(base, segment.LogSuffix), old.Add(time.Duration(base)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	l.compact() // three of about 90 bytes fit 300
	if diff := cmp.Diff([]int64{0, 9, 12}, l.reader().Segments()); diff != "" {
		t.Error(diff)
	}
	info, err := l.fs.Stat(dir + "/" + segment.FileName(0, segment.LogSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if want := old.Add(6 * time.Second); !info.ModTime().Equal(want) {
		t.Errorf("dated %s, want %s", info.ModTime(), want)
	}
	equal(t, "log", `
		0..2: 2 c1=1
		3..5: 5 c2=2
		6..8: 8 c3=3
		9..11: 9 a=4, 10 b=4, 11 c4=4
		12..12: 12 z=1
	`, l.batches())
}

// TestRoomForKeys: what does not fit is left for the next pass, and nothing is lost.
func TestRoomForKeys(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1")
	l.append(plain(), "b=1")
	l.append(plain(), "a=2")
	l.append(plain(), "b=2")
	l.roll()
	l.append(plain(), "z=1")
	o := l.options()
	o.Keys = 2
	if r := l.compactWith(o); r.FirstDirty != 2 {
		t.Errorf("the pass came to %d, want 2", r.FirstDirty)
	}
	o = l.options()
	o.Keys = 2
	l.compactWith(o)
	equal(t, "after two passes", `
		2..2: 2 a=2
		3..3: 3 b=2
		4..4: 4 z=1
	`, l.batches())
}

// TestDamageIsNotCompacted: a batch that is hurt would get a right checksum.
func TestDamageIsNotCompacted(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1")
	l.append(plain(), "a=2")
	l.roll()
	f, err := l.fs.OpenRW(dir + "/" + segment.FileName(0, segment.LogSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{'X'}, 66); err != nil {
		t.Fatal(err)
	}
	o := cleaner.Options{HighWatermark: 2, SegmentBytes: 300, Now: l.now}
	_, err = cleaner.Clean(t.Context(), l.fs, l.reader(), o)
	if err == nil || !strings.Contains(err.Error(), "bad-crc at byte 0") {
		t.Errorf("error %v", err)
	}
	entries, err := l.fs.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segment.CleanedSuffix) {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestDryRunWritesNothing and counts the same.
func TestDryRunWritesNothing(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1", "b")
	l.append(plain(), "a=2", "c")
	l.roll()
	o := l.options()
	o.DryRun = true
	before := l.batches()
	dry, err := cleaner.Clean(t.Context(), l.fs, l.reader(), o)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "log", before, l.batches())
	wet := l.compact()
	if dry.RecordsAfter != wet.RecordsAfter || dry.BytesAfter != wet.BytesAfter || dry.FirstDirty != wet.FirstDirty {
		t.Errorf("dry %+v, wet %+v", dry, wet)
	}
}

// TestCommitAfterAbort: an aborted transaction of the clean part says nothing about a later
// one of the same producer.
func TestCommitAfterAbort(t *testing.T) {
	l := newLab(t)
	l.append(plain(), "a=1")
	l.append(l.sent(7, 1, true), "a=aborted")
	l.end(7, record.Abort)
	l.roll()
	l.compact()
	l.append(l.sent(7, 1, true), "a=2")
	l.end(7, record.Commit)
	l.roll()
	l.append(plain(), "z=1")
	l.compact()
	equal(t, "log", `
		2..2 p7 marker: ABORT
		3..3 p7: 3 a=2
		4..4 p7 marker: COMMIT
		5..5: 5 z=1
	`, l.batches())
}

// TestReadingWhileSegmentsAreJoined: who listed the segments before reads on in the joined
// one, and misses nothing; so does who looks while they are moved in place.
func TestReadingWhileSegmentsAreJoined(t *testing.T) {
	l := newLab(t)
	for _, v := range []string{"1", "2", "3"} {
		l.append(plain(), "a="+v, "k"+v+"="+v)
		l.roll()
	}
	l.append(plain(), "z=1")
	c := l.reader().From(0)
	defer c.Close()
	if !c.Next() {
		t.Fatal(c.Err())
	}
	r, err := cleaner.Clean(t.Context(), l.fs, l.reader(), l.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Promote(); err != nil {
		t.Fatal(err)
	}
	const compacted = `
		0..1: 1 k1=1
		2..3: 3 k2=2
		4..5: 4 a=3, 5 k3=3
		6..6: 6 z=1
	`
	for i, m := range r.Moves() {
		equal(t, fmt.Sprintf("before move %d", i), compacted, l.batches())
		if err := move(l.fs, m); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "in the end", compacted, l.batches())
	var rest []int64
	for c.Next() {
		rest = append(rest, c.Batch().BaseOffset())
	}
	if diff := cmp.Diff([]int64{2, 4, 6}, rest); diff != "" || c.Err() != nil {
		t.Errorf("%v: %s", c.Err(), diff)
	}
}

func move(fsys *memfs.FS, m cleaner.Move) error {
	if m.Cleaned != "" {
		return fsys.Rename(m.Swap, m.Path)
	}
	if err := fsys.Remove(m.Path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// TestReadingByAnOldList: however far a reader has come when segments are joined behind its
// back, once or twice, it goes on with what is left, in order and without damage.
func TestReadingByAnOldList(t *testing.T) {
	for come := range 6 {
		for passes := range 3 {
			t.Run(fmt.Sprintf("%d read, %d passes", come, passes), func(t *testing.T) { readByOldList(t, come, passes) })
		}
	}
}

func readByOldList(t *testing.T, come, passes int) {
	const batches = 4
	l := newLab(t)
	grow := func(i int) {
		l.append(plain(), fmt.Sprint("a=", i), fmt.Sprintf("k%d=%d", i, i))
		l.roll()
	}
	for i := range batches {
		grow(i)
	}
	c := l.reader().From(0)
	defer c.Close()
	want := []int64{1, 3, 5, 7} // the last offset of each batch
	for range min(come, batches) {
		if !c.Next() {
			t.Fatal(c.Err())
		}
		want = want[1:]
	}
	for i := range passes {
		grow(batches + i)
		o := cleaner.Options{HighWatermark: l.logEnd(), SegmentBytes: 10_000, Now: l.now}
		if !l.compactWith(o).Changed {
			t.Fatal("nothing was compacted")
		}
	}
	got := []int64{}
	for c.Next() {
		if d := c.Damage(); d != nil {
			t.Fatal(d)
		}
		got = append(got, c.Batch().LastOffset())
	}
	got = got[:min(len(got), len(want))] // what came meanwhile may be seen, or not
	if diff := cmp.Diff(want, got); diff != "" || c.Err() != nil {
		t.Errorf("%v\n%s", c.Err(), diff)
	}
}
