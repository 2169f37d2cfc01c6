package startup

import (
	"maps"
	"math"
	"slices"

	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
)

// snapshotLimit bounds what is read of a .snapshot, in bytes.
const snapshotLimit = 256 << 20

// producerManager is what the broker knows of a partition's producers, and its .snapshot
// files (Kafka: ProducerStateManager). Several of them live in one start, each with its
// own idea of which snapshots there are.
type producerManager struct {
	dir       *directory
	snapshots []int64 // ascending
	producers map[int64]producer.Entry
	open      map[int64]int64 // first offset of an open transaction: its producer
	ended     map[int64]bool  // first offsets of those that ended in a replay (Kafka: unreplicatedTxns)
	completed []int64         // first offsets of those that end with the read of a replay
	replaying bool
	mapEnd    int64 // offsets below are in the state
	snapEnd   int64 // offset of the newest snapshot that was read or written

	reader *record.Reader
}

func newProducerManager(d *directory) (*producerManager, error) {
	m := &producerManager{
		dir: d, producers: map[int64]producer.Entry{}, open: map[int64]int64{}, ended: map[int64]bool{},
		reader: record.NewReader(),
	}
	return m, m.list()
}

// list is loadSnapshots.
func (m *producerManager) list() (err error) {
	m.snapshots, err = m.dir.snapshots()
	return err
}

// offsets are the snapshots that the manager knows of, while some of them are dropped.
func (m *producerManager) offsets() []int64 { return slices.Clone(m.snapshots) }

// drop removes a snapshot that the manager knows of.
func (m *producerManager) drop(offset int64) {
	if _, known := slices.BinarySearch(m.snapshots, offset); known {
		m.snapshots = deleteOffset(m.snapshots, offset)
		m.dir.removeSnapshot(offset)
	}
}

// removeStray is removeStraySnapshots: of the snapshots that are at no segment's base only
// the newest may stay, and only above the last base.
func (m *producerManager) removeStray(bases []int64) error {
	if err := m.list(); err != nil {
		return err
	}
	stray, found := int64(0), false
	for _, offset := range m.offsets() {
		if slices.Contains(bases, offset) {
			continue
		}
		if found {
			m.drop(stray)
		}
		stray, found = offset, true
	}
	if found && len(bases) > 0 && stray < slices.Max(bases) {
		m.drop(stray)
	}
	return nil
}

// truncateAndReload drops the snapshots outside (start, end] and loads the newest left.
func (m *producerManager) truncateAndReload(start, end int64) error {
	for _, offset := range m.offsets() {
		if offset > end || offset <= start {
			m.drop(offset)
		}
	}
	if end == m.mapEnd { // onLogStartOffsetIncremented
		m.mapEnd, m.snapEnd = max(m.mapEnd, start), start
		if n := len(m.snapshots); n > 0 {
			m.snapEnd = m.snapshots[n-1]
		}
		return nil
	}
	m.forget()
	return m.loadNewest(start)
}

func (m *producerManager) loadNewest(start int64) error {
	offsets := m.offsets()
	for _, offset := range slices.Backward(offsets) {
		data, err := m.dir.read(fileName(offset, snapSuffix), snapshotLimit)
		if err != nil {
			return err
		}
		entries, err := producer.ParseSnapshot(data)
		if err != nil {
			m.drop(offset)
			continue
		}
		for _, e := range entries {
			m.producers[e.ProducerID] = e
			if e.TxnFirstOffset >= 0 {
				m.open[e.TxnFirstOffset] = e.ProducerID
			}
		}
		m.mapEnd, m.snapEnd = offset, offset
		return nil
	}
	m.mapEnd, m.snapEnd = start, start
	return nil
}

// truncateFully is truncateFullyAndStartAt: nothing is left.
func (m *producerManager) truncateFully(offset int64) {
	m.forget()
	for _, o := range m.offsets() {
		m.drop(o)
	}
	m.snapEnd, m.mapEnd = 0, offset
}

// forget drops everything that is known of producers.
func (m *producerManager) forget() {
	clear(m.producers)
	clear(m.open)
	clear(m.ended)
}

// take writes a snapshot, unless nothing came since the last one.
func (m *producerManager) take() {
	if m.mapEnd <= m.snapEnd {
		return
	}
	ids := slices.Sorted(maps.Keys(m.producers))
	entries := make([]producer.Entry, len(ids))
	for i, id := range ids {
		entries[i] = m.producers[id]
	}
	m.dir.writeSnapshot(m.mapEnd, producer.AppendSnapshot(nil, entries))
	m.snapshots = insertOffset(m.snapshots, m.mapEnd)
	m.snapEnd = m.mapEnd
}

// update takes a batch, as LogSegment.updateProducerState does, and answers which
// transactions it aborts.
func (m *producerManager) update(w *walker, f *frame) ([]index.AbortedTxn, error) {
	var aborted []index.AbortedTxn
	if f.producerID() > record.NoProducerID {
		raw, err := w.bytes(f)
		if err != nil {
			return nil, err
		}
		if aborted, err = m.append(raw, f); err != nil {
			return nil, err
		}
	}
	m.mapEnd = f.nextOffset()
	return aborted, nil
}

// append is ProducerAppendInfo.append.
func (m *producerManager) append(raw []byte, f *frame) ([]index.AbortedTxn, error) {
	raw[16] = byte(record.V2) // a higher magic is read as v2
	b, damage := record.View(raw)
	if damage != nil {
		return nil, throw(corruptRecord, "%s", damage.Error())
	}
	e, known := m.producers[b.ProducerID()]
	if !known {
		e = producer.Entry{
			ProducerID: b.ProducerID(), ProducerEpoch: -1, LastSequence: record.NoSequence,
			LastOffset: -1, Timestamp: record.NoTimestamp, CoordinatorEpoch: -1, TxnFirstOffset: -1,
		}
	}
	if b.IsControl() {
		return m.endTxn(&b, e)
	}
	return nil, m.addData(&b, e)
}

func (m *producerManager) addData(b *record.Batch, e producer.Entry) error {
	if e.TxnFirstOffset >= 0 && !b.IsTransactional() {
		return throw("InvalidTxnStateException", "Expected transactional write from producer %d at offset %d", e.ProducerID, b.BaseOffset())
	}
	e.ProducerEpoch = int16(b.ProducerEpoch())
	e.LastSequence, e.LastOffset = b.LastSequence(), b.LastOffset()
	e.OffsetDelta, e.Timestamp = int32(b.LastOffset()-b.BaseOffset()), b.MaxTimestamp()
	if b.IsTransactional() && e.TxnFirstOffset < 0 {
		e.TxnFirstOffset = b.BaseOffset()
		m.open[b.BaseOffset()] = e.ProducerID
	}
	m.producers[e.ProducerID] = e
	return nil
}

// endTxn takes a marker. A transaction without records leaves no trace.
func (m *producerManager) endTxn(b *record.Batch, e producer.Entry) ([]index.AbortedTxn, error) {
	if b.Count() == 0 {
		return nil, nil
	}
	if err := m.readMarker(b); err != nil {
		return nil, err
	}
	marker, err := parseMarker(m.reader.Record())
	if err != nil {
		return nil, err
	}
	if int16(b.ProducerEpoch()) != e.ProducerEpoch {
		e.ProducerEpoch = int16(b.ProducerEpoch())
		e.LastSequence, e.LastOffset, e.OffsetDelta = record.NoSequence, -1, 0
	}
	first := e.TxnFirstOffset
	e.TxnFirstOffset, e.CoordinatorEpoch, e.Timestamp = -1, marker.CoordinatorEpoch, m.reader.Record().Timestamp
	m.producers[e.ProducerID] = e
	if first < 0 {
		return nil, nil
	}
	if m.replaying {
		m.completed = append(m.completed, first)
		return nil, nil
	}
	if err := m.complete(first); err != nil || marker.Type != record.Abort {
		return nil, err
	}
	return []index.AbortedTxn{{
		ProducerID: e.ProducerID, FirstOffset: first, LastOffset: b.BaseOffset(),
		LastStableOffset: m.lastStable(b.BaseOffset() + 1),
	}}, nil
}

// complete is completeTxn.
func (m *producerManager) complete(first int64) error {
	if _, open := m.open[first]; !open {
		return throw(illegalArgument, "Attempted to complete transaction of offset %d which was not started", first)
	}
	delete(m.open, first)
	m.ended[first] = true
	return nil
}

// endReplay is the end of loadProducersFromRecords: only there the transactions that ended
// are completed, all that began having been noted before.
func (m *producerManager) endReplay() error {
	m.replaying = false
	for _, first := range m.completed {
		if err := m.complete(first); err != nil {
			return err
		}
	}
	m.completed = nil
	return nil
}

// readMarker stands the reader on the first record of b. Kafka's iterator also looks
// behind the last record when it reads that one, so that a lone marker in a batch that is
// too long is never seen.
func (m *producerManager) readMarker(b *record.Batch) error {
	m.reader.Reset(b)
	read := m.reader.Next()
	if read && b.Count() == 1 {
		read = !m.reader.Next() && m.reader.Err() == nil
	}
	if !read {
		return throw(invalidRecord, "%v", m.reader.Err())
	}
	m.reader.Reset(b)
	m.reader.Next()
	return nil
}

// firstUnstable is the first offset of the oldest transaction that is open or whose end
// the high watermark, at the log start while a log is loaded, has not reached.
func (m *producerManager) firstUnstable() (offset int64, ok bool) {
	first := int64(math.MaxInt64)
	for o := range m.open {
		first = min(first, o)
	}
	for o := range m.ended {
		first = min(first, o)
	}
	return first, len(m.open)+len(m.ended) > 0
}

// lastStable is the first offset of the oldest transaction still open, or otherwise.
func (m *producerManager) lastStable(otherwise int64) int64 {
	oldest := int64(math.MaxInt64)
	for first := range m.open {
		oldest = min(oldest, first)
	}
	if oldest == math.MaxInt64 {
		return otherwise
	}
	return oldest
}

// parseMarker is EndTransactionMarker.deserialize. What is wrong with a key or value that
// is there is an InvalidRecordException; another control type is not.
func parseMarker(r *record.Record) (record.EndTxnMarker, error) {
	t, damage := record.ParseControl(r)
	if damage != nil {
		return record.EndTxnMarker{}, throw(invalidRecord, "%s", damage.Detail)
	}
	if t != record.Abort && t != record.Commit {
		return record.EndTxnMarker{}, throw(illegalArgument, "Invalid end transaction marker control type %s", t)
	}
	marker, damage := record.ParseEndTxnMarker(r)
	if damage != nil {
		return marker, throw(invalidRecord, "%s", damage.Detail)
	}
	return marker, nil
}
