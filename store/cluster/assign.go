package cluster

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"logdir/store"
)

// roundRobin places the partitions from..to-1 with factor replicas each: replica i of
// partition p goes to brokers[(p+i) mod n], so both leaders and followers spread.
func roundRobin(brokers []int32, from, to, factor int) [][]int32 {
	out := make([][]int32, 0, to-from)
	for p := from; p < to; p++ {
		replicas := make([]int32, factor)
		for i := range replicas {
			replicas[i] = brokers[(p+i)%len(brokers)]
		}
		out = append(out, replicas)
	}
	return out
}

// upBrokers lists the brokers that can take replicas, by id.
func (m *Meta) upBrokers() []int32 {
	var ids []int32
	for _, b := range m.Brokers {
		if b.State == Up {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// autoAssign is roundRobin over the brokers that are up.
func (m *Meta) autoAssign(from, to, factor int) ([][]int32, error) {
	brokers := m.upBrokers()
	if factor > len(brokers) {
		return nil, store.Errorf(store.Refused, "INVALID_REPLICATION_FACTOR",
			"replication factor %d, but only %d of %d brokers are up", factor, len(brokers), len(m.Brokers)).
			WithHint("logdir broker list")
	}
	return roundRobin(brokers, from, to, factor), nil
}

// ParseAssignment reads Kafka's --replica-assignment: partitions with commas between
// them, the replicas of each with colons, the leader first: 1:2,2:1.
func ParseAssignment(text string) ([][]int32, error) {
	var out [][]int32
	for part := range strings.SplitSeq(text, ",") {
		var replicas []int32
		for id := range strings.SplitSeq(part, ":") {
			n, err := strconv.ParseUint(id, 10, 31)
			if err != nil {
				return nil, badAssignment(text, "want BROKER:BROKER,BROKER:BROKER, a list per partition")
			}
			replicas = append(replicas, int32(n))
		}
		out = append(out, replicas)
	}
	for _, replicas := range out {
		if len(replicas) != len(out[0]) {
			return nil, badAssignment(text, "every partition needs as many replicas as the first")
		}
		if hasTwice(replicas) {
			return nil, badAssignment(text, "a broker stands twice in one partition")
		}
	}
	return out, nil
}

func badAssignment(text, why string) error {
	return store.Errorf(store.Usage, "INVALID_REPLICA_ASSIGNMENT", "replica assignment %q: %s", text, why)
}

func hasTwice(ids []int32) bool {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, cmp.Compare[int32])
	return len(slices.Compact(sorted)) != len(ids)
}

// place makes the partition of a replica list: every replica that is up is in sync, as
// all are empty, and the first of them leads.
func (m *Meta) place(replicas []int32) (*Partition, error) {
	p := &Partition{Replicas: replicas}
	for _, b := range replicas {
		if _, err := m.Broker(b); err != nil {
			return nil, err
		}
		if !m.IsUp(b) {
			continue
		}
		p.JoinISR(b)
		if p.Leader == nil {
			p.Lead(b)
		}
	}
	if p.Leader == nil {
		return nil, store.Errorf(store.Refused, "BROKER_NOT_AVAILABLE", "no broker of %v is up", replicas).
			WithHint("logdir broker start %d", replicas[0])
	}
	return p, nil
}

func (m *Meta) placeAll(assignment [][]int32) ([]*Partition, error) {
	out := make([]*Partition, 0, len(assignment))
	for _, replicas := range assignment {
		p, err := m.place(replicas)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
