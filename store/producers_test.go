package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// again opens the log anew for one frame, as a command does, and reports the outcome.
func again(t *testing.T, fs *memfs.FS, f []byte) string {
	t.Helper()
	l := openLog(t, fs, config(1<<20))
	done, err := l.Append(f, 0)
	if cerr := l.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return e.Name
	}
	if err != nil {
		t.Fatal(err)
	}
	word := "acked"
	if done[0].Duplicate {
		word = "duplicate"
	}
	return fmt.Sprintf("%s %d", word, done[0].BaseOffset)
}

// TestIdempotentProducerAcrossCommands is experiment 10 below the command line.
func TestIdempotentProducerAcrossCommands(t *testing.T) {
	fs := newDir(t)
	for i, step := range []struct {
		epoch, sequence int32
		want            string
	}{
		{0, 0, "acked 0"},
		{0, 0, "duplicate 0"},
		{0, 1, "acked 1"},
		{0, 2, "acked 2"},
		{0, 0, "duplicate 0"}, // two batches back: still among the last five
		{0, 5, "OUT_OF_ORDER_SEQUENCE_NUMBER"},
		{1, 3, "OUT_OF_ORDER_SEQUENCE_NUMBER"}, // a new epoch begins at 0
		{1, 0, "acked 3"},
		{0, 3, "INVALID_PRODUCER_EPOCH"},
	} {
		if got := again(t, fs, sequenced(t, 77, step.epoch, step.sequence, "v")); got != step.want {
			t.Errorf("step %d: epoch %d sequence %d: %s, want %s", i, step.epoch, step.sequence, got, step.want)
		}
	}
}

// TestCleanCloseKeepsOneBatch: after a clean stop only the snapshot is left to remember
// by, and it holds the last batch of each producer. The log itself is not read again.
func TestCleanCloseKeepsOneBatch(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, sequenced(t, 7, 0, 0, "a"), sequenced(t, 7, 0, 1, "b"))
	point, err := l.CloseClean()
	if err != nil || point != 2 {
		t.Fatalf("CloseClean() = %d, %v", point, err)
	}
	entries, err := producer.ReadSnapshot(fs, filepath.Join(dir, producer.FileName(2)))
	if err != nil || len(entries) != 1 || entries[0].LastSequence != 1 || entries[0].LastOffset != 1 {
		t.Fatalf("snapshot %+v, %v", entries, err)
	}
	if got := again(t, fs, sequenced(t, 7, 0, 1, "b")); got != "duplicate 1" {
		t.Errorf("the last batch again: %s", got)
	}
	if got := again(t, fs, sequenced(t, 7, 0, 0, "a")); got != "OUT_OF_ORDER_SEQUENCE_NUMBER" {
		t.Errorf("the one before: %s", got)
	}
}

// TestCleanCloseTwice leaves one snapshot beside those at segment bases.
func TestCleanCloseTwice(t *testing.T) {
	fs := newDir(t)
	for i := range 3 {
		l := openLog(t, fs, config(1<<20))
		appendAll(t, l, sequenced(t, 7, 0, int32(i), "a"))
		if _, err := l.CloseClean(); err != nil {
			t.Fatal(err)
		}
	}
	offsets, err := producer.List(fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{3}, offsets); diff != "" {
		t.Error(diff)
	}
}

// TestDuplicateAmongOthers: a retry in the middle of a call is answered and not written.
func TestDuplicateAmongOthers(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, sequenced(t, 7, 0, 0, "a", "b"))
	call := append(plain(t, "x"), sequenced(t, 7, 0, 0, "a", "b")...)
	call = append(call, sequenced(t, 7, 0, 2, "c")...)
	got, err := l.Append(call, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Appended{
		{BaseOffset: 2, LastOffset: 2, Records: 1},
		{BaseOffset: 0, LastOffset: 1, Records: 2, Duplicate: true},
		{BaseOffset: 3, LastOffset: 3, Records: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0=a", "1=b", "2=x", "3=c"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedFrameKeepsThoseBefore: the frames before a refused one are in the log and
// reported.
func TestRefusedFrameKeepsThoseBefore(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	call := append(sequenced(t, 7, 0, 0, "a"), sequenced(t, 7, 0, 9, "gap")...)
	got, err := l.Append(call, 0)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Fenced {
		t.Fatalf("got %v, want a gap to be refused", err)
	}
	if len(got) != 1 || l.End() != 1 {
		t.Errorf("%d batches reported, log end %d, want 1 and 1", len(got), l.End())
	}
	appendAll(t, l, sequenced(t, 7, 0, 1, "b"))
	if diff := cmp.Diff([]string{"0=a", "1=b"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
}

// TestAbortedTransactionIsIndexed: a transactional batch at 0, another's at 1, the abort
// marker of the first at 2.
func TestAbortedTransactionIsIndexed(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, transactional(t, 9, "a"), transactional(t, 8, "b"), marker(t, 9, record.Abort), marker(t, 8, record.Commit))
	name := filepath.Join(dir, "00000000000000000000.txnindex")
	raw, err := vfs.ReadAll(fs, name, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := index.AppendAbortedTxn(nil, index.AbortedTxn{ProducerID: 9, FirstOffset: 0, LastOffset: 2, LastStableOffset: 1})
	if diff := cmp.Diff(want, raw); diff != "" {
		t.Error(diff)
	}
}

func transactional(t *testing.T, id int64, value string) []byte {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseSequence, m.Transactional = id, 0, 0, true
	return frame(t, m, value)
}

func marker(t *testing.T, id int64, kind record.ControlType) []byte {
	t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional, m.Control = id, 0, true, true
	raw, err := record.AppendEndTxnMarker(nil, m, record.EndTxnMarker{Type: kind}, moment)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
