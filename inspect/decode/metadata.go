package decode

import "logdir/store/message"

// ParseMetadata reads the value of a record of KRaft's metadata log, or of a snapshot of it. A
// type that is not known, or an old frame, is an error and no damage.
func ParseMetadata(value []byte) (Frame, error) { return parseFrame(MetadataTypes, value) }

func metadataText(dst []byte, f *Frame) ([]byte, error) { return f.AppendJSON(dst), nil }

// The types of metadata records that other packages look for.
const (
	TopicRecord       int16 = 2
	PartitionRecord   int16 = 3
	RemoveTopicRecord int16 = 9
)

// MetadataTypes are all types of __cluster_metadata in Kafka 4.4, by number. The numbers that are missing were never
// released.
var MetadataTypes = []FrameType{
	{0, registerBrokerRecord},
	{1, message.Flexible("UnregisterBrokerRecord", 0,
		message.One("brokerId", message.Int32),
		message.One("brokerEpoch", message.Int64),
	)},
	{TopicRecord, message.Flexible("TopicRecord", 0,
		message.One("name", message.String),
		message.One("topicId", message.UUID),
	)},
	{PartitionRecord, partitionRecord},
	{4, message.Flexible("ConfigRecord", 0,
		message.One("resourceType", message.Int8),
		message.One("resourceName", message.String),
		message.One("name", message.String),
		message.One("value", message.String).OrNull(),
	)},
	{5, partitionChangeRecord},
	{7, brokerEpochRecord("FenceBrokerRecord")},
	{8, brokerEpochRecord("UnfenceBrokerRecord")},
	{RemoveTopicRecord, message.Flexible("RemoveTopicRecord", 0,
		message.One("topicId", message.UUID),
	)},
	{10, message.Flexible("DelegationTokenRecord", 0,
		message.One("owner", message.String),
		message.One("requester", message.String),
		message.List("renewers", message.String),
		message.One("issueTimestamp", message.Int64),
		message.One("maxTimestamp", message.Int64),
		message.One("expirationTimestamp", message.Int64),
		message.One("tokenId", message.String),
	)},
	{11, message.Flexible("UserScramCredentialRecord", 0,
		message.One("name", message.String),
		message.One("mechanism", message.Int8),
		message.One("salt", message.Bytes),
		message.One("storedKey", message.Bytes),
		message.One("serverKey", message.Bytes),
		message.One("iterations", message.Int32),
	)},
	{12, message.Flexible("FeatureLevelRecord", 0,
		message.One("name", message.String),
		message.One("featureLevel", message.Int16),
	)},
	{14, message.Flexible("ClientQuotaRecord", 0,
		message.Structs("entity", message.Part("EntityData",
			message.One("entityType", message.String),
			message.One("entityName", message.String).OrNull(),
		)),
		message.One("key", message.String),
		message.One("value", message.Float64),
		message.One("remove", message.Bool),
	)},
	{15, message.Flexible("ProducerIdsRecord", 0,
		message.One("brokerId", message.Int32),
		message.One("brokerEpoch", message.Int64).Else(-1),
		message.One("nextProducerId", message.Int64),
	)},
	{17, message.Flexible("BrokerRegistrationChangeRecord", 3,
		message.One("brokerId", message.Int32),
		message.One("brokerEpoch", message.Int64),
		message.One("fenced", message.Int8).AtTag(0),
		message.One("inControlledShutdown", message.Int8).AtTag(1).From(1),
		message.List("logDirs", message.UUID).AtTag(2).From(2),
		message.List("cordonedLogDirs", message.UUID).ElseNull().AtTag(3).From(3),
	)},
	{18, message.Flexible("AccessControlEntryRecord", 0,
		message.One("id", message.UUID),
		message.One("resourceType", message.Int8),
		message.One("resourceName", message.String),
		message.One("patternType", message.Int8),
		message.One("principal", message.String),
		message.One("host", message.String),
		message.One("operation", message.Int8),
		message.One("permissionType", message.Int8),
	)},
	{19, message.Flexible("RemoveAccessControlEntryRecord", 0,
		message.One("id", message.UUID),
	)},
	{20, message.Flexible("NoOpRecord", 0)},
	{21, message.Flexible("ZkMigrationStateRecord", 0,
		message.One("zkMigrationState", message.Int8),
	)},
	{22, message.Flexible("RemoveUserScramCredentialRecord", 0,
		message.One("name", message.String),
		message.One("mechanism", message.Int8),
	)},
	{23, message.Flexible("BeginTransactionRecord", 0,
		message.One("name", message.String).ElseNull().AtTag(0),
	)},
	{24, message.Flexible("EndTransactionRecord", 0)},
	{25, message.Flexible("AbortTransactionRecord", 0,
		message.One("reason", message.String).ElseNull().AtTag(0),
	)},
	{26, message.Flexible("RemoveDelegationTokenRecord", 0,
		message.One("tokenId", message.String),
	)},
	{27, registerControllerRecord},
	{28, message.Flexible("ClearElrRecord", 0,
		message.One("topicName", message.String),
	)},
	{29, message.Flexible("UnregisterControllerRecord", 0,
		message.One("controllerId", message.Int32),
	)},
}

func brokerEpochRecord(name string) *message.Schema {
	return message.Flexible(name, 0,
		message.One("id", message.Int32),
		message.One("epoch", message.Int64),
	)
}

// What a broker and a controller say of themselves.
var (
	endPoint = message.Part("EndPoint",
		message.One("name", message.String),
		message.One("host", message.String),
		message.One("port", message.Uint16),
		message.One("securityProtocol", message.Int16),
	)
	feature = message.Part("Feature",
		message.One("name", message.String),
		message.One("minSupportedVersion", message.Int16),
		message.One("maxSupportedVersion", message.Int16),
	)
	registerBrokerRecord = message.Flexible("RegisterBrokerRecord", 4,
		message.One("brokerId", message.Int32),
		message.One("isMigratingZkBroker", message.Bool).From(2),
		message.One("incarnationId", message.UUID),
		message.One("brokerEpoch", message.Int64),
		message.Structs("endPoints", endPoint),
		message.Structs("features", feature),
		message.One("rack", message.String).OrNull(),
		message.One("fenced", message.Bool),
		message.One("inControlledShutdown", message.Bool).From(1),
		message.List("logDirs", message.UUID).AtTag(0).From(3),
		message.List("cordonedLogDirs", message.UUID).ElseNull().AtTag(1).From(4),
	)
	registerControllerRecord = message.Flexible("RegisterControllerRecord", 0,
		message.One("controllerId", message.Int32),
		message.One("incarnationId", message.UUID),
		message.One("zkMigrationReady", message.Bool),
		message.Structs("endPoints", endPoint),
		message.Structs("features", feature),
	)
)

// Partitions. The order is that of the JSON: some tagged fields stand between others.
var (
	partitionRecord = message.Flexible("PartitionRecord", 2,
		message.One("partitionId", message.Int32).Else(-1),
		message.One("topicId", message.UUID),
		message.List("replicas", message.Int32),
		message.List("isr", message.Int32),
		message.List("removingReplicas", message.Int32),
		message.List("addingReplicas", message.Int32),
		message.One("leader", message.Int32).Else(-1),
		message.One("leaderRecoveryState", message.Int8).AtTag(0),
		message.One("leaderEpoch", message.Int32).Else(-1),
		message.One("partitionEpoch", message.Int32).Else(-1),
		message.List("directories", message.UUID).From(1),
		message.List("eligibleLeaderReplicas", message.Int32).ElseNull().AtTag(1).From(2),
		message.List("lastKnownElr", message.Int32).ElseNull().AtTag(2).From(2),
	)
	partitionChangeRecord = message.Flexible("PartitionChangeRecord", 2,
		message.One("partitionId", message.Int32).Else(-1),
		message.One("topicId", message.UUID),
		message.List("isr", message.Int32).ElseNull().AtTag(0),
		message.One("leader", message.Int32).Else(-2).AtTag(1),
		message.List("replicas", message.Int32).ElseNull().AtTag(2),
		message.List("removingReplicas", message.Int32).ElseNull().AtTag(3),
		message.List("addingReplicas", message.Int32).ElseNull().AtTag(4),
		message.One("leaderRecoveryState", message.Int8).Else(-1).AtTag(5),
		message.List("directories", message.UUID).ElseNull().AtTag(8).From(1),
		message.List("eligibleLeaderReplicas", message.Int32).ElseNull().AtTag(6).From(2),
		message.List("lastKnownElr", message.Int32).ElseNull().AtTag(7).From(2),
	)
)
