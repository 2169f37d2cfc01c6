package group

import (
	"maps"
	"slices"

	"logdir/store"
)

// balancer is the sticky assignor for members that want different topics. It begins with
// what they may keep, gives each free partition to the least loaded member that wants it,
// and then moves partitions from members that have two more than another that wants them.
//
// Each move makes the sum of the differences in load smaller, so there is an end. A
// partition whose move would undo an earlier one of its topic the other way round is not
// moved: the earlier one is taken back instead, so that fewer change hands.
type balancer struct {
	out     Assignment
	counts  map[string]int32
	members []Subscriber
	owner   map[store.TopicPartition]string
	moved   map[move][]store.TopicPartition
}

// move is a change of hands of partitions of one topic.
type move struct{ topic, from, to string }

func newBalancer(out Assignment, counts map[string]int32, members []Subscriber, kept Assignment) *balancer {
	b := &balancer{
		out: out, counts: counts, members: members,
		owner: map[store.TopicPartition]string{}, moved: map[move][]store.TopicPartition{},
	}
	for member, partitions := range kept {
		out[member] = slices.Clone(partitions)
		for _, tp := range partitions {
			b.owner[tp] = member
		}
	}
	return b
}

func (b *balancer) run() {
	all := b.partitions()
	for _, tp := range all {
		if b.owner[tp] == "" {
			to := b.leastLoaded(tp.Topic)
			b.owner[tp] = to
			b.out.give(to, tp)
		}
	}
	for b.pass(all) {
	}
}

// partitions lists all of them, those of the topics that the fewest want first.
func (b *balancer) partitions() []store.TopicPartition {
	topics := topicsOf(b.members)
	wanted := map[string]int{}
	for _, m := range b.members {
		for _, t := range m.Topics {
			wanted[t]++
		}
	}
	slices.SortStableFunc(topics, func(x, y string) int { return wanted[x] - wanted[y] })
	return partitionsOf(topics, b.counts)
}

// pass moves every partition that may be moved once, and tells whether one was.
func (b *balancer) pass(all []store.TopicPartition) (moved bool) {
	for _, tp := range all {
		from, to := b.owner[tp], b.leastLoaded(tp.Topic)
		if len(b.out[from]) > len(b.out[to])+1 {
			b.move(b.instead(tp, from, to), to)
			moved = true
		}
	}
	return moved
}

// leastLoaded is the member with the fewest partitions among those that want the topic,
// the first by name on ties.
func (b *balancer) leastLoaded(topic string) string {
	least := ""
	for i := range b.members {
		m := &b.members[i]
		if m.wants(topic) && (least == "" || len(b.out[m.Member]) < len(b.out[least])) {
			least = m.Member
		}
	}
	return least
}

// instead is the partition to move from one member to another: tp, or one of the same
// topic that came the other way.
func (b *balancer) instead(tp store.TopicPartition, from, to string) store.TopicPartition {
	if back := b.moved[move{tp.Topic, to, from}]; len(back) > 0 {
		return back[0]
	}
	return tp
}

func (b *balancer) move(tp store.TopicPartition, to string) {
	from := b.owner[tp]
	b.owner[tp] = to
	b.out[from] = slices.DeleteFunc(b.out[from], func(x store.TopicPartition) bool { return x == tp })
	b.out.give(to, tp)
	b.note(tp, from, to)
}

// note remembers a move as one from where the partition was at first.
func (b *balancer) note(tp store.TopicPartition, from, to string) {
	for _, m := range slices.Collect(maps.Keys(b.moved)) {
		if m.to != from || !slices.Contains(b.moved[m], tp) {
			continue
		}
		b.moved[m] = slices.DeleteFunc(b.moved[m], func(x store.TopicPartition) bool { return x == tp })
		from = m.from
		break
	}
	if from != to {
		m := move{tp.Topic, from, to}
		b.moved[m] = append(b.moved[m], tp)
	}
}
