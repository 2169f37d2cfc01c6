package group

import (
	"context"
	"errors"
	"log/slog"

	"logdir/store"
	"logdir/store/record"
)

// CommitPending writes offsets as part of a producer's transaction: they count once its
// COMMIT marker follows (Kafka: TxnOffsetCommit). The caller keeps the transaction open
// meanwhile. Positions that are Unset are passed over.
func (c *Coordinator) CommitPending(ctx context.Context, group string, p Pending, positions []Position) (done []OffsetCommit, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if p.Member != "" {
			if err := w.mayCommit(p.Member, p.Generation, positions); err != nil {
				return err
			}
		}
		if done = w.offsets(positions); len(done) == 0 {
			return nil
		}
		if err := w.writePending(commits(done), p.ProducerID, p.Epoch); err != nil {
			return err
		}
		w.info("commit in transaction", slog.Int64("producer_id", p.ProducerID), slog.Int("partitions", len(done)))
		return nil
	})
	return done, err
}

// Pending says in whose transaction offsets are committed.
type Pending struct {
	ProducerID int64
	Epoch      int32
	// Member and Generation are those of the consumer whose positions they are; without a
	// member anybody may commit, as in Kafka.
	Member     string
	Generation int32
}

// writePending appends entries as one transactional batch, in sequence behind what the
// producer has in the log, and syncs it.
func (w *change) writePending(entries []entry, producerID int64, epoch int32) (err error) {
	c := w.c
	lock, err := c.side.Lock(w.ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := c.open(w.ctx)
	if err != nil {
		return err
	}
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional = producerID, epoch, true
	if m.BaseSequence, err = log.NextSequence(producerID, epoch); err != nil {
		return err
	}
	if err := c.build(m, w.now, entries); err != nil {
		return err
	}
	if err := c.cluster.Failpoint(store.FailGroupCommit); err != nil {
		return err
	}
	if err := c.appendTo(log); err != nil {
		return err
	}
	_, err = log.Flush()
	return err
}
