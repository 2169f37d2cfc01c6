package txn

import (
	"slices"

	"logdir/store"
	"logdir/store/message"
)

// Topic is the internal topic in which the coordinator keeps the transactions. In a
// cluster of ours it has one partition.
const Topic = "__transaction_state"

// Transaction is what the coordinator knows of a transactional id (Kafka:
// TransactionMetadata).
type Transaction struct {
	ID         string
	ProducerID int64
	Epoch      int16
	// TimeoutMs is how long it may be open, transaction.timeout.ms.
	TimeoutMs int32
	State     State
	// Partitions are those that the transaction may have records in, by topic and number.
	// That of the groups' offsets is one of them.
	Partitions []store.TopicPartition
	// Updated and Started are in ms; Started is -1 before the first transaction.
	Updated, Started int64
}

// prepared tells whether its end is decided but not yet everywhere.
func (t *Transaction) prepared() bool {
	return t.State == PrepareCommit || t.State == PrepareAbort || t.State == PrepareEpochFence
}

// expired tells whether it has been open for longer than its timeout.
func (t *Transaction) expired(now int64) bool {
	return t.State == Ongoing && now-t.Started > int64(t.TimeoutMs)
}

// has tells whether a partition is part of the transaction.
func (t *Transaction) has(tp store.TopicPartition) bool {
	_, found := slices.BinarySearchFunc(t.Partitions, tp, store.TopicPartition.Compare)
	return found
}

// with is the transaction with one more partition.
func (t Transaction) with(tp store.TopicPartition) Transaction {
	at, found := slices.BinarySearchFunc(t.Partitions, tp, store.TopicPartition.Compare)
	if !found {
		t.Partitions = slices.Insert(slices.Clone(t.Partitions), at, tp)
	}
	return t
}

// valueVersion is what brokers since Kafka 4.0 write.
const valueVersion = 1

// AppendKey appends the key of the transaction's record.
func (t *Transaction) AppendKey(dst []byte) ([]byte, error) {
	return RecordTypes[0].AppendKey(dst, (&message.Object{}).Set("transactionalId", t.ID))
}

// AppendValue appends the value of the transaction's record.
func (t *Transaction) AppendValue(dst []byte) ([]byte, error) {
	o := (&message.Object{}).
		Set("producerId", t.ProducerID).Set("producerEpoch", int64(t.Epoch)).
		Set("transactionTimeoutMs", int64(t.TimeoutMs)).Set("transactionStatus", int64(t.State)).
		Set("transactionPartitions", t.partitionObjects()).
		Set("transactionLastUpdateTimestampMs", t.Updated).Set("transactionStartTimestampMs", t.Started)
	return RecordTypes[0].AppendValue(dst, valueVersion, o)
}

// partitionObjects groups the partitions by topic; an Empty transaction has null.
func (t *Transaction) partitionObjects() any {
	if t.State == Empty {
		return nil
	}
	out := []any{}
	for i := 0; i < len(t.Partitions); {
		topic, ids := t.Partitions[i].Topic, []any{}
		for ; i < len(t.Partitions) && t.Partitions[i].Topic == topic; i++ {
			ids = append(ids, int64(t.Partitions[i].Partition))
		}
		out = append(out, (&message.Object{}).Set("topic", topic).Set("partitionIds", ids))
	}
	return out
}

// transactionOf reads a transaction from a key and its value.
func transactionOf(k *message.Key, v *message.Value) *Transaction {
	t := &Transaction{
		ID:         k.Object.Str("transactionalId"),
		ProducerID: v.Object.Int("producerId", -1), Epoch: int16(v.Object.Int("producerEpoch", -1)),
		TimeoutMs: int32(v.Object.Int("transactionTimeoutMs", 0)),
		State:     State(v.Object.Int("transactionStatus", 0)),
		Updated:   v.Object.Int("transactionLastUpdateTimestampMs", -1),
		Started:   v.Object.Int("transactionStartTimestampMs", -1),
	}
	for _, p := range v.Object.Objects("transactionPartitions") {
		for _, id := range p.List("partitionIds") {
			if n, ok := id.(int64); ok {
				t.Partitions = append(t.Partitions, store.TopicPartition{Topic: p.Str("topic"), Partition: int32(n)})
			}
		}
	}
	slices.SortFunc(t.Partitions, store.TopicPartition.Compare)
	return t
}
