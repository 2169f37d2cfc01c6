package live

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/client"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

var testOptions = DirOptions{Source: FromFile, SegmentBytes: 300, Now: func() time.Time { return time.UnixMilli(1767225600000) }}

// lines are records of two partitions, one with gaps, in turns.
const lines = `{"topic":"a","partition":0,"offset":0,"timestamp":1,"key":"k","value":"a0","headers":[["h","v"],["h",null]]}
{"topic":"a","partition":1,"offset":5,"timestamp":-1,"key":null,"value":"a5","headers":[]}
{"topic":"a","partition":0,"offset":1,"timestamp":9007199254740993,"key":"","value":null,"headers":[]}

{"topic":"a","partition":1,"offset":9,"timestamp":2,"key":null,"value_base64":"//4=","headers":[["b","/w==","base64"]]}
{"topic":"a","partition":0,"offset":2000000,"timestamp":3,"key":null,"value":"far","headers":[]}
`

// importLines runs one import as a process would.
func importLines(ctx context.Context, fs vfs.FS, text string) ([]Imported, error) {
	dir, err := OpenDir(ctx, fs, "home", testOptions)
	if err != nil {
		return nil, err
	}
	var done []Imported
	l := Lines{Dir: dir, Done: func(i Imported) error {
		done = append(done, i)
		return nil
	}}
	err = l.Run(ctx, strings.NewReader(text))
	return done, errors.Join(err, dir.Close())
}

// exportLines writes a partition of the imported directory as JSON Lines.
func exportLines(t fataler, fs vfs.FS, topic string, partition int32) string {
	log, err := store.OpenReader(fs, "home/"+store.TopicPartition{Topic: topic, Partition: partition}.Dir(), store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	end, damage, err := log.End()
	if err != nil || damage != nil {
		t.Fatal(err, damage)
	}
	var out []byte
	c := render.RecordContext{Topic: topic, Partition: partition}
	_, err = client.NewFetcher().Run(client.Fetch{Log: log, To: end}, func(_ *record.Batch, r *record.Record) error {
		c.Record = r
		out = render.Envelope{}.AppendRecord(out, &c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

type fataler interface{ Fatal(...any) }

// ofPartition are the lines of one partition.
func ofPartition(text string, partition string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, `"partition":`+partition+`,`) {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestLinesAreLossless(t *testing.T) {
	fs := memfs.New()
	done, err := importLines(t.Context(), fs, lines)
	if err != nil {
		t.Fatal(err)
	}
	for i, partition := range []string{"0", "1"} {
		if diff := cmp.Diff(ofPartition(lines, partition), exportLines(t, fs, "a", int32(i))); diff != "" {
			t.Errorf("partition %s (-file +directory):\n%s", partition, diff)
		}
	}
	if len(done) != 2 || done[0].LogEnd != 2000001 || done[1].LogStart != 5 || done[1].LogEnd != 10 {
		t.Errorf("got %+v", done)
	}
	if again, err := importLines(t.Context(), fs, lines); err != nil || again[0].Batches+again[1].Batches != 0 {
		t.Errorf("a second run: %+v, %v", again, err)
	}
}

// Killed at any operation on the file system, with and without what was not synced, an
// import that is run again comes to the same.
func TestLinesGoOnAfterACrash(t *testing.T) {
	for n := 1; ; n++ {
		under := memfs.New()
		fs := faultfs.Wrap(under, faultfs.CrashAt(n))
		_, err := importLines(t.Context(), fs, lines)
		if err == nil {
			return // there is no such operation any more
		}
		for seed, unsynced := range []float64{0, 1, 0.5} {
			left := under.CrashClone(memfs.CrashOptions{Unsynced: unsynced, Seed: uint64(seed)})
			if _, err := importLines(t.Context(), left, lines); err != nil {
				t.Fatalf("after a crash at operation %d: %v", n, err)
			}
			for i, partition := range []string{"0", "1"} {
				if diff := cmp.Diff(ofPartition(lines, partition), exportLines(t, left, "a", int32(i))); diff != "" {
					t.Fatalf("after a crash at operation %d, partition %s:\n%s", n, partition, diff)
				}
			}
		}
	}
}

func TestLinesRefused(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"{", "line 1"},
		{`{"topic":"a","partition":0}`, "line 1: it does not say topic, partition and offset"},
		{`{"topic":"a/b","partition":0,"offset":0}`, "a/b"},
		{`{"topic":"a","partition":0,"offset":4}` + "\n" + `{"topic":"a","partition":0,"offset":4}`, "line 2: a:0: offset 4 stands behind offset 4"},
	} {
		_, err := importLines(t.Context(), memfs.New(), tt.text)
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.text, err)
		}
	}
}

// Any records survive the way into a directory and back.
func TestAnyRecordsAreLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		offset := int64(0)
		c := render.RecordContext{Topic: "t", Partition: 0}
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			offset += rapid.Int64Range(1, 4).Draw(t, "gap")
			r := record.Record{
				Offset: offset, Timestamp: rapid.Int64Range(-1, 1<<62).Draw(t, "timestamp"),
				Key: drawBytes(t, "key"), Value: drawBytes(t, "value"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "headers") {
				r.Headers = append(r.Headers, record.Header{Key: []byte(rapid.String().Draw(t, "name")), Value: drawBytes(t, "header")})
			}
			c.Record = &r
			text = render.Envelope{}.AppendRecord(text, &c)
		}
		fs := memfs.New()
		if _, err := importLines(context.Background(), fs, string(text)); err != nil {
			t.Fatal(err)
		}
		if got := exportLines(t, fs, "t", 0); got != string(text) {
			t.Fatalf("got %s want %s", got, text)
		}
	})
}

func drawBytes(t *rapid.T, name string) []byte {
	if rapid.Bool().Draw(t, name+" is null") {
		return nil
	}
	return bytes.Clone(append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, name)...))
}

// An import goes on only where an import from the same source was.
func TestDirRefusesOthers(t *testing.T) {
	open := func(fs vfs.FS, source string) error {
		o := testOptions
		o.Source = source
		d, err := OpenDir(t.Context(), fs, "home", o)
		if err == nil {
			err = d.Close()
		}
		return err
	}
	brokers := memfs.New()
	must(t, brokers.Mkdir("home"))
	must(t, checkpoint.WriteMetaProperties(brokers, "home/meta.properties", checkpoint.MetaProperties{Version: 1, NodeID: 1, ClusterID: "c1"}, testOptions.Now()))
	full := memfs.New()
	must(t, full.MkdirAll("home/orders-0"))
	ours := memfs.New()
	must(t, open(ours, "c1"))
	must(t, open(ours, "c1"))
	for name, err := range map[string]error{
		"a broker's own directory": open(brokers, "c1"), "a directory with something in it": open(full, "c1"), "another cluster's": open(ours, "c2"),
	} {
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Refused {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A topic that was made anew has another id: its records must not follow the old ones.
func TestDirRefusesATopicMadeAnew(t *testing.T) {
	fs := memfs.New()
	d, err := OpenDir(t.Context(), fs, "home", testOptions)
	must(t, err)
	defer d.Close()
	tp := store.TopicPartition{Topic: "a"}
	p, err := d.Open(tp, checkpoint.UUID{1})
	must(t, err)
	must(t, p.BeginAt(40))
	must(t, p.Close(40))
	if p, err = d.Open(tp, checkpoint.UUID{1}); err != nil || p.End() != 40 || p.Start() != 40 {
		t.Fatalf("an empty partition that begins at 40: %v", err)
	}
	must(t, p.Close(40))
	if _, err := d.Open(tp, checkpoint.UUID{2}); err == nil {
		t.Error("a topic with another id was taken")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
