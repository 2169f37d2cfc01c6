package group

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"

	"logdir/store/corrupt"
	"logdir/store/message"
)

// The record types of __consumer_offsets that carry what this program writes itself. The type
// is the first int16 of the key.
const (
	TypeLegacyOffsetCommit int16 = 0
	TypeOffsetCommit       int16 = 1
	TypeGroupMetadata      int16 = 2
)

// RecordType is one type of record of __consumer_offsets.
type RecordType struct {
	Type int16
	// Key and Value are their schemas. Value is nil for a type of which only tombstones and
	// unreadable old values exist.
	Key, Value *message.Schema
}

// RecordTypes are all types that Kafka 4.4 knows, and those that releases before it dropped, by
// rising type.
var RecordTypes = []RecordType{
	{TypeLegacyOffsetCommit, offsetCommitKey, offsetCommitValue},
	{TypeOffsetCommit, offsetCommitKey, offsetCommitValue},
	{TypeGroupMetadata, groupMetadataKey, groupMetadataValue},
	{3, groupKey("ConsumerGroupMetadataKey"), consumerGroupMetadataValue},
	{4, groupKey("ConsumerGroupPartitionMetadataKey"), consumerGroupPartitionMetadataValue},
	{5, memberKey("ConsumerGroupMemberMetadataKey"), consumerGroupMemberMetadataValue},
	{6, groupKey("ConsumerGroupTargetAssignmentMetadataKey"), targetEpoch("ConsumerGroupTargetAssignmentMetadataValue")},
	{7, memberKey("ConsumerGroupTargetAssignmentMemberKey"), targetMember("ConsumerGroupTargetAssignmentMemberValue")},
	{8, memberKey("ConsumerGroupCurrentMemberAssignmentKey"), consumerGroupCurrentMemberAssignmentValue},
	{9, groupKey("ShareGroupPartitionMetadataKey"), nil},
	{10, memberKey("ShareGroupMemberMetadataKey"), shareGroupMemberMetadataValue},
	{11, groupKey("ShareGroupMetadataKey"), shareGroupMetadataValue},
	{12, groupKey("ShareGroupTargetAssignmentMetadataKey"), targetEpoch("ShareGroupTargetAssignmentMetadataValue")},
	{13, memberKey("ShareGroupTargetAssignmentMemberKey"), targetMember("ShareGroupTargetAssignmentMemberValue")},
	{14, memberKey("ShareGroupCurrentMemberAssignmentKey"), shareGroupCurrentMemberAssignmentValue},
	{15, groupKey("ShareGroupStatePartitionMetadataKey"), shareGroupStatePartitionMetadataValue},
	{16, regularExpressionKey, consumerGroupRegularExpressionValue},
	{17, groupKey("StreamsGroupMetadataKey"), streamsGroupMetadataValue},
	{19, memberKey("StreamsGroupMemberMetadataKey"), streamsGroupMemberMetadataValue},
	{20, groupKey("StreamsGroupTargetAssignmentMetadataKey"), targetEpoch("StreamsGroupTargetAssignmentMetadataValue")},
	{21, memberKey("StreamsGroupTargetAssignmentMemberKey"), streamsGroupTargetAssignmentMemberValue},
	{22, memberKey("StreamsGroupCurrentMemberAssignmentKey"), streamsGroupCurrentMemberAssignmentValue},
	{23, groupKey("StreamsGroupTopologyKey"), streamsGroupTopologyValue},
}

// TypeOf finds a record type.
func TypeOf(t int16) (RecordType, bool) {
	at, found := slices.BinarySearchFunc(RecordTypes, t, func(r RecordType, t int16) int { return int(r.Type) - int(t) })
	if !found {
		return RecordType{Type: t}, false
	}
	return RecordTypes[at], true
}

// ErrUnknownType is for a record of a type, or a value of a version, that is not known. It
// is no damage: a newer broker wrote it.
var ErrUnknownType = errors.New("unknown record type")

// UnknownTypeError says which.
type UnknownTypeError struct {
	Type int16
	// Version is the value's, or -1 if the type itself is unknown.
	Version int16
}

// Error names the type, and the version if that is what is unknown.
func (e *UnknownTypeError) Error() string {
	if e.Version >= 0 {
		return fmt.Sprintf("record type %d has no version %d", e.Type, e.Version)
	}
	return fmt.Sprintf("record type %d is unknown", e.Type)
}

// Unwrap leads to ErrUnknownType.
func (e *UnknownTypeError) Unwrap() error { return ErrUnknownType }

// Key is a decoded key.
type Key struct {
	RecordType
	Object *message.Object
}

// ParseKey reads a key. The error is an *UnknownTypeError, with which Key.Type is set, or a *corrupt.Error
// of kind bad-records at a byte of the key.
func ParseKey(key []byte) (Key, error) {
	if len(key) < 2 {
		return Key{}, corrupt.Newf(corrupt.BadRecords, 0, int64(len(key)), "key of %d bytes", len(key))
	}
	t, ok := TypeOf(int16(binary.BigEndian.Uint16(key)))
	if !ok {
		return Key{RecordType: t}, &UnknownTypeError{t.Type, -1}
	}
	o, _, damage := t.Key.Decode(0, key[2:])
	if damage != nil {
		damage.Pos += 2
		return Key{RecordType: t}, damage
	}
	return Key{t, o}, nil
}

// AppendJSON appends the key as Kafka's tools print it.
func (k *Key) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = strconv.AppendInt(dst, int64(k.Type), 10)
	dst = append(dst, `","data":`...)
	return append(k.Key.AppendJSON(dst, k.Object), '}')
}

// Group is the group that the record belongs to.
func (k *Key) Group() string {
	if k.Type <= TypeGroupMetadata {
		return k.Object.Str("group")
	}
	return k.Object.Str("groupId")
}

// Value is a decoded value.
type Value struct {
	RecordType
	Version int16
	Object  *message.Object
}

// ParseValue reads the value of a record of this type. A null one is a tombstone and must not come
// here. The errors are those of ParseKey.
func (t RecordType) ParseValue(value []byte) (Value, error) {
	v := Value{RecordType: t}
	if len(value) < 2 {
		return v, corrupt.Newf(corrupt.BadRecords, 0, int64(len(value)), "value of %d bytes", len(value))
	}
	v.Version = int16(binary.BigEndian.Uint16(value))
	if t.Value == nil || !t.Value.Has(v.Version) {
		return v, &UnknownTypeError{t.Type, v.Version}
	}
	o, _, damage := t.Value.Decode(v.Version, value[2:])
	if damage != nil {
		damage.Pos += 2
		return v, damage
	}
	v.Object = o
	return v, nil
}

// AppendJSON appends the value as Kafka's tools print it: what the members of a group of consumers
// subscribe to and are assigned is decoded as well.
func (v *Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"version":"`...)
	dst = strconv.AppendInt(dst, int64(v.Version), 10)
	dst = append(dst, `","data":`...)
	o := v.Object
	if v.Type == TypeGroupMetadata && o.Str("protocolType") == ConsumerProtocol {
		o = withBlobs(o)
	}
	return append(v.Value.AppendJSON(dst, o), '}')
}

// AppendKey appends the bytes of a key of this type.
func (t RecordType) AppendKey(dst []byte, o *message.Object) ([]byte, error) {
	return t.Key.Append(binary.BigEndian.AppendUint16(dst, uint16(t.Type)), 0, o)
}

// AppendValue appends the bytes of a value of this type.
func (t RecordType) AppendValue(dst []byte, version int16, o *message.Object) ([]byte, error) {
	if t.Value == nil {
		return dst, &UnknownTypeError{t.Type, version}
	}
	return t.Value.Append(binary.BigEndian.AppendUint16(dst, uint16(version)), version, o)
}

// PartitionOf is the partition of __consumer_offsets, or of __transaction_state, that holds
// what belongs to id: the absolute value of Java's String.hashCode, modulo partitions.
func PartitionOf(id string, partitions int32) int32 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(id)) {
		hash = 31*hash + int32(unit)
	}
	if hash == -1<<31 {
		return 0
	}
	return max(hash, -hash) % partitions
}
