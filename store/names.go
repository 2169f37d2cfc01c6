package store

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxTopicName is the longest topic name, in bytes: with a dash and five digits behind
// it, it still fits a directory entry of 255.
const MaxTopicName = 249

// TopicPartition names one partition. It is written topic:partition, as targets are.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is the form that a target has: orders:0.
func (t TopicPartition) String() string { return t.Topic + ":" + strconv.Itoa(int(t.Partition)) }

// Dir is the name of the partition's directory: orders-0.
func (t TopicPartition) Dir() string { return t.Topic + "-" + strconv.Itoa(int(t.Partition)) }

// Compare orders by topic name, then by partition number.
func (t TopicPartition) Compare(u TopicPartition) int {
	if c := strings.Compare(t.Topic, u.Topic); c != 0 {
		return c
	}
	return int(t.Partition) - int(u.Partition)
}

// ValidateTopic holds a topic name to Kafka's rules: a-z A-Z 0-9 . _ and -, 1 to 249
// bytes, neither "." nor "..".
func ValidateTopic(name string) error {
	if why := badTopic(name); why != "" {
		return Errorf(Usage, "INVALID_TOPIC_EXCEPTION", "topic name %q %s", name, why).
			WithHint("use 1 to %d of a-z A-Z 0-9 . _ -", MaxTopicName)
	}
	return nil
}

func badTopic(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is a directory of its own"
	case len(name) > MaxTopicName:
		return fmt.Sprintf("has %d bytes, more than %d", len(name), MaxTopicName)
	}
	for i, c := range []byte(name) {
		if !topicByte(c) {
			return fmt.Sprintf("holds %q at byte %d", name[i:i+1], i)
		}
	}
	return ""
}

func topicByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}

// MetricName is a topic name as Kafka's metrics show it. Two topics whose metric names
// agree collide there, and a broker would refuse the second.
func MetricName(topic string) string { return strings.ReplaceAll(topic, ".", "_") }

// InternalTopic tells whether Kafka keeps the topic for itself.
func InternalTopic(name string) bool {
	switch name {
	case "__consumer_offsets", "__transaction_state", "__share_group_state",
		"__cluster_metadata", "__remote_log_metadata":
		return true
	}
	return false
}

// UnknownTopic is the error for a topic that is not there, with the nearest of those
// that are.
func UnknownTopic(topic string, have []string) *Error {
	e := Errorf(NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "topic %s is not there", topic)
	if near := Nearest(topic, have); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("logdir topic list")
}

// Nearest returns the candidate that a person who typed name most likely meant, or "".
func Nearest(name string, candidates []string) string {
	best, limit := "", max(1, len(name)/3)
	for _, c := range candidates {
		if d := editDistance(name, c, limit); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// editDistance is the number of single-byte changes and swaps of neighbours between a
// and b, or something above limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}

// ShellWord is a word as a command line to type has it: quoted if it must be.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (topicByte(byte(r)) || strings.ContainsRune("/:@,=+%", r))
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
