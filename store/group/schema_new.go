package group

import "logdir/store/message"

// The keys of the group types that brokers coordinate themselves (KIP-848 and later).
var (
	memberKeyFields = []message.Field{field("groupId", message.String), field("memberId", message.String)}

	regularExpressionKey = keyOf("ConsumerGroupRegularExpressionKey",
		field("groupId", message.String),
		field("regularExpression", message.String),
	)
)

func groupKey(name string) *message.Schema { return keyOf(name, field("groupId", message.String)) }

func memberKey(name string) *message.Schema { return keyOf(name, memberKeyFields...) }

// Parts that several values share.
var (
	idPartitions = part("TopicPartitions",
		field("topicId", message.UUID),
		list("partitions", message.Int32),
	)
	idPartitionsWithEpochs = part("TopicPartitions",
		field("topicId", message.UUID),
		list("partitions", message.Int32),
		tagged(0, nullUnlessSet(list("assignmentEpochs", message.Int32))),
	)
	topicMetadata = part("TopicMetadata",
		field("topicId", message.UUID),
		field("topicName", message.String),
		field("numPartitions", message.Int32),
		structs("partitionMetadata", part("PartitionMetadata",
			field("partition", message.Int32),
			list("racks", message.String),
		)),
	)
)

// targetEpoch is the value of a group's target assignment, of all three kinds of group.
func targetEpoch(name string) *message.Schema {
	return flexibleFromZero(name,
		field("assignmentEpoch", message.Int32),
		tagged(0, field("assignmentTimestamp", message.Int64)),
	)
}

// targetMember is the value of a member's target assignment.
func targetMember(name string) *message.Schema {
	return flexibleFromZero(name, structs("topicPartitions", idPartitions))
}

// The values of consumer groups.
var (
	consumerGroupMetadataValue = flexibleFromZero("ConsumerGroupMetadataValue",
		field("epoch", message.Int32),
		tagged(0, field("metadataHash", message.Int64)),
	)
	consumerGroupPartitionMetadataValue = flexibleFromZero("ConsumerGroupPartitionMetadataValue",
		structs("topics", topicMetadata),
	)
	consumerGroupMemberMetadataValue = flexibleFromZero("ConsumerGroupMemberMetadataValue",
		nullable("instanceId", message.String),
		nullable("rackId", message.String),
		field("clientId", message.String),
		field("clientHost", message.String),
		list("subscribedTopicNames", message.String),
		nullable("subscribedTopicRegex", message.String),
		or(int64(-1), field("rebalanceTimeoutMs", message.Int32)),
		nullable("serverAssignor", message.String),
		tagged(0, nullUnlessSet(message.Field{
			Name: "classicMemberMetadata", Kind: message.Struct, Of: part("ClassicMemberMetadata",
				field("sessionTimeoutMs", message.Int32),
				structs("supportedProtocols", part("ClassicProtocol",
					field("name", message.String),
					field("metadata", message.Bytes),
				)),
			),
		})),
	)
	consumerGroupCurrentMemberAssignmentValue = flexibleFromZero("ConsumerGroupCurrentMemberAssignmentValue",
		field("memberEpoch", message.Int32),
		field("previousMemberEpoch", message.Int32),
		field("state", message.Int8),
		structs("assignedPartitions", idPartitionsWithEpochs),
		structs("partitionsPendingRevocation", idPartitionsWithEpochs),
	)
	consumerGroupRegularExpressionValue = flexibleFromZero("ConsumerGroupRegularExpressionValue",
		list("topics", message.String),
		field("version", message.Int64),
		field("timestamp", message.Int64),
	)
)

// The values of share groups.
var (
	shareGroupMetadataValue = flexibleFromZero("ShareGroupMetadataValue",
		field("epoch", message.Int32),
		field("metadataHash", message.Int64),
	)
	shareGroupMemberMetadataValue = flexibleFromZero("ShareGroupMemberMetadataValue",
		nullable("rackId", message.String),
		field("clientId", message.String),
		field("clientHost", message.String),
		list("subscribedTopicNames", message.String),
	)
	shareGroupCurrentMemberAssignmentValue = flexibleFromZero("ShareGroupCurrentMemberAssignmentValue",
		field("memberEpoch", message.Int32),
		field("previousMemberEpoch", message.Int32),
		field("state", message.Int8),
		structs("assignedPartitions", idPartitions),
	)
	namedPartitions = part("TopicPartitionsInfo",
		field("topicId", message.UUID),
		field("topicName", message.String),
		list("partitions", message.Int32),
	)
	shareGroupStatePartitionMetadataValue = flexibleFromZero("ShareGroupStatePartitionMetadataValue",
		structs("initializingTopics", namedPartitions),
		structs("initializedTopics", namedPartitions),
		structs("deletingTopics", part("TopicInfo",
			field("topicId", message.UUID),
			field("topicName", message.String),
		)),
	)
)

// The values of streams groups.
var (
	keyValue = part("KeyValue",
		field("key", message.String),
		field("value", message.String),
	)
	streamsGroupMetadataValue = flexibleFromZero("StreamsGroupMetadataValue",
		field("epoch", message.Int32),
		field("metadataHash", message.Int64),
		tagged(0, or(int64(-1), field("validatedTopologyEpoch", message.Int32))),
		tagged(1, nullUnlessSet(structs("lastAssignmentConfigs", keyValue))),
		tagged(2, or(int64(-1), field("storedDescriptionTopologyEpoch", message.Int32))),
		tagged(3, or(int64(-1), field("failedDescriptionTopologyEpoch", message.Int32))),
	)
	streamsGroupMemberMetadataValue = flexibleFromZero("StreamsGroupMemberMetadataValue",
		nullable("instanceId", message.String),
		nullable("rackId", message.String),
		field("clientId", message.String),
		field("clientHost", message.String),
		or(int64(-1), field("rebalanceTimeoutMs", message.Int32)),
		field("topologyEpoch", message.Int32),
		field("processId", message.String),
		nullUnlessSet(message.Field{
			Name: "userEndpoint", Kind: message.Struct, Of: part("Endpoint",
				field("host", message.String),
				field("port", message.Uint16),
			),
		}),
		structs("clientTags", keyValue),
	)
	taskIDs = part("TaskIds",
		field("subtopologyId", message.String),
		list("partitions", message.Int32),
	)
	taskIDsWithEpochs = part("TaskIds",
		field("subtopologyId", message.String),
		list("partitions", message.Int32),
		tagged(0, nullUnlessSet(list("assignmentEpochs", message.Int32))),
	)
	streamsGroupTargetAssignmentMemberValue = flexibleFromZero("StreamsGroupTargetAssignmentMemberValue",
		structs("activeTasks", taskIDs),
		structs("standbyTasks", taskIDs),
		structs("warmupTasks", taskIDs),
	)
	streamsGroupCurrentMemberAssignmentValue = flexibleFromZero("StreamsGroupCurrentMemberAssignmentValue",
		field("memberEpoch", message.Int32),
		field("previousMemberEpoch", message.Int32),
		field("state", message.Int8),
		structs("activeTasks", taskIDsWithEpochs),
		structs("standbyTasks", taskIDsWithEpochs),
		structs("warmupTasks", taskIDsWithEpochs),
		structs("activeTasksPendingRevocation", taskIDsWithEpochs),
		structs("standbyTasksPendingRevocation", taskIDsWithEpochs),
		structs("warmupTasksPendingRevocation", taskIDsWithEpochs),
	)
	streamsTopicInfo = part("TopicInfo",
		field("name", message.String),
		field("partitions", message.Int32),
		field("replicationFactor", message.Int16),
		structs("topicConfigs", part("TopicConfig",
			field("key", message.String),
			field("value", message.String),
		)),
	)
	streamsGroupTopologyValue = flexibleFromZero("StreamsGroupTopologyValue",
		field("epoch", message.Int32),
		structs("subtopologies", part("Subtopology",
			field("subtopologyId", message.String),
			list("sourceTopics", message.String),
			list("sourceTopicRegex", message.String),
			structs("stateChangelogTopics", streamsTopicInfo),
			list("repartitionSinkTopics", message.String),
			structs("repartitionSourceTopics", streamsTopicInfo),
			structs("copartitionGroups", part("CopartitionGroup",
				list("sourceTopics", message.Int16),
				list("sourceTopicRegex", message.Int16),
				list("repartitionSourceTopics", message.Int16),
			)),
		)),
	)
)
