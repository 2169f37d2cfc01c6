package cluster

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"logdir/store"
)

// The topic configs, under Kafka's names where Kafka has the thing.
const (
	SegmentBytes      = "segment.bytes"
	SegmentMs         = "segment.ms"
	IndexInterval     = "index.interval.bytes"
	MinInSync         = "min.insync.replicas"
	RetentionMs       = "retention.ms"
	RetentionBytes    = "retention.bytes"
	CleanupPolicy     = "cleanup.policy"
	DeleteRetentionMs = "delete.retention.ms"
	MaxMessageBytes   = "max.message.bytes"
	ReplicaLagTime    = "replica.lag.time.max.ms"

	Format            = "logdir.format"
	Partitioner       = "logdir.partitioner"
	Unkeyed           = "logdir.unkeyed"
	MaxRecords        = "logdir.partition.max.records"
	MaxBytes          = "logdir.partition.max.bytes"
	Truncation        = "logdir.truncation"
	ReplicaLagRecords = "logdir.replica.lag.max.records"
	DedupWindow       = "logdir.dedup.window"
)

// ConfigDef describes one topic config.
type ConfigDef struct {
	Name    string
	Default string
	// Min and Max bound a number; Choices list the words of one that is not. List
	// allows several of them with commas between.
	Min, Max int64
	Choices  []string
	List     bool
	Meaning  string
}

// Configs are all topic configs, sorted by name. The manual shows the same rows.
var Configs = []ConfigDef{
	{Name: CleanupPolicy, Default: "delete", Choices: []string{"delete", "compact"}, List: true, Meaning: "what upkeep does with old segments"},
	{Name: DeleteRetentionMs, Default: "86400000", Max: math.MaxInt64, Meaning: "how long compaction keeps a tombstone, ms"},
	{Name: IndexInterval, Default: "4096", Max: math.MaxInt32, Meaning: "log bytes between two index entries"},
	{Name: DedupWindow, Default: "5", Min: 1, Max: 1000, Meaning: "batches per producer in which a retry is recognised; MiniKafka: 1"},
	{Name: Format, Default: "kafka", Choices: []string{"kafka", "mkb1"}, Meaning: "the frames that are written"},
	{Name: MaxBytes, Default: "0", Max: math.MaxInt64, Meaning: "a partition is full at so many bytes, 0 never"},
	{Name: MaxRecords, Default: "0", Max: math.MaxInt64, Meaning: "a partition is full at so many records, 0 never; KafkaLite: 100"},
	{Name: Partitioner, Default: "crc32", Choices: []string{"crc32", "md5", "murmur2"}, Meaning: "the hash that places keys"},
	{Name: ReplicaLagRecords, Default: "-1", Min: -1, Max: math.MaxInt64, Meaning: "a follower further behind leaves the ISR, -1 never"},
	{Name: Truncation, Default: "epoch", Choices: []string{"epoch", "hw"}, Meaning: "how a follower finds where it diverged"},
	{Name: Unkeyed, Default: "sticky", Choices: []string{"sticky", "round-robin"}, Meaning: "how records without a key are placed"},
	{Name: MaxMessageBytes, Default: "1048588", Max: math.MaxInt32, Meaning: "largest batch"},
	{Name: MinInSync, Default: "1", Min: 1, Max: math.MaxInt32, Meaning: "replicas that acks=all needs in the ISR"},
	{Name: ReplicaLagTime, Default: "0", Max: math.MaxInt64, Meaning: "a follower silent for longer leaves the ISR, 0 never; Kafka: 30000"},
	{Name: RetentionBytes, Default: "-1", Min: -1, Max: math.MaxInt64, Meaning: "bytes that retention keeps per partition, -1 all"},
	{Name: RetentionMs, Default: "604800000", Min: -1, Max: math.MaxInt64, Meaning: "ms that retention keeps records, -1 for ever"},
	{Name: SegmentBytes, Default: "1073741824", Min: 14, Max: math.MaxInt32, Meaning: "a segment rolls before it grows larger"},
	{Name: SegmentMs, Default: "604800000", Min: 1, Max: math.MaxInt64, Meaning: "a segment rolls when its records span more ms"},
}

// mkb1SegmentBytes is MiniKafka's own default of segment.bytes.
const mkb1SegmentBytes = "1048576"

// ConfigNames lists the names of all topic configs.
func ConfigNames() []string {
	names := make([]string, len(Configs))
	for i, d := range Configs {
		names[i] = d.Name
	}
	return names
}

func configDef(name string) (ConfigDef, error) {
	at := slices.IndexFunc(Configs, func(d ConfigDef) bool { return d.Name == name })
	if at >= 0 {
		return Configs[at], nil
	}
	e := store.Errorf(store.Usage, "INVALID_CONFIG", "unknown topic config %q", name)
	if near := store.Nearest(name, ConfigNames()); near != "" {
		return ConfigDef{}, e.WithHint("did you mean %s?", near)
	}
	return ConfigDef{}, e.WithHint("known: %s", strings.Join(ConfigNames(), " "))
}

// ParseConfigs reads K=V settings and checks each name and value.
func ParseConfigs(settings []string) (map[string]string, error) {
	out := make(map[string]string, len(settings))
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, store.Errorf(store.Usage, "INVALID_CONFIG", "config %q: want NAME=VALUE", s)
		}
		if err := CheckConfig(name, value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

// CheckConfigName refuses a name that is no topic config.
func CheckConfigName(name string) error {
	_, err := configDef(name)
	return err
}

// CheckConfig refuses an unknown name or a value out of bounds.
func CheckConfig(name, value string) error {
	d, err := configDef(name)
	if err != nil {
		return err
	}
	if why := d.refuses(value); why != "" {
		return store.Errorf(store.Usage, "INVALID_CONFIG", "%s=%s: %s", name, value, why)
	}
	return nil
}

func (d ConfigDef) refuses(value string) string {
	if d.Choices != nil {
		return d.refusesWord(value)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return "want a number"
	case n < d.Min:
		return fmt.Sprintf("want at least %d", d.Min)
	case n > d.Max:
		return fmt.Sprintf("want at most %d", d.Max)
	}
	return ""
}

func (d ConfigDef) refusesWord(value string) string {
	words := []string{value}
	if d.List {
		words = strings.Split(value, ",")
	}
	for _, w := range words {
		if !slices.Contains(d.Choices, w) {
			return "want " + strings.Join(d.Choices, " or ")
		}
	}
	return ""
}

// Settings are the configs of one topic, with the cluster's and Kafka's defaults
// behind them.
type Settings struct{ topic, cluster map[string]string }

// Settings are what holds for a topic.
func (m *Meta) Settings(t *Topic) Settings { return Settings{topic: t.Configs, cluster: m.Configs} }

// The sources of a setting.
const (
	FromTopic   = "topic"
	FromCluster = "cluster"
	FromDefault = "default"
)

// Lookup returns the value of a config and where it is from.
func (s Settings) Lookup(name string) (value, source string) {
	if v, ok := s.topic[name]; ok {
		return v, FromTopic
	}
	if v, ok := s.cluster[name]; ok {
		return v, FromCluster
	}
	if name == SegmentBytes && s.Text(Format) == "mkb1" {
		return mkb1SegmentBytes, FromDefault
	}
	d, err := configDef(name)
	if err != nil {
		return "", FromDefault
	}
	return d.Default, FromDefault
}

// Text is the value of a config.
func (s Settings) Text(name string) string {
	v, _ := s.Lookup(name)
	return v
}

// Int is the value of a config that is a number. What is no number in a file edited by
// hand counts as the default.
func (s Settings) Int(name string) int64 {
	n, err := strconv.ParseInt(s.Text(name), 10, 64)
	if err == nil {
		return n
	}
	d, _ := configDef(name)
	n, _ = strconv.ParseInt(d.Default, 10, 64)
	return n
}
