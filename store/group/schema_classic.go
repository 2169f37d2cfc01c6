package group

import "logdir/store/message"

// The keys and values that all releases since 0.9 have.
var (
	offsetCommitKey = keyOf("OffsetCommitKey",
		field("group", message.String),
		field("topic", message.String),
		field("partition", message.Int32),
	)
	groupMetadataKey = keyOf("GroupMetadataKey",
		field("group", message.String),
	)

	// offsetCommitValue: note that leaderEpoch stands between offset and metadata.
	offsetCommitValue = &message.Schema{
		Name: "OffsetCommitValue", Highest: 4, Flexible: 4,
		Fields: []message.Field{
			field("offset", message.Int64),
			since(3, or(int64(-1), field("leaderEpoch", message.Int32))),
			field("metadata", message.String),
			field("commitTimestamp", message.Int64),
			only(1, or(int64(-1), field("expireTimestamp", message.Int64))),
			since(4, tagged(0, field("topicId", message.UUID))),
		},
	}

	groupMetadataValue = &message.Schema{
		Name: "GroupMetadataValue", Highest: 4, Flexible: 4,
		Fields: []message.Field{
			field("protocolType", message.String),
			field("generation", message.Int32),
			nullable("protocol", message.String),
			nullable("leader", message.String),
			since(2, or(int64(-1), field("currentStateTimestamp", message.Int64))),
			structs("members", part("MemberMetadata",
				field("memberId", message.String),
				since(3, nullUnlessSet(field("groupInstanceId", message.String))),
				field("clientId", message.String),
				field("clientHost", message.String),
				since(1, field("rebalanceTimeout", message.Int32)),
				field("sessionTimeout", message.Int32),
				field("subscription", message.Bytes),
				field("assignment", message.Bytes),
			)),
		},
	}
)

// What consumers put into the blobs of a group's members (protocol type "consumer").
var (
	topicPartitions = part("TopicPartition",
		field("topic", message.String),
		list("partitions", message.Int32),
	)

	consumerSubscription = &message.Schema{
		Name: "ConsumerProtocolSubscription", Highest: 3, Flexible: message.NeverFlexible,
		Fields: []message.Field{
			list("topics", message.String),
			nullUnlessSet(field("userData", message.Bytes)),
			since(1, structs("ownedPartitions", topicPartitions)),
			since(2, or(int64(-1), field("generationId", message.Int32))),
			since(3, nullUnlessSet(field("rackId", message.String))),
		},
	}

	consumerAssignment = &message.Schema{
		Name: "ConsumerProtocolAssignment", Highest: 3, Flexible: message.NeverFlexible,
		Fields: []message.Field{
			structs("assignedPartitions", topicPartitions),
			nullUnlessSet(field("userData", message.Bytes)),
		},
	}
)
