package group

import "logdir/store"

// ownership says whose a partition is, and since which generation without a break.
type ownership struct {
	member     string
	generation int32
}

// noteOwners compares the assignment of a classic group with the one before.
func (g *Group) noteOwners() {
	now := map[store.TopicPartition]ownership{}
	for i := range g.Classic.Members {
		m := &g.Classic.Members[i]
		for _, tp := range m.Partitions() {
			o, had := g.owners[tp]
			if !had || o.member != m.MemberID {
				o = ownership{m.MemberID, g.Classic.Generation}
			}
			now[tp] = o
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
