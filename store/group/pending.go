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
func (c *Coordinator) CommitPending(ctx context.Context, group string, producerID int64, epoch int32, positions []Position) (done []OffsetCommit, err error) {
	err = c.change(ctx, group, func(w *change) error {
		done = w.offsets(positions)
		if len(done) == 0 {
			return nil
		}
		if err := w.writePending(commits(done), producerID, epoch); err != nil {
			return err
		}
		w.info("commit in transaction", slog.Int64("producer_id", producerID), slog.Int("partitions", len(done)))
		return nil
	})
	return done, err
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
	if _, err := log.Append(c.frame, 0); err != nil {
		return err
	}
	if _, err := log.Flush(); err != nil {
		return err
	}
	return c.catchUp()
}
