package group

import "logdir/store/message"

// The keys of the group types that brokers coordinate themselves (KIP-848 and later).
var (
	memberKeyFields = []message.Field{message.One("groupId", message.String), message.One("memberId", message.String)}

	regularExpressionKey = message.KeyOf("ConsumerGroupRegularExpressionKey",
		message.One("groupId", message.String),
		message.One("regularExpression", message.String),
	)
)

func groupKey(name string) *message.Schema {
	return message.KeyOf(name, message.One("groupId", message.String))
}

func memberKey(name string) *message.Schema { return message.KeyOf(name, memberKeyFields...) }

// Parts that several values share.
var (
	idPartitions = message.Part("TopicPartitions",
		message.One("topicId", message.UUID),
		message.List("partitions", message.Int32),
	)
	idPartitionsWithEpochs = message.Part("TopicPartitions",
		message.One("topicId", message.UUID),
		message.List("partitions", message.Int32),
		message.List("assignmentEpochs", message.Int32).OrNull().AtTag(0),
	)
	topicMetadata = message.Part("TopicMetadata",
		message.One("topicId", message.UUID),
		message.One("topicName", message.String),
		message.One("numPartitions", message.Int32),
		message.Structs("partitionMetadata", message.Part("PartitionMetadata",
			message.One("partition", message.Int32),
			message.List("racks", message.String),
		)),
	)
)

// targetEpoch is the value of a group's target assignment, of all three kinds of group.
func targetEpoch(name string) *message.Schema {
	return message.Flexible(name, 0,
		message.One("assignmentEpoch", message.Int32),
		message.One("assignmentTimestamp", message.Int64).AtTag(0),
	)
}

// targetMember is the value of a member's target assignment.
func targetMember(name string) *message.Schema {
	return message.Flexible(name, 0, message.Structs("topicPartitions", idPartitions))
}

// The values of consumer groups.
var (
	consumerGroupMetadataValue = message.Flexible("ConsumerGroupMetadataValue", 0,
		message.One("epoch", message.Int32),
		message.One("metadataHash", message.Int64).AtTag(0),
	)
	consumerGroupPartitionMetadataValue = message.Flexible("ConsumerGroupPartitionMetadataValue", 0,
		message.Structs("topics", topicMetadata),
	)
	consumerGroupMemberMetadataValue = message.Flexible("ConsumerGroupMemberMetadataValue", 0,
		message.One("instanceId", message.String).OrNull(),
		message.One("rackId", message.String).OrNull(),
		message.One("clientId", message.String),
		message.One("clientHost", message.String),
		message.List("subscribedTopicNames", message.String),
		message.One("subscribedTopicRegex", message.String).OrNull(),
		message.One("rebalanceTimeoutMs", message.Int32).Else(-1),
		message.One("serverAssignor", message.String).OrNull(),
		message.Sub("classicMemberMetadata", message.Part("ClassicMemberMetadata",
			message.One("sessionTimeoutMs", message.Int32),
			message.Structs("supportedProtocols", message.Part("ClassicProtocol",
				message.One("name", message.String),
				message.One("metadata", message.Bytes),
			)),
		)).OrNull().AtTag(0),
	)
	consumerGroupCurrentMemberAssignmentValue = message.Flexible("ConsumerGroupCurrentMemberAssignmentValue", 0,
		message.One("memberEpoch", message.Int32),
		message.One("previousMemberEpoch", message.Int32),
		message.One("state", message.Int8),
		message.Structs("assignedPartitions", idPartitionsWithEpochs),
		message.Structs("partitionsPendingRevocation", idPartitionsWithEpochs),
	)
	consumerGroupRegularExpressionValue = message.Flexible("ConsumerGroupRegularExpressionValue", 0,
		message.List("topics", message.String),
		message.One("version", message.Int64),
		message.One("timestamp", message.Int64),
	)
)

// The values of share groups.
var (
	shareGroupMetadataValue = message.Flexible("ShareGroupMetadataValue", 0,
		message.One("epoch", message.Int32),
		message.One("metadataHash", message.Int64),
	)
	shareGroupMemberMetadataValue = message.Flexible("ShareGroupMemberMetadataValue", 0,
		message.One("rackId", message.String).OrNull(),
		message.One("clientId", message.String),
		message.One("clientHost", message.String),
		message.List("subscribedTopicNames", message.String),
	)
	shareGroupCurrentMemberAssignmentValue = message.Flexible("ShareGroupCurrentMemberAssignmentValue", 0,
		message.One("memberEpoch", message.Int32),
		message.One("previousMemberEpoch", message.Int32),
		message.One("state", message.Int8),
		message.Structs("assignedPartitions", idPartitions),
	)
	namedPartitions = message.Part("TopicPartitionsInfo",
		message.One("topicId", message.UUID),
		message.One("topicName", message.String),
		message.List("partitions", message.Int32),
	)
	shareGroupStatePartitionMetadataValue = message.Flexible("ShareGroupStatePartitionMetadataValue", 0,
		message.Structs("initializingTopics", namedPartitions),
		message.Structs("initializedTopics", namedPartitions),
		message.Structs("deletingTopics", message.Part("TopicInfo",
			message.One("topicId", message.UUID),
			message.One("topicName", message.String),
		)),
	)
)

// The values of streams groups.
var (
	keyValue = message.Part("KeyValue",
		message.One("key", message.String),
		message.One("value", message.String),
	)
	streamsGroupMetadataValue = message.Flexible("StreamsGroupMetadataValue", 0,
		message.One("epoch", message.Int32),
		message.One("metadataHash", message.Int64),
		message.One("validatedTopologyEpoch", message.Int32).Else(-1).AtTag(0),
		message.Structs("lastAssignmentConfigs", keyValue).OrNull().AtTag(1),
		message.One("storedDescriptionTopologyEpoch", message.Int32).Else(-1).AtTag(2),
		message.One("failedDescriptionTopologyEpoch", message.Int32).Else(-1).AtTag(3),
	)
	streamsGroupMemberMetadataValue = message.Flexible("StreamsGroupMemberMetadataValue", 0,
		message.One("instanceId", message.String).OrNull(),
		message.One("rackId", message.String).OrNull(),
		message.One("clientId", message.String),
		message.One("clientHost", message.String),
		message.One("rebalanceTimeoutMs", message.Int32).Else(-1),
		message.One("topologyEpoch", message.Int32),
		message.One("processId", message.String),
		message.Sub("userEndpoint", message.Part("Endpoint",
			message.One("host", message.String),
			message.One("port", message.Uint16),
		)).ElseNull(),
		message.Structs("clientTags", keyValue),
	)
	taskIDs = message.Part("TaskIds",
		message.One("subtopologyId", message.String),
		message.List("partitions", message.Int32),
	)
	taskIDsWithEpochs = message.Part("TaskIds",
		message.One("subtopologyId", message.String),
		message.List("partitions", message.Int32),
		message.List("assignmentEpochs", message.Int32).OrNull().AtTag(0),
	)
	streamsGroupTargetAssignmentMemberValue = message.Flexible("StreamsGroupTargetAssignmentMemberValue", 0,
		message.Structs("activeTasks", taskIDs),
		message.Structs("standbyTasks", taskIDs),
		message.Structs("warmupTasks", taskIDs),
	)
	streamsGroupCurrentMemberAssignmentValue = message.Flexible("StreamsGroupCurrentMemberAssignmentValue", 0,
		message.One("memberEpoch", message.Int32),
		message.One("previousMemberEpoch", message.Int32),
		message.One("state", message.Int8),
		message.Structs("activeTasks", taskIDsWithEpochs),
		message.Structs("standbyTasks", taskIDsWithEpochs),
		message.Structs("warmupTasks", taskIDsWithEpochs),
		message.Structs("activeTasksPendingRevocation", taskIDsWithEpochs),
		message.Structs("standbyTasksPendingRevocation", taskIDsWithEpochs),
		message.Structs("warmupTasksPendingRevocation", taskIDsWithEpochs),
	)
	streamsTopicInfo = message.Part("TopicInfo",
		message.One("name", message.String),
		message.One("partitions", message.Int32),
		message.One("replicationFactor", message.Int16),
		message.Structs("topicConfigs", message.Part("TopicConfig",
			message.One("key", message.String),
			message.One("value", message.String),
		)),
	)
	streamsGroupTopologyValue = message.Flexible("StreamsGroupTopologyValue", 0,
		message.One("epoch", message.Int32),
		message.Structs("subtopologies", message.Part("Subtopology",
			message.One("subtopologyId", message.String),
			message.List("sourceTopics", message.String),
			message.List("sourceTopicRegex", message.String),
			message.Structs("stateChangelogTopics", streamsTopicInfo),
			message.List("repartitionSinkTopics", message.String),
			message.Structs("repartitionSourceTopics", streamsTopicInfo),
			message.Structs("copartitionGroups", message.Part("CopartitionGroup",
				message.List("sourceTopics", message.Int16),
				message.List("sourceTopicRegex", message.Int16),
				message.List("repartitionSourceTopics", message.Int16),
			)),
		)),
	)
)
