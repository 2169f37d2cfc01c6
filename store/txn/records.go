package txn

import "logdir/store/message"

// TypeTransaction is the only record type of __transaction_state.
const TypeTransaction int16 = 0

// RecordTypes are the types of __transaction_state.
var RecordTypes = message.RecordTypes{
	{Type: TypeTransaction, Key: transactionLogKey, Value: transactionLogValue, Show: withStateName},
}

var (
	transactionLogKey = message.KeyOf("TransactionLogKey",
		message.One("transactionalId", message.String),
	)

	transactionLogValue = &message.Schema{
		Name: "TransactionLogValue", Highest: 1, Flexible: 1,
		Fields: []message.Field{
			message.One("producerId", message.Int64),
			message.One("previousProducerId", message.Int64).Else(-1).AtTag(0).From(1),
			message.One("nextProducerId", message.Int64).Else(-1).AtTag(1).From(1),
			message.One("producerEpoch", message.Int16),
			message.One("nextProducerEpoch", message.Int16).Else(-1).AtTag(3).From(1),
			message.One("transactionTimeoutMs", message.Int32),
			message.One("transactionStatus", message.Int8),
			message.Structs("transactionPartitions", message.Part("PartitionsSchema",
				message.One("topic", message.String),
				message.List("partitionIds", message.Int32),
			)).OrNull(),
			message.One("transactionLastUpdateTimestampMs", message.Int64),
			message.One("transactionStartTimestampMs", message.Int64),
			message.One("clientTransactionVersion", message.Int16).AtTag(2).From(1),
		},
	}
)

// withStateName returns a value with its status as a word.
func withStateName(value *message.Object) *message.Object {
	state := State(value.Int("transactionStatus", 0))
	shown := &message.Object{Members: append([]message.Member(nil), value.Members...)}
	return shown.Set("transactionStatus", state.String())
}
