package replica

import (
	"context"
	"errors"
	"iter"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
)

// unknownBrokerEpoch stands in the mark of a clean stop: only a controller knows epochs of
// brokers.
const unknownBrokerEpoch = -1

// Led counts the partitions that a broker leads.
func Led(m *cluster.Meta, broker int32) int {
	n := 0
	for _, p := range replicasOf(m, broker) {
		if p.LeaderID() == broker {
			n++
		}
	}
	return n
}

// Replicas counts the replicas that a broker has.
func Replicas(m *cluster.Meta, broker int32) int {
	n := 0
	for range replicasOf(m, broker) {
		n++
	}
	return n
}

// replicasOf walks the partitions that have a replica on a broker.
func replicasOf(m *cluster.Meta, broker int32) iter.Seq2[store.TopicPartition, *cluster.Partition] {
	return func(yield func(store.TopicPartition, *cluster.Partition) bool) {
		for _, t := range m.Topics {
			for n, p := range t.Partitions {
				tp := store.TopicPartition{Topic: t.Name, Partition: int32(n)}
				if slices.Contains(p.Replicas, broker) && !yield(tp, p) {
					return
				}
			}
		}
	}
}

// MustBe refuses a broker that is not there, or not in the state (up or not) that a
// command wants.
func MustBe(m *cluster.Meta, id int32, up bool) error {
	b, err := m.Broker(id)
	if err != nil || up == (b.State == cluster.Up) {
		return err
	}
	if up {
		return store.Errorf(store.Refused, "BROKER_NOT_AVAILABLE", "broker %d is %s already", id, b.State).
			WithHint("logdir broker start %d", id)
	}
	return store.Errorf(store.Refused, "DUPLICATE_BROKER_REGISTRATION", "broker %d is up already", id)
}

// Stop ends a broker cleanly. It leaves every ISR but those it is the last of, and what it
// led has no leader. The metadata says so first, which ends new appends; then each log is
// closed as a broker closes it, the checkpoints are written, and the mark of a clean stop
// comes last: a crash in between is one of the broker.
//
// Where a log cannot be closed for damage the others are, the mark is not set, and the
// error says so.
func Stop(ctx context.Context, c *cluster.Cluster, id int32) error {
	soleIn, err := leave(ctx, c, id, cluster.Stopped)
	if err != nil {
		return err
	}
	return closeClean(ctx, c, id, func(tp store.TopicPartition) bool { return soleIn[tp] })
}

// leave takes a broker out of the metadata, and returns the partitions that it led with
// nobody else in sync.
func leave(ctx context.Context, c *cluster.Cluster, id int32, state cluster.BrokerState) (soleIn map[store.TopicPartition]bool, err error) {
	err = c.Update(ctx, func(m *cluster.Meta) error {
		b, err := m.Broker(id)
		if err != nil {
			return err
		}
		if err := MustBe(m, id, true); err != nil {
			return err
		}
		b.State, soleIn = state, map[store.TopicPartition]bool{}
		for tp, p := range replicasOf(m, id) {
			soleIn[tp] = isSole(p, id)
			if p.LeaderID() == id {
				p.Lead(store.NoBroker)
			}
			if len(p.ISR) > 1 {
				p.LeaveISR(id)
			}
		}
		return nil
	})
	if err == nil {
		logBroker(c, string(state), id)
	}
	return soleIn, err
}

// isSole tells whether a broker leads a partition with nobody else in sync: then its high
// watermark is its log end, and stands nowhere.
func isSole(p *cluster.Partition, id int32) bool { return p.LeaderID() == id && p.Alone() }

// closeClean closes all logs of a broker and notes how far they are synced and seen. sole
// is asked under the partition's lock.
func closeClean(ctx context.Context, c *cluster.Cluster, id int32, sole func(store.TopicPartition) bool) error {
	points, marks := cluster.Points{}, cluster.Points{}
	var errs []error
	for tp := range replicasOf(c.Meta(), id) {
		errs = append(errs, withLog(ctx, c, tp, id, func(log *store.Log) error {
			end, err := log.CloseClean()
			if err != nil {
				return err
			}
			points[tp] = end
			if sole(tp) {
				marks[tp] = end
			}
			return nil
		}))
	}
	errs = append(errs, c.Hold(ctx, id), c.SetRecoveryPoints(ctx, id, points), c.SetHighWatermarks(ctx, id, marks))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return checkpoint.WriteCleanShutdown(c.FS(), c.BrokerDir(id), unknownBrokerEpoch)
}

// withLog opens a replica's log, whose broker may be down, under the partition's lock.
func withLog(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, id int32, do func(*store.Log) error) (err error) {
	lock, err := c.Locks().Partition(ctx, tp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.Reload(); err != nil {
		return err
	}
	log, err := c.OpenOffline(ctx, tp, id)
	if err != nil {
		return err
	}
	return errors.Join(do(log), log.Close())
}

// Restart stops and starts a broker so fast that nobody noticed: ISR and leaders stay.
func Restart(ctx context.Context, c *cluster.Cluster, id int32) error {
	if err := MustBe(c.Meta(), id, true); err != nil {
		return err
	}
	err := closeClean(ctx, c, id, func(tp store.TopicPartition) bool {
		_, p, err := c.Meta().Partition(tp)
		return err == nil && isSole(p, id)
	})
	if err != nil {
		return err
	}
	logBroker(c, "restarted", id)
	return errors.Join(checkpoint.RemoveCleanShutdown(c.FS(), c.BrokerDir(id)), cutToMarks(ctx, c, id))
}
