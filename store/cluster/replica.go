package cluster

import (
	"context"
	"errors"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
)

// OpenReplica opens broker's replica of a partition for writing. The caller holds the
// partition's lock. The broker must be up; its .lock is taken, shared, until Close.
func (c *Cluster) OpenReplica(ctx context.Context, tp store.TopicPartition, broker int32) (*store.Log, error) {
	if !c.Meta().IsUp(broker) {
		return nil, store.Errorf(store.Refused, "BROKER_NOT_AVAILABLE", "broker %d is not up", broker).
			WithHint("logdir broker start %d", broker)
	}
	return c.OpenOffline(ctx, tp, broker)
}

// OpenOffline is OpenReplica for a broker that may be down: on its way there, or back.
func (c *Cluster) OpenOffline(ctx context.Context, tp store.TopicPartition, broker int32) (*store.Log, error) {
	config, err := c.LogConfig(tp)
	if err != nil {
		return nil, err
	}
	if err := c.Hold(ctx, broker); err != nil {
		return nil, err
	}
	if config.LogStart, _, err = c.Checkpointed(broker, checkpoint.LogStartFile, tp); err != nil {
		return nil, err
	}
	if config.RecoveryPoint, _, err = c.Checkpointed(broker, checkpoint.RecoveryPointFile, tp); err != nil {
		return nil, err
	}
	config.DataDir = c.path
	config.Name = filepath.Join(filepath.Base(c.BrokerDir(broker)), tp.Dir())
	return store.OpenLog(c.fs, c.ReplicaDir(tp, broker), config)
}

// Roll closes the active segment of a replica and begins a new one at the log end, whose
// base offset it returns. An empty one is left alone.
func (c *Cluster) Roll(ctx context.Context, tp store.TopicPartition, broker int32) (base int64, rolled bool, err error) {
	lock, err := c.locks.Partition(ctx, tp)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.Reload(); err != nil {
		return 0, false, err
	}
	log, err := c.OpenReplica(ctx, tp, broker)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if rolled, err = log.Roll(); err != nil || !rolled {
		return 0, false, err
	}
	point, err := log.Flush()
	if err != nil {
		return 0, false, err
	}
	return log.End(), true, c.SetRecoveryPoints(ctx, broker, Points{tp: point})
}

// Hold keeps real brokers out of a log dir until Close, and takes away the mark of a
// clean stop: from here on that log dir changes. Once per broker.
func (c *Cluster) Hold(ctx context.Context, broker int32) error {
	return c.hold(ctx, c.BrokerDir(broker))
}

func (c *Cluster) hold(ctx context.Context, dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[dir] != nil {
		return nil
	}
	lock, err := store.LockBroker(ctx, c.fs, dir, false, c.o.LockTimeout)
	if err != nil {
		return err
	}
	c.held[dir] = lock
	return checkpoint.RemoveCleanShutdown(c.fs, dir)
}

// LogConfig is how the logs of a topic are written.
func (c *Cluster) LogConfig(tp store.TopicPartition) (store.Config, error) {
	meta := c.Meta()
	t, err := meta.Topic(tp.Topic)
	if err != nil {
		return store.Config{}, err
	}
	s := meta.Settings(t)
	return store.Config{
		TopicPartition: tp,
		Format:         s.format(),
		SegmentBytes:   s.Int(SegmentBytes),
		SegmentMs:      s.Int(SegmentMs),
		// An interval of 0 indexes what 1 does: every batch but the first.
		IndexInterval:   int(max(s.Int(IndexInterval), 1)),
		MaxMessageBytes: int(s.Int(MaxMessageBytes)),
		DedupWindow:     int(s.Int(DedupWindow)),
		Fsync:           c.o.Fsync,
		Now:             c.o.Now,
		Log:             c.o.Log,
		Fail:            c.o.Fail,
	}, nil
}

// Reader opens broker's replica of a partition for reading.
func (c *Cluster) Reader(tp store.TopicPartition, broker int32) (*store.LogReader, error) {
	return c.reader(tp, broker, func() bool {
		held, err := c.locks.PartitionHeld(tp)
		return err == nil && held
	})
}

// LockedReader is Reader for who holds the partition's lock: nothing is on its way then,
// and a torn end is damage.
func (c *Cluster) LockedReader(tp store.TopicPartition, broker int32) (*store.LogReader, error) {
	return c.reader(tp, broker, nil)
}

func (c *Cluster) reader(tp store.TopicPartition, broker int32, writing func() bool) (*store.LogReader, error) {
	start, _, err := c.Checkpointed(broker, checkpoint.LogStartFile, tp)
	if err != nil {
		return nil, err
	}
	return store.OpenReader(c.fs, c.ReplicaDir(tp, broker), store.ReaderOptions{LogStart: start, Writing: writing})
}

// HighWatermark is what broker knows as the high watermark of a partition whose log
// ends there at logEnd: its log end if it leads and is the whole ISR, else what its
// checkpoint says, never more than logEnd, nor less than the log start offset.
func (c *Cluster) HighWatermark(tp store.TopicPartition, broker int32, logEnd int64) (int64, error) {
	_, p, err := c.Meta().Partition(tp)
	if err != nil {
		return 0, err
	}
	if p.LeaderID() == broker && p.Alone() {
		return logEnd, nil
	}
	hw, _, err := c.Checkpointed(broker, checkpoint.HighWatermarkFile, tp)
	if err != nil {
		return 0, err
	}
	start, _, err := c.Checkpointed(broker, checkpoint.LogStartFile, tp)
	return min(max(hw, start), logEnd), err
}
