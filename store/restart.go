package store

import (
	"log/slog"

	"logdir/store/checkpoint"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// RestartAt throws all records away and lets the log begin at offset, as a follower does
// whose leader has nothing that joins on to its log (Kafka: truncateFullyAndStartAt). A
// crash inside leaves a log that ends at a batch somewhere before, or an empty one.
func (l *Log) RestartAt(offset int64) error {
	all, err := l.planAll()
	if err != nil {
		return err
	}
	if err := l.Truncate(all); err != nil {
		return err
	}
	if err := l.forget(); err != nil {
		return l.fail(err)
	}
	l.config.LogStart, l.config.RecoveryPoint = offset, offset
	if offset != l.active.Base() {
		if err := l.replaceEmpty(offset); err != nil {
			return l.fail(err)
		}
	}
	l.info("restart", slog.Int64("log_start", offset))
	return l.look()
}

// planAll is the cut that leaves the first segment, empty.
func (l *Log) planAll() (Truncation, error) {
	if err := l.ready(); err != nil {
		return Truncation{}, err
	}
	if err := l.relist(); err != nil {
		return Truncation{}, err
	}
	first := l.bases[0]
	t := Truncation{End: first, Base: first, Dropped: append([]int64(nil), l.bases[1:]...)}
	size, err := vfs.Size(l.fs, l.path(segment.FileName(first, segment.LogSuffix)))
	t.Cut = size
	return t, err
}

// forget removes what is known of producers and leader epochs.
func (l *Log) forget() error {
	l.producers = nil
	if err := l.dropSnapshots(-1); err != nil {
		return err
	}
	if err := l.fs.SyncDir(l.dir); err != nil || len(l.epochs) == 0 {
		return err
	}
	l.epochs = nil
	return checkpoint.WriteEpochs(l.fs, l.path(checkpoint.EpochFile), nil)
}
