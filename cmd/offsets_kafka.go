package cmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"logdir/store"
)

// kafkaSelection is how kafka-get-offsets chooses partitions.
type kafkaSelection struct {
	topicPartitions string
	partitions      []int32
	excludeInternal bool
}

func (k *kafkaSelection) addTo(fs *pflag.FlagSet) {
	fs.StringVar(&k.topicPartitions, "topic-partitions", "", "as TARGET")
	fs.Int32SliceVar(&k.partitions, "partitions", nil, "only these partitions")
	fs.BoolVar(&k.excludeInternal, "exclude-internal-topics", false, "without Kafka's own topics")
	for _, name := range []string{"topic-partitions", "partitions", "exclude-internal-topics"} {
		fs.Lookup(name).Hidden = true
	}
}

// targets adds the partitions of --topic-partitions to those that are named otherwise.
func (k *kafkaSelection) targets(targets []string) ([]string, error) {
	if k.topicPartitions == "" {
		return targets, nil
	}
	for item := range strings.SplitSeq(k.topicPartitions, ",") {
		target, err := targetOfPattern(item)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// targetOfPattern turns an item of --topic-partitions into a TARGET: TOPIC, TOPIC:N, TOPIC:N-,
// and with the end not included TOPIC:N-M and TOPIC:-M.
func targetOfPattern(item string) (string, error) {
	topic, parts, _ := strings.Cut(item, ":")
	if store.ValidateTopic(topic) != nil {
		return "", usagef("--topic-partitions %s: want TOPIC, TOPIC:N, TOPIC:N-M or TOPIC:N-; the topic by its name, no pattern", item)
	}
	from, to, isRange := strings.Cut(parts, "-")
	if !isRange || to == "" {
		return item, nil
	}
	end, err := strconv.ParseInt(to, 10, 32)
	if err != nil || end < 1 {
		return "", usagef("--topic-partitions %s: no partition is below %s", item, to)
	}
	if from == "" {
		from = "0"
	}
	return topic + ":" + from + "-" + strconv.FormatInt(end-1, 10), nil
}

// chosen drops what the selection leaves out.
func (k *kafkaSelection) chosen(refs []store.PartitionRef) []store.PartitionRef {
	return slices.DeleteFunc(refs, func(ref store.PartitionRef) bool {
		return k.excludeInternal && store.InternalTopic(ref.Topic) ||
			len(k.partitions) > 0 && !slices.Contains(k.partitions, ref.Partition)
	})
}
