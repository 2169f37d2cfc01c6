package store_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/vfs/memfs"
)

// lay makes files, and folders for names that end in a slash.
func lay(t testing.TB, names ...string) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	for _, name := range names {
		name, content, _ := strings.Cut(name, " ")
		folder := filepath.Dir(name)
		if strings.HasSuffix(name, "/") {
			folder = name
		}
		if err := fs.MkdirAll(folder); err != nil {
			t.Fatal(err)
		}
		if folder == name {
			continue
		}
		f, err := fs.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(content), 0); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

const segment0 = "/00000000000000000000.log"

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		path  string
		want  store.Kind
	}{
		{"a cluster", []string{"d/cluster.json", "d/broker-1/"}, "d", store.KindCluster},
		{"a formatted log dir", []string{"d/meta.properties"}, "d", store.KindLogDir},
		{"an old log dir", []string{"d/lost+found/", "d/empty-0/", "d/orders-0" + segment0}, "d", store.KindLogDir},
		{"MiniKafka's", []string{`d/metadata.json {"topics":{},"version":1}`, "d/broker-1/"}, "d", store.KindMiniKafka},
		{"somebody else's metadata.json", []string{`d/metadata.json {"topics":{},"version":1}`, "d/other/"}, "d", ""},
		{"a broken metadata.json", []string{"d/metadata.json {", "d/broker-1/"}, "d", ""},
		{"a later version", []string{`d/metadata.json {"topics":{},"version":10}`, "d/broker-1/"}, "d", ""},
		{"a partition directory", []string{"d/orders-0" + segment0}, "d/orders-0", store.KindPartition},
		{"a file", []string{"d/orders-0" + segment0}, "d/orders-0" + segment0, store.KindFile},
		{"a foreign file", []string{"d/notes.txt"}, "d/notes.txt", ""},
		{"a broker's folder of a cluster", []string{"d/cluster.json", "d/broker-1/meta.properties"}, "d/broker-1", store.KindLogDir},
		{"an empty folder", []string{"d/"}, "d", ""},
		{"a folder with other content", []string{"d/src/main.go"}, "d", ""},
		{"nothing", nil, "d", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := store.Detect(lay(t, c.names...), c.path)
			if c.want != "" {
				if err != nil || d.Kind != c.want {
					t.Errorf("%+v, %v, want %s", d, err, c.want)
				}
				return
			}
			if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.NotFound || !strings.Contains(e.Hint, "logdir init") {
				t.Errorf("%v, want not a data directory", err)
			}
		})
	}
}

// TestForeignAndSpecialEntries in a log dir do no harm.
func TestForeignAndSpecialEntries(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 2)
	fs := lay(t, "d/lost+found/", "d/notes.txt", "d/orders/", "d/orders-0"+segment0, "d/a-b-3-dashes-12/",
		"d/orders-1."+id+"-delete/", "d/orders-2."+id+"-future/", "d/orders-3."+id+"-stray/", "d/__cluster_metadata-0/")
	d, err := store.Detect(fs, "d")
	if err != nil {
		t.Fatal(err)
	}
	refs, err := d.AllPartitions()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range refs {
		got = append(got, fmt.Sprintf("%s %s", r.TopicPartition, r.State))
	}
	want := []string{
		"__cluster_metadata:0 normal", "a-b-3-dashes:12 normal",
		"orders:0 normal", "orders:1 delete", "orders:2 future", "orders:3 stray",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseTarget(t *testing.T) {
	all := store.Target{Topic: "orders", Broker: store.NoBroker}
	with := func(change func(*store.Target)) store.Target { u := all; change(&u); return u }
	parts := func(r ...store.PartRange) func(*store.Target) { return func(u *store.Target) { u.Parts = r } }
	for text, want := range map[string]store.Target{
		"orders":         all,
		"orders:0":       with(parts(store.PartRange{From: 0, To: 0})),
		"orders:0,2":     with(parts(store.PartRange{From: 0, To: 0}, store.PartRange{From: 2, To: 2})),
		"orders:1-3":     with(parts(store.PartRange{From: 1, To: 3})),
		"orders:4-":      with(parts(store.PartRange{From: 4, To: math.MaxInt32})),
		"orders@2":       with(func(u *store.Target) { u.Broker = 2 }),
		"orders:0@2":     {Topic: "orders", Parts: []store.PartRange{{From: 0, To: 0}}, Broker: 2},
		"a.b_c-d:0,2-3@": {},
		"orders:":        {},
		"orders:3-1":     {},
		"orders:-1":      {},
		"orders:x":       {},
		"orders@x":       {},
		"":               {},
	} {
		got, err := store.ParseTarget(text)
		if want.Topic == "" {
			if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Usage {
				t.Errorf("%q: %+v, %v, want a usage error", text, got, err)
			}
			continue
		}
		want.Text = text
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %s %v", text, diff, err)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"orders", "orders:0,2-3,9-@1", "a/b", "@", ":", "x:0-", "x:99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := store.ParseTarget(text)
		if err == nil && store.ValidateTopic(target.Topic) != nil {
			t.Errorf("%q gave the topic %q", text, target.Topic)
		}
	})
}

// TestResolve has two brokers; broker 2 leads orders:1, nobody leads orders:2.
func TestResolve(t *testing.T) {
	var names []string
	for _, broker := range []string{"1", "2"} {
		for _, p := range []string{"orders-0", "orders-1", "orders-2", "orders-10", "pay-0"} {
			names = append(names, "d/broker-"+broker+"/"+p+segment0)
		}
	}
	fs := lay(t, append(names, "d/cluster.json", "elsewhere/pay-7"+segment0)...)
	d, err := store.Detect(fs, "d")
	if err != nil {
		t.Fatal(err)
	}
	leader := func(tp store.TopicPartition) (int32, bool) {
		switch tp.String() {
		case "orders:1":
			return 2, true
		case "orders:2":
			return store.NoBroker, true
		}
		return 1, true
	}
	for _, c := range []struct {
		targets string
		all     bool
		want    string // replicas, then Kafka's name of the error
	}{
		{"orders:0", false, "broker-1/orders-0"},
		{"orders:0", true, "broker-1/orders-0 broker-2/orders-0"},
		{"orders:0,1,10", false, "broker-1/orders-0 broker-2/orders-1 broker-1/orders-10"},
		{"orders:0@2", false, "broker-2/orders-0"},
		{"pay orders:0", false, "broker-1/pay-0 broker-1/orders-0"},
		{"", false, "broker-1/orders-0 broker-2/orders-1 broker-1/orders-10 broker-1/pay-0"},
		{"orders:2", false, "LEADER_NOT_AVAILABLE"},
		{"orders:2@1", false, "broker-1/orders-2"},
		{"orders", false, "broker-1/orders-0 broker-2/orders-1 broker-1/orders-10 LEADER_NOT_AVAILABLE"},
		{"orders:2 pay", false, "broker-1/pay-0 LEADER_NOT_AVAILABLE"},
		{"orders:2 pay:9", false, "UNKNOWN_TOPIC_OR_PARTITION"},
		{"orders:3", false, "UNKNOWN_TOPIC_OR_PARTITION"},
		{"orders:0@3", false, "REPLICA_NOT_AVAILABLE"},
		{"ordesr", false, "UNKNOWN_TOPIC_OR_PARTITION"},
		{"broker-1/pay-0", false, "broker-1/pay-0"},                           // from the data directory
		{"d/broker-1/pay-0", false, "d/broker-1/pay-0"},                       // from the working directory
		{"elsewhere/pay-7", false, "elsewhere/pay-7"},                         // outside
		{"elsewhere", false, "elsewhere/pay-7"},                               // a log dir
		{"d/broker-2/pay-0" + segment0, false, "d/broker-2/pay-0" + segment0}, // one file
	} {
		t.Run(c.targets, func(t *testing.T) {
			refs, err := d.Resolve(strings.Fields(c.targets), store.Scope{All: c.all, Leader: leader})
			var got []string
			for _, r := range refs {
				got = append(got, r.Show(r.File))
			}
			if e, ok := errors.AsType[*store.Error](err); ok {
				got = append(got, e.Name)
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveSuggests(t *testing.T) {
	d, err := store.Detect(lay(t, "d/meta.properties", "d/orders-0"+segment0), "d")
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Resolve([]string{"ordesr"}, store.Scope{})
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Hint != "did you mean orders?" {
		t.Errorf("%v", err)
	}
}
