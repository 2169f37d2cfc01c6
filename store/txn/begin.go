package txn

import (
	"context"
	"math"

	"logdir/store"
)

// AnyEpoch is the epoch of a caller that means the newest run of an id.
const AnyEpoch int32 = -1

// Begin begins a transaction: a new run of the id, with its producer id and the next epoch,
// which fences older runs. What an older run left open is aborted.
func (c *Coordinator) Begin(ctx context.Context, id string, timeoutMs int32) (begun Transaction, err error) {
	err = c.step(ctx, id, func(t Transaction, known bool) error {
		begun, err = c.newRun(ctx, id, t, known)
		if err != nil {
			return err
		}
		if known && t.State == Ongoing {
			if _, err := c.abort(ctx, t, epochOfFence(t, begun)); err != nil {
				return err
			}
		}
		begun.State, begun.TimeoutMs = Ongoing, timeoutMs
		begun.Updated = c.now()
		begun.Started = begun.Updated
		return c.write(ctx, begun)
	})
	return begun, err
}

func (c *Coordinator) now() int64 { return c.cluster.Now().UnixMilli() }

// newRun takes producer id and epoch for a run. The coordinator may have raised the epoch
// by itself, to fence a run that timed out: the new one must not be below.
func (c *Coordinator) newRun(ctx context.Context, id string, old Transaction, known bool) (Transaction, error) {
	for {
		identity, err := c.identities.Named(ctx, id)
		if err != nil {
			return Transaction{}, err
		}
		t := Transaction{ID: id, ProducerID: identity.ProducerID, Epoch: int16(identity.Epoch)}
		if !known || t.ProducerID != old.ProducerID || t.Epoch > old.Epoch {
			return t, nil
		}
	}
}

// epochOfFence is the epoch of the markers that abort an older run: that of the new one, or
// the next if that is another producer.
func epochOfFence(old, next Transaction) int16 {
	if old.ProducerID == next.ProducerID {
		return next.Epoch
	}
	return nextEpoch(old.Epoch)
}

func nextEpoch(epoch int16) int16 {
	if epoch == math.MaxInt16 {
		return epoch
	}
	return epoch + 1
}

// ongoing requires a run of an id to be the newest one and its transaction to be open.
func (c *Coordinator) ongoing(t Transaction, known bool, id string, epoch int32) error {
	if err := c.current(t, known, id, epoch); err != nil {
		return err
	}
	if t.State != Ongoing {
		return store.Errorf(store.Refused, "INVALID_TXN_STATE", "no transaction of %s is open: its state is %s", id, t.State).
			WithHint("logdir txn begin %s", id)
	}
	return nil
}

// current requires a run of an id to be the newest one.
func (c *Coordinator) current(t Transaction, known bool, id string, epoch int32) error {
	switch {
	case !known:
		return c.notFound(id)
	case epoch == AnyEpoch || epoch == int32(t.Epoch):
		return nil
	case epoch > int32(t.Epoch):
		return store.Errorf(store.Fenced, "INVALID_PRODUCER_EPOCH", "%s has no epoch %d yet, it is at %d", id, epoch, t.Epoch)
	}
	return fenced(id, epoch, t.Epoch)
}

func fenced(id string, epoch int32, now int16) error {
	return store.Errorf(store.Fenced, "INVALID_PRODUCER_EPOCH", "epoch %d of %s is over: a newer run has epoch %d", epoch, id, now)
}

// notFound is the error for an id that is not there, with the nearest of those that are.
func (c *Coordinator) notFound(id string) error {
	all, err := c.All()
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].ID
	}
	e := store.Errorf(store.NotFound, "TRANSACTIONAL_ID_NOT_FOUND", "transactional id %s is not there", id)
	if near := store.Nearest(id, names); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("logdir txn begin %s", id)
}
