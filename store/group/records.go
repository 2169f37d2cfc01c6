package group

import (
	"unicode/utf16"

	"logdir/store/message"
)

// The record types of __consumer_offsets that carry what this program writes itself. The type
// is the first int16 of the key.
const (
	TypeLegacyOffsetCommit int16 = 0
	TypeOffsetCommit       int16 = 1
	TypeGroupMetadata      int16 = 2
)

// What is common to all coordinators' records.
type (
	RecordType = message.RecordType
	Key        = message.Key
	Value      = message.Value
)

// RecordTypes are all types that Kafka 4.4 knows. Type 9, of share groups, was dropped in 4.1.
var RecordTypes = message.RecordTypes{
	{Type: TypeLegacyOffsetCommit, Key: offsetCommitKey, Value: legacyOffsetCommitValue},
	{Type: TypeOffsetCommit, Key: offsetCommitKey, Value: offsetCommitValue},
	{Type: TypeGroupMetadata, Key: groupMetadataKey, Value: groupMetadataValue, Show: withBlobs},
	{Type: 3, Key: groupKey("ConsumerGroupMetadataKey"), Value: consumerGroupMetadataValue},
	{Type: 4, Key: groupKey("ConsumerGroupPartitionMetadataKey"), Value: consumerGroupPartitionMetadataValue},
	{Type: 5, Key: memberKey("ConsumerGroupMemberMetadataKey"), Value: consumerGroupMemberMetadataValue},
	{Type: 6, Key: groupKey("ConsumerGroupTargetAssignmentMetadataKey"), Value: targetEpoch("ConsumerGroupTargetAssignmentMetadataValue")},
	{Type: 7, Key: memberKey("ConsumerGroupTargetAssignmentMemberKey"), Value: targetMember("ConsumerGroupTargetAssignmentMemberValue")},
	{Type: 8, Key: memberKey("ConsumerGroupCurrentMemberAssignmentKey"), Value: consumerGroupCurrentMemberAssignmentValue},
	{Type: 10, Key: memberKey("ShareGroupMemberMetadataKey"), Value: shareGroupMemberMetadataValue},
	{Type: 11, Key: groupKey("ShareGroupMetadataKey"), Value: shareGroupMetadataValue},
	{Type: 12, Key: groupKey("ShareGroupTargetAssignmentMetadataKey"), Value: targetEpoch("ShareGroupTargetAssignmentMetadataValue")},
	{Type: 13, Key: memberKey("ShareGroupTargetAssignmentMemberKey"), Value: targetMember("ShareGroupTargetAssignmentMemberValue")},
	{Type: 14, Key: memberKey("ShareGroupCurrentMemberAssignmentKey"), Value: shareGroupCurrentMemberAssignmentValue},
	{Type: 15, Key: groupKey("ShareGroupStatePartitionMetadataKey"), Value: shareGroupStatePartitionMetadataValue},
	{Type: 16, Key: regularExpressionKey, Value: consumerGroupRegularExpressionValue},
	{Type: 17, Key: groupKey("StreamsGroupMetadataKey"), Value: streamsGroupMetadataValue},
	{Type: 19, Key: memberKey("StreamsGroupMemberMetadataKey"), Value: streamsGroupMemberMetadataValue},
	{Type: 20, Key: groupKey("StreamsGroupTargetAssignmentMetadataKey"), Value: targetEpoch("StreamsGroupTargetAssignmentMetadataValue")},
	{Type: 21, Key: memberKey("StreamsGroupTargetAssignmentMemberKey"), Value: streamsGroupTargetAssignmentMemberValue},
	{Type: 22, Key: memberKey("StreamsGroupCurrentMemberAssignmentKey"), Value: streamsGroupCurrentMemberAssignmentValue},
	{Type: 23, Key: groupKey("StreamsGroupTopologyKey"), Value: streamsGroupTopologyValue},
}

// TypeOf finds a record type.
func TypeOf(t int16) (RecordType, bool) { return RecordTypes.Of(t) }

// ParseKey reads a key; see message.RecordTypes.
func ParseKey(key []byte) (Key, error) { return RecordTypes.ParseKey(key) }

// Of is the group that a record belongs to.
func Of(k *Key) string {
	if k.Type <= TypeGroupMetadata {
		return k.Object.Str("group")
	}
	return k.Object.Str("groupId")
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
