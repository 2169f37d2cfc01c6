package store

import (
	"errors"
	"log/slog"

	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
)

// indexBytes is Kafka's segment.index.bytes: index files of that size are full.
const indexBytes = 10 << 20

// rollDue tells whether the frame must begin a new segment (Kafka: shouldRoll).
func (w *writer) rollDue(b *record.Batch) bool {
	l := w.log
	size := l.active.Size() + int64(len(w.run))
	if size == 0 {
		return w.firstOffset(b) > w.next // a follower's log may begin anywhere
	}
	return size > l.config.SegmentBytes-int64(b.Size()) ||
		b.LastOffset()-l.active.Base() > index.MaxRelativeOffset ||
		l.config.Format != record.MKB1 && (w.tooOld(b) || l.active.IndexFull(indexBytes))
}

// tooOld tells whether the segment's records would span more than segment.ms. Event time
// counts: an old timestamp never rolls, one far ahead rolls every append.
func (w *writer) tooOld(b *record.Batch) bool {
	first := w.log.active.FirstTimestamp()
	if w.log.active.Size() == 0 {
		first = w.firstInRun
	}
	return first >= 0 && b.MaxTimestamp()-first > w.log.config.SegmentMs
}

// roll writes what belongs in the old segment and begins the new one at offset base.
func (w *writer) roll(base int64) error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.log.rollTo(base); err != nil {
		w.broken = true
		return err
	}
	return nil
}

// Roll closes the active segment and begins a new one at the log end. An empty active
// segment is left alone, and the result is false.
func (l *Log) Roll() (bool, error) {
	if err := l.ready(); err != nil {
		return false, err
	}
	if l.active.Size() == 0 {
		return false, nil
	}
	if err := l.rollTo(l.End()); err != nil {
		return false, l.fail(err)
	}
	return true, l.look()
}

// rollTo leaves the old segment as an inactive one is (exact index files, the last time
// entry, synced), writes the snapshot, and only then makes the new segment: a crash in
// between leaves a log that simply has not rolled yet.
func (l *Log) rollTo(base int64) error {
	if l.active.Size() == 0 {
		return l.replaceEmpty(base)
	}
	if err := l.active.Finish(); err != nil {
		return err
	}
	if l.config.Fsync != FsyncNever {
		if _, err := l.flush(); err != nil {
			return err
		}
	}
	if err := l.saveProducers(); err != nil {
		return err
	}
	return l.begin(base)
}

// begin makes the segment at base the active one.
func (l *Log) begin(base int64) error {
	if err := l.let(); err != nil {
		return err
	}
	l.bases = append(l.bases, base)
	if err := l.openActive(); err != nil {
		return err
	}
	l.info("roll", slog.Int64("base_offset", base))
	return nil
}

// replaceEmpty moves the base offset of an empty active segment, as a follower does
// whose leader's log begins higher up.
func (l *Log) replaceEmpty(base int64) error {
	old := l.active.Base()
	l.bases = l.bases[:len(l.bases)-1]
	if err := l.begin(base); err != nil {
		return err
	}
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
		if err := removeIfThere(l.fs, l.path(segment.FileName(old, suffix))); err != nil {
			return err
		}
	}
	return l.fs.SyncDir(l.dir)
}

// Flush syncs everything that was appended, also by other commands that did not sync:
// all segments from the recovery point on. All offsets below the result survive a power
// cut: it is the new recovery point.
func (l *Log) Flush() (recoveryPoint int64, err error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	return l.flush()
}

func (l *Log) flush() (int64, error) {
	if err := l.syncAll(); err != nil {
		// What the system could not write it may have dropped: to try again and find
		// nothing left to write would be taken for success.
		l.dead = err
		return 0, err
	}
	l.config.RecoveryPoint = l.End()
	return l.End(), nil
}

func (l *Log) syncAll() error {
	for i, base := range l.bases[:len(l.bases)-1] {
		if l.bases[i+1] <= l.config.RecoveryPoint {
			continue
		}
		if err := l.syncClosed(base); err != nil {
			return err
		}
	}
	return l.active.Sync()
}

// syncClosed syncs the files of a segment that is not active.
func (l *Log) syncClosed(base int64) error {
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
		if err := l.syncFile(segment.FileName(base, suffix)); err != nil {
			return err
		}
	}
	return l.fs.SyncDir(l.dir)
}

func (l *Log) syncFile(name string) error {
	f, err := l.fs.OpenRW(l.path(name))
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close lets go of the files. It syncs nothing; see Flush.
func (l *Log) Close() error {
	if l.active == nil || l.dead != nil {
		return l.let()
	}
	var err error
	if l.producers != nil && l.replayed > snapshotAfter {
		err = errors.Join(l.saveProducers(), l.tidySnapshots())
	}
	return errors.Join(err, l.let())
}

// CloseClean leaves the partition as a broker leaves it at a clean stop: index files of
// exact size with the last time entry, a producer snapshot at the log end, all synced.
// The result is the recovery point.
func (l *Log) CloseClean() (recoveryPoint int64, err error) {
	if err := l.ready(); err != nil {
		return 0, err
	}
	if err := l.active.Finish(); err != nil {
		return 0, l.fail(err)
	}
	end, err := l.flush()
	if err != nil {
		return 0, l.fail(err)
	}
	if err := errors.Join(l.saveProducers(), l.tidySnapshots(), l.fs.SyncDir(l.dir)); err != nil {
		return 0, l.fail(err)
	}
	return end, l.let()
}
