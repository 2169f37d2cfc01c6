package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// twelve is a log of twelve batches of one record and 75 bytes each, three to a segment.
func twelve(t *testing.T) (*memfs.FS, *store.Log) {
	t.Helper()
	fs := newDir(t)
	l := openLog(t, fs, config(250))
	for i := range 12 {
		appendEpoch(t, l, int32(i/5), nth(t, i))
	}
	return fs, l
}

// nth is batch number i of such a log, a second after the one before.
func nth(t *testing.T, i int) []byte {
	t.Helper()
	return frameAt(t, record.NoProducer(), moment+int64(i)*1000, fmt.Sprintf("val-%03d", i))
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		to   int64
		want store.Truncation
	}{
		{12, store.Truncation{End: 12, Base: 9, Pos: 225}},
		{10, store.Truncation{End: 10, Base: 9, Pos: 75, Cut: 150, Records: 2, Bytes: 150}},
		{9, store.Truncation{End: 9, Base: 9, Pos: 0, Cut: 225, Records: 3, Bytes: 225}},
		{4, store.Truncation{End: 4, Base: 3, Pos: 75, Cut: 150, Dropped: []int64{6, 9}, Records: 8, Bytes: 600}},
		{0, store.Truncation{End: 0, Base: 0, Pos: 0, Cut: 225, Dropped: []int64{3, 6, 9}, Records: 12, Bytes: 900}},
	} {
		t.Run(fmt.Sprint(c.to), func(t *testing.T) {
			fs, l := twelve(t)
			plan, err := l.PlanTruncate(c.to, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Dropped) == 0 {
				plan.Dropped = nil
			}
			if diff := cmp.Diff(c.want, plan); diff != "" {
				t.Error(diff)
			}
			if err := l.Truncate(plan); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(written(t, int(c.to)), snapshotOf(t, fs)); diff != "" {
				t.Errorf("not as if the rest had never been written: %s", diff)
			}
		})
	}
}

// written is the bytes of a log that was written up to n batches and no further. A cut
// at a segment's base leaves that segment, empty, as a roll would.
func written(t *testing.T, n int) map[string]string {
	t.Helper()
	fs := newDir(t)
	l := openLog(t, fs, config(250))
	for i := range n {
		appendEpoch(t, l, int32(i/5), nth(t, i))
	}
	if n > 0 && n < 12 && n%3 == 0 {
		if _, err := l.Roll(); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 { // an epoch was noted once
		if err := checkpoint.WriteEpochs(fs, filepath.Join(dir, checkpoint.EpochFile), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return snapshotOf(t, fs)
}

func TestTruncateInsideABatch(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, plain(t, "a"), plain(t, "b", "c", "d"))
	_, err := l.PlanTruncate(2, false)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Usage {
		t.Errorf("got %v, want the offset inside 1..3 refused", err)
	}
	plan, err := l.PlanTruncate(2, true)
	if err != nil || plan.End != 1 || plan.Records != 3 {
		t.Errorf("rounded down: %+v, %v", plan, err)
	}
}

func TestTruncateOutOfRange(t *testing.T) {
	_, l := twelve(t)
	for _, to := range []int64{-1, 13} {
		_, err := l.PlanTruncate(to, false)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != "OFFSET_OUT_OF_RANGE" {
			t.Errorf("to %d: %v", to, err)
		}
	}
}

// TestTruncateForgetsProducers: what a cut takes away, a producer may send again.
func TestTruncateForgetsProducers(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, sequenced(t, 7, 0, 0, "a"), sequenced(t, 7, 0, 1, "b"))
	if _, err := l.CloseClean(); err != nil {
		t.Fatal(err)
	}
	plan, err := l.PlanTruncate(1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Truncate(plan); err != nil {
		t.Fatal(err)
	}
	if offsets, err := producer.List(fs, dir); err != nil || len(offsets) != 0 {
		t.Errorf("snapshots beyond the end: %v, %v", offsets, err)
	}
	done, err := l.Append(sequenced(t, 7, 0, 1, "b"), 0)
	if err != nil || done[0].Duplicate || done[0].BaseOffset != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}
