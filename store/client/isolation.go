package client

import (
	"errors"
	"slices"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/record"
)

// Isolation is what a read_committed consumer must know of a log: how far it is stable,
// and which transactions were aborted.
type Isolation struct {
	// LastStable is the last stable offset: no transaction below it is open. It is never
	// below the log start offset.
	LastStable int64
	aborted    map[int64][]index.AbortedTxn // by producer id, in the order of the log
	committed  map[string]bool              // MiniKafka's transactions, nil in other logs
}

// ReadIsolation finds out what is to be known of the offsets from on, from the batches
// themselves, up to the high watermark of the log: transaction indexes may be missing, and
// hold no open transaction. It begins at the newest producer snapshot that is not above
// from, or at the start of the log. Damage on the way is passed over.
func ReadIsolation(log *store.LogReader, from, highWatermark int64) (i *Isolation, err error) {
	i = &Isolation{aborted: map[int64][]index.AbortedTxn{}}
	state, start, err := log.Producers(from)
	if err != nil {
		return nil, err
	}
	state.SetHighWatermark(highWatermark)
	c := log.From(start)
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if c.Damage() != nil || !c.Batch().IsTransactional() {
			continue
		}
		if c.Batch().BaseOffset() >= highWatermark {
			break
		}
		ended, err := state.Update(c.Batch())
		if err != nil {
			return nil, err
		}
		if ended != nil && ended.Aborted {
			i.aborted[ended.ProducerID] = append(i.aborted[ended.ProducerID], ended.AbortedTxn)
		}
	}
	i.LastStable = max(state.LastStable(highWatermark), log.Start())
	return i, c.Err()
}

// hides tells whether a batch belongs to an aborted transaction. A nil Isolation hides
// nothing.
func (i *Isolation) hides(b *record.Batch) bool {
	switch {
	case i == nil || !b.IsTransactional():
		return false
	case i.committed != nil:
		return !i.committed[b.Meta().TransactionalID]
	}
	txns, base := i.aborted[b.ProducerID()], b.BaseOffset()
	at, _ := slices.BinarySearchFunc(txns, base, func(t index.AbortedTxn, base int64) int {
		if t.LastOffset < base {
			return -1
		}
		return 1
	})
	return at < len(txns) && txns[at].FirstOffset <= base
}
