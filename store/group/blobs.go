package group

import (
	"slices"

	"logdir/store"
	"logdir/store/message"
)

// blobVersion is the version of the consumer protocol that Kafka's clients write.
const blobVersion = 3

// Topics are what the member subscribes to, sorted; none if its subscription is not that
// of a consumer.
func (m *MemberMetadata) Topics() []string {
	o, _, err := ParseSubscription(m.Subscription)
	if err != nil {
		return nil
	}
	var topics []string
	for _, t := range o.List("topics") {
		if name, ok := t.(string); ok {
			topics = append(topics, name)
		}
	}
	slices.Sort(topics)
	return topics
}

// Partitions are what is assigned to the member, sorted.
func (m *MemberMetadata) Partitions() []store.TopicPartition {
	o, _, err := ParseAssignment(m.Assignment)
	if err != nil {
		return nil
	}
	var all []store.TopicPartition
	for _, t := range o.Objects("assignedPartitions") {
		for _, p := range t.List("partitions") {
			if n, ok := p.(int64); ok {
				all = append(all, store.TopicPartition{Topic: t.Str("topic"), Partition: int32(n)})
			}
		}
	}
	slices.SortFunc(all, store.TopicPartition.Compare)
	return all
}

// appendSubscription appends the blob with which a member joins. A sticky one tells in its
// user data what it had, and in which generation.
func appendSubscription(dst []byte, a Assignor, s *Subscriber) ([]byte, error) {
	o := (&message.Object{}).Set("topics", values(s.Topics)).Set("userData", nil).
		Set("ownedPartitions", []any{}).Set("generationId", int64(s.Generation)).Set("rackId", nil)
	if a == Sticky && s.Generation != noGeneration {
		data, err := stickyUserData.Append(nil, 1, (&message.Object{}).
			Set("previousAssignment", byTopic(s.Owned)).Set("generation", int64(s.Generation)))
		if err != nil {
			return dst, err
		}
		o.Set("userData", data)
	}
	return AppendSubscription(dst, blobVersion, o)
}

func appendAssignment(dst []byte, partitions []store.TopicPartition) ([]byte, error) {
	o := (&message.Object{}).Set("assignedPartitions", byTopic(partitions)).Set("userData", nil)
	return AppendAssignment(dst, blobVersion, o)
}

// byTopic groups sorted partitions as the consumer protocol does.
func byTopic(partitions []store.TopicPartition) []any {
	all := []any{}
	for len(partitions) > 0 {
		topic := partitions[0].Topic
		numbers := []any{}
		for len(partitions) > 0 && partitions[0].Topic == topic {
			numbers = append(numbers, int64(partitions[0].Partition))
			partitions = partitions[1:]
		}
		all = append(all, (&message.Object{}).Set("topic", topic).Set("partitions", numbers))
	}
	return all
}

func values(list []string) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// stickyUserData is what Kafka's sticky assignor keeps in a subscription (version 1).
var stickyUserData = &message.Schema{
	Name: "StickyAssignorUserData", Lowest: 0, Highest: 1, Flexible: message.NeverFlexible,
	Fields: []message.Field{
		message.Structs("previousAssignment", topicPartitions),
		message.One("generation", message.Int32).From(1),
	},
}
