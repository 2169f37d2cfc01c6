package group

import (
	"encoding/binary"

	"logdir/store/corrupt"
	"logdir/store/message"
)

// ConsumerProtocol is the protocol type of groups whose members are consumers.
const ConsumerProtocol = "consumer"

// ParseSubscription reads the blob in which a consumer says what it wants. A version above the
// highest known is read as that. The error is a *corrupt.Error.
func ParseSubscription(blob []byte) (o *message.Object, version int16, err error) {
	return parseBlob(consumerSubscription, blob)
}

// ParseAssignment reads the blob in which a consumer is told what it has; see ParseSubscription.
func ParseAssignment(blob []byte) (o *message.Object, version int16, err error) {
	return parseBlob(consumerAssignment, blob)
}

func parseBlob(s *message.Schema, blob []byte) (*message.Object, int16, error) {
	if len(blob) < 2 {
		return nil, 0, corrupt.Newf(corrupt.BadRecords, 0, int64(len(blob)), "%s of %d bytes", s.Name, len(blob))
	}
	version := int16(binary.BigEndian.Uint16(blob))
	o, _, damage := s.Decode(min(version, s.Highest), blob[2:])
	if damage != nil {
		damage.Pos += 2
		return nil, version, damage
	}
	return o, min(version, s.Highest), nil
}

// AppendSubscription appends the blob of the given version.
func AppendSubscription(dst []byte, version int16, o *message.Object) ([]byte, error) {
	return consumerSubscription.Append(binary.BigEndian.AppendUint16(dst, uint16(version)), version, o)
}

// AppendAssignment appends the blob of the given version.
func AppendAssignment(dst []byte, version int16, o *message.Object) ([]byte, error) {
	return consumerAssignment.Append(binary.BigEndian.AppendUint16(dst, uint16(version)), version, o)
}

// withBlobs returns the value of a group of consumers with its members' blobs decoded, where
// they can be. The original keeps its bytes.
func withBlobs(value *message.Object) *message.Object {
	if value.Str("protocolType") != ConsumerProtocol {
		return value
	}
	shown := &message.Object{Members: append([]message.Member(nil), value.Members...)}
	members := value.Objects("members")
	decoded := make([]any, len(members))
	for i, m := range members {
		decoded[i] = decodeBlobs(m)
	}
	return shown.Set("members", decoded)
}

func decodeBlobs(member *message.Object) *message.Object {
	shown := &message.Object{Members: append([]message.Member(nil), member.Members...)}
	for name, schema := range map[string]*message.Schema{"subscription": consumerSubscription, "assignment": consumerAssignment} {
		if o, _, err := parseBlob(schema, member.Bytes(name)); err == nil {
			shown.Set(name, message.Typed{Schema: schema, Object: o})
		}
	}
	return shown
}
