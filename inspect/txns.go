package inspect

import (
	"cmp"
	"errors"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/producer"
	"logdir/store/record"
)

// Txn is a transaction of one producer in one partition.
type Txn struct {
	ProducerID    int64
	ProducerEpoch int32
	// FirstOffset is that of its first record. LastOffset is that of the marker that ended
	// it; of an open one, that of its last record so far.
	FirstOffset, LastOffset int64
	State                   TxnState
	// Timestamp is that of an open transaction's last record, ms.
	Timestamp int64
}

// TxnState is how a transaction stands in a partition.
type TxnState string

// The states.
const (
	TxnCommitted TxnState = "committed"
	TxnAborted   TxnState = "aborted"
	TxnOpen      TxnState = "open"
)

// Transactions calls each for every transaction that has records in the log, in the order of
// their first offsets. Damage is passed over and returned: a transaction that began or ended
// there may look open, or be missing.
func Transactions(log *store.LogReader, each func(Txn) error) (damage []*corrupt.Error, err error) {
	w := txnWalk{state: producer.NewState(0), each: each, last: map[int64]int64{}}
	c := log.From(log.Start())
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if d := c.Damage(); d != nil {
			damage = append(damage, d)
			continue
		}
		if !c.Batch().IsTransactional() {
			continue
		}
		bad, err := w.batch(c.Batch())
		if err != nil {
			return damage, err
		}
		if bad != nil {
			damage = append(damage, badMarker(c, bad))
		}
	}
	return damage, errors.Join(c.Err(), w.rest())
}

// badMarker is a control batch that ends no transaction as it should.
func badMarker(c *store.Cursor, bad error) *corrupt.Error {
	e := corrupt.Newf(corrupt.BadRecords, c.Pos(), int64(c.Batch().Size()), "%v", bad)
	e.Path, e.BaseOffset, e.LastOffset = c.File(), c.Batch().BaseOffset(), c.Batch().LastOffset()
	return e
}

// txnWalk follows the transactions of one log.
type txnWalk struct {
	state *producer.State
	each  func(Txn) error
	last  map[int64]int64 // last data offset, by producer id
	// ended have a marker, and one that began before them has none so far.
	ended []Txn
}

// batch feeds a transactional batch. What makes no sense is returned as bad.
func (w *txnWalk) batch(b *record.Batch) (bad, err error) {
	ended, bad := w.state.Update(b)
	if !b.IsControl() {
		w.last[b.ProducerID()] = b.LastOffset()
	}
	if ended == nil {
		return bad, nil
	}
	t := Txn{
		ProducerID: ended.ProducerID, ProducerEpoch: ended.ProducerEpoch,
		FirstOffset: ended.FirstOffset, LastOffset: ended.LastOffset, State: TxnCommitted,
	}
	if ended.Aborted {
		t.State = TxnAborted
	}
	w.ended = append(w.ended, t)
	return bad, w.flush()
}

// flush hands out those ended transactions before which none is open.
func (w *txnWalk) flush() error {
	slices.SortFunc(w.ended, byFirstOffset)
	n := len(w.ended)
	if open := w.state.Open(); len(open) > 0 {
		n, _ = slices.BinarySearchFunc(w.ended, open[0].FirstOffset, func(t Txn, first int64) int {
			return cmp.Compare(t.FirstOffset, first)
		})
	}
	for _, t := range w.ended[:n] {
		if err := w.each(t); err != nil {
			return err
		}
	}
	w.ended = slices.Delete(w.ended, 0, n)
	return nil
}

func byFirstOffset(a, b Txn) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) }

// rest hands out what is left at the end of the log.
func (w *txnWalk) rest() error {
	for _, o := range w.state.Open() {
		w.ended = append(w.ended, Txn{
			ProducerID: o.ProducerID, ProducerEpoch: o.ProducerEpoch,
			FirstOffset: o.FirstOffset, LastOffset: w.last[o.ProducerID],
			State: TxnOpen, Timestamp: o.Timestamp,
		})
	}
	slices.SortFunc(w.ended, byFirstOffset)
	for _, t := range w.ended {
		if err := w.each(t); err != nil {
			return err
		}
	}
	return nil
}
