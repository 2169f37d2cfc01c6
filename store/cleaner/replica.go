package cleaner

import (
	"context"
	"errors"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// Replica is one replica of a partition in a cluster, to be compacted.
type Replica struct {
	Cluster *cluster.Cluster
	store.TopicPartition
	Broker int32
	// DeleteRetentionMs takes the place of delete.retention.ms, if not nil.
	DeleteRetentionMs *int64
	// DryRun only counts.
	DryRun bool
}

// Compact makes one pass. The long part, reading and writing beside, holds no lock of the
// partition, so that producers go on; for the rest swap is called under it, with the
// moves that put the result in place. It must call Promote on the result before the first
// of them, and note the result's FirstDirty in the checkpoint behind the last.
func (p Replica) Compact(ctx context.Context, swap func(*Result) error) (r *Result, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.DryRun {
		return p.clean(ctx)
	}
	if err := p.Cluster.Hold(ctx, p.Broker); err != nil {
		return nil, err
	}
	lock, err := p.Cluster.Locks().Named(ctx, "cleaner."+p.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if r, err = p.clean(ctx); err != nil {
		return nil, err
	}
	if !r.Changed && !r.Advanced {
		return r, nil
	}
	return r, p.install(ctx, r, swap)
}

// check refuses topics that are not to be compacted: there a pass would throw away records
// that nobody wants gone.
func (p Replica) check() error {
	topic, err := p.Cluster.Meta().Topic(p.Topic)
	if err != nil {
		return err
	}
	if !p.Cluster.Meta().Settings(topic).Compacts() {
		return store.Errorf(store.Refused, "POLICY_VIOLATION", "%s is not compacted: its cleanup.policy is %s",
			p.Topic, p.Cluster.Meta().Settings(topic).Text(cluster.CleanupPolicy)).
			WithHint("logdir topic alter %s -c cleanup.policy=compact", p.Topic)
	}
	config, err := p.Cluster.LogConfig(p.TopicPartition)
	if err == nil && config.Format != record.V2 {
		err = store.Errorf(store.Refused, "UNSUPPORTED_FOR_MESSAGE_FORMAT", "%s is in format %s, which has no compaction", p.Topic, config.Format)
	}
	return err
}

func (p Replica) clean(ctx context.Context) (*Result, error) {
	log, err := p.Cluster.Reader(p.TopicPartition, p.Broker)
	if err != nil {
		return nil, err
	}
	if log.Swapping() {
		return nil, store.RefuseSwap(p.TopicPartition)
	}
	o, err := p.options(log)
	if err != nil {
		return nil, err
	}
	r, err := Clean(ctx, p.Cluster.FS(), log, o)
	if bad, ok := errors.AsType[*corrupt.Error](err); ok {
		err = store.DamageFound(bad, p.TopicPartition)
	}
	return r, err
}

func (p Replica) options(log *store.LogReader) (o Options, err error) {
	c := p.Cluster
	topic, err := c.Meta().Topic(p.Topic)
	if err != nil {
		return o, err
	}
	end, _, err := log.End()
	if err != nil {
		return o, err
	}
	s := c.Meta().Settings(topic)
	o = Options{
		DeleteRetentionMs: s.Int(cluster.DeleteRetentionMs), SegmentBytes: s.Int(cluster.SegmentBytes),
		IndexInterval: int(max(s.Int(cluster.IndexInterval), 1)), Now: c.Now().UnixMilli(), DryRun: p.DryRun,
	}
	if p.DeleteRetentionMs != nil {
		o.DeleteRetentionMs = *p.DeleteRetentionMs
	}
	if o.HighWatermark, err = c.HighWatermark(p.TopicPartition, p.Broker, end); err != nil {
		return o, err
	}
	o.FirstDirty, _, err = c.Checkpointed(p.Broker, checkpoint.CleanerFile, p.TopicPartition)
	return o, err
}

// install has the result put in place under the locks of the partition and of the broker's
// checkpoints, if the log is still as the pass read it.
func (p Replica) install(ctx context.Context, r *Result, swap func(*Result) error) (err error) {
	lock, err := p.Cluster.Locks().Partition(ctx, p.TopicPartition)
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	points, err := p.Cluster.Locks().Checkpoints(ctx, p.Broker)
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	defer func() { err = errors.Join(err, points.Close()) }()
	same, err := r.Unchanged()
	if err == nil && !same {
		err = store.Errorf(store.Busy, "", "%s: its closed segments changed while they were compacted", p.TopicPartition).WithHint("try again")
	}
	if err != nil {
		return errors.Join(err, r.Discard())
	}
	return swap(r)
}
