package decode

import "logdir/store/message"

// ShareRecordTypes are the types of __share_group_state.
var ShareRecordTypes = message.RecordTypes{
	{Type: 0, Key: sharePartitionKey("ShareSnapshotKey"), Value: shareSnapshotValue},
	{Type: 1, Key: sharePartitionKey("ShareUpdateKey"), Value: shareUpdateValue},
}

func sharePartitionKey(name string) *message.Schema {
	return message.KeyOf(name,
		message.One("groupId", message.String),
		message.One("topicId", message.UUID),
		message.One("partition", message.Int32),
	)
}

var (
	shareStateBatch = message.Part("StateBatch",
		message.One("firstOffset", message.Int64),
		message.One("lastOffset", message.Int64),
		message.One("deliveryState", message.Int8),
		message.One("deliveryCount", message.Int16),
	)
	shareSnapshotValue = message.Flexible("ShareSnapshotValue", 0,
		message.One("snapshotEpoch", message.Int32),
		message.One("stateEpoch", message.Int32),
		message.One("leaderEpoch", message.Int32),
		message.One("startOffset", message.Int64),
		message.One("deliveryCompleteCount", message.Int32).Else(-1).AtTag(0),
		message.One("createTimestamp", message.Int64),
		message.One("writeTimestamp", message.Int64),
		message.Structs("stateBatches", shareStateBatch),
	)
	shareUpdateValue = message.Flexible("ShareUpdateValue", 0,
		message.One("snapshotEpoch", message.Int32),
		message.One("leaderEpoch", message.Int32),
		message.One("startOffset", message.Int64),
		message.One("deliveryCompleteCount", message.Int32).Else(-1).AtTag(0),
		message.Structs("stateBatches", shareStateBatch),
	)
)
