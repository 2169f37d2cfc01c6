package group

import (
	"cmp"
	"fmt"
	"slices"

	"logdir/store"
	"logdir/store/message"
)

// Kind is how the members of a group agree on who reads what.
type Kind string

// The kinds. A group of which only offsets are known is Classic.
const (
	// Classic: the members themselves, through the coordinator (JoinGroup, SyncGroup).
	Classic Kind = "classic"
	// Consumer: the coordinator (KIP-848).
	Consumer Kind = "consumer"
	// Share: members share partitions (KIP-932). Their offsets are in __share_group_state.
	Share Kind = "share"
	// Streams: tasks instead of partitions (KIP-1071).
	Streams Kind = "streams"
)

// Group is one group as its coordinator would load it.
type Group struct {
	ID   string
	Kind Kind
	// Classic is the newest generation of a classic group. It is nil for other kinds, and
	// for a group that only commits.
	Classic *Metadata

	epoch, target int32 // of the other kinds: the group's epoch, and that of its target assignment
	hasMetadata   bool
	members       map[string]*Member // of the other kinds
	topics        *names             // those of offsets, shared by all groups of a State
	offsets       map[place]kept
	owners        map[store.TopicPartition]ownership // of a classic group
	ownedSince    int64                              // the offset of the first record that owners come from
}

// Member is one member, of any kind of group.
type Member struct {
	ID string
	// InstanceID is group.instance.id, empty for a dynamic member.
	InstanceID           string
	ClientID, ClientHost string
	// Epoch is how far a member is that takes its assignment from the coordinator; -1 in a
	// classic group.
	Epoch int32
	// Assignment is what the member reads, sorted. A group that is not classic knows a topic
	// only by its id, which then stands as the topic's name, and a streams group its tasks by
	// their subtopology.
	Assignment []store.TopicPartition

	stable bool // has all that it was assigned, and nothing else
}

func newGroup(id string, topics *names) *Group {
	return &Group{
		ID: id, Kind: Classic,
		members: map[string]*Member{}, topics: topics, offsets: map[place]kept{},
	}
}

// Generation counts the rebalances; other kinds than Classic call it the group epoch. It is -1 for
// a group that only commits.
func (g *Group) Generation() int32 {
	switch {
	case g.Classic != nil:
		return g.Classic.Generation
	case g.hasMetadata:
		return g.epoch
	}
	return -1
}

// Members are all members by id.
func (g *Group) Members() []Member {
	var list []Member
	if g.Classic != nil {
		for i := range g.Classic.Members {
			list = append(list, classicMember(g.Classic.ProtocolType, &g.Classic.Members[i]))
		}
	}
	for _, m := range g.members {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// The states that a group's records can tell, in Kafka's words.
const (
	Empty       = "Empty"       // no members
	Assigning   = "Assigning"   // the target assignment is not made yet
	Reconciling = "Reconciling" // members do not have what they were assigned
	Stable      = "Stable"
)

// State is the group's state. A classic group is Stable as soon as it has members: that it is
// between two generations is nowhere written.
func (g *Group) State() string {
	switch {
	case g.Classic != nil && len(g.Classic.Members) > 0:
		return Stable
	case len(g.members) == 0:
		return Empty
	case g.Kind != Share && g.epoch > g.target:
		return Assigning
	case g.Kind != Share && !g.reconciled():
		return Reconciling
	}
	return Stable
}

func (g *Group) reconciled() bool {
	for _, m := range g.members {
		if m.Epoch != g.target || !m.stable {
			return false
		}
	}
	return true
}

// gone says whether no record of the group is left.
func (g *Group) gone() bool {
	return g.Classic == nil && !g.hasMetadata && len(g.members) == 0 && len(g.offsets) == 0
}

func classicMember(protocolType string, m *MemberMetadata) Member {
	member := Member{
		ID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost,
		Epoch: -1, stable: true,
	}
	if protocolType == ConsumerProtocol {
		member.Assignment = m.Partitions() // none between the join and the sync of a generation
	}
	return member
}

// assignedIn reads partitions by topic id, or tasks by subtopology, from a member of a value.
func assignedIn(o *message.Object, name string) []store.TopicPartition {
	var all []store.TopicPartition
	for _, t := range o.Objects(name) {
		topic := t.Str("subtopologyId")
		if id, ok := t.Get("topicId"); ok {
			topic = fmt.Sprint(id)
		}
		for _, v := range t.List("partitions") {
			if n, ok := v.(int64); ok {
				all = append(all, store.TopicPartition{Topic: topic, Partition: int32(n)})
			}
		}
	}
	slices.SortFunc(all, store.TopicPartition.Compare)
	return all
}
