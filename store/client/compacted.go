package client

import (
	"logdir/store"
	"logdir/store/record"
)

// keyed is how many batches of q stand in front of the first that the topic does not take
// because a record in it has no key; the error is about that batch. Only a compacted topic
// minds: its cleaner would not know what to do with such a record. Kafka refuses it too,
// and the whole batch with it.
func (t *Topic) keyed(q Request) (int, error) {
	compacted, err := t.compacted()
	if err != nil || !compacted {
		return len(q.Batches), err
	}
	if t.reader == nil {
		t.reader = record.NewReader()
	}
	for i := range q.Batches {
		unkeyed, err := hasUnkeyed(t.reader, q.rest(i).first(1).Frames)
		if err != nil {
			return i, err
		}
		if unkeyed {
			return i, RefuseUnkeyed(t.partition(q.Partition))
		}
	}
	return len(q.Batches), nil
}

func (t *Topic) compacted() (bool, error) {
	meta := t.cluster.Meta()
	topic, err := meta.Topic(t.name)
	if err != nil {
		return false, err
	}
	return meta.Settings(topic).Compacts(), nil
}

func hasUnkeyed(r *record.Reader, frame []byte) (bool, error) {
	b, bad := record.View(frame)
	if bad != nil {
		return false, bad
	}
	for r.Reset(&b); r.Next(); {
		if r.Record().Key == nil {
			return true, nil
		}
	}
	return false, r.Err()
}

// RefuseUnkeyed is the error about a record without a key for a compacted topic, in the words
// of Kafka's InvalidRecordException.
func RefuseUnkeyed(tp store.TopicPartition) *store.Error {
	return store.Errorf(store.Refused, "INVALID_RECORD",
		"compacted topic cannot accept message without key in topic partition %s", tp.Dir()).
		WithHint("give each record a key (-K or -k), or: logdir topic alter %s -c cleanup.policy=delete", tp.Topic)
}
