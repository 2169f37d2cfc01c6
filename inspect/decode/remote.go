package decode

import (
	"slices"

	"logdir/store/message"
)

// ParseRemote reads the value of a record of __remote_log_metadata.
func ParseRemote(value []byte) (Frame, error) { return parseFrame(RemoteTypes, value) }

var (
	topicIDPartition = message.Part("TopicIdPartitionEntry",
		message.One("name", message.String),
		message.One("id", message.UUID),
		message.One("partition", message.Int32),
	)
	remoteSegmentID = message.Part("RemoteLogSegmentIdEntry",
		message.Sub("topicIdPartition", topicIDPartition),
		message.One("id", message.UUID),
	)
	segmentLeaderEpoch = message.Part("SegmentLeaderEpochEntry",
		message.One("leaderEpoch", message.Int32),
		message.One("offset", message.Int64),
	)
	// segmentFields follow the id of a segment.
	segmentFields = []message.Field{
		message.One("startOffset", message.Int64),
		message.One("endOffset", message.Int64),
		message.One("brokerId", message.Int32),
		message.One("maxTimestampMs", message.Int64),
		message.One("eventTimestampMs", message.Int64),
		message.Structs("segmentLeaderEpochs", segmentLeaderEpoch),
		message.One("segmentSizeInBytes", message.Int32),
		message.One("customMetadata", message.Bytes).ElseNull(),
		message.One("remoteLogSegmentState", message.Int8),
		message.One("txnIndexEmpty", message.Bool).AtTag(0),
	}
)

// RemoteTypes are all types of __remote_log_metadata, by number.
var RemoteTypes = []FrameType{
	{0, message.Flexible("RemoteLogSegmentMetadataRecord", 0,
		slices.Concat([]message.Field{message.Sub("remoteLogSegmentId", remoteSegmentID)}, segmentFields)...,
	)},
	{1, message.Flexible("RemoteLogSegmentMetadataUpdateRecord", 0,
		message.Sub("remoteLogSegmentId", remoteSegmentID),
		message.One("brokerId", message.Int32),
		message.One("eventTimestampMs", message.Int64),
		message.One("customMetadata", message.Bytes).ElseNull(),
		message.One("remoteLogSegmentState", message.Int8),
	)},
	{2, message.Flexible("RemotePartitionDeleteMetadataRecord", 0,
		message.Sub("topicIdPartition", topicIDPartition),
		message.One("brokerId", message.Int32),
		message.One("eventTimestampMs", message.Int64),
		message.One("remotePartitionDeleteState", message.Int8),
	)},
	{3, message.Flexible("RemoteLogSegmentMetadataSnapshotRecord", 0,
		slices.Concat([]message.Field{message.One("segmentId", message.UUID)}, segmentFields)...,
	)},
}
