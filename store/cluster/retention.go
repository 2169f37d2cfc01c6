package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"

	"logdir/store"
	"logdir/store/checkpoint"
)

// Limits are the configs of retention where a caller overrides them; nil takes the
// topic's.
type Limits struct{ Bytes, Ms *int64 }

// RetentionOf is what retention may take of a topic. Where cleanup.policy does not say
// delete, that is what lies below the log start; a limit that the caller sets counts
// whatever the policy says.
func (m *Meta) RetentionOf(t *Topic, o Limits, now, highWatermark int64) store.Retention {
	s, r := m.Settings(t), store.LogStartOnly(highWatermark)
	r.Now = now
	if s.Deletes() {
		r.Bytes, r.Ms = s.Int(RetentionBytes), s.Int(RetentionMs)
	}
	if o.Bytes != nil {
		r.Bytes = *o.Bytes
	}
	if o.Ms != nil {
		r.Ms = *o.Ms
	}
	return r
}

// Deletes tells whether cleanup.policy has old segments deleted.
func (s Settings) Deletes() bool { return s.hasPolicy("delete") }

// Compacts tells whether cleanup.policy has the log compacted.
func (s Settings) Compacts() bool { return s.hasPolicy("compact") }

func (s Settings) hasPolicy(policy string) bool {
	return slices.Contains(strings.Split(s.Text(CleanupPolicy), ","), policy)
}

// Retain takes the old segments of one replica away, and tells which. before, if not nil,
// sees the plan first; its error ends the pass with nothing changed.
func (c *Cluster) Retain(ctx context.Context, tp store.TopicPartition, broker int32, o Limits, before func(store.Expiry) error) (plan store.Expiry, err error) {
	err = c.WithReplica(ctx, tp, broker, func(log *store.Log) error {
		topic, err := c.Meta().Topic(tp.Topic)
		if err != nil {
			return err
		}
		mark, err := c.HighWatermark(tp, broker, log.End())
		if err != nil {
			return err
		}
		plan, err = log.PlanRetention(c.Meta().RetentionOf(topic, o, c.Now().UnixMilli(), mark))
		if err != nil || len(plan.Segments) == 0 {
			return err
		}
		if before != nil {
			if err := before(plan); err != nil {
				return err
			}
		}
		return c.expire(ctx, tp, broker, log, plan)
	})
	return plan, err
}

// expire carries a plan out and brings the checkpoints up to it.
func (c *Cluster) expire(ctx context.Context, tp store.TopicPartition, broker int32, log *store.Log, plan store.Expiry) error {
	if err := log.Expire(plan); err != nil {
		return err
	}
	if plan.Roll {
		point, err := log.Flush()
		if err != nil {
			return err
		}
		if err := c.SetRecoveryPoints(ctx, broker, Points{tp: point}); err != nil {
			return err
		}
	}
	return c.settleLogStart(ctx, tp, broker, log)
}

// settleLogStart drops the log start of a replica from the checkpoint where its first
// segment says it already, as brokers do.
func (c *Cluster) settleLogStart(ctx context.Context, tp store.TopicPartition, broker int32, log *store.Log) error {
	if log.Start() > log.FirstBase() {
		return nil
	}
	return c.dropLines(ctx, broker, checkpoint.LogStartFile, map[store.TopicPartition]bool{tp: true})
}

// WithReplica opens broker's replica of a partition for writing, under the partition's
// lock, for the length of do.
func (c *Cluster) WithReplica(ctx context.Context, tp store.TopicPartition, broker int32, do func(*store.Log) error) (err error) {
	lock, err := c.locks.Partition(ctx, tp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.Reload(); err != nil {
		return err
	}
	log, err := c.OpenReplica(ctx, tp, broker)
	if err != nil {
		return err
	}
	return errors.Join(do(log), log.Close())
}

// Deleted is what DeleteRecords came to.
type Deleted struct {
	// LogStart is the leader's log start offset now.
	LogStart int64
	// LowWatermark is the smallest log start of the replicas that are up: followers move
	// theirs when they next fetch.
	LowWatermark int64
	// Segments are those that went, of the leader.
	Segments []store.Expired
}

// DeleteRecords raises the log start offset of a partition's leader, and takes away the
// segments that lie below it. The checkpoint comes first: a crash leaves a log that
// begins at the new start, with segments below it that the next pass takes away.
func (c *Cluster) DeleteRecords(ctx context.Context, tp store.TopicPartition, before int64) (d Deleted, err error) {
	leader, _, err := c.Meta().LeaderOf(tp)
	if err != nil {
		return d, err
	}
	err = c.WithReplica(ctx, tp, leader, func(log *store.Log) error {
		mark, err := c.HighWatermark(tp, leader, log.End())
		if err != nil {
			return err
		}
		if err := CheckDeletion(tp, before, log.Start(), mark); err != nil {
			return err
		}
		if before > log.Start() {
			if err := c.SetLogStarts(ctx, leader, Points{tp: before}); err != nil {
				return err
			}
			if err := log.MoveStart(before); err != nil {
				return err
			}
		}
		plan, err := log.PlanRetention(store.LogStartOnly(mark))
		if err != nil {
			return err
		}
		d.Segments, d.LogStart = plan.Segments, log.Start()
		return c.expire(ctx, tp, leader, log, plan)
	})
	if err != nil {
		return d, err
	}
	d.LowWatermark, err = c.LowWatermark(tp, leader, d.LogStart)
	return d, err
}

// CheckDeletion refuses an offset that is not between the log start, which is to be
// raised, and the high watermark.
func CheckDeletion(tp store.TopicPartition, before, logStart, highWatermark int64) error {
	if before >= logStart && before <= highWatermark {
		return nil
	}
	return store.Errorf(store.NotFound, "OFFSET_OUT_OF_RANGE", "%s: offset %d is out of range, records can be deleted from %d up to the high watermark %d",
		tp, before, logStart, highWatermark)
}

// LowWatermark is the smallest log start offset of the replicas that are up.
func (c *Cluster) LowWatermark(tp store.TopicPartition, leader int32, leaderStart int64) (int64, error) {
	_, p, err := c.Meta().Partition(tp)
	if err != nil {
		return 0, err
	}
	low := leaderStart
	for _, broker := range p.Replicas {
		if broker == leader || !c.Meta().IsUp(broker) {
			continue
		}
		r, err := c.Reader(tp, broker)
		if err != nil {
			return 0, err
		}
		low = min(low, r.Start())
	}
	return low, nil
}
