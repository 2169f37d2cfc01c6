package txn

import (
	"context"
	"errors"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
)

// offsetsTopic is where groups' offsets stand. Like the coordinator's other log it belongs to
// no broker.
const offsetsTopic = "__consumer_offsets"

func isOffsets(tp store.TopicPartition) bool { return tp.Topic == offsetsTopic }

// mark ends a transaction in one partition, unless nothing of it is open there: it was
// ended by a run that died, or never had a record. A topic that is gone needs no marker.
// The followers get it before the end is acknowledged.
func (c *Coordinator) mark(ctx context.Context, tp store.TopicPartition, t Transaction, kind record.ControlType) error {
	err := c.withLog(ctx, tp, func(log *store.Log, epoch int32) error {
		e, ok, err := log.Producer(t.ProducerID)
		if err != nil || !ok || e.TxnFirstOffset < 0 {
			return err
		}
		return appendMarker(log, epoch, t, kind, c.now())
	})
	if gone, ok := errors.AsType[*store.Error](err); ok && gone.Name == unknownPartition {
		return nil
	}
	if err != nil {
		return err
	}
	return c.spread(ctx, tp)
}

// coordinatorEpoch stands in the markers: how often the coordinator moved to another broker,
// which it does not here.
const coordinatorEpoch = 0

func appendMarker(log *store.Log, leaderEpoch int32, t Transaction, kind record.ControlType, now int64) error {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch = t.ProducerID, int32(t.Epoch)
	frame, err := record.AppendEndTxnMarker(nil, m, record.EndTxnMarker{Type: kind, CoordinatorEpoch: coordinatorEpoch}, now)
	if err != nil {
		return err
	}
	_, err = log.Append(frame, leaderEpoch)
	return err
}

// sync makes what a transaction has in a partition survive a power cut.
func (c *Coordinator) sync(ctx context.Context, tp store.TopicPartition) error {
	return c.withLog(ctx, tp, func(*store.Log, int32) error { return nil })
}

// withLog opens the log of a partition's leader, or that of the groups' offsets, under its
// lock, and syncs it behind do.
func (c *Coordinator) withLog(ctx context.Context, tp store.TopicPartition, do func(log *store.Log, leaderEpoch int32) error) error {
	if isOffsets(tp) {
		return c.withOffsets(ctx, tp, do)
	}
	leader, _, err := c.cluster.Meta().LeaderOf(tp)
	if err != nil {
		return err
	}
	return c.cluster.WithReplica(ctx, tp, leader, func(log *store.Log) error {
		now, epoch, err := c.cluster.Meta().LeaderOf(tp)
		if err == nil && now != leader {
			err = store.Errorf(store.Busy, "NOT_LEADER_OR_FOLLOWER", "%s got another leader meanwhile", tp).WithHint("try again")
		}
		if err != nil {
			return err
		}
		if err := do(log, epoch); err != nil {
			return err
		}
		point, err := log.Flush()
		if err != nil {
			return err
		}
		return c.cluster.SetRecoveryPoints(ctx, leader, cluster.Points{tp: point})
	})
}

func (c *Coordinator) withOffsets(ctx context.Context, tp store.TopicPartition, do func(log *store.Log, leaderEpoch int32) error) (err error) {
	side := c.cluster.CoordinatorLog(tp)
	lock, err := side.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := side.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := do(log, 0); err != nil {
		return err
	}
	_, err = log.Flush()
	return err
}
