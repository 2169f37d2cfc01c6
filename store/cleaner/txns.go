package cleaner

import (
	"logdir/store/index"
	"logdir/store/record"
)

// txns follows the transactions of a log while its batches are read in order (Kafka:
// CleanedTransactionMetadata).
type txns struct {
	waiting   []index.AbortedTxn // not reached yet, by first offset
	aborted   map[int64]*abortedTxn
	committed map[int64]bool // producers of which records of a transaction that commits were seen
	// kept takes the aborted transactions of which something was still there.
	kept    []index.AbortedTxn
	records *record.Reader
}

type abortedTxn struct {
	index.AbortedTxn
	seen bool // a batch of it was still there
}

// newTxns begins before the first batch. aborted are the aborted transactions of the log,
// by first offset.
func newTxns(aborted []index.AbortedTxn) *txns {
	return &txns{
		waiting: aborted, aborted: map[int64]*abortedTxn{}, committed: map[int64]bool{}, records: record.NewReader(),
	}
}

// take reads a batch, and tells whether it may go for its transaction's sake: a data
// batch because the transaction was aborted, a marker because nothing of its transaction
// is left.
func (t *txns) take(b *record.Batch) (discard bool) {
	for len(t.waiting) > 0 && t.waiting[0].FirstOffset <= b.LastOffset() {
		t.aborted[t.waiting[0].ProducerID] = &abortedTxn{AbortedTxn: t.waiting[0]}
		t.waiting = t.waiting[1:]
	}
	switch {
	case b.IsControl():
		return t.marker(b)
	case !b.IsTransactional():
		return false
	}
	if a := t.aborted[b.ProducerID()]; a != nil {
		a.seen = true
		return true
	}
	t.committed[b.ProducerID()] = true
	return false
}

// marker ends a transaction. What ends none, such as a leader change, stays; a control
// batch that was emptied before may go.
func (t *txns) marker(b *record.Batch) (discard bool) {
	t.records.Reset(b)
	if !t.records.Next() {
		return true
	}
	kind, err := record.ParseControl(t.records.Record())
	switch {
	case err != nil:
		return false
	case kind == record.Abort:
		return t.endAborted(b.ProducerID())
	case kind == record.Commit:
		seen := t.committed[b.ProducerID()]
		delete(t.committed, b.ProducerID())
		return !seen
	}
	return false
}

func (t *txns) endAborted(producer int64) (discard bool) {
	a := t.aborted[producer]
	delete(t.aborted, producer)
	if a == nil || !a.seen {
		return true
	}
	t.kept = append(t.kept, a.AbortedTxn)
	return false
}
