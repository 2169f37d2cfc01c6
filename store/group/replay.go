package group

import (
	"logdir/store/message"
)

// part is what a record type tells of a group that its coordinator assigns.
type part int

const (
	noPart         part = iota
	groupEpoch          // the group itself
	memberMetadata      // who a member is
	targetMetadata      // the epoch of the target assignment
	currentMember       // what a member has
)

// meaning is the kind of group that a record type belongs to, and what it tells.
type meaning struct {
	kind Kind
	part part
}

// meanings of record types. What is missing does not matter to a reader.
var meanings = map[int16]meaning{
	3: {Consumer, groupEpoch}, 5: {Consumer, memberMetadata}, 6: {Consumer, targetMetadata}, 8: {Consumer, currentMember},
	11: {Share, groupEpoch}, 10: {Share, memberMetadata}, 12: {Share, targetMetadata}, 14: {Share, currentMember},
	17: {Streams, groupEpoch}, 19: {Streams, memberMetadata}, 20: {Streams, targetMetadata}, 22: {Streams, currentMember},
}

// take applies the record at an offset, which is no offset commit.
func (g *Group) take(at int64, key *Key, v *Value) {
	if key.Type == TypeGroupMetadata {
		m := MetadataOf(key, v)
		g.noteOwners(at, &m)
		g.Classic, g.Kind = &m, Classic
		return
	}
	means, ok := meanings[key.Type]
	if !ok {
		return
	}
	value := v.Object
	g.Kind, g.hasMetadata = means.kind, true
	switch means.part {
	case groupEpoch:
		g.epoch = int32(value.Int("epoch", 0))
	case targetMetadata:
		g.target = int32(value.Int("assignmentEpoch", 0))
	case memberMetadata:
		g.member(key.Object.Str("memberId")).meet(value)
	case currentMember:
		g.member(key.Object.Str("memberId")).assign(value)
	}
}

// member finds or makes a member.
func (g *Group) member(id string) *Member {
	m := g.members[id]
	if m == nil {
		m = &Member{ID: id}
		g.members[id] = m
	}
	return m
}

func (m *Member) meet(value *message.Object) {
	m.InstanceID = value.Str("instanceId")
	m.ClientID, m.ClientHost = value.Str("clientId"), value.Str("clientHost")
}

// stableState is the state of a member that has just what it was assigned.
const stableState = 0

func (m *Member) assign(value *message.Object) {
	m.Epoch = int32(value.Int("memberEpoch", 0))
	m.stable = value.Int("state", stableState) == stableState
	m.Assignment = append(assignedIn(value, "assignedPartitions"), assignedIn(value, "activeTasks")...)
}

// bury applies a tombstone that is not one of a commit.
func (g *Group) bury(key *Key) {
	if key.Type == TypeGroupMetadata {
		g.Classic = nil
		clear(g.owners)
		return
	}
	switch meanings[key.Type].part {
	case groupEpoch:
		g.epoch, g.target, g.hasMetadata = 0, 0, false
	case memberMetadata:
		delete(g.members, key.Object.Str("memberId"))
	case currentMember:
		if m := g.members[key.Object.Str("memberId")]; m != nil {
			m.Epoch, m.Assignment, m.stable = 0, nil, false
		}
	}
}
