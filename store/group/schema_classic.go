package group

import "logdir/store/message"

// The keys and values that all releases since 0.9 have.
var (
	offsetCommitKey = message.KeyOf("OffsetCommitKey",
		message.One("group", message.String),
		message.One("topic", message.String),
		message.One("partition", message.Int32),
	)
	groupMetadataKey = message.KeyOf("GroupMetadataKey",
		message.One("group", message.String),
	)

	// legacyOffsetCommitValue goes with keys of type 0.
	legacyOffsetCommitValue = &message.Schema{
		Name: "LegacyOffsetCommitValue", Flexible: message.NeverFlexible,
		Fields: []message.Field{
			message.One("offset", message.Int64),
			message.One("metadata", message.String),
			message.One("commitTimestamp", message.Int64),
		},
	}
	// offsetCommitValue: note that leaderEpoch stands between offset and metadata.
	offsetCommitValue = &message.Schema{
		Name: "OffsetCommitValue", Highest: 4, Flexible: 4,
		Fields: []message.Field{
			message.One("offset", message.Int64),
			message.One("leaderEpoch", message.Int32).Else(-1).From(3),
			message.One("metadata", message.String),
			message.One("commitTimestamp", message.Int64),
			message.One("expireTimestamp", message.Int64).Else(-1).Only(1),
			message.One("topicId", message.UUID).AtTag(0).From(4),
		},
	}

	groupMetadataValue = &message.Schema{
		Name: "GroupMetadataValue", Highest: 4, Flexible: 4,
		Fields: []message.Field{
			message.One("protocolType", message.String),
			message.One("generation", message.Int32),
			message.One("protocol", message.String).OrNull(),
			message.One("leader", message.String).OrNull(),
			message.One("currentStateTimestamp", message.Int64).Else(-1).From(2),
			message.Structs("members", message.Part("MemberMetadata",
				message.One("memberId", message.String),
				message.One("groupInstanceId", message.String).ElseNull().From(3),
				message.One("clientId", message.String),
				message.One("clientHost", message.String),
				message.One("rebalanceTimeout", message.Int32).Else(-1).From(1),
				message.One("sessionTimeout", message.Int32),
				message.One("subscription", message.Bytes),
				message.One("assignment", message.Bytes),
			)),
		},
	}
)

// What consumers put into the blobs of a group's members (protocol type "consumer").
var (
	topicPartitions = message.Part("TopicPartition",
		message.One("topic", message.String),
		message.List("partitions", message.Int32),
	)

	consumerSubscription = &message.Schema{
		Name: "ConsumerProtocolSubscription", Highest: 3, Flexible: message.NeverFlexible,
		Fields: []message.Field{
			message.List("topics", message.String),
			message.One("userData", message.Bytes).ElseNull(),
			message.Structs("ownedPartitions", topicPartitions).From(1),
			message.One("generationId", message.Int32).Else(-1).From(2),
			message.One("rackId", message.String).ElseNull().From(3),
		},
	}

	consumerAssignment = &message.Schema{
		Name: "ConsumerProtocolAssignment", Highest: 3, Flexible: message.NeverFlexible,
		Fields: []message.Field{
			message.Structs("assignedPartitions", topicPartitions),
			message.One("userData", message.Bytes).ElseNull(),
		},
	}
)
