package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"logdir/store"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// errKilled ends a run as nothing that passes does.
var errKilled = store.Errorf(store.Failed, "", "killed")

// sample are three partitions; one has gaps, one is empty.
func sample() []Source {
	return []Source{
		fakeSource("a", 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
		fakeSource("a", 1, 4, 5, 9, 10, 20, 21, 22),
		fakeSource("b", 0),
	}
}

// samples is how many records they have.
const samples = 17

// wanted are offsets at which groups stand: in a gap, on a record, at the end.
var wanted = map[store.TopicPartition][]int64{
	{Topic: "a", Partition: 0}: {3, 10},
	{Topic: "a", Partition: 1}: {4, 7, 23},
}

// newExport makes an export of small batches and small transactions.
func newExport(f *fakeCluster, sources []Source) *Export {
	return &Export{
		Sources: sources, Wanted: wanted,
		BatchLimit: func(string) int { return 120 },
		to:         adapter{f}, patience: time.Minute, txnBytes: 300,
		worded: func(err error) error { return worded(err, "fake") },
	}
}

// names lists the committed records of a partition.
func (f *fakeCluster) names(tp store.TopicPartition) (out []string) {
	for _, e := range f.logs[tp] {
		if e != nil {
			out = append(out, string(e.Value))
		}
	}
	return out
}

// requireOnce wants every record of the sample once and in order.
func (f *fakeCluster) requireOnce(t *testing.T) {
	t.Helper()
	for _, s := range sample() {
		var want []string
		_ = s.Read(0, wantName(&want))
		to := store.TopicPartition{Topic: s.Target, Partition: s.Partition}
		if diff := cmp.Diff(want, f.names(to)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", to, diff)
		}
	}
}

func TestExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		done, err := newExport(f, sample()).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.requireOnce(t)
		var rows []string
		for _, e := range done {
			rows = append(rows, fmt.Sprintf("%s %d %d-%d %d-%d %s", e.TopicPartition, e.Records, e.First, e.Last, e.TargetFirst, e.TargetLast, e.Status))
		}
		want := []string{ // markers stand between: two in a:0, one in a:1
			"a:0 10 0-9 0-11 done",
			"a:1 7 4-22 0-7 done",
			"b:0 0 -1--1 -1--1 done",
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Error(diff)
		}
		if again, err := newExport(f, sample()).Run(t.Context()); err != nil || again[0].Records != 0 {
			t.Errorf("a second run: %+v, %v", again, err)
		}
		f.requireOnce(t)
	})
}

// Whichever call fails, once, before or after it has taken effect: the export gets over an
// error that passes, and goes on after it was killed.
func TestExportOnceWhateverFails(t *testing.T) {
	for _, end := range []error{kerr.NotLeaderForPartition, errors.New("connection reset"), errKilled} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v after=%v", end, after), func(t *testing.T) {
				for n := 1; failsAt(t, n, end, after); n++ {
				}
			})
		}
	}
}

// failsAt exports with call number n failing. It is false when there is no such call.
func failsAt(t *testing.T, n int, end error, after bool) (was bool) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.failAt, f.after, f.err = n, after, end
		fs := memfs.New()
		runs := 0
		for err := errKilled; err != nil && runs < 3; runs++ {
			err = exportOnce(t, f, fs)
		}
		was = f.calls >= n
		if passes := end != error(errKilled); passes && runs != 1 || runs > 2 {
			t.Errorf("call %d: %d runs", n, runs)
		}
		f.requireOnce(t)
		f.requireMap(t, fs)
		if t.Failed() {
			t.Fatalf("when call %d failed", n)
		}
	})
	return was
}

// exportOnce runs a process that exports and translates.
func exportOnce(t *testing.T, f *fakeCluster, fs vfs.FS) *store.Error {
	m, err := OpenOffsetMap(fs, "map.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	x := newExport(f, sample())
	x.Map = m
	_, err = x.Run(t.Context())
	if err == nil {
		f.requireTranslated(t, x)
	}
	ours, ok := errors.AsType[*store.Error](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return ours
}

// requireTranslated wants each group to stand at the first record at or behind its offset.
func (f *fakeCluster) requireTranslated(t *testing.T, x *Export) {
	t.Helper()
	first := map[int64]string{3: "a:0@3", 4: "a:1@4", 7: "a:1@9"}
	for tp, offsets := range wanted {
		for _, offset := range offsets {
			to, ok, err := x.Translate(tp, offset)
			if err != nil || !ok {
				t.Fatalf("%s offset %d: %v, %v", tp, offset, ok, err)
			}
			if name := f.nameAt(tp, to); name != first[offset] {
				t.Errorf("%s offset %d became %d, where %q stands", tp, offset, to, name)
			}
		}
	}
}

// nameAt is the record at an offset, "" for a marker, an aborted record, and the end.
func (f *fakeCluster) nameAt(tp store.TopicPartition, offset int64) string {
	if log := f.logs[tp]; offset < int64(len(log)) && log[offset] != nil {
		return string(log[offset].Value)
	}
	return ""
}

// requireMap wants a line for every record, which leads to it.
func (f *fakeCluster) requireMap(t *testing.T, fs vfs.FS) {
	t.Helper()
	text, err := vfs.ReadAll(fs, "map.jsonl", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for line := range strings.Lines(string(text)) {
		var l mapLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		for offset := l.FirstOffset; offset <= l.LastOffset; offset++ {
			want := fmt.Sprintf("%s@%d", l.source(), offset)
			if got := f.nameAt(store.TopicPartition{Topic: l.TargetTopic, Partition: l.Partition}, l.Target+offset-l.FirstOffset); got != want {
				t.Errorf("%s leads to %q", line, got)
			}
			records++
		}
	}
	if records != samples {
		t.Errorf("%d records in the map, want %d", records, samples)
	}
}

// A batch that is too large becomes smaller ones; a record that is, stops its partition
// there and no other.
func TestExportAdaptsToLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.refuse = func(b outgoing, r recordOf) error {
			if b.records > 1 || string(r.Value) == "a:0@6" {
				return kerr.MessageTooLarge
			}
			return nil
		}
		done, err := newExport(f, sample()).Run(t.Context())
		if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Refused || e.Name != "MESSAGE_TOO_LARGE" || !strings.Contains(e.Msg, "a:0: offset 6") {
			t.Errorf("got %v", err)
		}
		if got := f.names(store.TopicPartition{Topic: "a"}); len(got) != 6 || done[0].Status != "failed" {
			t.Errorf("a:0 has %v, %s", got, done[0].Status)
		}
		if got := f.names(store.TopicPartition{Topic: "a", Partition: 1}); len(got) != 7 || done[1].Status != "done" {
			t.Errorf("a:1 has %v, %s", got, done[1].Status)
		}
	})
}

// What does not pass ends the export after a while, with where to go on.
func TestExportGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.refuse = func(outgoing, recordOf) error { return kerr.NotEnoughReplicas }
		start := time.Now()
		done, err := newExport(f, sample()).Run(t.Context())
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Class != store.NotAcked || e.Name != "NOT_ENOUGH_REPLICAS" || e.Hint != goOn {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took < time.Minute || took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		if done[0].Status != "unfinished" {
			t.Errorf("status %s", done[0].Status)
		}
	})
}

// Damage in a source ends that one, behind what is good.
func TestExportStopsAtDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		sources := sample()
		good, damage := sources[0].Read, store.Errorf(store.Damage, "CORRUPT_MESSAGE", "bad-crc")
		sources[0].Read = func(from int64, each eachRecord) error { return errors.Join(good(from, each), damage) }
		done, err := newExport(f, sources).Run(t.Context())
		if !errors.Is(err, damage) || done[0].Status != "damaged" || done[1].Status != "done" {
			t.Errorf("got %v: %s, %s", err, done[0].Status, done[1].Status)
		}
		f.requireOnce(t)
	})
}

func TestRuns(t *testing.T) {
	var runs []run
	for _, r := range []run{{4, 4, 0}, {5, 5, 1}, {9, 9, 2}, {10, 10, 3}, {11, 11, 5}} {
		runs = appendRun(runs, r)
	}
	if want := []run{{4, 5, 0}, {9, 10, 2}, {11, 11, 5}}; !slices.Equal(want, runs) {
		t.Errorf("got %v", runs)
	}
}

func TestProgressText(t *testing.T) {
	source := store.TopicPartition{Topic: "orders"}
	p := progress{source: source, next: 41, end: 124, translated: map[int64]int64{17: 5, 40: 28}}
	m := p.mark()
	if m.metadata != "source=orders:0 end=124 17=5 40=28" || m.offset != 41 {
		t.Errorf("got %+v", m)
	}
	got, err := parseProgress(m, source)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got, cmp.AllowUnexported(progress{})); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"source=other:0 end=1", "end", "x=1", "17=y"} {
		if _, err := parseProgress(mark{1, text}, source); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
