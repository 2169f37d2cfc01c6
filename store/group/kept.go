package group

import (
	"slices"

	"logdir/store"
)

// kept is what is kept of a committed offset. A coordinator has tens of thousands of them:
// neither names nor pointers stand here, nor what nobody asks for.
type kept struct {
	offset int64
	at     int64 // the offset of the record that holds it
	epoch  int32
}

// place is a partition with the number that its topic has among names.
type place struct{ topic, partition int32 }

// names numbers names, each kept once.
type names struct {
	numbers map[string]int32
	list    []string
}

func newNames() *names { return &names{numbers: map[string]int32{}} }

// number finds or gives the number of a name.
func (n *names) number(name []byte) int32 {
	number, ok := n.numbers[string(name)]
	if !ok {
		number = int32(len(n.list))
		n.list = append(n.list, string(name))
		n.numbers[n.list[number]] = number
	}
	return number
}

// commit keeps the offset of the newest record.
func (g *Group) commit(at place, k kept) {
	if old, ok := g.offsets[at]; !ok || old.at <= k.at {
		g.offsets[at] = k
	}
}

// Offset is the committed offset of a partition.
func (g *Group) Offset(tp store.TopicPartition) (p Position, ok bool) {
	number, ok := g.topics.numbers[tp.Topic]
	if !ok {
		return p, false
	}
	k, ok := g.offsets[place{number, tp.Partition}]
	return k.position(tp), ok
}

func (k kept) position(tp store.TopicPartition) Position {
	return Position{Topic: tp.Topic, Partition: tp.Partition, Offset: k.offset, LeaderEpoch: k.epoch}
}

// Committed are the partitions with a committed offset, by topic and number.
func (g *Group) Committed() []store.TopicPartition {
	list := make([]store.TopicPartition, 0, len(g.offsets))
	for at := range g.offsets {
		list = append(list, store.TopicPartition{Topic: g.topics.list[at.topic], Partition: at.partition})
	}
	slices.SortFunc(list, store.TopicPartition.Compare)
	return list
}

// Offsets are all committed offsets by topic and partition.
func (g *Group) Offsets() []Position {
	partitions := g.Committed()
	list := make([]Position, len(partitions))
	for i, tp := range partitions {
		list[i], _ = g.Offset(tp)
	}
	return list
}
