package group

import (
	"maps"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// State is what the records of __consumer_offsets come to. It is fed the batches of a partition
// in their order, and may be fed several partitions one after the other: all records of a group
// stand in one.
//
// Offsets that were committed in a transaction count from its COMMIT marker on. What cannot be
// read, or is of an unknown type, changes nothing.
type State struct {
	records *record.Reader
	groups  map[string]*Group
	pending map[int64][]waiting // of open transactions, by producer id
	topics  *names              // in which anything was committed
}

// waiting is an offset that counts once its transaction commits.
type waiting struct {
	group string
	at    place
	kept
}

// NewState returns a State without groups.
func NewState() *State {
	return &State{
		records: record.NewReader(), groups: map[string]*Group{},
		pending: map[int64][]waiting{}, topics: newNames(),
	}
}

// Group finds a group.
func (s *State) Group(id string) (*Group, bool) {
	g, ok := s.groups[id]
	return g, ok
}

// Groups are all groups by id.
func (s *State) Groups() []*Group {
	list := make([]*Group, 0, len(s.groups))
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		list = append(list, s.groups[id])
	}
	return list
}

// ReadLog feeds a whole log. Damage is passed over and returned: what stood there is not known.
func (s *State) ReadLog(log *store.LogReader) (damage []*corrupt.Error, err error) {
	damage, err = log.Replay(s.Update)
	s.EndLog()
	return damage, err
}

// EndLog says that the next batch is of another log: transactions that are still open stay
// without effect.
func (s *State) EndLog() { clear(s.pending) }

// Update feeds a batch.
func (s *State) Update(b *record.Batch) {
	s.records.Reset(b)
	if b.IsControl() {
		s.end(b.ProducerID())
		return
	}
	for s.records.Next() {
		s.apply(b, s.records.Record())
	}
}

// end takes the marker of a transaction.
func (s *State) end(producerID int64) {
	if !s.records.Next() {
		return
	}
	marker, err := record.ParseEndTxnMarker(s.records.Record())
	if err != nil {
		return
	}
	if marker.Type == record.Commit {
		for _, w := range s.pending[producerID] {
			s.group(w.group).commit(w.at, w.kept)
		}
	}
	delete(s.pending, producerID)
}

// apply takes one record.
func (s *State) apply(b *record.Batch, r *record.Record) {
	t, err := RecordTypes.OfKey(r.Key)
	switch {
	case err != nil:
	case t.Type <= TypeOffsetCommit:
		s.applyCommit(t, b, r)
	default:
		s.applyOther(r)
	}
}

// applyCommit takes an offset commit, or the tombstone of one.
func (s *State) applyCommit(t RecordType, b *record.Batch, r *record.Record) {
	var c rawCommit
	if c.readKey(t, r.Key) != nil {
		return
	}
	if r.Value == nil {
		s.buryCommit(&c)
		return
	}
	if c.readValue(t, r.Value) != nil {
		return
	}
	at, k := place{s.topics.number(c.topic), c.partition}, kept{c.offset, r.Offset, c.epoch}
	if b.IsTransactional() {
		s.pending[b.ProducerID()] = append(s.pending[b.ProducerID()], waiting{string(c.group), at, k})
		return
	}
	g := s.groups[string(c.group)]
	if g == nil {
		g = s.group(string(c.group))
	}
	g.commit(at, k)
}

// applyOther takes a record of any other type.
func (s *State) applyOther(r *record.Record) {
	key, err := ParseKey(r.Key)
	if err != nil {
		return
	}
	if r.Value == nil {
		s.bury(Of(&key), func(g *Group) { g.bury(&key) })
		return
	}
	value, err := key.ParseValue(r.Value)
	if err != nil {
		return
	}
	s.group(Of(&key)).take(r.Offset, &key, &value)
}

// group finds or makes a group.
func (s *State) group(id string) *Group {
	g := s.groups[id]
	if g == nil {
		g = newGroup(id, s.topics)
		s.groups[id] = g
	}
	return g
}

// buryCommit takes the tombstone of an offset, which also ends those that wait for a
// transaction to commit.
func (s *State) buryCommit(c *rawCommit) {
	at := place{s.topics.number(c.topic), c.partition}
	s.bury(string(c.group), func(g *Group) { delete(g.offsets, at) })
	for id, all := range s.pending {
		s.pending[id] = slices.DeleteFunc(all, func(w waiting) bool { return w.group == string(c.group) && w.at == at })
	}
}

// bury takes a tombstone. A group of which nothing is left is gone.
func (s *State) bury(id string, drop func(*Group)) {
	g := s.groups[id]
	if g == nil {
		return
	}
	drop(g)
	if g.gone() {
		delete(s.groups, id)
	}
}
