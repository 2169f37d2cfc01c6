package deadletter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// Status is how a queue stands.
type Status struct {
	store.TopicPartition
	// Records counts all that are there, Pending those that were not retried with success.
	Records, Pending int64
	// Damage is what stands at the end of the queue instead of a batch, nil if nothing does;
	// the counts are of what is before.
	Damage error
}

// List tells of all queues that there are, by topic and partition.
func List(c *cluster.Cluster) ([]Status, error) {
	entries, err := c.FS().ReadDir(filepath.Join(c.Path(), cluster.DLQDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, e := range entries {
		d, ok := segment.ParsePartitionDir(e.Name())
		if !ok || !e.IsDir() || d.State != segment.Normal {
			continue
		}
		s, err := Open(c, d.Topic).Status(d.Partition)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return a.Compare(b.TopicPartition) })
	return all, nil
}

// Status tells of the queue of one partition. Nothing is there if there is no queue.
func (q *Queue) Status(partition int32) (Status, error) {
	s := Status{TopicPartition: q.partition(partition)}
	log, err := q.log(partition).Reader()
	if log == nil || err != nil {
		return s, err
	}
	end, damage, err := log.End()
	if err != nil || len(log.Segments()) == 0 {
		return s, err
	}
	s.Records, s.Pending = end-log.Segments()[0], end-log.Start()
	if damage != nil {
		s.Damage = q.damaged(damage, partition)
	}
	return s, nil
}

// damaged names damage in a queue, and the way on.
func (q *Queue) damaged(d *corrupt.Error, partition int32) error {
	tp := q.partition(partition)
	return store.DamageFound(d, tp).WithHint("logdir recover --dry-run -d %s %s", q.log(partition).Folder(), tp)
}

// Reader opens the queue of a partition for reading; nil if there is none.
func (q *Queue) Reader(partition int32) (*store.LogReader, error) { return q.log(partition).Reader() }

// Damaged makes an answer of damage that a reader of the queue met; other errors pass.
func (q *Queue) Damaged(partition int32, err error) error {
	if d, bad := errors.AsType[*corrupt.Error](err); bad {
		return q.damaged(d, partition)
	}
	return err
}

// Purge removes the queue of a partition, pending records and all.
func (q *Queue) Purge(ctx context.Context, partition int32) (err error) {
	side := q.log(partition)
	lock, err := side.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := side.Remove(ctx); err != nil {
		return err
	}
	q.info("purge", partition)
	return nil
}
