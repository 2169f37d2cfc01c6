package cluster

import (
	"context"
	"errors"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
)

// Points are offsets of partitions, as the lines of an offset checkpoint.
type Points map[store.TopicPartition]int64

// SetRecoveryPoints notes how far each partition of a broker is synced, in its
// recovery-point-offset-checkpoint: once at the end of a command that synced.
func (c *Cluster) SetRecoveryPoints(ctx context.Context, broker int32, points Points) error {
	return c.setCheckpoint(ctx, broker, checkpoint.RecoveryPointFile, points)
}

// SetHighWatermarks notes high watermarks in a broker's replication-offset-checkpoint.
func (c *Cluster) SetHighWatermarks(ctx context.Context, broker int32, marks Points) error {
	return c.setCheckpoint(ctx, broker, checkpoint.HighWatermarkFile, marks)
}

// SetLogStarts notes log start offsets in a broker's log-start-offset-checkpoint. One
// that is not above its partition's first segment should be left out (see
// DropCheckpoints), as brokers do.
func (c *Cluster) SetLogStarts(ctx context.Context, broker int32, starts Points) error {
	return c.setCheckpoint(ctx, broker, checkpoint.LogStartFile, starts)
}

// setCheckpoint changes lines of one checkpoint file. It writes nothing if they say so
// already.
func (c *Cluster) setCheckpoint(ctx context.Context, broker int32, file string, points Points) error {
	if len(points) == 0 {
		return nil
	}
	return c.editCheckpoint(ctx, broker, file, func(lines checkpoint.Offsets) (checkpoint.Offsets, bool) {
		changed := false
		seen := make(map[store.TopicPartition]bool, len(points))
		for i, l := range lines {
			tp := store.TopicPartition{Topic: l.Topic, Partition: l.Partition}
			if offset, ok := points[tp]; ok {
				seen[tp] = true
				changed = changed || l.Offset != offset
				lines[i].Offset = offset
			}
		}
		for tp, offset := range points {
			if !seen[tp] {
				changed = true
				lines = append(lines, checkpoint.OffsetEntry{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
			}
		}
		return lines, changed
	})
}

// LowerCheckpoints brings the recovery point, the high watermark, the log start and the
// cleaner's point of a broker's replica down to end, where they are above: what lies beyond
// is gone.
func (c *Cluster) LowerCheckpoints(ctx context.Context, broker int32, tp store.TopicPartition, end int64) error {
	lower := func(lines checkpoint.Offsets) (checkpoint.Offsets, bool) {
		at, ok := lines.Get(tp.Topic, tp.Partition)
		if !ok || at <= end {
			return lines, false
		}
		lines.Set(tp.Topic, tp.Partition, end)
		return lines, true
	}
	return errors.Join(
		c.editCheckpoint(ctx, broker, checkpoint.RecoveryPointFile, lower),
		c.editCheckpoint(ctx, broker, checkpoint.HighWatermarkFile, lower),
		c.editCheckpoint(ctx, broker, checkpoint.LogStartFile, lower),
		c.editCheckpoint(ctx, broker, checkpoint.CleanerFile, lower))
}

// DropCheckpoints takes partitions out of all of a broker's checkpoint files.
func (c *Cluster) DropCheckpoints(ctx context.Context, broker int32, gone map[store.TopicPartition]bool) error {
	var err error
	for _, file := range checkpoint.OffsetFiles {
		err = errors.Join(err, c.dropLines(ctx, broker, file, gone))
	}
	return err
}

func (c *Cluster) dropLines(ctx context.Context, broker int32, file string, gone map[store.TopicPartition]bool) error {
	return c.editCheckpoint(ctx, broker, file, func(lines checkpoint.Offsets) (checkpoint.Offsets, bool) {
		kept := lines[:0]
		for _, l := range lines {
			if !gone[store.TopicPartition{Topic: l.Topic, Partition: l.Partition}] {
				kept = append(kept, l)
			}
		}
		return kept, len(kept) < len(lines)
	})
}

// editCheckpoint rewrites one checkpoint file of a broker under its lock, keeping all
// lines that edit keeps, in sorted order.
func (c *Cluster) editCheckpoint(ctx context.Context, broker int32, file string, edit func(checkpoint.Offsets) (checkpoint.Offsets, bool)) (err error) {
	lock, err := c.locks.Checkpoints(ctx, broker)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	name := filepath.Join(c.BrokerDir(broker), file)
	lines, err := checkpoint.ReadOffsets(c.fs, name)
	if err != nil {
		return err
	}
	lines, changed := edit(lines)
	if !changed {
		return nil
	}
	lines.Sort()
	return checkpoint.WriteOffsets(c.fs, name, lines)
}

// Checkpointed reads one line of a checkpoint file of a broker; ok is false if the
// partition has none, and the offset then 0.
func (c *Cluster) Checkpointed(broker int32, file string, tp store.TopicPartition) (offset int64, ok bool, err error) {
	lines, err := checkpoint.ReadOffsets(c.fs, filepath.Join(c.BrokerDir(broker), file))
	if err != nil {
		return 0, false, err
	}
	offset, ok = lines.Get(tp.Topic, tp.Partition)
	return offset, ok, nil
}
