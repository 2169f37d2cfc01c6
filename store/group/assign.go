package group

import (
	"maps"
	"slices"
	"strings"

	"logdir/store"
)

// Assignor is a way to divide partitions among the members of a group, by the name that
// Kafka's clients give it.
type Assignor string

// The assignors.
const (
	// RoundRobin deals all partitions out like cards.
	RoundRobin Assignor = "roundrobin"
	// Range gives each member a run of every topic.
	Range Assignor = "range"
	// Sticky balances, and lets members keep what they have.
	Sticky Assignor = "sticky"
)

// Assignors lists them.
var Assignors = []Assignor{RoundRobin, Range, Sticky}

// Subscriber is a member as an assignor sees it.
type Subscriber struct {
	Member string
	Topics []string
	// Owned is what the member says it had in Generation; only Sticky asks.
	Owned      []store.TopicPartition
	Generation int32
}

func (s *Subscriber) wants(topic string) bool { return slices.Contains(s.Topics, topic) }

// Assignment is what each member has, sorted by topic and partition. Members without any
// partition are there too: they stand by.
type Assignment map[string][]store.TopicPartition

// Assign divides the partitions of the topics, given by their counts, among the members
// that want them. A topic without a count has none.
func (a Assignor) Assign(counts map[string]int32, members []Subscriber) Assignment {
	members = slices.SortedFunc(slices.Values(members), func(x, y Subscriber) int { return strings.Compare(x.Member, y.Member) })
	out := make(Assignment, len(members))
	for _, m := range members {
		out[m.Member] = nil
	}
	if len(members) == 0 {
		return out
	}
	switch a {
	case Range:
		out.deal(counts, members)
	case Sticky:
		assignSticky(out, counts, members)
	default:
		out.rotate(counts, members)
	}
	for _, partitions := range out {
		slices.SortFunc(partitions, store.TopicPartition.Compare)
	}
	return out
}

func (a Assignment) give(member string, tp store.TopicPartition) { a[member] = append(a[member], tp) }

// deal is range: of each topic's P partitions each of its C members gets a run of P/C, the
// first P mod C one more.
func (a Assignment) deal(counts map[string]int32, members []Subscriber) {
	for _, topic := range topicsOf(members) {
		takers := wanting(topic, members)
		each, more := int(counts[topic])/len(takers), int(counts[topic])%len(takers)
		next := int32(0)
		for i, m := range takers {
			run := each
			if i < more {
				run++
			}
			for range run {
				a.give(m.Member, store.TopicPartition{Topic: topic, Partition: next})
				next++
			}
		}
	}
}

// wanting are the members that want a topic.
func wanting(topic string, members []Subscriber) []Subscriber {
	return slices.DeleteFunc(slices.Clone(members), func(m Subscriber) bool { return !m.wants(topic) })
}

// rotate is round robin: all partitions in order go around the circle of members, which
// passes over those that do not want the topic and goes on across topics.
func (a Assignment) rotate(counts map[string]int32, members []Subscriber) {
	at := 0
	for _, tp := range partitionsOf(topicsOf(members), counts) {
		for !members[at].wants(tp.Topic) {
			at = (at + 1) % len(members)
		}
		a.give(members[at].Member, tp)
		at = (at + 1) % len(members)
	}
}

// topicsOf lists the topics that anybody wants.
func topicsOf(members []Subscriber) []string {
	topics := map[string]bool{}
	for _, m := range members {
		for _, t := range m.Topics {
			topics[t] = true
		}
	}
	return slices.Sorted(maps.Keys(topics))
}

// partitionsOf lists the partitions of topics, in their order.
func partitionsOf(topics []string, counts map[string]int32) []store.TopicPartition {
	var all []store.TopicPartition
	for _, topic := range topics {
		for p := range counts[topic] {
			all = append(all, store.TopicPartition{Topic: topic, Partition: p})
		}
	}
	return all
}
