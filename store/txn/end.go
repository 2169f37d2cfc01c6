package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"logdir/store"
	"logdir/store/record"
)

// End commits or aborts the open transaction of a run. One that ended so already is what
// was asked for.
//
//	step                                          a crash after it
//	1  partitions of the transaction synced       it stays open
//	2  PrepareCommit or PrepareAbort, synced      it is decided: whoever comes next goes on
//	3  a marker in each partition, synced, and    those that have theirs get no second one
//	   fetched by its followers
//	4  the marker behind the groups' offsets      the same
//	5  CompleteCommit or CompleteAbort            nothing is left to do
func (c *Coordinator) End(ctx context.Context, id string, epoch int32, commit bool) (ended Transaction, err error) {
	err = c.step(ctx, id, func(t Transaction, known bool) error {
		if err := c.current(t, known, id, epoch); err != nil {
			return err
		}
		if ended = t; commit && t.State == CompleteCommit || !commit && t.State == CompleteAbort {
			return nil
		}
		if err := c.ongoing(t, known, id, epoch); err != nil {
			return err
		}
		if commit {
			ended, err = c.commit(ctx, t)
		} else {
			ended, err = c.abort(ctx, t, t.Epoch)
		}
		return err
	})
	return ended, err
}

func (c *Coordinator) commit(ctx context.Context, t Transaction) (Transaction, error) {
	for _, tp := range t.Partitions {
		if err := c.sync(ctx, tp); err != nil && !unreachable(err) {
			return t, fmt.Errorf("%s: %w", tp, err)
		}
	}
	return c.decide(ctx, t, PrepareCommit)
}

// unreachable tells that a partition has no leader just now, or is gone. Its records were
// acknowledged; the end of the transaction can be decided nonetheless.
func unreachable(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && (e.Name == "LEADER_NOT_AVAILABLE" || e.Name == unknownPartition)
}

// unknownPartition is the error of a topic that was deleted.
const unknownPartition = "UNKNOWN_TOPIC_OR_PARTITION"

// abort aborts a transaction with markers of an epoch: its own, or a later one that fences
// its producer.
func (c *Coordinator) abort(ctx context.Context, t Transaction, epoch int16) (Transaction, error) {
	t.Epoch = epoch
	return c.decide(ctx, t, PrepareAbort)
}

// decide writes down how a transaction ends; from there on it will. Then it is completed.
func (c *Coordinator) decide(ctx context.Context, t Transaction, how State) (Transaction, error) {
	t.State, t.Updated = how, c.now()
	if err := c.write(ctx, t); err != nil {
		return t, err
	}
	if err := c.cluster.Failpoint(store.FailTxnPrepared); err != nil {
		return t, err
	}
	return c.complete(ctx, t)
}

// complete writes the markers that are missing, those behind the groups' offsets last, and
// then that nothing is left to do.
func (c *Coordinator) complete(ctx context.Context, t Transaction) (Transaction, error) {
	kind := record.Abort
	if t.State == PrepareCommit {
		kind = record.Commit
	}
	partitions := slices.Clone(t.Partitions)
	slices.SortStableFunc(partitions, func(a, b store.TopicPartition) int { return weight(a) - weight(b) })
	var failed []error
	for _, tp := range partitions {
		if err := c.mark(ctx, tp, t, kind); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", tp, err))
			continue
		}
		if err := c.cluster.Failpoint(store.FailTxnMarker); err != nil {
			return t, err
		}
	}
	if err := errors.Join(failed...); err != nil {
		return t, unfinished(t, err)
	}
	t.State = CompleteAbort
	if kind == record.Commit {
		t.State = CompleteCommit
	}
	t.Partitions, t.Updated = nil, c.now()
	return t, c.write(ctx, t)
}

// weight puts the groups' offsets behind everything else.
func weight(tp store.TopicPartition) int {
	if isOffsets(tp) {
		return 1
	}
	return 0
}

// unfinished says that the end of a transaction is decided, and not everywhere yet.
func unfinished(t Transaction, err error) error {
	cause, ok := errors.AsType[*store.Error](err)
	if !ok {
		return err
	}
	return store.Errorf(cause.Class, cause.Name, "%s is in state %s, and the next txn command goes on with it: %w", t.ID, t.State, err).
		WithHint("%s", cause.Hint)
}

// Finished is a transaction that Finish ended.
type Finished struct {
	Transaction
	// TimedOut says that nobody had asked for its end.
	TimedOut bool
}

// Unfinished is a transaction that Finish could not finish.
type Unfinished struct {
	Transaction
	Err error
}

// Finish goes on with every transaction whose end is decided, and aborts those that have
// been open for longer than their timeout, fencing their producers: what a coordinator
// does by itself. It tells which it ended, and which it could not.
func (c *Coordinator) Finish(ctx context.Context) (ended []Finished, left []Unfinished, err error) {
	all, err := c.All()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range all {
		if !t.prepared() && !t.expired(c.now()) {
			continue
		}
		done, err := c.finish(ctx, t.ID)
		switch {
		case err != nil:
			left = append(left, Unfinished{t, err})
		default:
			ended = append(ended, Finished{done, t.State == Ongoing})
		}
	}
	return ended, left, nil
}

func (c *Coordinator) finish(ctx context.Context, id string) (ended Transaction, err error) {
	err = c.step(ctx, id, func(t Transaction, _ bool) error {
		if ended = t; !t.expired(c.now()) {
			return nil
		}
		ended, err = c.abort(ctx, t, nextEpoch(t.Epoch))
		return err
	})
	return ended, err
}
