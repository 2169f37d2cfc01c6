package producer

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"logdir/store/index"
	"logdir/store/record"
)

// DefaultWindow is how many batches Kafka remembers of a producer.
const DefaultWindow = 5

// DefaultExpirationMS is Kafka's producer.id.expiration.ms: one day.
const DefaultExpirationMS int64 = 86_400_000

// State is what one partition remembers of its producers. Batches are fed in log order.
// A batch without a producer id costs nothing. A State is not safe for concurrent use.
type State struct {
	window    int
	producers map[int64]*memory
	open      []txn // by first offset
	ended     []txn // ended at or above highWatermark, by marker
	// highWatermark is up to where ended transactions count as replicated.
	highWatermark int64
	reader        *record.Reader // for markers, made when one comes
}

// memory is what is remembered of one producer.
type memory struct {
	epoch            int32
	coordinatorEpoch int32
	timestamp        int64 // of the last batch or marker, ms
	txnFirst         int64 // first offset of the open transaction, -1 none
	batches          []remembered
}

// remembered is one data batch of a producer.
type remembered struct {
	firstSequence, lastSequence int32
	lastOffset                  int64
	offsetDelta                 int32
	timestamp                   int64
}

// txn is an open transaction, or one that ended with the marker at last.
type txn struct {
	producerID  int64
	first, last int64
}

// NewState begins without producers. window is how many batches it remembers of each;
// 0 stands for DefaultWindow. Every transaction that ends counts as replicated at once,
// until SetHighWatermark says otherwise.
func NewState(window int) *State {
	if window <= 0 {
		window = DefaultWindow
	}
	return &State{window: window, producers: map[int64]*memory{}, highWatermark: math.MaxInt64}
}

// Len is how many producers are remembered.
func (s *State) Len() int { return len(s.producers) }

// Duplicate is the batch that a retry repeats, with the offsets it got the first time.
type Duplicate struct {
	BaseOffset, LastOffset int64
	Timestamp              int64 // its largest, ms
}

// Check judges a batch that a client or a transaction coordinator sends to the leader,
// before it is appended. It returns what the batch repeats if it is a retry of one that is remembered,
// and then nothing must be appended. Else the error is a *Error, or nil.
func (s *State) Check(b *record.Batch) (*Duplicate, error) {
	id := b.ProducerID()
	if id < 0 {
		return nil, nil
	}
	m := s.producers[id]
	if b.IsControl() {
		return nil, s.checkMarker(b, m)
	}
	if m == nil {
		return nil, nil // nothing is known: any sequence may come first
	}
	if d := m.duplicate(b); d != nil {
		return d, nil
	}
	return nil, m.check(b)
}

// check judges a data batch that is no retry.
func (m *memory) check(b *record.Batch) error {
	epoch, sequence := b.ProducerEpoch(), b.BaseSequence()
	switch {
	case epoch < m.epoch:
		return refuse(b, ErrInvalidProducerEpoch, "epoch %d is older than %d", epoch, m.epoch)
	case m.epoch == record.NoProducerEpoch:
	case epoch != m.epoch && sequence != 0:
		return refuse(b, ErrOutOfOrderSequence, "the first batch of epoch %d has sequence %d, not 0", epoch, sequence)
	case epoch == m.epoch && !follows(m.lastSequence(), sequence):
		return refuse(b, ErrOutOfOrderSequence, "sequence %d after %d", sequence, m.lastSequence())
	}
	if m.txnFirst >= 0 && !b.IsTransactional() {
		return refuse(b, ErrInvalidTxnState, "no transactional batch, but the transaction since offset %d is open", m.txnFirst)
	}
	return nil
}

// follows says whether next is the sequence after last. 0 follows 2147483647, and -1,
// which stands for no batch in this epoch.
func follows(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == math.MaxInt32
}

func (m *memory) lastSequence() int32 {
	if len(m.batches) == 0 {
		return record.NoSequence
	}
	return m.batches[len(m.batches)-1].lastSequence
}

// duplicate finds the remembered batch with the same epoch and the same sequences.
func (m *memory) duplicate(b *record.Batch) *Duplicate {
	if b.ProducerEpoch() != m.epoch {
		return nil
	}
	first, last := b.BaseSequence(), b.LastSequence()
	for _, r := range m.batches {
		if r.firstSequence == first && r.lastSequence == last {
			return &Duplicate{r.lastOffset - int64(r.offsetDelta), r.lastOffset, r.timestamp}
		}
	}
	return nil
}

// EndedTxn is a transaction that a marker ended. Markers of producers that had none open
// end nothing.
type EndedTxn struct {
	index.AbortedTxn // of a committed one too
	ProducerEpoch    int32
	CoordinatorEpoch int32
	// Aborted tells the two ends apart; only these go to the transaction index.
	Aborted bool
}

// Update takes a batch that stands in the log, whether the leader has just appended it,
// a follower copied it or recovery reads it: epochs and sequences are not judged. A control
// batch must be whole; of a data batch only the header is looked at.
// It returns the transaction that the batch ends, if it does. The error is a *Error; the
// state is then unchanged.
func (s *State) Update(b *record.Batch) (*EndedTxn, error) {
	id := b.ProducerID()
	if id < 0 {
		return nil, nil
	}
	if b.IsControl() {
		return s.end(id, b)
	}
	return nil, s.data(id, b)
}

func (s *State) data(id int64, b *record.Batch) error {
	m := s.producers[id]
	if m != nil && m.txnFirst >= 0 && !b.IsTransactional() {
		return refuse(b, ErrInvalidTxnState, "no transactional batch, but the transaction since offset %d is open", m.txnFirst)
	}
	if m == nil {
		m = s.remember(id)
	}
	m.setEpoch(b.ProducerEpoch())
	m.timestamp = timestampOf(b)
	m.add(remembered{
		firstSequence: b.BaseSequence(), lastSequence: b.LastSequence(),
		lastOffset: b.LastOffset(), offsetDelta: int32(b.LastOffset() - b.BaseOffset()), timestamp: m.timestamp,
	}, s.window)
	if b.IsTransactional() && m.txnFirst < 0 {
		m.txnFirst = b.BaseOffset()
		s.begin(txn{producerID: id, first: m.txnFirst})
	}
	return nil
}

// timestampOf is the batch's largest timestamp. MKB1 keeps timestamps in the records only;
// where those are not at hand there is none.
func timestampOf(b *record.Batch) int64 {
	if b.Format() == record.MKB1 && !b.Whole() {
		return record.NoTimestamp
	}
	return b.MaxTimestamp()
}

// remember makes room for a producer that is not known.
func (s *State) remember(id int64) *memory {
	m := &memory{epoch: record.NoProducerEpoch, coordinatorEpoch: noCoordinatorEpoch, timestamp: record.NoTimestamp, txnFirst: -1}
	s.producers[id] = m
	return m
}

// setEpoch forgets the batches of another epoch.
func (m *memory) setEpoch(epoch int32) {
	if m.epoch != epoch {
		m.epoch, m.batches = epoch, m.batches[:0]
	}
}

func (m *memory) add(r remembered, window int) {
	if len(m.batches) >= window {
		m.batches = slices.Delete(m.batches, 0, len(m.batches)-window+1)
	}
	m.batches = append(m.batches, r)
}

// Expire forgets producers that have no open transaction and whose last batch or marker
// is older than age at the time now, both in ms.
func (s *State) Expire(now, age int64) {
	maps.DeleteFunc(s.producers, func(_ int64, m *memory) bool {
		return m.txnFirst < 0 && now-m.timestamp >= age
	})
}

// Entry is what is remembered of one producer.
func (s *State) Entry(id int64) (Entry, bool) {
	m := s.producers[id]
	if m == nil {
		return Entry{}, false
	}
	return m.entry(id), true
}

// Entries is the state as a snapshot holds it, by rising producer id.
func (s *State) Entries() []Entry {
	entries := make([]Entry, 0, len(s.producers))
	for id, m := range s.producers {
		entries = append(entries, m.entry(id))
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.ProducerID, b.ProducerID) })
	return entries
}

func (m *memory) entry(id int64) Entry {
	e := Entry{
		ProducerID: id, ProducerEpoch: int16(m.epoch),
		LastSequence: record.NoSequence, LastOffset: -1,
		Timestamp: m.timestamp, CoordinatorEpoch: m.coordinatorEpoch, TxnFirstOffset: m.txnFirst,
	}
	if n := len(m.batches); n > 0 {
		last := m.batches[n-1]
		e.LastSequence, e.LastOffset, e.OffsetDelta = last.lastSequence, last.lastOffset, last.offsetDelta
	}
	return e
}

// Restore adds what a snapshot holds.
func (s *State) Restore(entries []Entry) {
	for i := range entries {
		s.restore(&entries[i])
	}
}

func (s *State) restore(e *Entry) {
	m := s.remember(e.ProducerID)
	m.epoch, m.coordinatorEpoch, m.timestamp = int32(e.ProducerEpoch), e.CoordinatorEpoch, e.Timestamp
	if e.LastOffset >= 0 {
		m.add(remembered{e.FirstSequence(), e.LastSequence, e.LastOffset, e.OffsetDelta, e.Timestamp}, s.window)
	}
	if e.TxnFirstOffset >= 0 {
		m.txnFirst = e.TxnFirstOffset
		s.begin(txn{producerID: e.ProducerID, first: e.TxnFirstOffset})
	}
}
