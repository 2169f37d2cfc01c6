package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func options() cluster.Options {
	return cluster.Options{Now: func() time.Time { return now }}
}

// newCluster makes a cluster of so many brokers at data.
func newCluster(t testing.TB, brokers int) (*memfs.FS, *cluster.Cluster) {
	t.Helper()
	fs := memfs.New()
	if _, err := cluster.Init(t.Context(), fs, "data", cluster.NewCluster{BrokerIDs: cluster.BrokerRange(brokers), Now: now}); err != nil {
		t.Fatal(err)
	}
	return fs, open(t, fs)
}

func open(t testing.TB, fs vfs.FS) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(fs, "data", options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func create(t testing.TB, c *cluster.Cluster, name string, partitions, factor int, configs ...string) *cluster.Topic {
	t.Helper()
	set, err := cluster.ParseConfigs(configs)
	if err != nil {
		t.Fatal(err)
	}
	topic, err := c.CreateTopic(t.Context(), cluster.NewTopic{
		Name: name, Partitions: partitions, ReplicationFactor: factor, Configs: set,
	})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

// tree lists every file below a folder with its size, locks aside.
func tree(t testing.TB, fs vfs.ReadFS, dir string) []string {
	t.Helper()
	entries, err := fs.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == cluster.LocksDir || e.Name() == store.BrokerLockFile:
		case e.IsDir():
			out = append(out, tree(t, fs, path)...)
		default:
			size, err := vfs.Size(fs, path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %d", path, size))
		}
	}
	return out
}

func read(t testing.TB, fs vfs.ReadFS, name string) string {
	t.Helper()
	data, err := vfs.ReadAll(fs, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCreateLaysDownWhatABrokerWould: a broker folder is a Kafka log dir and nothing else.
func TestCreateLaysDownWhatABrokerWould(t *testing.T) {
	fs, c := newCluster(t, 1)
	topic := create(t, c, "orders", 1, 1)
	want := []string{
		"data/broker-1/meta.properties 136",
		"data/broker-1/orders-0/00000000000000000000.index 0",
		"data/broker-1/orders-0/00000000000000000000.log 0",
		"data/broker-1/orders-0/00000000000000000000.timeindex 0",
		"data/broker-1/orders-0/leader-epoch-checkpoint 0",
		"data/broker-1/orders-0/partition.metadata 43",
		"data/broker-1/recovery-point-offset-checkpoint 15",
		"data/broker-1/replication-offset-checkpoint 15",
	}
	got := tree(t, fs, "data/broker-1")
	got[0] = want[0] // its length is that of the date
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := read(t, fs, "data/broker-1/recovery-point-offset-checkpoint"); got != "0\n1\norders 0 0\n" {
		t.Errorf("recovery points %q", got)
	}
	if got, want := read(t, fs, "data/broker-1/orders-0/partition.metadata"), "version: 0\ntopic_id: "+topic.ID; got != want {
		t.Errorf("partition.metadata %q, want %q", got, want)
	}
	props, err := checkpoint.ReadMetaProperties(fs, "data/broker-1/meta.properties")
	if err != nil || props.Version != 1 || props.NodeID != 1 || props.ClusterID != c.Meta().ClusterID || props.DirectoryID == nil {
		t.Errorf("meta.properties %+v, %v", props, err)
	}
}

// TestMKB1TopicHasNoTimeIndex, as MiniKafka's has none.
func TestMKB1TopicHasNoTimeIndex(t *testing.T) {
	fs, c := newCluster(t, 1)
	create(t, c, "old", 1, 1, "logdir.format=mkb1")
	for _, f := range tree(t, fs, "data/broker-1/old-0") {
		if strings.Contains(f, "timeindex") {
			t.Errorf("made %s", f)
		}
	}
	config, err := c.LogConfig(store.TopicPartition{Topic: "old"})
	if err != nil || config.Format != record.MKB1 || config.SegmentBytes != 1<<20 {
		t.Errorf("config %+v, %v", config, err)
	}
}

func TestRoundRobin(t *testing.T) {
	_, c := newCluster(t, 3)
	topic := create(t, c, "orders", 4, 2)
	var got []string
	for _, p := range topic.Partitions {
		got = append(got, fmt.Sprintf("%d %v %v", p.LeaderID(), p.Replicas, p.ISR))
	}
	want := []string{"1 [1 2] [1 2]", "2 [2 3] [2 3]", "3 [3 1] [1 3]", "1 [1 2] [1 2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// More partitions go on where the assignment stopped.
	more, err := c.AlterTopic(t.Context(), "orders", cluster.Change{Partitions: 6})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{3, 1}, more.Partitions[5].Replicas); diff != "" || more.Partitions[4].LeaderID() != 2 {
		t.Errorf("partitions 4 and 5: %+v %+v", more.Partitions[4], more.Partitions[5])
	}
}

func TestCreateRefuses(t *testing.T) {
	_, c := newCluster(t, 2)
	create(t, c, "there", 1, 1)
	for _, n := range []struct {
		topic cluster.NewTopic
		class store.Class
		kafka string
	}{
		{cluster.NewTopic{Name: "a/b", Partitions: 1, ReplicationFactor: 1}, store.Usage, "INVALID_TOPIC_EXCEPTION"},
		{cluster.NewTopic{Name: "there", Partitions: 1, ReplicationFactor: 1}, store.Refused, "TOPIC_ALREADY_EXISTS"},
		{cluster.NewTopic{Name: "a", Partitions: 1, ReplicationFactor: 3}, store.Refused, "INVALID_REPLICATION_FACTOR"},
		{cluster.NewTopic{Name: "a", Partitions: 1, ReplicationFactor: 0}, store.Usage, "INVALID_REPLICATION_FACTOR"},
		{cluster.NewTopic{Name: "a", Partitions: 0, ReplicationFactor: 1}, store.Usage, "INVALID_PARTITIONS"},
		{cluster.NewTopic{Name: "a", Assignment: [][]int32{{1, 7}}}, store.NotFound, "BROKER_ID_NOT_REGISTERED"},
		{cluster.NewTopic{Name: "a", Partitions: 1, ReplicationFactor: 1, Configs: map[string]string{"segment.byte": "1"}}, store.Usage, "INVALID_CONFIG"},
		{cluster.NewTopic{Name: "a", Partitions: 1, ReplicationFactor: 1, Configs: map[string]string{"segment.bytes": "13"}}, store.Usage, "INVALID_CONFIG"},
	} {
		_, err := c.CreateTopic(t.Context(), n.topic)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != n.class || e.Name != n.kafka {
			t.Errorf("%+v: %v, want %s", n.topic, err, n.kafka)
		}
	}
	if got := c.Meta().TopicNames(); len(got) != 1 {
		t.Errorf("topics %v", got)
	}
}

func TestParseAssignment(t *testing.T) {
	got, err := cluster.ParseAssignment("1:2,2:3,3:1")
	if diff := cmp.Diff([][]int32{{1, 2}, {2, 3}, {3, 1}}, got); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
	for _, bad := range []string{"", "1:2,", "1:1", "1:2,3", "x", "-1", "1::2"} {
		_, err := cluster.ParseAssignment(bad)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != "INVALID_REPLICA_ASSIGNMENT" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestConfigs(t *testing.T) {
	for _, good := range []string{
		"cleanup.policy=delete,compact", "retention.ms=-1", "logdir.dedup.window=1", "logdir.truncation=hw", "index.interval.bytes=0",
	} {
		if _, err := cluster.ParseConfigs([]string{good}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, hint := range map[string]string{
		"segmnt.bytes=1":                         "did you mean segment.bytes?",
		"cleanup.policy=deleet":                  "",
		"retention.ms=-2":                        "",
		"retention.ms=soon":                      "",
		"min.insync.replicas=0":                  "",
		"segment.bytes=2147483648":               "",
		"max.message.bytes=99999999999999999999": "",
		"segment.bytes":                          "",
	} {
		_, err := cluster.ParseConfigs([]string{bad})
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Name != "INVALID_CONFIG" || hint != "" && e.Hint != hint {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestConfigDefaultsAreLegal: what the table gives as a default, it must accept.
func TestConfigDefaultsAreLegal(t *testing.T) {
	last := ""
	for _, d := range cluster.Configs {
		if err := cluster.CheckConfig(d.Name, d.Default); err != nil {
			t.Error(err)
		}
		if d.Name <= last && strings.Contains(d.Name, "logdir") == strings.Contains(last, "logdir") {
			t.Errorf("%s stands behind %s", d.Name, last)
		}
		last = d.Name
	}
}

func TestSettingsSources(t *testing.T) {
	fs := memfs.New()
	_, err := cluster.Init(t.Context(), fs, "data", cluster.NewCluster{
		BrokerIDs: []int32{1}, Configs: map[string]string{"retention.ms": "5", "segment.bytes": "100"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, fs)
	create(t, c, "t", 1, 1, "segment.bytes=200")
	s := c.Meta().Settings(c.Meta().Topics[0])
	for name, want := range map[string][2]string{
		"segment.bytes":       {"200", "topic"},
		"retention.ms":        {"5", "cluster"},
		"min.insync.replicas": {"1", "default"},
	} {
		if value, source := s.Lookup(name); value != want[0] || source != want[1] {
			t.Errorf("%s = %s from %s, want %v", name, value, source, want)
		}
	}
	altered, err := c.AlterTopic(t.Context(), "t", cluster.Change{Set: map[string]string{"retention.ms": "7"}, Delete: []string{"segment.bytes"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"retention.ms": "7"}, altered.Configs); diff != "" {
		t.Error(diff)
	}
}

func TestInitRefusesOccupiedPlaces(t *testing.T) {
	for name, names := range map[string][]string{
		"other content":  {"data/notes.txt"},
		"a bare log dir": {"data/meta.properties"},
		"a cluster":      {"data/cluster.json"},
		"a used broker":  {"data/broker-1/orders-0"},
	} {
		fs := memfs.New()
		for _, n := range names {
			if err := fs.MkdirAll(filepath.Dir(n)); err != nil {
				t.Fatal(err)
			}
			if _, err := fs.Create(n); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, fs, "data")
		_, err := cluster.Init(t.Context(), fs, "data", cluster.NewCluster{BrokerIDs: []int32{1}, Now: now})
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Refused {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if diff := cmp.Diff(before, tree(t, fs, "data")); diff != "" {
			t.Errorf("%s: changed: %s", name, diff)
		}
	}
}

func TestOpenABareLogDir(t *testing.T) {
	fs, _ := newCluster(t, 1)
	_, err := cluster.Open(fs, "data/broker-1", options())
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Class != store.Refused || !strings.Contains(e.Msg, "bare Kafka log directory") || e.Hint != "logdir init --import data/broker-1" {
		t.Errorf("%v", err)
	}
}

// put appends one record to a leader's replica.
func put(t *testing.T, c *cluster.Cluster, tp store.TopicPartition, broker int32, value string) {
	t.Helper()
	l, err := c.OpenReplica(t.Context(), tp, broker)
	if err != nil {
		t.Fatal(err)
	}
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	b.Append(&record.Record{Timestamp: now.UnixMilli(), Value: []byte(value)})
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(raw, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestHighWatermarks: alone in the ISR a leader's log end is visible; with a follower
// only what the checkpoint says.
func TestHighWatermarks(t *testing.T) {
	fs, c := newCluster(t, 2)
	create(t, c, "alone", 1, 1)
	create(t, c, "pair", 1, 2)
	for _, topic := range []string{"alone", "pair"} {
		put(t, c, store.TopicPartition{Topic: topic}, 1, "a")
	}
	marks := func() string {
		v, err := cluster.OpenView(fs, "data")
		if err != nil {
			t.Fatal(err)
		}
		refs, err := v.Resolve(nil, true)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, ref := range refs {
			o, err := v.Offsets(ref)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s@%d %s %d/%d", ref.TopicPartition, ref.Broker, o.Role, o.HighWatermark, o.LogEnd))
		}
		return strings.Join(out, "; ")
	}
	if got, want := marks(), "alone:0@1 leader 1/1; pair:0@1 leader 0/1; pair:0@2 follower 0/0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A checkpoint beyond the log end counts for no more than the log end.
	if err := c.SetHighWatermarks(t.Context(), 1, cluster.Points{{Topic: "pair"}: 9}); err != nil {
		t.Fatal(err)
	}
	err := c.Update(t.Context(), func(m *cluster.Meta) error {
		m.Brokers[1].State = cluster.Crashed
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := marks(), "alone:0@1 leader 1/1; pair:0@1 leader 1/1; pair:0@2 offline 0/0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_, err = c.OpenReplica(t.Context(), store.TopicPartition{Topic: "pair"}, 2)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != "BROKER_NOT_AVAILABLE" {
		t.Errorf("wrote to a broker that is down: %v", err)
	}
}

// TestBareLogDirMarks: without a cluster only the checkpoint tells the high watermark.
func TestBareLogDirMarks(t *testing.T) {
	fs, c := newCluster(t, 1)
	create(t, c, "t", 1, 1)
	put(t, c, store.TopicPartition{Topic: "t"}, 1, "a")
	v, err := cluster.OpenView(fs, "data/broker-1")
	if err != nil {
		t.Fatal(err)
	}
	refs, err := v.Resolve([]string{"t:0"}, false)
	if err != nil || len(refs) != 1 || refs[0].Broker != 1 || refs[0].Rel != "t-0" {
		t.Fatalf("%+v, %v", refs, err)
	}
	o, err := v.Offsets(refs[0])
	if err != nil || o.Role != cluster.NoRole || o.HighWatermark != 0 || o.LogEnd != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestDeleteTopic(t *testing.T) {
	fs, c := newCluster(t, 2)
	create(t, c, "keep", 1, 2)
	before := tree(t, fs, "data/broker-1")
	create(t, c, "gone", 3, 2)
	put(t, c, store.TopicPartition{Topic: "gone", Partition: 1}, 2, "a")
	if n, err := c.Deletable("gone"); n != 3 || err != nil {
		t.Fatalf("%d partitions, %v", n, err)
	}
	if err := c.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, fs, "data/broker-1")); diff != "" {
		t.Error(diff)
	}
	_, err := c.Deletable("gone")
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != "UNKNOWN_TOPIC_OR_PARTITION" {
		t.Errorf("%v", err)
	}
}

// TestWritingTakesTheCleanMarkAway: a marker over a log that changes would make a broker
// skip the checks that a crash calls for.
func TestWritingTakesTheCleanMarkAway(t *testing.T) {
	fs, c := newCluster(t, 1)
	create(t, c, "t", 1, 1)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.WriteCleanShutdown(fs, "data/broker-1", -1); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, fs), store.TopicPartition{Topic: "t"}, 1, "a")
	if _, clean, err := checkpoint.ReadCleanShutdown(fs, "data/broker-1"); clean || err != nil {
		t.Errorf("clean %v, %v", clean, err)
	}
}

// TestARunningBrokerKeepsUsOut, and we keep it out.
func TestARunningBrokerKeepsUsOut(t *testing.T) {
	fs, c := newCluster(t, 1)
	create(t, c, "t", 1, 1)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := fs.Lock("data/broker-1/.lock", true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t, fs).OpenReplica(t.Context(), store.TopicPartition{Topic: "t"}, 1)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Busy {
		t.Errorf("wrote beside a broker: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, fs), store.TopicPartition{Topic: "t"}, 1, "a")
	if _, err := fs.Lock("data/broker-1/.lock", true); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a broker could start: %v", err)
	}
}

func TestUpdateWaitsForTheLock(t *testing.T) {
	_, c := newCluster(t, 1)
	lock, err := c.Locks().Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = c.Update(context.Background(), func(*cluster.Meta) error { return nil })
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Busy {
		t.Errorf("%v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), func(*cluster.Meta) error { return nil }); err != nil {
		t.Error(err)
	}
}
