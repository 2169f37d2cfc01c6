package replica

import (
	"context"
	"errors"
	"log/slog"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// Repair brings the logs of a broker in order after a crash, and counts the replicas that
// needed it. Damage that it leaves is an error.
type Repair func(ctx context.Context) (repaired int, err error)

// Started is how a broker came up.
type Started struct {
	// Clean says that it had been stopped cleanly, and nothing was looked at.
	Clean    bool
	Repaired int
}

// Start brings a broker up. Without the mark of a clean stop its logs are repaired first;
// with an error the broker stays down. It joins an ISR again only after a round that it
// catches up in, but leads again, with the next epoch, what only it was in sync for.
func Start(ctx context.Context, c *cluster.Cluster, id int32, repair Repair) (Started, error) {
	if err := MustBe(c.Meta(), id, false); err != nil {
		return Started{}, err
	}
	s, err := wake(ctx, c, id, repair)
	if err != nil {
		return s, err
	}
	led, err := enter(ctx, c, id)
	if err != nil {
		return s, err
	}
	logBroker(c, "up", id, slog.Bool("clean", s.Clean), slog.Int("repaired", s.Repaired), slog.Int("leads_again", len(led)))
	errs := []error{cutToMarks(ctx, c, id)}
	for _, tp := range led {
		errs = append(errs, leadLocked(ctx, c, tp, id))
	}
	return s, errors.Join(errs...)
}

// wake does what comes before anybody else sees the broker. The mark goes before the logs
// are looked at, as in Kafka: a crash in here is one of the broker.
func wake(ctx context.Context, c *cluster.Cluster, id int32, repair Repair) (s Started, err error) {
	_, s.Clean, err = checkpoint.ReadCleanShutdown(c.FS(), c.BrokerDir(id))
	if err != nil {
		return s, err
	}
	if err := makeMissing(ctx, c, id); err != nil {
		return s, err
	}
	if s.Clean {
		return s, errors.Join(c.Hold(ctx, id), checkpoint.RemoveCleanShutdown(c.FS(), c.BrokerDir(id)))
	}
	if s.Repaired, err = repair(ctx); err != nil {
		return s, err
	}
	return s, errors.Join(c.Hold(ctx, id), lowerMarks(ctx, c, id))
}

// makeMissing makes the folders of replicas that are not there, as a broker does whose disk
// was replaced. One that nobody else is in sync for is not made: the broker would lead an
// empty log, and everybody would follow it.
func makeMissing(ctx context.Context, c *cluster.Cluster, id int32) error {
	gone := map[store.TopicPartition]bool{}
	for tp, p := range replicasOf(c.Meta(), id) {
		there, err := vfs.Exists(c.FS(), c.ReplicaDir(tp, id))
		if err != nil {
			return err
		}
		if there {
			continue
		}
		if leadsAgain(p, id) {
			return store.Errorf(store.Refused, "KAFKA_STORAGE_ERROR", "broker %d has lost its replica of %s, and nobody else is in sync", id, tp).
				WithHint("put the folder %s back, or elect who has less: logdir promote %s --to BROKER --unclean", tp.Dir(), tp)
		}
		if err := makeReplica(c, tp, id); err != nil {
			return err
		}
		gone[tp] = true
	}
	if len(gone) == 0 {
		return nil
	}
	return errors.Join(c.FS().SyncDir(c.BrokerDir(id)), c.DropCheckpoints(ctx, id, gone))
}

func makeReplica(c *cluster.Cluster, tp store.TopicPartition, id int32) error {
	topic, err := c.Meta().Topic(tp.Topic)
	if err != nil {
		return err
	}
	topicID, err := checkpoint.ParseUUID(topic.ID)
	if err != nil {
		return err
	}
	config, err := c.LogConfig(tp)
	if err != nil {
		return err
	}
	return store.CreatePartition(c.FS(), c.ReplicaDir(tp, id), topicID, config.Format)
}

// leadsAgain tells whether a broker that comes up leads a partition.
func leadsAgain(p *cluster.Partition, id int32) bool {
	return p.Leader == nil && len(p.ISR) == 1 && p.InSync(id)
}

// lowerMarks brings the checkpoints down to log ends that a crash moved back: later
// records must not seem to have been seen or synced already.
func lowerMarks(ctx context.Context, c *cluster.Cluster, id int32) error {
	marks, points, starts := cluster.Points{}, cluster.Points{}, cluster.Points{}
	for tp := range replicasOf(c.Meta(), id) {
		_, at, err := look(c, tp, id, c.LockedReader)
		if err != nil {
			return err
		}
		if err := lower(c, id, checkpoint.HighWatermarkFile, tp, at.end, marks); err != nil {
			return err
		}
		if err := lower(c, id, checkpoint.RecoveryPointFile, tp, at.end, points); err != nil {
			return err
		}
		if err := lower(c, id, checkpoint.LogStartFile, tp, at.end, starts); err != nil {
			return err
		}
	}
	return errors.Join(c.SetHighWatermarks(ctx, id, marks), c.SetRecoveryPoints(ctx, id, points), c.SetLogStarts(ctx, id, starts))
}

func lower(c *cluster.Cluster, id int32, file string, tp store.TopicPartition, end int64, into cluster.Points) error {
	offset, known, err := c.Checkpointed(id, file, tp)
	if known && offset > end {
		into[tp] = end
	}
	return err
}

// enter publishes that the broker is up, and returns what it leads again.
func enter(ctx context.Context, c *cluster.Cluster, id int32) (led []store.TopicPartition, err error) {
	err = c.Update(ctx, func(m *cluster.Meta) error {
		b, err := m.Broker(id)
		if err != nil {
			return err
		}
		b.State, led = cluster.Up, nil
		for tp, p := range replicasOf(m, id) {
			if leadsAgain(p, id) {
				p.Lead(id)
				p.LeaderEpoch++
				led = append(led, tp)
			}
		}
		return nil
	})
	return led, err
}

// leadLocked is lead under the partition's lock, if the broker leads it still.
func leadLocked(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, id int32) (err error) {
	lock, err := c.Locks().Partition(ctx, tp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.Reload(); err != nil {
		return err
	}
	if leader, _, err := c.Meta().LeaderOf(tp); err != nil || leader != id {
		return err
	}
	return lead(ctx, c, tp, id)
}

// cutToMarks is what a follower under logdir.truncation=hw does when it comes up: before
// it has asked anybody, it cuts its log at its own high watermark.
func cutToMarks(ctx context.Context, c *cluster.Cluster, id int32) error {
	var errs []error
	meta := c.Meta()
	for tp, p := range replicasOf(meta, id) {
		topic, err := meta.Topic(tp.Topic)
		if err != nil {
			return err
		}
		if p.LeaderID() == id || meta.Settings(topic).Text(cluster.Truncation) != CutByMark {
			continue
		}
		errs = append(errs, withLog(ctx, c, tp, id, func(log *store.Log) error { return cutToMark(ctx, c, tp, id, log) }))
	}
	return errors.Join(errs...)
}

func cutToMark(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, id int32, log *store.Log) error {
	mark, _, err := c.Checkpointed(id, checkpoint.HighWatermarkFile, tp)
	if err != nil || mark >= log.End() {
		return err
	}
	mark = max(mark, log.Start())
	if err := c.LowerCheckpoints(ctx, id, tp, mark); err != nil {
		return err
	}
	_, err = cutLog(log, mark)
	return err
}

// TryStart is Start that writes nothing; repair must not either.
func TryStart(ctx context.Context, c *cluster.Cluster, id int32, repair Repair) (s Started, err error) {
	if err := MustBe(c.Meta(), id, false); err != nil {
		return s, err
	}
	_, s.Clean, err = checkpoint.ReadCleanShutdown(c.FS(), c.BrokerDir(id))
	if err == nil && !s.Clean {
		s.Repaired, err = repair(ctx)
	}
	return s, err
}
