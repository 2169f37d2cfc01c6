package cleaner

import (
	"context"
	"errors"
	"log/slog"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
)

// Upkeep keeps a log of the coordinator small, as a broker's cleaner does in the background:
// its topics have cleanup.policy=compact.
type Upkeep struct {
	Cluster *cluster.Cluster
	Side    *cluster.SideLog
	// Keep, unless nil, is called before a pass, when nobody can append any more, and tells
	// which records the log needs although newer ones have their keys.
	Keep func() (func(*record.Record) bool, error)
}

// deleteRetentionMs is Kafka's default of delete.retention.ms, which these topics have.
const deleteRetentionMs = 24 * 3600 * 1000

// Do makes a pass over the log if one is due: as soon as the active segment is large, and at
// least half of the log was never compacted (min.cleanable.dirty.ratio). The active
// segment is rolled for it. What an earlier pass left when it died is settled first.
//
// The caller holds the log's lock and has it open. The old bytes are not kept. A crash
// leaves the records that there were, or those that stay.
func (u *Upkeep) Do(ctx context.Context, log *store.Log) error {
	if err := log.Settle(); err != nil {
		return err
	}
	if log.ActiveSize() < u.Cluster.CoordinatorBytes() {
		return nil
	}
	first, err := u.Side.Cleaned()
	if err != nil {
		return err
	}
	if due, err := u.due(first); err != nil || !due {
		return err
	}
	// All that the pass reads is synced before, also where nothing else ever is.
	if _, err := log.Flush(); err != nil {
		return err
	}
	if _, err := log.Roll(); err != nil {
		return err
	}
	if err := u.pass(ctx, log, first); err != nil {
		log.Unsettled() // whoever goes on after the error ends first what was begun
		return err
	}
	return nil
}

// due tells whether at least half of the log is dirty.
func (u *Upkeep) due(firstDirty int64) (bool, error) {
	r, err := u.Side.Reader()
	if r == nil || err != nil {
		return false, err
	}
	var s survey
	if err := s.list(u.Cluster.FS(), r.Dir(), r.Segments()); err != nil {
		return false, err
	}
	dirty, firstDirty := s.active.size, s.firstDirty(firstDirty)
	for _, g := range s.sources {
		if g.base >= firstDirty {
			dirty += g.size
		}
	}
	return 2*dirty >= s.bytes, nil
}

// pass compacts the closed segments.
func (u *Upkeep) pass(ctx context.Context, log *store.Log, firstDirty int64) error {
	o := Options{
		HighWatermark: log.End(), FirstDirty: firstDirty, DeleteRetentionMs: deleteRetentionMs,
		SegmentBytes: log.Config().SegmentBytes, IndexInterval: index.DefaultInterval,
		Now: u.Cluster.Now().UnixMilli(),
	}
	var err error
	if u.Keep != nil {
		if o.Keep, err = u.Keep(); err != nil {
			return err
		}
	}
	reader, err := u.Side.Reader()
	if err != nil {
		return err
	}
	r, err := Clean(ctx, u.Cluster.FS(), reader, o)
	if bad, ok := errors.AsType[*corrupt.Error](err); ok {
		err = store.DamageFound(bad, u.Side.TopicPartition())
	}
	if err != nil {
		return err
	}
	if r.Changed {
		if err := r.Install(); err != nil {
			return err
		}
	}
	tp := u.Side.TopicPartition()
	u.Cluster.Info("partition", "compact", slog.String("topic", tp.Topic), slog.Int("partition", int(tp.Partition)),
		slog.Int64("bytes_before", r.BytesBefore), slog.Int64("bytes_after", r.BytesAfter))
	return u.Side.SetCleaned(ctx, r.FirstDirty)
}
