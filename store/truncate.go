package store

import (
	"errors"
	"log/slog"
	"slices"

	"logdir/store/checkpoint"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Truncation is what a cut of a log to an offset takes away. PlanTruncate makes it, and
// changes nothing; Truncate carries it out.
type Truncation struct {
	// End is the log end offset after the cut, and Base the segment that is active then.
	End, Base int64
	// Pos is where that segment's .log is cut, Cut how many bytes go there.
	Pos, Cut int64
	// Dropped are the segments that go as a whole, by base offset.
	Dropped []int64
	// Records and Bytes count what goes, from all segments.
	Records, Bytes int64
}

// Nothing tells that the log ends there already.
func (t Truncation) Nothing() bool { return t.Cut == 0 && len(t.Dropped) == 0 }

// PlanTruncate finds what a cut to the offset to would take away. An offset inside a
// batch is refused, unless roundDown lets the whole batch go.
func (l *Log) PlanTruncate(to int64, roundDown bool) (Truncation, error) {
	if err := l.ready(); err != nil {
		return Truncation{}, err
	}
	if err := l.relist(); err != nil {
		return Truncation{}, err
	}
	if to < l.Start() || to > l.End() {
		return Truncation{}, Errorf(NotFound, "OFFSET_OUT_OF_RANGE", "%s: offset %d is out of range, the log has %d to %d",
			l.config.TopicPartition, to, l.Start(), l.End())
	}
	t, err := l.findCut(to, roundDown)
	if err != nil {
		return t, l.damaged(err)
	}
	return t, l.measureDropped(&t)
}

// findCut walks from the batch that holds the offset to the end of the log.
func (l *Log) findCut(to int64, roundDown bool) (t Truncation, err error) {
	t = l.cutBefore(to)
	r, err := OpenReader(l.fs, l.dir, ReaderOptions{})
	if err != nil {
		return t, err
	}
	c := r.From(to)
	defer func() { err = errors.Join(err, c.Close()) }()
	for first := true; c.Next(); first = false {
		b := c.Batch()
		if d := c.Damage(); d != nil {
			if first {
				return t, d
			}
			continue
		}
		if first && b.BaseOffset() < to {
			if !roundDown {
				return t, insideBatch(l.config.TopicPartition, to, b)
			}
			t = l.cutBefore(b.BaseOffset())
		}
		if first && c.Segment() == t.Base {
			t.Pos = c.Pos()
		}
		t.Records += int64(max(b.Count(), 0))
	}
	return t, c.Err()
}

// cutBefore plans a cut at an offset: later segments are dropped, and the one that may
// hold the offset stays, for now with all it has.
func (l *Log) cutBefore(offset int64) Truncation {
	at, found := slices.BinarySearch(l.bases, offset)
	if !found {
		at--
	}
	return Truncation{End: offset, Base: l.bases[at], Pos: unmeasured, Dropped: slices.Clone(l.bases[at+1:])}
}

// unmeasured stands for the end of the file as the place of a cut.
const unmeasured = -1

func insideBatch(tp TopicPartition, to int64, b *record.Batch) error {
	return Errorf(Usage, "INVALID_REQUEST", "%s: offset %d lies inside the batch %d..%d", tp, to, b.BaseOffset(), b.LastOffset()).
		WithHint("--to %d, --to %d, or --round-down", b.BaseOffset(), b.NextOffset())
}

// measureDropped adds the bytes up.
func (l *Log) measureDropped(t *Truncation) error {
	size, err := vfs.Size(l.fs, l.path(segment.FileName(t.Base, segment.LogSuffix)))
	if err != nil {
		return err
	}
	if t.Pos == unmeasured {
		t.Pos = size
	}
	t.Cut = size - t.Pos
	t.Bytes = t.Cut
	for _, base := range t.Dropped {
		size, err := vfs.Size(l.fs, l.path(segment.FileName(base, segment.LogSuffix)))
		if err != nil {
			return err
		}
		t.Bytes += size
	}
	return nil
}

// Truncate carries a plan out. A crash inside leaves a log that ends somewhere between
// the old end and the new, each time at a batch, and that can be cut again (a log that
// ends there already may still have what an interrupted cut left of step 1 or 5):
//
//  1. snapshots beyond the new end go, as later batches would make them wrong;
//  2. later segments go, the last first, each synced;
//  3. the indexes are cut (an index may know less than its log, never more);
//  4. the log is cut and synced;
//  5. the transaction index and the epochs are cut (they may know more, never less).
//
// The checkpoints of the log directory are the caller's to lower.
func (l *Log) Truncate(t Truncation) error {
	if err := l.ready(); err != nil {
		return err
	}
	if err := l.let(); err != nil {
		return err
	}
	l.producers = nil
	steps := []func(Truncation) error{l.cutSnapshots, l.dropSegments, l.cutIndexes, l.cutLog, l.cutTxnIndex, l.cutEpochs}
	for _, step := range steps {
		if err := step(t); err != nil {
			return err
		}
	}
	l.config.RecoveryPoint = min(l.config.RecoveryPoint, t.End)
	l.info("truncate", slog.Int64("log_end", t.End), slog.Int64("records", t.Records))
	return l.open()
}

func (l *Log) cutSnapshots(t Truncation) error {
	if err := l.dropSnapshots(t.End); err != nil {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

func (l *Log) dropSegments(t Truncation) error {
	for _, base := range slices.Backward(t.Dropped) {
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix} {
			if err := removeIfThere(l.fs, l.path(segment.FileName(base, suffix))); err != nil {
				return err
			}
		}
		if err := l.fs.SyncDir(l.dir); err != nil {
			return err
		}
	}
	return nil
}

func (l *Log) cutLog(t Truncation) error {
	return l.edit(segment.FileName(t.Base, segment.LogSuffix), func(f vfs.File, _ int64) (int64, error) {
		return t.Pos, nil
	})
}

// cutIndexes keeps the entries that lead to what stays.
func (l *Log) cutIndexes(t Truncation) error {
	err := l.edit(segment.FileName(t.Base, segment.IndexSuffix), func(f vfs.File, size int64) (int64, error) {
		return l.keptOffsets(f, size, t)
	})
	if err != nil || l.config.Format == record.MKB1 {
		return err
	}
	return l.edit(segment.FileName(t.Base, segment.TimeIndexSuffix), func(f vfs.File, size int64) (int64, error) {
		return keptTimes(f, size, t)
	})
}

func (l *Log) keptOffsets(f vfs.File, size int64, t Truncation) (int64, error) {
	x, width := index.NewOffsetIndex(f, size, t.Base), index.OffsetEntrySize
	if l.config.Format == record.MKB1 {
		x, width = index.NewMKB1Index(f, size, t.Base), index.MKB1EntrySize
	}
	n, err := x.EffectiveLen()
	if err != nil {
		return 0, err
	}
	n, err = kept(n, func(i int) (bool, error) {
		e, err := x.At(i)
		return e.Pos < t.Pos, err
	})
	return int64(n * width), err
}

func keptTimes(f vfs.File, size int64, t Truncation) (int64, error) {
	x := index.NewTimeIndex(f, size, t.Base)
	n, err := x.EffectiveLen()
	if err != nil {
		return 0, err
	}
	n, err = kept(n, func(i int) (bool, error) {
		e, err := x.At(i)
		return e.Offset < t.End, err
	})
	return int64(n * index.TimeEntrySize), err
}

// kept counts the first entries, of n, that stay. It searches from the end, where the
// cut mostly is.
func kept(n int, stays func(i int) (bool, error)) (int, error) {
	for ; n > 0; n-- {
		if ok, err := stays(n - 1); ok || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// cutTxnIndex drops the aborted transactions whose marker went.
func (l *Log) cutTxnIndex(t Truncation) error {
	return l.edit(segment.FileName(t.Base, segment.TxnIndexSuffix), func(f vfs.File, size int64) (int64, error) {
		n := int64(0)
		for txn, err := range index.NewTxnIndex(f, size, t.Base).All() {
			if err != nil || txn.LastOffset >= t.End {
				return n * index.TxnEntrySize, err
			}
			n++
		}
		return n * index.TxnEntrySize, nil
	})
}

func (l *Log) cutEpochs(t Truncation) error {
	if !l.epochs.TruncateFromEnd(t.End) && !l.staleEpochs {
		return nil
	}
	return checkpoint.WriteEpochs(l.fs, l.path(checkpoint.EpochFile), l.epochs)
}

// edit cuts a file to the size that keep finds, and syncs it. A file that is not there,
// or has that size, is left alone.
func (l *Log) edit(name string, keep func(f vfs.File, size int64) (int64, error)) error {
	f, err := l.fs.OpenRW(l.path(name))
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(cutFile(f, keep), f.Close())
}

func cutFile(f vfs.File, keep func(f vfs.File, size int64) (int64, error)) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, err := keep(f, info.Size())
	if err != nil || size == info.Size() {
		return err
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}
