package producer

import (
	"cmp"
	"slices"

	"logdir/store/index"
	"logdir/store/record"
)

// noCoordinatorEpoch stands in a producer's entry before its first marker.
const noCoordinatorEpoch int32 = -1

// mkb1AbortBit is set in the flags of an MKB1 abort marker, which is a batch without records.
const mkb1AbortBit = 4

// OpenTxn is a transaction without a marker so far.
type OpenTxn struct {
	ProducerID    int64
	ProducerEpoch int32
	FirstOffset   int64
	Timestamp     int64 // of the producer's last batch, ms
}

// Open is the open transactions by first offset.
func (s *State) Open() []OpenTxn {
	list := make([]OpenTxn, 0, len(s.open))
	for _, t := range s.open {
		o := OpenTxn{t.producerID, record.NoProducerEpoch, t.first, record.NoTimestamp}
		if m := s.producers[t.producerID]; m != nil {
			o.ProducerEpoch, o.Timestamp = m.epoch, m.timestamp
		}
		list = append(list, o)
	}
	return list
}

// LastStable is the last stable offset of a log whose high watermark is given: below it
// every transaction has ended and its marker is replicated.
func (s *State) LastStable(highWatermark int64) int64 {
	stable := highWatermark
	if len(s.open) > 0 {
		stable = min(stable, s.open[0].first)
	}
	for _, t := range s.ended {
		if t.last >= highWatermark {
			stable = min(stable, t.first)
		}
	}
	return stable
}

// SetHighWatermark says up to which offset the log is replicated. A transaction whose
// marker lies at or above it holds the last stable offset back although it has ended.
// Only what ends afterwards is kept, so set it before feeding batches, and raise it later.
func (s *State) SetHighWatermark(offset int64) {
	s.highWatermark = offset
	s.ended = slices.DeleteFunc(s.ended, func(t txn) bool { return t.last < offset })
}

// begin keeps the open transactions in order of their first offset. One that begins where
// another did takes its place, as in Kafka; only damage can bring that.
func (s *State) begin(t txn) {
	at, found := s.findOpen(t.first)
	if found {
		s.open[at] = t
		return
	}
	s.open = slices.Insert(s.open, at, t)
}

func (s *State) findOpen(first int64) (int, bool) {
	return slices.BinarySearchFunc(s.open, first, func(t txn, first int64) int { return cmp.Compare(t.first, first) })
}

// checkMarker judges a coordinator's marker before the leader appends it.
func (s *State) checkMarker(b *record.Batch, m *memory) error {
	marker, found, err := s.marker(b)
	switch {
	case err != nil:
		return err
	case !found || m == nil:
		return nil
	case b.ProducerEpoch() < m.epoch:
		return refuse(b, ErrInvalidProducerEpoch, "epoch %d is older than %d", b.ProducerEpoch(), m.epoch)
	case marker.CoordinatorEpoch < m.coordinatorEpoch:
		return refuse(b, ErrCoordinatorFenced, "coordinator epoch %d is older than %d", marker.CoordinatorEpoch, m.coordinatorEpoch)
	}
	return nil
}

// end takes a marker that stands in the log.
func (s *State) end(id int64, b *record.Batch) (*EndedTxn, error) {
	marker, found, err := s.marker(b)
	if err != nil || !found {
		return nil, err
	}
	m := s.producers[id]
	if m == nil {
		m = s.remember(id)
	}
	ended, err := s.complete(id, m, b, marker)
	if err != nil {
		return nil, err
	}
	m.setEpoch(b.ProducerEpoch())
	m.coordinatorEpoch, m.timestamp, m.txnFirst = marker.CoordinatorEpoch, s.markerTimestamp(b), -1
	return ended, nil
}

// complete closes the producer's open transaction, if it has one.
func (s *State) complete(id int64, m *memory, b *record.Batch, marker record.EndTxnMarker) (*EndedTxn, error) {
	if m.txnFirst < 0 {
		return nil, nil
	}
	at, found := s.findOpen(m.txnFirst)
	if !found {
		return nil, refuse(b, ErrTxnNotStarted, "no transaction is open since offset %d", m.txnFirst)
	}
	ended := &EndedTxn{
		AbortedTxn:    index.AbortedTxn{ProducerID: id, FirstOffset: m.txnFirst, LastOffset: b.BaseOffset()},
		ProducerEpoch: b.ProducerEpoch(), CoordinatorEpoch: marker.CoordinatorEpoch,
		Aborted: marker.Type == record.Abort,
	}
	ended.LastStableOffset = s.stableBeside(id, b.BaseOffset()+1)
	s.open = slices.Delete(s.open, at, at+1)
	if b.BaseOffset() >= s.highWatermark {
		s.ended = append(s.ended, txn{id, m.txnFirst, b.BaseOffset()})
	}
	return ended, nil
}

// stableBeside is the first offset of the oldest open transaction of another producer, or
// end if there is none.
func (s *State) stableBeside(id, end int64) int64 {
	for _, t := range s.open {
		if t.producerID != id {
			return t.first
		}
	}
	return end
}

// marker reads the first record of a control batch as the end of a transaction. found is
// false for a batch that compaction has emptied.
func (s *State) marker(b *record.Batch) (marker record.EndTxnMarker, found bool, err error) {
	if b.Format() == record.MKB1 {
		return mkb1Marker(b), true, nil
	}
	if s.reader == nil {
		s.reader = record.NewReader()
	}
	s.reader.Reset(b)
	if !s.reader.Next() {
		return marker, false, unreadable(b, s.reader.Err())
	}
	return parseMarker(b, s.reader.Record())
}

func unreadable(b *record.Batch, err error) error {
	if err == nil {
		return nil
	}
	return refuse(b, ErrBadMarker, "%w", err)
}

// parseMarker tells apart what a broker's recovery tells apart: a marker that cannot be
// read ends it, one that is none stops the broker.
func parseMarker(b *record.Batch, r *record.Record) (record.EndTxnMarker, bool, error) {
	if r.Key == nil {
		return record.EndTxnMarker{}, false, refuse(b, ErrControlType, "control record without a key")
	}
	t, err := record.ParseControl(r)
	if err != nil {
		return record.EndTxnMarker{}, false, refuse(b, ErrBadMarker, "%w", err)
	}
	if t != record.Abort && t != record.Commit {
		return record.EndTxnMarker{}, false, refuse(b, ErrControlType, "control type %s ends no transaction", t)
	}
	if r.Value == nil {
		return record.EndTxnMarker{}, false, refuse(b, ErrControlType, "marker without a value")
	}
	marker, err := record.ParseEndTxnMarker(r)
	if err != nil {
		return marker, false, refuse(b, ErrBadMarker, "%w", err)
	}
	return marker, true, nil
}

func mkb1Marker(b *record.Batch) record.EndTxnMarker {
	marker := record.EndTxnMarker{Type: record.Commit}
	if b.Attributes()&mkb1AbortBit != 0 {
		marker.Type = record.Abort
	}
	return marker
}

// markerTimestamp is the time of the marker that was just read, ms.
func (s *State) markerTimestamp(b *record.Batch) int64 {
	if b.Format() == record.MKB1 {
		return record.NoTimestamp
	}
	return s.reader.Record().Timestamp
}
