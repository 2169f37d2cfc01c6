package group

import (
	"cmp"
	"maps"
	"slices"

	"logdir/store"
)

// assignSticky lets members keep what they owned as far as balance allows. members are
// sorted and not none.
func assignSticky(out Assignment, counts map[string]int32, members []Subscriber) {
	topics := topicsOf(members)
	kept := claims(members, counts)
	for i := range members {
		if !slices.Equal(topicsOf(members[i:i+1]), topics) {
			newBalancer(out, counts, members, kept).run()
			return
		}
	}
	assignEqual(out, partitionsOf(topics, counts), members, kept)
}

// claims are the partitions that members may keep, by member: those that are still there
// and still wanted. The claim of the highest generation counts; two of the same
// generation cancel each other.
func claims(members []Subscriber, counts map[string]int32) Assignment {
	type claim struct {
		member     string
		generation int32
	}
	best := map[store.TopicPartition]claim{}
	for i := range members {
		m := &members[i]
		for _, tp := range m.Owned {
			if tp.Partition >= counts[tp.Topic] || !m.wants(tp.Topic) {
				continue
			}
			other, taken := best[tp]
			switch {
			case !taken || m.Generation > other.generation:
				best[tp] = claim{m.Member, m.Generation}
			case m.Generation == other.generation:
				best[tp] = claim{"", m.Generation}
			}
		}
	}
	kept := Assignment{}
	for tp, c := range best {
		if c.member != "" {
			kept.give(c.member, tp)
		}
	}
	return kept
}

// assignEqual is for members that all want the same: each gets between P/C and P/C+1
// partitions, and exactly P mod C members one more than the others.
func assignEqual(out Assignment, partitions []store.TopicPartition, members []Subscriber, kept Assignment) {
	least, more := len(partitions)/len(members), len(partitions)%len(members)
	var below, at []string // members with fewer than least, and with just so many
	free := map[store.TopicPartition]bool{}
	for _, tp := range partitions {
		free[tp] = true
	}
	for _, m := range members {
		owned := kept[m.Member]
		slices.SortFunc(owned, byPartition)
		switch {
		case len(owned) < least:
			below = append(below, m.Member)
		case len(owned) > least && more > 0:
			owned = owned[:least+1]
			more--
		default:
			owned = owned[:least]
			at = append(at, m.Member)
		}
		out[m.Member] = owned
		for _, tp := range owned {
			delete(free, tp)
		}
	}
	fill(out, slices.SortedFunc(maps.Keys(free), store.TopicPartition.Compare), least, below, at)
}

// byPartition is the order in which owned partitions are kept: numbers first.
func byPartition(a, b store.TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Topic, b.Topic))
}

// fill deals free partitions to the members below least in turn, then one each to those
// that have just so many.
func fill(out Assignment, free []store.TopicPartition, least int, below, at []string) {
	turn := 0
	for _, tp := range free {
		if len(below) == 0 {
			out.give(at[0], tp)
			at = at[1:]
			continue
		}
		turn %= len(below)
		member := below[turn]
		out.give(member, tp)
		if len(out[member]) < least {
			turn++
			continue
		}
		below = slices.Delete(below, turn, turn+1)
		at = append(at, member)
	}
}
