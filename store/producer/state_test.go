package producer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/fixtures"
	"logdir/store/record"
)

// batch describes a data batch of a test.
type batch struct {
	pid         int64
	epoch       int32
	sequence    int32
	records     int
	offset      int64
	timestamp   int64
	transaction bool
}

// failer is a test, or a check of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// view builds the batch's frame.
func (d batch) view(t failer) *record.Batch {
	t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = d.pid, d.epoch, d.sequence
	m.BaseOffset, m.Transactional = d.offset, d.transaction
	b := record.NewBuilder()
	b.Reset(m)
	for i := range max(1, d.records) {
		b.Append(&record.Record{Offset: d.offset + int64(i), Timestamp: d.timestamp, Value: []byte("v")})
	}
	raw, err := b.Build(nil)
	return parse(t, raw, err)
}

func parse(t failer, raw []byte, err error) *record.Batch {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	view, damage := record.Parse(raw)
	if damage != nil {
		t.Fatal(damage)
	}
	return &view
}

// marker is the frame that ends a transaction.
func marker(t testing.TB, kind record.ControlType, pid int64, epoch, coordinator int32, offset int64) *record.Batch {
	t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseOffset = pid, epoch, offset
	raw, err := record.AppendEndTxnMarker(nil, m, record.EndTxnMarker{Type: kind, CoordinatorEpoch: coordinator}, 1700000000000+offset)
	return parse(t, raw, err)
}

// feed updates a state with data batches, which must be good.
func feed(t testing.TB, s *State, batches ...batch) {
	t.Helper()
	for _, b := range batches {
		if _, err := s.Update(b.view(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// What a leader answers to a batch, after producer 9 in epoch 3 sent sequences 0 to 4, 5 to
// 9 and 10 to 14, which got offsets 100 to 114.
func TestLeaderChecks(t *testing.T) {
	history := []batch{
		{pid: 9, epoch: 3, sequence: 0, records: 5, offset: 100, timestamp: 1000},
		{pid: 9, epoch: 3, sequence: 5, records: 5, offset: 105, timestamp: 1005},
		{pid: 9, epoch: 3, sequence: 10, records: 5, offset: 110, timestamp: 1010},
	}
	for _, c := range []struct {
		name string
		next batch
		dup  *Duplicate
		err  error
		text string
	}{
		{"the next sequence", batch{pid: 9, epoch: 3, sequence: 15}, nil, nil, ""},
		{"a retry of the last batch", batch{pid: 9, epoch: 3, sequence: 10, records: 5}, &Duplicate{110, 114, 1010}, nil, ""},
		{"a retry of the first batch", batch{pid: 9, epoch: 3, sequence: 0, records: 5}, &Duplicate{100, 104, 1000}, nil, ""},
		{"half of a batch again", batch{pid: 9, epoch: 3, sequence: 10, records: 3}, nil, ErrOutOfOrderSequence, "sequence 10 after 14"},
		{"two batches in one", batch{pid: 9, epoch: 3, sequence: 5, records: 10}, nil, ErrOutOfOrderSequence, "sequence 5 after 14"},
		{"a gap", batch{pid: 9, epoch: 3, sequence: 16}, nil, ErrOutOfOrderSequence, "sequence 16 after 14"},
		{"an older epoch", batch{pid: 9, epoch: 2, sequence: 15}, nil, ErrInvalidProducerEpoch, "epoch 2 is older than 3"},
		{"a retry from an older epoch", batch{pid: 9, epoch: 2, sequence: 10, records: 5}, nil, ErrInvalidProducerEpoch, "epoch 2 is older than 3"},
		{"a newer epoch begins at 0", batch{pid: 9, epoch: 4, sequence: 0}, nil, nil, ""},
		{"and nowhere else", batch{pid: 9, epoch: 4, sequence: 15}, nil, ErrOutOfOrderSequence, "the first batch of epoch 4 has sequence 15, not 0"},
		{"an unknown producer begins anywhere", batch{pid: 10, epoch: 0, sequence: 77}, nil, nil, ""},
		{"no producer", batch{pid: -1, epoch: -1, sequence: -1}, nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewState(0)
			feed(t, s, history...)
			before := s.Entries()
			dup, err := s.Check(c.next.view(t))
			if diff := cmp.Diff(c.dup, dup); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %v: %s", err, c.err, c.text)
			}
			if diff := cmp.Diff(before, s.Entries()); diff != "" {
				t.Errorf("a check changed the state: %s", diff)
			}
		})
	}
}

// The window decides which retries are recognised: five batches in Kafka, one in MiniKafka.
func TestWindow(t *testing.T) {
	for window, oldest := range map[int]int32{0: 5, 1: 9, 3: 7} {
		s := NewState(window)
		for i := range int32(10) {
			feed(t, s, batch{pid: 9, sequence: i, offset: 100 + int64(i)})
		}
		for i := range int32(10) {
			dup, err := s.Check(batch{pid: 9, sequence: i}.view(t))
			switch {
			case i >= oldest && (dup == nil || dup.BaseOffset != 100+int64(i) || err != nil):
				t.Errorf("window %d: sequence %d is no duplicate: %v, %v", window, i, dup, err)
			case i < oldest && !errors.Is(err, ErrOutOfOrderSequence):
				t.Errorf("window %d: sequence %d has left the window: %v, %v", window, i, dup, err)
			}
		}
	}
}

// 2147483647 is followed by 0, also in the middle of a batch.
func TestSequencesWrap(t *testing.T) {
	s := NewState(0)
	feed(t, s, batch{pid: 9, sequence: math.MaxInt32 - 1, records: 2, offset: 0})
	if _, err := s.Check(batch{pid: 9, sequence: 0}.view(t)); err != nil {
		t.Error(err)
	}
	feed(t, s, batch{pid: 9, sequence: 0, records: 1, offset: 2})
	if _, err := s.Check(batch{pid: 9, sequence: 1}.view(t)); err != nil {
		t.Error(err)
	}
	s = NewState(0)
	feed(t, s, batch{pid: 9, sequence: math.MaxInt32, records: 3, offset: 10})
	if got := s.Entries()[0]; got.LastSequence != 1 || got.FirstSequence() != math.MaxInt32 {
		t.Errorf("last %d, first %d", got.LastSequence, got.FirstSequence())
	}
	dup, err := s.Check(batch{pid: 9, sequence: math.MaxInt32, records: 3}.view(t))
	if err != nil || dup == nil || dup.BaseOffset != 10 || dup.LastOffset != 12 {
		t.Errorf("%v, %v", dup, err)
	}
}

// Replicated and recovered batches are taken as they are, older epochs too.
func TestUpdateDoesNotJudge(t *testing.T) {
	s := NewState(0)
	feed(
		t, s,
		batch{pid: 9, epoch: 3, sequence: 7, offset: 0, timestamp: 50},
		batch{pid: 9, epoch: 3, sequence: 7, offset: 1, timestamp: 60},
		batch{pid: 9, epoch: 2, sequence: 100, records: 2, offset: 2, timestamp: 40},
	)
	want := []Entry{{ProducerID: 9, ProducerEpoch: 2, LastSequence: 101, LastOffset: 3, OffsetDelta: 1, Timestamp: 40, CoordinatorEpoch: -1, TxnFirstOffset: -1}}
	if diff := cmp.Diff(want, s.Entries()); diff != "" {
		t.Error(diff)
	}
}

// The message of an error names producer, batch and Kafka's name.
func TestErrorText(t *testing.T) {
	s := NewState(0)
	feed(t, s, batch{pid: 9, epoch: 3, sequence: 0})
	_, err := s.Check(batch{pid: 9, epoch: 3, sequence: 5, offset: 77}.view(t))
	if want := "producer 9: batch 77: sequence 5 after 0 (OUT_OF_ORDER_SEQUENCE_NUMBER)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestExpire(t *testing.T) {
	s := NewState(0)
	feed(
		t, s,
		batch{pid: 1, sequence: 0, offset: 0, timestamp: 1000},
		batch{pid: 2, sequence: 0, offset: 1, timestamp: 1001},
		batch{pid: 3, sequence: 0, offset: 2, timestamp: 1000, transaction: true},
	)
	s.Expire(2000, 1000)
	var left []int64
	for _, e := range s.Entries() {
		left = append(left, e.ProducerID)
	}
	if diff := cmp.Diff([]int64{2, 3}, left); diff != "" {
		t.Errorf("1 is old enough, 2 too young, 3 has an open transaction: %s", diff)
	}
}

// After a snapshot only the last batch is remembered, and everything goes on as before.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewState(0)
		offset, next := int64(0), map[int64]int32{}
		for i := range rapid.IntRange(1, 20).Draw(t, "batches") {
			pid := rapid.Int64Range(1, 3).Draw(t, "producer")
			txn := pid == 3
			d := batch{pid: pid, sequence: next[pid], records: 1 + i%3, offset: offset, timestamp: int64(i), transaction: txn}
			b := d.view(t)
			if dup, err := s.Check(b); dup != nil || err != nil {
				t.Fatalf("%+v: %v, %v", d, dup, err)
			}
			if _, err := s.Update(b); err != nil {
				t.Fatal(err)
			}
			offset, next[pid] = b.NextOffset(), b.LastSequence()+1
		}
		entries, err := ParseSnapshot(AppendSnapshot(nil, s.Entries()))
		if err != nil {
			t.Fatal(err)
		}
		restored := NewState(0)
		restored.Restore(entries)
		if diff := cmp.Diff(s.Entries(), restored.Entries()) + cmp.Diff(s.Open(), restored.Open()); diff != "" {
			t.Fatal(diff)
		}
		for pid, sequence := range next {
			b := batch{pid: pid, sequence: sequence, offset: offset, transaction: pid == 3}.view(t)
			if _, err := restored.Check(b); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Batches without a producer cost nothing.
func TestPlainBatchesAreFree(t *testing.T) {
	fixtures.WithoutRace(t)
	s, b := NewState(0), batch{pid: -1, epoch: -1, sequence: -1}.view(t)
	allocs := testing.AllocsPerRun(1000, func() {
		if _, err := s.Update(b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(b); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 || s.Len() != 0 {
		t.Errorf("%v allocations, %d producers", allocs, s.Len())
	}
}

// Nor do those of a known producer allocate.
func TestKnownProducersDoNotAllocate(t *testing.T) {
	fixtures.WithoutRace(t)
	s, b := NewState(0), batch{pid: 1, sequence: 0}.view(t)
	for range 10 {
		feed(t, s, batch{pid: 1, sequence: 0})
	}
	allocs := testing.AllocsPerRun(1000, func() {
		if _, err := s.Update(b); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for name, d := range map[string]batch{
		"plain":      {pid: -1, epoch: -1, sequence: -1},
		"idempotent": {pid: 1, sequence: 0},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s, view := NewState(0), d.view(b)
			for b.Loop() {
				if _, err := s.Update(view); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
