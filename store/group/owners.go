package group

import (
	"logdir/store"
	"logdir/store/record"
)

// ownership says whose a partition is, and since which generation without a break.
type ownership struct {
	member     string
	generation int32
	at         int64 // the offset of that generation's record
}

// noteOwners compares the assignment of a classic group, in the record at an offset, with
// the one before. Where generations are missing in between nobody had anything all along:
// compaction leaves what needs allows it to take.
func (g *Group) noteOwners(at int64, next *Metadata) {
	now := map[store.TopicPartition]ownership{}
	follows := g.Classic != nil && next.Generation <= g.Classic.Generation+1
	g.ownedSince = at
	for i := range next.Members {
		m := &next.Members[i]
		for _, tp := range m.Partitions() {
			o, had := g.owners[tp]
			if !had || !follows || o.member != m.MemberID {
				o = ownership{m.MemberID, next.Generation, at}
			}
			now[tp] = o
			g.ownedSince = min(g.ownedSince, o.at)
		}
	}
	g.owners = now
}

// Owner is the member of a classic group that has a partition, "" if none has.
func (g *Group) Owner(tp store.TopicPartition) string { return g.owners[tp].member }

// keeps tells whether a member has had a partition all along since a generation in which
// it had it.
func (g *Group) keeps(member string, tp store.TopicPartition, since int32) bool {
	o := g.owners[tp]
	return o.member == member && o.generation <= since
}

// needs tells whether a record counts although a newer one has its key: generations count
// from the first on that gave a member a partition which it still has. Kafka's records do
// not tell since when.
func (s *State) needs(r *record.Record) bool {
	t, err := RecordTypes.OfKey(r.Key)
	if err != nil || t.Type != TypeGroupMetadata || r.Value == nil {
		return false
	}
	key, err := ParseKey(r.Key)
	if err != nil {
		return false
	}
	g, ok := s.groups[Of(&key)]
	return ok && g.Classic != nil && r.Offset >= g.ownedSince
}
