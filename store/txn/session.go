package txn

import (
	"context"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/record"
)

// Session is a run of a transactional id that writes into its open transaction.
type Session struct {
	c     *Coordinator
	id    string
	epoch int32
	// Transaction is what was known when the session was opened.
	Transaction Transaction
}

// Open opens the transaction of a run for writing. With AnyEpoch it is the newest run.
func (c *Coordinator) Open(ctx context.Context, id string, epoch int32) (s *Session, err error) {
	err = c.step(ctx, id, func(t Transaction, known bool) error {
		s = &Session{c: c, id: id, epoch: int32(t.Epoch), Transaction: t}
		return c.ongoing(t, known, id, epoch)
	})
	return s, err
}

// Identity is what the session's batches are stamped with.
func (s *Session) Identity() client.Identity {
	return client.Identity{ProducerID: s.Transaction.ProducerID, Epoch: s.epoch, Transactional: true}
}

// Sequences are the sequences with which the session goes on in each partition of a topic:
// behind what earlier commands of the run have written.
func (s *Session) Sequences(ctx context.Context, topic string, partitions int) ([]int32, error) {
	next := make([]int32, partitions)
	for n := range next {
		tp := store.TopicPartition{Topic: topic, Partition: int32(n)}
		if !s.Transaction.has(tp) {
			continue
		}
		err := s.c.withLog(ctx, tp, func(log *store.Log, _ int32) (err error) {
			next[n], err = log.NextSequence(s.Transaction.ProducerID, s.epoch)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Leader appends to the partitions of a topic through the transaction: each partition
// becomes part of it before it gets its first record.
func (s *Session) Leader(topic string, leader client.Leader) client.Leader {
	return &txnLeader{Session: s, topic: topic, leader: leader}
}

type txnLeader struct {
	*Session
	topic  string
	leader client.Leader
}

// Append implements client.Leader. The lock of the id is held meanwhile: the transaction
// cannot end between the look at it and the append.
func (l *txnLeader) Append(ctx context.Context, q client.Request, acks client.Acks) (reply client.Reply, err error) {
	tp := store.TopicPartition{Topic: l.topic, Partition: int32(q.Partition)}
	err = l.join(ctx, tp, func() error {
		reply, err = l.leader.Append(ctx, q, acks)
		return err
	})
	return reply, err
}

// join makes a partition part of the transaction, and runs do while nobody can end it.
func (s *Session) join(ctx context.Context, tp store.TopicPartition, do func() error) error {
	return s.c.step(ctx, s.id, func(t Transaction, known bool) error {
		if err := s.c.ongoing(t, known, s.id, s.epoch); err != nil {
			return err
		}
		if !t.has(tp) {
			t = t.with(tp)
			t.Updated = s.c.now()
			if err := s.c.write(ctx, t); err != nil {
				return err
			}
		}
		return do()
	})
}

// SendOffsets publishes offsets of a group with the transaction: they count once it commits.
// Producer and epoch of p are set here.
func (s *Session) SendOffsets(ctx context.Context, groups *group.Coordinator, id string, p group.Pending, positions []group.Position) (done []group.OffsetCommit, err error) {
	p.ProducerID, p.Epoch = s.Transaction.ProducerID, s.epoch
	tp := store.TopicPartition{Topic: offsetsTopic}
	err = s.join(ctx, tp, func() error {
		done, err = groups.CommitPending(ctx, id, p, positions)
		return err
	})
	return done, err
}

// CheckTopic refuses a topic whose format has no transactions of Kafka's.
func CheckTopic(m *cluster.Meta, t *cluster.Topic) error {
	if format := m.Settings(t).Text(cluster.Format); format != "kafka" {
		return store.Errorf(store.Refused, "UNSUPPORTED_FOR_MESSAGE_FORMAT", "%s has %s=%s: transactions need Kafka's format (%s)",
			t.Name, cluster.Format, format, record.V2)
	}
	return nil
}
