package cluster_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// bare is a log dir of broker 3 with the partitions t-0, t-2 and what brokers leave
// beside them.
func bare(t *testing.T) *cluster.Cluster {
	t.Helper()
	fs, c := newCluster(t, 1)
	create(t, c, "t", 3, 1)
	put(t, c, store.TopicPartition{Topic: "t", Partition: 2}, 1, "a")
	if err := vfs.RemoveAll(fs, "data/broker-1/t-1"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"lost+found", "__cluster_metadata-0", "t-5.0123456789abcdef0123456789abcdef-stray"} {
		if err := fs.MkdirAll(filepath.Join("data/broker-1", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkpoint.WriteCleanShutdown(fs, "data/broker-1", -1); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestImport(t *testing.T) {
	c := bare(t)
	fs := c.FS()
	before := tree(t, fs, "data/broker-1")
	done, err := cluster.Import(t.Context(), fs, "data/broker-1", "copy", cluster.NewCluster{BrokerIDs: []int32{1}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, fs, "data/broker-1")); diff != "" {
		t.Errorf("the source changed: %s", diff)
	}
	if diff := cmp.Diff([]string{"__cluster_metadata-0", "t-5.0123456789abcdef0123456789abcdef-stray"}, done.Skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]store.TopicPartition{{Topic: "t", Partition: 1}}, done.Added); diff != "" {
		t.Error(diff)
	}
	copied, err := cluster.Open(fs, "copy", options())
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if got, want := copied.Meta().Topics[0].ID, c.Meta().Topics[0].ID; got != want || copied.Meta().ClusterID != c.Meta().ClusterID {
		t.Errorf("topic id %s, want %s; cluster %s", got, want, copied.Meta().ClusterID)
	}
	if _, clean, _ := checkpoint.ReadCleanShutdown(fs, "copy/broker-1"); clean {
		t.Error("the copy is marked clean although it will change")
	}
	for partition := range int32(3) {
		put(t, copied, store.TopicPartition{Topic: "t", Partition: partition}, 1, "b")
	}
	v, err := cluster.OpenView(fs, "copy")
	if err != nil {
		t.Fatal(err)
	}
	refs, err := v.Resolve([]string{"t"}, true)
	if err != nil {
		t.Fatal(err)
	}
	var ends []int64
	for _, ref := range refs {
		o, err := v.Offsets(ref)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, o.LogEnd)
	}
	if diff := cmp.Diff([]int64{1, 1, 2}, ends); diff != "" {
		t.Error(diff)
	}
}

func TestImportRefuses(t *testing.T) {
	fs := bare(t).FS()
	lock, err := fs.Lock("data/broker-1/.lock", true)
	if err != nil {
		t.Fatal(err)
	}
	for source, class := range map[string]store.Class{
		"data":          store.Usage,    // a cluster
		"data/broker-1": store.Busy,     // a broker runs on it
		"nowhere":       store.NotFound, //
	} {
		_, err := cluster.Import(t.Context(), fs, source, "copy", cluster.NewCluster{BrokerIDs: []int32{1}, Now: now})
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != class {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := fs.Stat("copy"); err == nil {
		t.Error("something was made")
	}
	_ = lock.Close()
}

func TestReadMetaNamesTheByte(t *testing.T) {
	good := `{"version":1,"cluster_id":"c","brokers":[{"id":1,"state":"up"}],"topics":[{"name":"t","id":"x","partitions":[{"replicas":[1],"leader":1,"leader_epoch":0,"isr":[1]}]}]}`
	for name, c := range map[string]struct{ from, to, want string }{
		"cut off":               {`}]}]}`, ``, "bad-metadata at byte"},
		"not JSON":              {`{"version"`, `x"version"`, "bad-metadata at byte 1"},
		"from the future":       {`"version":1`, `"version":2`, "version 2, this program knows 1"},
		"no partitions":         {`[{"replicas":[1],"leader":1,"leader_epoch":0,"isr":[1]}]`, `[]`, "topic t has no partitions"},
		"null partition":        {`{"replicas":[1],"leader":1,"leader_epoch":0,"isr":[1]}`, `null`, "t:0 has no replicas"},
		"null topic":            {`[{"name":"t","id":"x","partitions":[{"replicas":[1],"leader":1,"leader_epoch":0,"isr":[1]}]}]`, `[null]`, "a topic without a legal name"},
		"a foreign leader":      {`"leader":1`, `"leader":2`, "led by a broker that is no replica"},
		"an unknown broker":     {`"replicas":[1]`, `"replicas":[1,9]`, "names broker 9"},
		"a name that is a path": {`"name":"t"`, `"name":"../t"`, "without a legal name"},
	} {
		fs, _ := newCluster(t, 1)
		text := strings.Replace(good, c.from, c.to, 1)
		if err := vfs.WriteAtomic(fs, "data/cluster.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, err := cluster.ReadMeta(fs, "data")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "cluster.json: bad-metadata") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzReadMeta(f *testing.F) {
	f.Add([]byte(`{"version":1,"brokers":[{"id":1,"state":"up"}],"topics":[{"name":"t","partitions":[{"replicas":[1],"leader":1,"isr":[1]}]}]}`))
	f.Add([]byte(`{"version":1,"topics":[null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fs, _ := newCluster(t, 1)
		if err := vfs.WriteAtomic(fs, "data/cluster.json", raw); err != nil {
			t.Fatal(err)
		}
		m, err := cluster.ReadMeta(fs, "data")
		if err != nil {
			return
		}
		for _, topic := range m.Topics {
			for n := range topic.Partitions {
				if _, _, err := m.Partition(store.TopicPartition{Topic: topic.Name, Partition: int32(n)}); err != nil {
					t.Fatal(err)
				}
			}
			m.Settings(topic).Int(cluster.SegmentBytes)
		}
	})
}

// TestMiniKafkaDirectories reads the directories that MiniKafka wrote and finds the log
// ends that it says.
func TestMiniKafkaDirectories(t *testing.T) {
	root := fixtures.Corpus(t, "minikafka")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "data"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%v, %v", dirs, err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			v, err := cluster.OpenView(vfs.OS(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if v.Kind != store.KindMiniKafka {
				t.Fatalf("kind %s", v.Kind)
			}
			for _, want := range expectedEnds(t, filepath.Dir(dir)) {
				refs, err := v.Resolve([]string{want.target()}, false)
				if err != nil {
					t.Fatal(err)
				}
				// While MiniKafka ran, partition 1 of three-brokers stood at 1; it reopens at 0.
				o, err := v.Offsets(refs[0])
				if err != nil || o.LogStart != want.LogStart || o.LogEnd != want.LogEnd ||
					o.HighWatermark != want.HighWatermark && want.target() != "events:1" {
					t.Errorf("%s: %+v, %v, want %+v", want.target(), o, err, want)
				}
			}
		})
	}
}

// expectedEnd is a line of kind end in an expected.jsonl.
type expectedEnd struct {
	Kind          string `json:"kind"`
	Topic         string `json:"topic"`
	Partition     int    `json:"partition"`
	LogStart      int64  `json:"log_start"`
	LogEnd        int64  `json:"log_end"`
	HighWatermark int64  `json:"high_watermark"`
}

func (e expectedEnd) target() string { return fmt.Sprintf("%s:%d", e.Topic, e.Partition) }

func expectedEnds(t *testing.T, dir string) []expectedEnd {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []expectedEnd
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e expectedEnd
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "end" {
			out = append(out, e)
		}
	}
	if len(out) == 0 || lines.Err() != nil {
		t.Fatalf("no ends in %s: %v", dir, lines.Err())
	}
	return out
}

// TestImportOfARealBroker copies the partition of a real broker in, appends to it, and
// finds the end where it should be.
func TestImportOfARealBroker(t *testing.T) {
	packed := fixtures.Corpus(t, "kafka-recovery", "base.tar.gz")
	source := filepath.Join(t.TempDir(), "kafka")
	unpack(t, packed, source)
	path := filepath.Join(t.TempDir(), "lab")
	done, err := cluster.Import(t.Context(), vfs.OS(), source, path, cluster.NewCluster{BrokerIDs: []int32{1}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	topic := done.Meta.Topics[0]
	if topic.Name != "foo" || topic.Partitions[0].LeaderEpoch != 3 {
		t.Errorf("topic %s, leader epoch %d", topic.Name, topic.Partitions[0].LeaderEpoch)
	}
	c, err := cluster.Open(vfs.OS(), path, options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := c.OpenReplica(t.Context(), store.TopicPartition{Topic: "foo"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.End() != 398 || l.Epoch() != 3 {
		t.Errorf("log end %d, epoch %d, want 398 and 3", l.End(), l.Epoch())
	}
}

// unpack writes the files of a .tar.gz into a directory.
func unpack(t *testing.T, tarball, to string) {
	t.Helper()
	for name, data := range fixtures.Unpack(t, tarball) {
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
