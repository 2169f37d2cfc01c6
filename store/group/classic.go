package group

import "logdir/store/message"

// OffsetCommit is how far a group has come in one partition.
type OffsetCommit struct {
	Group, Topic string
	Partition    int32
	// Offset is that of the next record to read; LeaderEpoch that of the last one read, or -1.
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	// CommitTimestamp is in ms, and ExpireTimestamp, which few clients set, too; -1 for none.
	CommitTimestamp, ExpireTimestamp int64
}

// AppendKey appends the key of the record that commits the offset, or, with a null value, of the
// tombstone that deletes it.
func (c *OffsetCommit) AppendKey(dst []byte) ([]byte, error) {
	t, _ := TypeOf(TypeOffsetCommit)
	return t.AppendKey(dst, (&message.Object{}).Set("group", c.Group).Set("topic", c.Topic).Set("partition", int64(c.Partition)))
}

// AppendValue appends the record's value in the version that Kafka writes: 3, or 1 if there is
// an expiry.
func (c *OffsetCommit) AppendValue(dst []byte) ([]byte, error) {
	t, _ := TypeOf(TypeOffsetCommit)
	o := (&message.Object{}).
		Set("offset", c.Offset).Set("leaderEpoch", int64(c.LeaderEpoch)).Set("metadata", c.Metadata).
		Set("commitTimestamp", c.CommitTimestamp).Set("expireTimestamp", c.ExpireTimestamp)
	version := int16(3)
	if c.ExpireTimestamp >= 0 {
		version = 1
	}
	return t.AppendValue(dst, version, o)
}

// Metadata is the state of a classic group between two rebalances.
type Metadata struct {
	Group string
	// ProtocolType is ConsumerProtocol, or that of another client, or empty in a group that
	// only commits.
	ProtocolType string
	Generation   int32
	// Protocol is the name of the assignor and Leader a member's id; both are empty in a group
	// without members.
	Protocol, Leader string
	StateTimestamp   int64 // ms, or -1
	Members          []MemberMetadata
}

// MemberMetadata is one member of a classic group.
type MemberMetadata struct {
	MemberID string
	// InstanceID is group.instance.id, empty for a dynamic member.
	InstanceID           string
	ClientID, ClientHost string
	RebalanceTimeoutMS   int32
	SessionTimeoutMS     int32
	// Subscription and Assignment are blobs of the protocol type.
	Subscription, Assignment []byte
}

// groupMetadataVersion is what Kafka writes.
const groupMetadataVersion = 3

// AppendKey appends the key of the record that holds the group's state.
func (g *Metadata) AppendKey(dst []byte) ([]byte, error) {
	t, _ := TypeOf(TypeGroupMetadata)
	return t.AppendKey(dst, (&message.Object{}).Set("group", g.Group))
}

// AppendValue appends the record's value in the version that Kafka writes.
func (g *Metadata) AppendValue(dst []byte) ([]byte, error) {
	t, _ := TypeOf(TypeGroupMetadata)
	members := make([]any, len(g.Members))
	for i := range g.Members {
		members[i] = g.Members[i].object()
	}
	o := (&message.Object{}).
		Set("protocolType", g.ProtocolType).Set("generation", int64(g.Generation)).
		Set("protocol", orNull(g.Protocol)).Set("leader", orNull(g.Leader)).
		Set("currentStateTimestamp", g.StateTimestamp).Set("members", members)
	return t.AppendValue(dst, groupMetadataVersion, o)
}

func (m *MemberMetadata) object() *message.Object {
	return (&message.Object{}).
		Set("memberId", m.MemberID).Set("groupInstanceId", orNull(m.InstanceID)).
		Set("clientId", m.ClientID).Set("clientHost", m.ClientHost).
		Set("rebalanceTimeout", int64(m.RebalanceTimeoutMS)).Set("sessionTimeout", int64(m.SessionTimeoutMS)).
		Set("subscription", append([]byte{}, m.Subscription...)).Set("assignment", append([]byte{}, m.Assignment...))
}

// orNull is the value of a nullable string that is never empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// MetadataOf reads a group's state from a key of type 2 and its value.
func MetadataOf(k *Key, v *Value) Metadata {
	g := Metadata{
		Group: k.Object.Str("group"), ProtocolType: v.Object.Str("protocolType"),
		Generation: int32(v.Object.Int("generation", 0)),
		Protocol:   v.Object.Str("protocol"), Leader: v.Object.Str("leader"),
		StateTimestamp: v.Object.Int("currentStateTimestamp", -1),
	}
	for _, m := range v.Object.Objects("members") {
		session := int32(m.Int("sessionTimeout", 0))
		g.Members = append(g.Members, MemberMetadata{
			MemberID: m.Str("memberId"), InstanceID: m.Str("groupInstanceId"),
			ClientID: m.Str("clientId"), ClientHost: m.Str("clientHost"),
			RebalanceTimeoutMS: int32(m.Int("rebalanceTimeout", int64(session))), // version 0 has one for both
			SessionTimeoutMS:   session,
			Subscription:       m.Bytes("subscription"), Assignment: m.Bytes("assignment"),
		})
	}
	return g
}
