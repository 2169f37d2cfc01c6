package txn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/txn"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// run is one run of a transactional id, as the model remembers it.
type run struct {
	id    string
	epoch int32
	open  bool
	// values are what it wrote, by partition; offset is what it sent, -1 for nothing.
	values [2][]string
	offset int64
	sent   int // when it sent the offset, counted
}

// entry is a record in the log of the model.
type entry struct {
	value string
	of    *run
	// counts and known tell whether its transaction committed, and whether it is over.
	counts, known bool
}

// txnModel says what a reader must see.
type txnModel struct {
	*lab
	runs   []*run // all, the oldest first
	logs   [2][]*entry
	offset int64 // committed for g, -1 for none
	sent   int   // when that was sent
	n      int
}

// newest is the newest run of an id, nil if there is none.
func (m *txnModel) newest(id string) *run {
	for i := len(m.runs) - 1; i >= 0; i-- {
		if m.runs[i].id == id {
			return m.runs[i]
		}
	}
	return nil
}

func drawID(t *rapid.T) string { return rapid.SampledFrom([]string{"x", "y"}).Draw(t, "id") }

func (m *txnModel) Begin(t *rapid.T) {
	id := drawID(t)
	x, err := m.begin(id)
	if err != nil {
		t.Fatal(err)
	}
	if old := m.newest(id); old != nil {
		if int32(x.Epoch) <= old.epoch {
			t.Fatalf("epoch %d after %d", x.Epoch, old.epoch)
		}
		m.over(old, false)
	}
	m.runs = append(m.runs, &run{id: id, epoch: int32(x.Epoch), open: true, offset: -1})
}

// over ends the transaction of a run, if it is open.
func (m *txnModel) over(r *run, committed bool) {
	if !r.open {
		return
	}
	r.open = false
	for _, log := range m.logs {
		for _, e := range log {
			if e.of == r {
				e.counts, e.known = committed, true
			}
		}
	}
	// As in Kafka it counts which was sent last, not which was committed last.
	if committed && r.offset >= 0 && r.sent > m.sent {
		m.offset, m.sent = r.offset, r.sent
	}
}

// some picks a run of an id, mostly the newest.
func (m *txnModel) some(t *rapid.T) *run {
	if len(m.runs) == 0 {
		t.Skip("no run yet")
	}
	if rapid.IntRange(0, 3).Draw(t, "old") > 0 {
		if r := m.newest(drawID(t)); r != nil {
			return r
		}
	}
	return rapid.SampledFrom(m.runs).Draw(t, "run")
}

// judge holds the outcome of a step to what the model knows of the run. It is true if the step
// must have succeeded.
func (m *txnModel) judge(t *rapid.T, r *run, err error) bool {
	name := ""
	if e, ok := errors.AsType[*store.Error](err); ok {
		name = e.Name
	}
	want := ""
	switch {
	case r != m.newest(r.id):
		want = "INVALID_PRODUCER_EPOCH"
	case !r.open:
		want = "INVALID_TXN_STATE"
	}
	if name != want || want == "" && err != nil {
		t.Fatalf("run %s@%d (open %t): error %v, want %q", r.id, r.epoch, r.open, err, want)
	}
	return want == ""
}

func (m *txnModel) Produce(t *rapid.T) {
	r, p := m.some(t), rapid.IntRange(0, 1).Draw(t, "partition")
	m.n++
	value := fmt.Sprintf("v%d", m.n)
	if m.judge(t, r, m.produce(r.id, r.epoch, p, value)) {
		r.values[p] = append(r.values[p], value)
		m.logs[p] = append(m.logs[p], &entry{value: value, of: r})
	}
}

func (m *txnModel) SendOffset(t *rapid.T) {
	r, offset := m.some(t), rapid.Int64Range(0, 99).Draw(t, "offset")
	if m.judge(t, r, m.sendOffset(r.id, r.epoch, offset)) {
		m.n++
		r.offset, r.sent = offset, m.n
	}
}

func (m *txnModel) End(t *rapid.T) {
	r, commit := m.some(t), rapid.Bool().Draw(t, "commit")
	if r == m.newest(r.id) && !r.open {
		return // asking again is no error if it ended the same way; stories test that
	}
	_, err := m.end(r.id, r.epoch, commit)
	if m.judge(t, r, err) {
		m.over(r, commit)
	}
}

// Crash dies somewhere in a commit or abort. What comes next goes on with it if it was
// decided; else it is as if nothing had been asked for.
func (m *txnModel) Crash(t *rapid.T) {
	r, commit := m.some(t), rapid.Bool().Draw(t, "commit")
	if r != m.newest(r.id) || !r.open {
		t.Skip("nothing is open")
	}
	mem := m.fs.(*memfs.FS)
	_, err := (&lab{fs: vfs.FS(faultfs.Wrap(mem, faultfs.CrashAt(rapid.IntRange(1, 40).Draw(t, "operation")))), now: m.now, small: m.small}).end(r.id, r.epoch, commit)
	m.fs = mem.CrashClone(memfs.CrashOptions{Unsynced: 0.5, Seed: rapid.Uint64().Draw(t, "seed")})
	m.cutTails(t)
	ended, ferr := m.finish()
	if ferr != nil {
		t.Fatal(ferr)
	}
	for _, x := range transactions(t, m.lab) {
		if x.ID != r.id || x.State == txn.Ongoing {
			continue
		}
		if (x.State == txn.CompleteCommit) != commit {
			t.Fatalf("asked for commit %t, got %s", commit, x.State)
		}
		m.over(r, commit)
	}
	if err == nil && r.open {
		t.Fatalf("acknowledged, and not done (finished %d)", len(ended))
	}
}

// Check holds what a read_committed reader sees to the model: of each partition what is
// committed below the first record of an open transaction.
func (m *txnModel) Check(t *rapid.T) {
	var want strings.Builder
	for p, log := range m.logs {
		fmt.Fprintf(&want, "%d:", p)
		for _, e := range log {
			if !e.known {
				break
			}
			if e.counts {
				want.WriteString(" " + e.value)
			}
		}
		want.WriteString(" | ")
	}
	if m.offset < 0 {
		want.WriteString("g -")
	} else {
		fmt.Fprintf(&want, "g %d", m.offset)
	}
	if got := m.visible(t); got != want.String() {
		t.Fatalf("a reader sees %q, want %q", got, want.String())
	}
}

func transactions(t fataler, l *lab) []txn.Transaction {
	t.Helper()
	log, err := l.open(t).CoordinatorLog(stateLog).Reader()
	must(t, err)
	known := txn.NewTransactions()
	if log != nil {
		_, err = known.ReadLog(log)
		must(t, err)
	}
	return known.All()
}

// TestModel runs random transactions of two ids with several runs each, on a coordinator that
// never compacts its logs, or after every few steps.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &txnModel{lab: newLab(rt), offset: -1}
		m.small = rapid.SampledFrom([]int64{0, 0, 600}).Draw(rt, "small")
		rt.Repeat(map[string]func(*rapid.T){
			"begin": m.Begin, "produce": m.Produce, "produce more": m.Produce, "send offset": m.SendOffset,
			"end": m.End, "crash": m.Crash,
			"": m.Check,
		})
	})
}
