package cleaner_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/cleaner"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// written is a record as the model remembers it.
type written struct {
	key, value string // key "" for none, value "-" for a tombstone
	producer   int64  // of its transaction, 0 for none
	txn        int    // which transaction of that producer
}

// model is what a compacted log must come to.
type model struct {
	*lab
	t       *rapid.T
	records map[int64]written // by offset, all that were ever appended
	next    int64
	// open is the transaction of each producer, counted from 1; ended tells how each ended.
	open  map[int64]int
	count int
	ended map[[2]int64]record.ControlType
}

func (m *model) Append(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "records")
	producer := rapid.SampledFrom([]int64{0, 0, 7, 8}).Draw(t, "producer")
	meta := plain()
	if producer > 0 {
		meta = m.sent(producer, n, true)
		if m.open[producer] == 0 {
			m.count++
			m.open[producer] = m.count
		}
	}
	texts := make([]string, n)
	for i := range texts {
		w := written{key: rapid.SampledFrom([]string{"a", "b", "c", "d", ""}).Draw(t, "key"), producer: producer, txn: m.open[producer]}
		w.value = fmt.Sprintf("v%d", m.next)
		texts[i] = w.key + "=" + w.value
		if w.key != "" && rapid.IntRange(0, 4).Draw(t, "tombstone") == 0 {
			w.value, texts[i] = "-", w.key
		}
		m.records[m.next] = w
		m.next++
	}
	m.append(meta, texts...)
}

func (m *model) End(t *rapid.T) {
	producer := rapid.SampledFrom([]int64{7, 8}).Draw(t, "producer")
	kind := rapid.SampledFrom([]record.ControlType{record.Commit, record.Abort}).Draw(t, "kind")
	if m.open[producer] == 0 {
		t.Skip("no transaction")
	}
	m.ended[[2]int64{producer, int64(m.open[producer])}] = kind
	m.open[producer] = 0
	m.end(producer, kind)
	m.next++
}

func (m *model) Roll(*rapid.T) { m.roll() }

func (m *model) Wait(t *rapid.T) { m.now += rapid.Int64Range(1, 1500).Draw(t, "ms") }

// Compact makes a pass; now and then the power is cut in the middle of it first.
func (m *model) Compact(t *rapid.T) {
	if rapid.Bool().Draw(t, "crash") {
		tried := m.crash(rapid.IntRange(1, 60).Draw(t, "operation"), rapid.Uint64().Draw(t, "seed"))
		m.checkNothingMissing(t, m.left(t), tried) // a reader does not wait until it is settled
		m.do((*store.Log).Settle)
		if list, err := segment.List(m.fs, dir); err != nil || len(list.Leftovers) > 0 {
			t.Fatalf("left over: %v, %v", list.Leftovers, err)
		}
		m.checkNothingMissing(t, m.left(t), tried)
	}
	// One pass may leave markers that the next one dates, and segments that then can be joined.
	for passes := len(m.reader().Segments()) + 3; m.compact().Changed; passes-- {
		if passes == 0 {
			t.Fatal("passes at the same time do not come to an end")
		}
	}
}

// crash cuts the power while the new segments are written, or put in the place of the old
// ones. What was appended is synced before. It returns how far the compaction would have come.
func (m *model) crash(operation int, seed uint64) (firstDirty int64) {
	m.do(func(log *store.Log) error {
		_, err := log.Flush()
		return err
	})
	firstDirty = m.firstDirty
	r, err := cleaner.Clean(context(m.t), faultfs.Wrap(m.fs, faultfs.CrashAt(operation)), m.reader(), m.options())
	if err == nil && r.Changed {
		firstDirty = r.FirstDirty
		err = r.Install()
	}
	if err != nil && !errors.Is(err, faultfs.ErrCrashed) {
		m.t.Fatal(err)
	}
	m.fs = m.fs.CrashClone(memfs.CrashOptions{Unsynced: 0.5, Seed: seed})
	return firstDirty
}

// outcome tells whether a record counts: of no transaction, or of one that committed. known is
// false while its transaction is open.
func (m *model) outcome(w written) (counts, known bool) {
	if w.producer == 0 {
		return true, true
	}
	kind, ended := m.ended[[2]int64{w.producer, int64(w.txn)}]
	return kind == record.Commit, ended
}

// Check holds the log to what was ever appended: nothing is changed or made up, nothing is
// missing that is the last of its key or was not compacted yet, and of what was compacted
// there is only the last.
func (m *model) Check(t *rapid.T) {
	if end := m.logEnd(); end != m.next {
		t.Fatalf("the log ends at %d, want %d", end, m.next)
	}
	left, last := m.left(t), m.lastOfKeys(m.firstDirty)
	for offset, w := range m.records {
		counts, _ := m.outcome(w)
		if offset < m.firstDirty && left[offset] && (!counts || w.key == "" || !last[offset]) {
			t.Fatalf("offset %d (%+v) is there, and should have been compacted away (first dirty %d)", offset, w, m.firstDirty)
		}
	}
	m.checkNothingMissing(t, left, m.firstDirty)
}

// checkNothingMissing requires all records that a compaction of what stands below firstDirty
// leaves, whether or not it came to its end.
func (m *model) checkNothingMissing(t *rapid.T, left map[int64]bool, firstDirty int64) {
	last := m.lastOfKeys(firstDirty)
	for offset, w := range m.records {
		counts, _ := m.outcome(w)
		switch {
		case left[offset]:
		case offset >= firstDirty:
			t.Fatalf("offset %d (%+v) is gone, and was not compacted yet (first dirty %d)", offset, w, firstDirty)
		case counts && last[offset] && w.value != "-":
			t.Fatalf("offset %d (%+v) is gone, and is the last of its key", offset, w)
		}
	}
}

// lastOfKeys are the offsets of the records below firstDirty that are the last with their key.
func (m *model) lastOfKeys(firstDirty int64) map[int64]bool {
	at := map[string]int64{}
	for offset, w := range m.records {
		if counts, known := m.outcome(w); counts && known && w.key != "" && offset < firstDirty {
			at[w.key] = max(at[w.key], offset+1)
		}
	}
	last := map[int64]bool{}
	for _, next := range at {
		last[next-1] = true
	}
	return last
}

// left reads which records are in the log, and that they are as they were.
func (m *model) left(t *rapid.T) map[int64]bool {
	left := map[int64]bool{}
	c := m.reader().From(0)
	defer c.Close()
	records := record.NewReader()
	for c.Next() {
		if d := c.Damage(); d != nil {
			t.Fatal(d)
		}
		if c.Batch().IsControl() {
			continue
		}
		for records.Reset(c.Batch()); records.Next(); {
			r := records.Record()
			w, value := m.records[r.Offset], "-"
			if r.Value != nil {
				value = string(r.Value)
			}
			if string(r.Key) != w.key || value != w.value {
				t.Fatalf("offset %d holds %s=%s, want %+v", r.Offset, r.Key, value, w)
			}
			left[r.Offset] = true
		}
		if records.Err() != nil {
			t.Fatal(records.Err())
		}
	}
	return left
}

// TestModel compacts logs of random histories again and again.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			lab: newLab(rt), t: rt, records: map[int64]written{},
			open: map[int64]int{}, ended: map[[2]int64]record.ControlType{},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": m.Append, "append more": m.Append, "end": m.End, "roll": m.Roll, "wait": m.Wait, "compact": m.Compact,
			"": m.Check,
		})
	})
}
