package cmd

import (
	"context"
	"fmt"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
)

// A leader that loses records and appends others in the same leader epoch would have
// other records than its followers at the same offsets, and no follower could tell. In Kafka
// only a broker that went down loses records, and whoever leads then has the next epoch. So
// what cuts the log of a live leader here begins one as well.

// followed is a partition whose live leader's log is to be changed, and which others follow.
type followed struct {
	store.TopicPartition
	cluster *cluster.Cluster
	*cluster.Partition
}

// followed tells whether a replica is the log of a live leader with followers; nil if not.
func (r *repair) followed(ref store.PartitionRef) (*followed, error) {
	place := r.placeOf(ref)
	if !place.cluster || ref.Partition < 0 {
		return nil, nil
	}
	c, err := cluster.Open(r.env.FS, place.root, cluster.Options{LockTimeout: r.env.Global.LockTimeout, Now: r.env.Now, Log: r.env.Log})
	if err != nil {
		return nil, err
	}
	leader, _, err := c.Meta().LeaderOf(ref.TopicPartition)
	if err != nil || absolute(c.ReplicaDir(ref.TopicPartition, leader)) != absolute(ref.Dir) {
		return nil, nil // nobody appends to it
	}
	_, p, err := c.Meta().Partition(ref.TopicPartition)
	if err != nil || len(p.Replicas) < 2 {
		return nil, err
	}
	return &followed{ref.TopicPartition, c, p}, nil
}

// beginEpoch begins the next leader epoch of a partition, if the replica is the log of a live
// leader with followers. It comes before the log is changed: a crash between the two does
// no harm. The metadata's lock is taken last here: who has it waits for no other.
func (r *repair) beginEpoch(ctx context.Context, ref store.PartitionRef) error {
	f, err := r.followed(ref)
	if f == nil || err != nil {
		return err
	}
	epoch, verb := f.LeaderEpoch+1, "would begin"
	if !r.flags.dryRun {
		verb = "begins"
		if epoch, err = replica.BeginEpoch(ctx, f.cluster, f.TopicPartition, f.LeaderID()); err != nil {
			return err
		}
	}
	r.env.Note("%s: leader epoch %d %s: by that its followers know what to cut when they next fetch", f.TopicPartition, epoch, verb)
	r.env.Hint("%s", r.env.retype("logdir replicate", []string{f.TopicPartition.String()}))
	return nil
}

// checkFollowers refuses to cut a leader back to end where a follower would not notice: under
// logdir.truncation=hw it heeds its own high watermark, as before KIP-101.
func (r *repair) checkFollowers(ref store.PartitionRef, end int64) error {
	f, err := r.followed(ref)
	if f == nil || err != nil {
		return err
	}
	topic, err := f.cluster.Meta().Topic(f.Topic)
	if err != nil || f.cluster.Meta().Settings(topic).Text(cluster.Truncation) != replica.CutByMark {
		return err
	}
	for _, broker := range f.Replicas {
		log, err := f.cluster.LockedReader(f.TopicPartition, broker)
		if err != nil {
			return err
		}
		theirs, _, err := log.End()
		if err != nil {
			return err
		}
		if broker != f.LeaderID() && theirs > end {
			return store.Errorf(store.Refused, "INVALID_REQUEST", "%s has %s=%s: broker %d ends at %d and would keep what the leader loses",
				f.TopicPartition, cluster.Truncation, replica.CutByMark, broker, theirs).
				WithHint("%s --to %d", r.env.retype("logdir truncate", []string{fmt.Sprintf("%s@%d", f.TopicPartition, broker)}), end)
		}
	}
	return nil
}
