package client

import (
	"context"
	"errors"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
)

// AnyEpoch is the leader epoch of a producer that believes in none.
const AnyEpoch int32 = -1

// Followers move when they are told to.
type Followers interface {
	// Round lets every live follower of a partition fetch once.
	Round(ctx context.Context, tp store.TopicPartition) error
}

// TopicOptions say how a Topic is appended to.
type TopicOptions struct {
	// LeaderEpoch is the epoch the producer believes in, or AnyEpoch.
	LeaderEpoch int32
	// Sync forces what was appended to the disk at Close.
	Sync bool
	// Followers are driven while acks=all waits; nil: others drive them.
	Followers Followers
}

// Topic appends to the leaders of one topic's partitions. Logs stay open between
// appends; what other processes write meanwhile is seen under the partition's lock.
type Topic struct {
	cluster *cluster.Cluster
	name    string
	o       TopicOptions
	logs    *cluster.OpenLogs
	reader  *record.Reader // of a compacted topic, else nil
}

// OpenTopic finds a topic of the cluster. It opens no log.
func OpenTopic(c *cluster.Cluster, name string, o TopicOptions) (*Topic, error) {
	if _, err := c.Meta().Topic(name); err != nil {
		return nil, err
	}
	return &Topic{cluster: c, name: name, o: o, logs: cluster.NewOpenLogs(c, o.Sync)}, nil
}

func (t *Topic) partition(n int) store.TopicPartition {
	return store.TopicPartition{Topic: t.name, Partition: int32(n)}
}

// LogEnds gives the log end of every partition's leader, Unavailable where there is none.
func (t *Topic) LogEnds() ([]int64, error) {
	topic, err := t.cluster.Meta().Topic(t.name)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, len(topic.Partitions))
	for n := range ends {
		if ends[n], err = t.logEnd(t.partition(n)); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

func (t *Topic) logEnd(tp store.TopicPartition) (int64, error) {
	leader, _, err := t.cluster.Meta().LeaderOf(tp)
	if err != nil {
		return Unavailable, nil
	}
	return t.replicaEnd(tp, leader)
}

func (t *Topic) replicaEnd(tp store.TopicPartition, broker int32) (int64, error) {
	r, err := t.cluster.Reader(tp, broker)
	if err != nil {
		return 0, err
	}
	end, _, err := r.End()
	return end, err
}

// Append implements Leader.
func (t *Topic) Append(ctx context.Context, q Request, acks Acks) (reply Reply, err error) {
	tp := t.partition(q.Partition)
	if err := t.logs.MakeRoom(ctx, tp); err != nil {
		return reply, err
	}
	lock, err := t.cluster.Locks().Partition(ctx, tp)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := t.cluster.Reload(); err != nil {
		return reply, err
	}
	leader, epoch, err := t.admit(tp, acks)
	if err != nil {
		return reply, err
	}
	log, err := t.logs.Open(ctx, tp, leader)
	if err != nil {
		return reply, err
	}
	take, refused := t.admissible(log, q)
	if take > 0 {
		if reply.Answers, err = log.Append(q.first(take).Frames, epoch); err != nil {
			refused = err
		}
	}
	if acks == AcksAll && len(reply.Answers) > 0 {
		reply.Committed = t.committed(tp, leader, reply.Answers)
	}
	return reply, refused
}

// admissible is how many batches of q the topic takes now; the error, if not all of them, is
// about the first that it does not.
func (t *Topic) admissible(log *store.Log, q Request) (int, error) {
	keyed, unkeyed := t.keyed(q)
	fit, full := t.room(log, q.first(keyed))
	if full != nil {
		return fit, full
	}
	return fit, unkeyed
}

// admit holds the metadata of a partition against what the producer asks for.
func (t *Topic) admit(tp store.TopicPartition, acks Acks) (leader, epoch int32, err error) {
	meta := t.cluster.Meta()
	if leader, epoch, err = meta.LeaderOf(tp); err != nil {
		return leader, epoch, err
	}
	if err := t.fence(tp, epoch); err != nil || acks != AcksAll {
		return leader, epoch, err
	}
	topic, p, err := meta.Partition(tp)
	if err != nil {
		return leader, epoch, err
	}
	if need := minInSync(meta, topic, p); len(p.ISR) < need {
		return leader, epoch, store.Errorf(store.Refused, "NOT_ENOUGH_REPLICAS",
			"%s has %d in-sync replica(s), needs %d", tp, len(p.ISR), need).
			WithHint("start a broker, or use --acks 1")
	}
	return leader, epoch, nil
}

// minInSync is the effective min.insync.replicas: never more than there are replicas.
func minInSync(meta *cluster.Meta, topic *cluster.Topic, p *cluster.Partition) int {
	return min(int(meta.Settings(topic).Int(cluster.MinInSync)), len(p.Replicas))
}

// fence compares the producer's leader epoch with that of the partition.
func (t *Topic) fence(tp store.TopicPartition, epoch int32) error {
	switch believed := t.o.LeaderEpoch; {
	case believed == AnyEpoch || believed == epoch:
		return nil
	case believed < epoch:
		return store.Errorf(store.Fenced, "FENCED_LEADER_EPOCH",
			"%s: leader epoch %d is over, the leader is at %d", tp, believed, epoch)
	default:
		return store.Errorf(store.Refused, "UNKNOWN_LEADER_EPOCH",
			"%s: there is no leader epoch %d yet, the leader is at %d", tp, believed, epoch)
	}
}

// room is how many batches of q fit under the limits of the topic; the error, if not
// all do, is about the first that does not. A batch that is in the log takes no room.
func (t *Topic) room(log *store.Log, q Request) (int, error) {
	l, err := t.limits()
	if err != nil || l.none() {
		return len(q.Batches), err
	}
	size, err := log.Size()
	if err != nil {
		return 0, err
	}
	records := log.End() - log.Start()
	for i, b := range q.Batches {
		if repeated(log, q.rest(i)) {
			continue
		}
		records, size = records+int64(b.Records), size+int64(b.Size)
		if l.exceeded(records, size) {
			return i, t.full(q.Partition, b)
		}
	}
	return len(q.Batches), nil
}

// limits say when a partition is full; 0 is no limit.
type limits struct{ records, bytes int64 }

func (t *Topic) limits() (limits, error) {
	meta := t.cluster.Meta()
	topic, err := meta.Topic(t.name)
	if err != nil {
		return limits{}, err
	}
	s := meta.Settings(topic)
	return limits{records: s.Int(cluster.MaxRecords), bytes: s.Int(cluster.MaxBytes)}, nil
}

func (l limits) none() bool { return l.records == 0 && l.bytes == 0 }

func (l limits) exceeded(records, bytes int64) bool {
	return l.records > 0 && records > l.records || l.bytes > 0 && bytes > l.bytes
}

// repeated tells whether the log has the first batch of q already. What is wrong with
// that batch, if anything, is found again when it is appended.
func repeated(log *store.Log, q Request) bool {
	b, bad := record.View(q.first(1).Frames)
	if bad != nil {
		return false
	}
	known, err := log.Duplicate(&b)
	return known != nil && err == nil
}

func (t *Topic) full(partition int, b Batch) error {
	return store.Errorf(store.Refused, "POLICY_VIOLATION", "%s: %w: no room for %d record(s)",
		t.partition(partition), ErrFull, b.Records).
		WithHint("raise %s or %s with logdir topic alter %s -c", cluster.MaxRecords, cluster.MaxBytes, t.name)
}

// Close syncs what was appended, if it is to be, notes how far that goes in the brokers'
// checkpoints, and closes the logs.
func (t *Topic) Close(ctx context.Context) error { return t.logs.Close(ctx) }
