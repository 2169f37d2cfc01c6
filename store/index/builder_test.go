package index

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/record"
)

// Seven batches of 2,000 bytes: the rule compares the distance before it counts the batch
// itself, so the fourth is the first with an entry (6,000 > 4,096), then every third.
func TestBuilderByHand(t *testing.T) {
	b := NewBuilder(100, DefaultInterval)
	stamps := []int64{50, 70, 70, 60, 80, 10, 90}
	for i, stamp := range stamps {
		first := 100 + 10*int64(i)
		if err := b.Add(Span{FirstOffset: first, LastOffset: first + 9, Pos: 2000 * int64(i), Size: 2000, MaxTimestamp: stamp}); err != nil {
			t.Fatal(err)
		}
	}
	want := []OffsetEntry{{139, 6000}, {169, 12000}}
	if diff := cmp.Diff(want, collect(t, offsetIndex(b.Index(), 100).All())); diff != "" {
		t.Error(diff)
	}
	// The largest timestamp at the fourth batch is 70, first carried by the second.
	wantTimes := []TimeEntry{{70, 119}, {90, 169}}
	if diff := cmp.Diff(wantTimes, collect(t, timeIndex(b.TimeIndex(), 100).All())); diff != "" {
		t.Error(diff)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.TimeIndex()); n != 2*TimeEntrySize {
		t.Errorf("the last entry was offered again: %d bytes", n)
	}
}

func TestBuilderFinishOffersTheLargestTimestamp(t *testing.T) {
	for _, c := range []struct {
		name  string
		stamp int64
		want  []TimeEntry
	}{
		{"a small segment has one entry", 1700000000015, []TimeEntry{{1700000000015, 4}}},
		{"without timestamps there is none", record.NoTimestamp, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder(0, DefaultInterval)
			if err := b.Add(Span{LastOffset: 4, Size: 304, MaxTimestamp: c.stamp}); err != nil {
				t.Fatal(err)
			}
			if err := b.Finish(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, collect(t, timeIndex(b.TimeIndex(), 0).All())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The first batch of an MKB1 segment is indexed, and a distance of just the interval is
// enough; the offset is the first of the batch.
func TestMKB1BuilderByHand(t *testing.T) {
	b := NewMKB1Builder(10, 128)
	for _, s := range []Span{
		{FirstOffset: 10, LastOffset: 12, Pos: 0, Size: 100},
		{FirstOffset: 13, LastOffset: 13, Pos: 100, Size: 28},
		{FirstOffset: 14, LastOffset: 20, Pos: 128, Size: 50},
		{FirstOffset: 21, LastOffset: 21, Pos: 178, Size: 50},
	} {
		if err := b.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	x := NewMKB1Index(bytes.NewReader(b.Index()), int64(len(b.Index())), 10)
	if diff := cmp.Diff([]OffsetEntry{{10, 0}, {14, 128}}, collect(t, x.All())); diff != "" {
		t.Error(diff)
	}
	if len(b.TimeIndex()) != 0 {
		t.Error("a time index")
	}
}

// What a broker's recovery stumbles over is told apart.
func TestBuilderTellsViolations(t *testing.T) {
	good := []Span{
		{FirstOffset: 100, LastOffset: 109, Pos: 0, Size: 5000, MaxTimestamp: 50},
		{FirstOffset: 110, LastOffset: 119, Pos: 5000, Size: 5000, MaxTimestamp: 60},
	}
	for _, c := range []struct {
		name string
		next Span
		want *OrderError
	}{
		{"in order", Span{FirstOffset: 120, LastOffset: 129, Pos: 10_000, MaxTimestamp: 70}, nil},
		{"below the base offset", Span{FirstOffset: 90, LastOffset: 99, Pos: 10_000}, &OrderError{OffsetRange, 99, 100, 10_000}},
		{"too far", Span{LastOffset: 100 + 1<<31, Pos: 10_000}, &OrderError{OffsetRange, 100 + 1<<31, 100, 10_000}},
		{"just not too far", Span{LastOffset: 100 + 1<<31 - 1, Pos: 10_000, MaxTimestamp: 70}, nil},
		{"offset goes back on an indexed batch", Span{FirstOffset: 110, LastOffset: 119, Pos: 10_000, MaxTimestamp: 70}, &OrderError{OffsetOrder, 119, 119, 10_000}},
		{"offset goes back on one that is not indexed", Span{FirstOffset: 110, LastOffset: 119, Pos: 9_096}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder(100, DefaultInterval)
			for _, s := range good {
				if err := b.Add(s); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, b.Add(c.next)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A batch behind the last index entry whose offset is lower but whose timestamp is newer
// is found when the segment is closed.
func TestBuilderTellsATimeThatFallsBack(t *testing.T) {
	b := NewBuilder(0, DefaultInterval)
	for _, s := range []Span{
		{LastOffset: 9, Pos: 0, Size: 5000, MaxTimestamp: 50},
		{LastOffset: 19, Pos: 5000, Size: 100, MaxTimestamp: 60},
		{LastOffset: 5, Pos: 5100, Size: 100, MaxTimestamp: 70},
	} {
		if err := b.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	want := &OrderError{TimeOrder, 5, 19, 5000}
	if diff := cmp.Diff(want, b.Finish()); diff != "" {
		t.Error(diff)
	}
}

func TestFull(t *testing.T) {
	const interval, indexBytes = 1, 48 // six offset entries, four time entries
	for _, c := range []struct {
		batches int
		stamp   func(i int) int64
		want    bool
	}{
		{6, func(int) int64 { return record.NoTimestamp }, false},
		{7, func(int) int64 { return record.NoTimestamp }, true}, // the first batch has no entry
		{3, func(i int) int64 { return int64(i) }, false},
		{4, func(i int) int64 { return int64(i) }, true}, // one early
	} {
		b := NewBuilder(0, interval)
		for i := range c.batches {
			if err := b.Add(Span{LastOffset: int64(i), Pos: int64(10 * i), Size: 10, MaxTimestamp: c.stamp(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.Full(indexBytes); got != c.want {
			t.Errorf("%d batches, %d and %d entries: full %v", c.batches, b.State().Entries, b.State().TimeEntries, got)
		}
	}
}

// drawSpans draws the batches of a log: contiguous bytes, rising offsets with gaps, any
// timestamps.
func drawSpans(t *rapid.T, base int64) []Span {
	n := rapid.IntRange(0, 60).Draw(t, "batches")
	spans := make([]Span, n)
	offset, pos := base, int64(0)
	for i := range spans {
		size := rapid.Int64Range(61, 9000).Draw(t, fmt.Sprintf("size%d", i))
		first := offset + rapid.Int64Range(0, 3).Draw(t, fmt.Sprintf("gap%d", i))
		last := first + rapid.Int64Range(0, 9).Draw(t, fmt.Sprintf("delta%d", i))
		spans[i] = Span{FirstOffset: first, LastOffset: last, Pos: pos, Size: size, MaxTimestamp: rapid.Int64Range(-1, 100).Draw(t, fmt.Sprintf("stamp%d", i))}
		offset, pos = last+1, pos+size
	}
	return spans
}

// failer is a test, or a check of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func build(t failer, b *Builder, spans []Span) {
	t.Helper()
	for _, s := range spans {
		if err := b.Add(s); err != nil {
			t.Fatal(err)
		}
	}
}

// A Builder that resumes from its own state, or from the files, goes on as if it had never
// stopped.
func TestResumeIsFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 1<<40).Draw(t, "base")
		spans := drawSpans(t, base)
		cut := rapid.IntRange(0, len(spans)).Draw(t, "cut")
		mkb1 := rapid.Bool().Draw(t, "mkb1")
		fresh, resume, view := NewBuilder, ResumeBuilder, NewOffsetIndex
		if mkb1 {
			fresh, resume, view = NewMKB1Builder, ResumeMKB1Builder, NewMKB1Index
		}

		whole, head := fresh(base, DefaultInterval), fresh(base, DefaultInterval)
		build(t, whole, spans)
		build(t, head, spans[:cut])

		tail := resume(base, DefaultInterval, head.State())
		build(t, tail, spans[cut:])
		same(t, "state", whole, head, tail)

		padded := append(bytes.Clone(head.Index()), make([]byte, 240)...)
		if mkb1 || len(head.Index()) == 0 {
			padded = head.Index()
		}
		state, err := ReadState(base, view(bytes.NewReader(padded), int64(len(padded)), base), timeIndex(head.TimeIndex(), base))
		if err != nil {
			t.Fatal(err)
		}
		tail = resume(base, DefaultInterval, state)
		for _, s := range spans {
			if s.Pos >= state.Last.Pos {
				build(t, tail, []Span{s})
			}
		}
		same(t, "files", whole, head, tail)
	})
}

func same(t *rapid.T, from string, whole, head, tail *Builder) {
	if got := append(bytes.Clone(head.Index()), tail.Index()...); !bytes.Equal(got, whole.Index()) {
		t.Fatalf("resumed from %s: index %x, from scratch %x", from, got, whole.Index())
	}
	if got := append(bytes.Clone(head.TimeIndex()), tail.TimeIndex()...); !bytes.Equal(got, whole.TimeIndex()) {
		t.Fatalf("resumed from %s: time index %x, from scratch %x", from, got, whole.TimeIndex())
	}
	if diff := cmp.Diff(whole.State(), tail.State()); diff != "" {
		t.Fatalf("resumed from %s: %s", from, diff)
	}
}

// Draining the bytes does not change what comes next.
func TestDrain(t *testing.T) {
	spans := []Span{
		{LastOffset: 0, Pos: 0, Size: 5000, MaxTimestamp: 1},
		{LastOffset: 1, Pos: 5000, Size: 5000, MaxTimestamp: 2},
		{LastOffset: 2, Pos: 10_000, Size: 5000, MaxTimestamp: 3},
	}
	whole, drained := NewBuilder(0, DefaultInterval), NewBuilder(0, DefaultInterval)
	build(t, whole, spans)
	var index, times []byte
	for _, s := range spans {
		build(t, drained, []Span{s})
		index, times = append(index, drained.Index()...), append(times, drained.TimeIndex()...)
		drained.Drain()
	}
	if !bytes.Equal(index, whole.Index()) || !bytes.Equal(times, whole.TimeIndex()) {
		t.Errorf("drained %x %x, whole %x %x", index, times, whole.Index(), whole.TimeIndex())
	}
}

func BenchmarkBuilder(b *testing.B) {
	b.ReportAllocs()
	x := NewBuilder(0, DefaultInterval)
	s := Span{Size: 500, MaxTimestamp: 1}
	for b.Loop() {
		if err := x.Add(s); err != nil {
			b.Fatal(err)
		}
		s.LastOffset++
		s.Pos += s.Size
		x.Drain()
		if s.LastOffset == MaxRelativeOffset {
			x, s = NewBuilder(0, DefaultInterval), Span{Size: 500, MaxTimestamp: 1}
		}
	}
}
