package txn

import (
	"maps"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// Transactions are what the records of __transaction_state come to: of each transactional id the
// last one counts. They are fed batches in the order of the log.
type Transactions struct {
	records *record.Reader
	byID    map[string]*Transaction
}

// NewTransactions returns Transactions without any.
func NewTransactions() *Transactions {
	return &Transactions{records: record.NewReader(), byID: map[string]*Transaction{}}
}

// All are the transactions by id.
func (s *Transactions) All() []Transaction {
	out := make([]Transaction, 0, len(s.byID))
	for _, id := range slices.Sorted(maps.Keys(s.byID)) {
		out = append(out, *s.byID[id])
	}
	return out
}

// Find finds one.
func (s *Transactions) Find(id string) (Transaction, bool) {
	t := s.byID[id]
	if t == nil {
		return Transaction{}, false
	}
	return *t, true
}

// ReadLog feeds a whole log. Damage is passed over and returned.
func (s *Transactions) ReadLog(log *store.LogReader) (damage []*corrupt.Error, err error) {
	return log.Replay(s.Update)
}

// Update feeds a batch. What cannot be read, or is of an unknown type, changes nothing.
func (s *Transactions) Update(b *record.Batch) {
	if b.IsControl() {
		return
	}
	for s.records.Reset(b); s.records.Next(); {
		s.apply(s.records.Record())
	}
}

func (s *Transactions) apply(r *record.Record) {
	key, err := RecordTypes.ParseKey(r.Key)
	if err != nil {
		return
	}
	if r.Value == nil {
		delete(s.byID, key.Object.Str("transactionalId"))
		return
	}
	value, err := key.ParseValue(r.Value)
	if err != nil {
		return
	}
	t := transactionOf(&key, &value)
	s.byID[t.ID] = t
}
