package decode

import (
	"logdir/store/group"
	"logdir/store/record"
	"logdir/store/txn"
)

// Topic is one of Kafka's internal topics.
type Topic int

// The topics, in the order in which the flags of Kafka's dump tool win.
const (
	None Topic = iota
	ConsumerOffsets
	TransactionState
	ClusterMetadata
	RemoteLogMetadata
	ShareGroupState
)

var topicNames = map[string]Topic{
	"__consumer_offsets":    ConsumerOffsets,
	"__transaction_state":   TransactionState,
	"__cluster_metadata":    ClusterMetadata,
	"__remote_log_metadata": RemoteLogMetadata,
	"__share_group_state":   ShareGroupState,
}

// TopicOf tells from its name which internal topic it is, None for any other.
func TopicOf(name string) Topic { return topicNames[name] }

// A Decoder shows keys and values. It serves one goroutine, and what it returns is valid
// until its next call.
type Decoder interface {
	// Text is what Kafka's dump tool prints behind "key: " and "payload: "; nil if it
	// prints neither the word nor anything else.
	Text(r *record.Record) (key, payload []byte)
	// JSON is the same as JSON values, nil for null.
	JSON(r *record.Record) (key, payload []byte)
}

// Decoder makes a decoder of the topic, nil for None.
func (t Topic) Decoder() Decoder {
	switch t {
	case ConsumerOffsets:
		return &coordinator{types: group.RecordTypes}
	case TransactionState:
		return &coordinator{types: txn.RecordTypes}
	case ShareGroupState:
		return &coordinator{types: ShareRecordTypes}
	case ClusterMetadata:
		return &framed{types: MetadataTypes, text: metadataText}
	case RemoteLogMetadata:
		return &framed{types: RemoteTypes, text: remoteText, at: "offset "}
	}
	return nil
}
