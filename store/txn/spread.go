package txn

import (
	"context"
	"errors"

	"logdir/store"
	"logdir/store/replica"
)

// spread lets the followers of a partition fetch until they have what its leader has. Kafka
// writes markers with acks=all: a transaction whose end was acknowledged must not be open
// again on the next leader. Followers move only when told to, and nobody else tells them
// while a transaction ends.
func (c *Coordinator) spread(ctx context.Context, tp store.TopicPartition) (err error) {
	if isOffsets(tp) || !c.replicated(tp) {
		return nil
	}
	f := replica.NewFetcher(c.cluster, replica.Options{Sync: true})
	defer func() { err = errors.Join(err, f.Close(ctx)) }()
	for {
		moved, err := f.Fetch(ctx, tp)
		if err != nil || !anyBehind(moved) {
			return err
		}
	}
}

// replicated tells whether a partition has more than one replica; one that is gone has not.
func (c *Coordinator) replicated(tp store.TopicPartition) bool {
	_, p, err := c.cluster.Meta().Partition(tp)
	return err == nil && len(p.Replicas) > 1
}

// anyBehind tells whether a follower moved and has not got everything.
func anyBehind(moved []replica.Fetched) bool {
	for _, m := range moved {
		if m.Behind() && m.To > m.From {
			return true
		}
	}
	return false
}
