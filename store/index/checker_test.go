package index

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/corrupt"
)

// tenBatches is the log of ten batches of one record and 72 bytes, a second apart.
func tenBatches() []Span {
	spans := make([]Span, 10)
	for i := range spans {
		n := int64(i)
		spans[i] = Span{FirstOffset: n, LastOffset: n, Pos: 72 * n, Size: 72, MaxTimestamp: 1700000000000 + 1000*n}
	}
	return spans
}

// Three entries of each index for that log: batches 3, 6 and 9.
const (
	threeOffsets = "00000003000000d8 00000006000001b0 0000000900000288"
	threeTimes   = "0000018bcfe573b800000003 0000018bcfe57f7000000006 0000018bcfe58b2800000009"
)

func judge(t testing.TB, base int64, index, times []byte, spans []Span) (offsets, timeReport Report) {
	t.Helper()
	c := NewChecker(base, offsetIndex(index, base), timeIndex(times, base))
	for _, s := range spans {
		c.Add(s)
	}
	o, ti, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return o, ti
}

func pad(data []byte, size int) []byte { return append(data, make([]byte, size-len(data))...) }

// A broker that was killed leaves its index files at full size: no damage.
func TestPreallocatedIndexIsClean(t *testing.T) {
	index, times := pad(unhex(t, threeOffsets), 10_485_760), pad(unhex(t, threeTimes), 10_485_756)
	o, ti := judge(t, 0, index, times, tenBatches())
	if diff := cmp.Diff(Report{Entries: 3, Padding: 10_485_736}, o); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Report{Entries: 3, Padding: 10_485_720, Complete: true}, ti); diff != "" {
		t.Error(diff)
	}
}

// A length that is no multiple of the entry size is damage, at the fragment.
func TestLengthIsNoMultiple(t *testing.T) {
	o, ti := judge(t, 0, unhex(t, threeOffsets)[:20], unhex(t, threeTimes)[:25], tenBatches())
	checkBad(t, "index", o, 16, 4, "length")
	checkBad(t, "timeindex", ti, 24, 1, "length")
	if o.Entries != 2 || ti.Entries != 2 || o.BadCount != 1 || ti.BadCount != 1 {
		t.Errorf("the whole entries were not judged: %+v, %+v", o, ti)
	}
}

func checkBad(t testing.TB, file string, r Report, pos, size int64, field string) {
	t.Helper()
	switch {
	case r.Bad == nil:
		t.Errorf("%s: no damage found, want %s at byte %d", file, field, pos)
	case r.Bad.Kind != corrupt.BadIndex || r.Bad.Pos != pos || r.Bad.Size != size || r.Bad.Field != field:
		t.Errorf("%s: %v (%d bytes, field %q), want %d bytes at %d, field %q", file, r.Bad, r.Bad.Size, r.Bad.Field, size, pos, field)
	}
}

// An empty segment's index files, empty or preallocated, are clean.
func TestEmptySegment(t *testing.T) {
	for _, size := range []int{0, 10_485_756} {
		index, times := make([]byte, size/8*8), make([]byte, size/12*12)
		o, ti := judge(t, 2076, index, times, nil)
		if o.Bad != nil || ti.Bad != nil || o.Entries != 0 || ti.Entries != 0 || o.Padding != int64(len(index)) || ti.Padding != int64(len(times)) {
			t.Errorf("%d bytes: %+v, %+v", size, o, ti)
		}
	}
}

// What brokers of all ages store for the same log: four batches of 10 offsets and 1,000
// bytes, the last two of which came in one append.
func TestHabitsOfOlderBrokersAreGood(t *testing.T) {
	spans := []Span{
		{FirstOffset: 0, LastOffset: 9, Pos: 0, Size: 1000, MaxTimestamp: 5},
		{FirstOffset: 10, LastOffset: 19, Pos: 1000, Size: 1000, MaxTimestamp: 6},
		{FirstOffset: 20, LastOffset: 29, Pos: 2000, Size: 1000, MaxTimestamp: 7},
		{FirstOffset: 30, LastOffset: 39, Pos: 3000, Size: 1000, MaxTimestamp: 8},
	}
	legacy := slices.Clone(spans) // v0 and v1 wrappers tell only their last offset
	for i := range legacy {
		legacy[i].FirstOffset, legacy[i].Legacy = legacy[i].LastOffset, true
	}
	for _, c := range []struct {
		name   string
		spans  []Span
		index  []OffsetEntry
		times  []TimeEntry
		olders [2]int
	}{
		{"4.x: last offset of the batch", spans, []OffsetEntry{{19, 1000}, {29, 2000}}, []TimeEntry{{6, 19}, {8, 39}}, [2]int{0, 0}},
		{"2.0 to 3.9: last offset of the group, position of its first batch", spans, []OffsetEntry{{19, 1000}, {39, 2000}}, []TimeEntry{{8, 39}}, [2]int{1, 0}},
		{"up to 1.1: first offset", spans, []OffsetEntry{{10, 1000}, {20, 2000}}, []TimeEntry{{6, 12}, {8, 30}}, [2]int{2, 2}},
		{"up to 1.1: first offset inside a wrapper", legacy, []OffsetEntry{{10, 1000}, {25, 2000}}, []TimeEntry{{6, 15}}, [2]int{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var index, times []byte
			for _, e := range c.index {
				index = AppendOffsetEntry(index, 0, e)
			}
			for _, e := range c.times {
				times = AppendTimeEntry(times, 0, e)
			}
			o, ti := judge(t, 0, index, times, c.spans)
			if o.Bad != nil || ti.Bad != nil {
				t.Errorf("false alarm: %v, %v", o.Bad, ti.Bad)
			}
			if got := [2]int{o.Older, ti.Older}; got != c.olders {
				t.Errorf("older entries %v, want %v", got, c.olders)
			}
		})
	}
}

// Entries that would lead a look-up astray.
func TestBadEntriesAreFound(t *testing.T) {
	spans := tenBatches()
	good := []OffsetEntry{{3, 216}, {6, 432}, {9, 648}}
	for _, c := range []struct {
		name  string
		entry OffsetEntry // instead of the second
		field string
	}{
		{"offset of the batch before", OffsetEntry{5, 432}, fieldRelativeOffset},
		{"offset does not rise", OffsetEntry{3, 432}, fieldRelativeOffset},
		{"offset behind the next entry's", OffsetEntry{9, 432}, fieldRelativeOffset},
		{"offset beyond the log", OffsetEntry{600, 432}, fieldRelativeOffset},
		{"negative offset", OffsetEntry{-1, 432}, fieldRelativeOffset},
		{"position inside a batch", OffsetEntry{6, 433}, fieldPosition},
		{"position before the entry before", OffsetEntry{6, 0}, fieldPosition},
		{"position behind the next entry's", OffsetEntry{6, 700}, fieldPosition},
		{"position beyond the log", OffsetEntry{6, 1 << 30}, fieldPosition},
		{"negative position", OffsetEntry{6, -432}, fieldPosition},
		{"zeros between entries", OffsetEntry{0, 0}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var index []byte
			for _, e := range []OffsetEntry{good[0], c.entry, good[2]} {
				index = AppendOffsetEntry(index, 0, e)
			}
			o, _ := judge(t, 0, index, nil, spans)
			checkBad(t, "index", o, 8, 8, c.field)
			if o.BadCount != 1 || o.Entries != 3 {
				t.Errorf("%d of %d entries are bad, want 1 of 3", o.BadCount, o.Entries)
			}
		})
	}
}

func TestBadTimeEntriesAreFound(t *testing.T) {
	spans := tenBatches()
	stamp := func(i int64) int64 { return 1700000000000 + 1000*i }
	for _, c := range []struct {
		name  string
		entry TimeEntry // instead of the second
		field string
	}{
		{"timestamp of no batch", TimeEntry{stamp(6) + 1, 6}, fieldTimestamp},
		{"timestamp does not rise", TimeEntry{stamp(3), 6}, fieldTimestamp},
		{"timestamp behind the next entry's", TimeEntry{stamp(9) + 5, 6}, fieldTimestamp},
		{"negative timestamp", TimeEntry{-7, 6}, fieldTimestamp},
		{"offset of a later batch", TimeEntry{stamp(6), 7}, fieldRelativeOffset},
		{"offset beyond the next entry's", TimeEntry{stamp(6), 12}, fieldRelativeOffset},
		{"negative offset", TimeEntry{stamp(6), -6}, fieldRelativeOffset},
	} {
		t.Run(c.name, func(t *testing.T) {
			var times []byte
			for _, e := range []TimeEntry{{stamp(3), 3}, c.entry, {stamp(9), 9}} {
				times = AppendTimeEntry(times, 0, e)
			}
			_, ti := judge(t, 0, nil, times, spans)
			checkBad(t, "timeindex", ti, 12, 12, c.field)
			if ti.BadCount != 1 || ti.Entries != 3 {
				t.Errorf("%d of %d entries are bad, want 1 of 3", ti.BadCount, ti.Entries)
			}
		})
	}
}

// An entry that skips an earlier batch with a larger timestamp would hide it from a look-up.
func TestTimeEntryBelowAnEarlierTimestamp(t *testing.T) {
	spans := []Span{
		{LastOffset: 0, FirstOffset: 0, Pos: 0, Size: 72, MaxTimestamp: 300},
		{LastOffset: 1, FirstOffset: 1, Pos: 72, Size: 72, MaxTimestamp: 200},
	}
	_, ti := judge(t, 0, nil, AppendTimeEntry(nil, 0, TimeEntry{200, 1}), spans)
	checkBad(t, "timeindex", ti, 0, 12, fieldTimestamp)
}

// An entry of timestamp 0 at the base offset is nothing but zeros, and yet an entry.
func TestTimeEntryOfZeros(t *testing.T) {
	span := Span{FirstOffset: 5, LastOffset: 5, Size: 72}
	for _, c := range []struct {
		name      string
		timestamp int64
		want      Report
	}{
		{"the batch has timestamp 0", 0, Report{Entries: 1, Padding: 12, Complete: true}},
		{"it has none", -1, Report{Padding: 24, Complete: true}},
		{"it has another", 7, Report{Padding: 24}},
	} {
		span.MaxTimestamp = c.timestamp
		_, ti := judge(t, 5, nil, make([]byte, 24), []Span{span})
		if diff := cmp.Diff(c.want, ti); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A time index that does not reach the largest timestamp is not damaged, only incomplete.
func TestIncompleteTimeIndex(t *testing.T) {
	_, ti := judge(t, 0, nil, unhex(t, threeTimes)[:24], tenBatches())
	if diff := cmp.Diff(Report{Entries: 2}, ti); diff != "" {
		t.Error(diff)
	}
}

// Entries that lead into damaged bytes of the log cannot be judged; the others can.
func TestEntriesIntoDamageAreNotJudged(t *testing.T) {
	spans := tenBatches()
	c := NewChecker(0, offsetIndex(unhex(t, threeOffsets), 0), timeIndex(unhex(t, threeTimes), 0))
	for i, s := range spans {
		if i == 6 {
			c.Damage()
			continue
		}
		c.Add(s)
	}
	o, ti, err := c.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{Entries: 3, Unjudged: 1}, o); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Report{Entries: 3, Unjudged: 1, Complete: true}, ti); diff != "" {
		t.Error(diff)
	}
}

// Behind a torn tail nothing is judged; behind a whole last batch an entry is damage.
func TestEntriesBehindTheEnd(t *testing.T) {
	for _, torn := range []bool{true, false} {
		c := NewChecker(0, offsetIndex(unhex(t, threeOffsets), 0), timeIndex(unhex(t, threeTimes), 0))
		for _, s := range tenBatches()[:9] {
			c.Add(s)
		}
		if torn {
			c.Damage()
		}
		o, ti, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if torn != (o.Bad == nil) || torn != (ti.Bad == nil) {
			t.Errorf("torn %v: %v, %v", torn, o.Bad, ti.Bad)
		}
		if !torn {
			checkBad(t, "index", o, 16, 8, fieldPosition)
			checkBad(t, "timeindex", ti, 24, 12, fieldRelativeOffset)
		}
	}
}

// MKB1 stores first offsets only, and its first entry is real.
func TestMKB1Checker(t *testing.T) {
	spans := []Span{{FirstOffset: 0, LastOffset: 4, Pos: 0, Size: 100}, {FirstOffset: 5, LastOffset: 9, Pos: 100, Size: 100}}
	for _, c := range []struct {
		second OffsetEntry
		field  string
	}{
		{OffsetEntry{5, 100}, ""},
		{OffsetEntry{9, 100}, fieldRelativeOffset},
		{OffsetEntry{5, 101}, fieldPosition},
		{OffsetEntry{0, 0}, fieldPosition},
	} {
		index := AppendMKB1Entry(AppendMKB1Entry(nil, 0, OffsetEntry{0, 0}), 0, c.second)
		k := NewChecker(0, NewMKB1Index(bytes.NewReader(index), int64(len(index)), 0), nil)
		for _, s := range spans {
			k.Add(s)
		}
		o, _, err := k.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if c.field == "" {
			if diff := cmp.Diff(Report{Entries: 2}, o); diff != "" {
				t.Error(diff)
			}
			continue
		}
		checkBad(t, "index", o, 12, 12, c.field)
	}
}

// What a Builder writes is good, complete once finished, whatever the log and the padding;
// and what the Checker calls good is safe: a scan from where a look-up leads finds its target.
func TestBuiltIndexesAreGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 1<<40).Draw(t, "base")
		spans := drawSpans(t, base)
		b := NewBuilder(base, rapid.IntRange(0, 10_000).Draw(t, "interval"))
		build(t, b, spans)
		if err := b.Finish(); err != nil {
			t.Fatal(err)
		}
		padding := rapid.IntRange(0, 3000).Draw(t, "padding")
		index := append(bytes.Clone(b.Index()), make([]byte, 8*padding)...)
		times := append(bytes.Clone(b.TimeIndex()), make([]byte, 12*padding)...)
		c := NewChecker(base, offsetIndex(index, base), timeIndex(times, base))
		for _, s := range spans {
			c.Add(s)
		}
		o, ti, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		wantOffsets := Report{Entries: len(b.Index()) / 8, Padding: int64(8 * padding)}
		wantTimes := Report{Entries: len(b.TimeIndex()) / 12, Padding: int64(12 * padding), Complete: true}
		if diff := cmp.Diff(wantOffsets, o) + cmp.Diff(wantTimes, ti); diff != "" {
			t.Fatal(diff)
		}
	})
}

// unsafeLookup finds an offset of the log that a look-up in the index would miss, or -1.
func unsafeLookup(t testing.TB, x *OffsetIndex, base int64, spans []Span) int64 {
	entries := collect(t, x.All())
	for _, s := range spans {
		for _, e := range entries {
			if e.Offset <= s.LastOffset && e.Offset > base && e.Pos > s.Pos {
				return s.LastOffset
			}
		}
	}
	return -1
}

// Any one byte of an index may be wrong: either the Checker says so, or no look-up is led
// astray by it.
func TestOneWrongByteIsFoundOrHarmless(t *testing.T) {
	spans := tenBatches()
	good := unhex(t, threeOffsets)
	for at := range good {
		for _, flip := range []byte{0x01, 0x02, 0x04, 0x80, 0xff} {
			index := bytes.Clone(good)
			index[at] ^= flip
			o, _ := judge(t, 0, index, nil, spans)
			x := offsetIndex(index, 0)
			switch lost := unsafeLookup(t, x, 0, spans); {
			case o.Bad == nil && lost >= 0:
				t.Errorf("byte %d ^ %02x: not found, and offset %d is lost", at, flip, lost)
			case o.Bad != nil && o.Bad.Pos != int64(at/8*8):
				t.Errorf("byte %d ^ %02x: found at %d", at, flip, o.Bad.Pos)
			}
		}
	}
	checked := 0
	for at := range good {
		index := bytes.Clone(good)
		index[at] ^= 0x40
		if o, _ := judge(t, 0, index, nil, spans); o.Bad != nil && o.BadCount == 1 {
			checked++
		}
	}
	if checked != len(good) {
		t.Errorf("bit 6 was found in %d of %d bytes", checked, len(good))
	}
}

func FuzzChecker(f *testing.F) {
	f.Add(unhex(f, threeOffsets), unhex(f, threeTimes), int64(0), false)
	f.Add(make([]byte, 64), make([]byte, 60), int64(1<<40), true)
	f.Add(unhex(f, threeOffsets+"ffffffffffffffff"), unhex(f, threeTimes+"ff"), int64(5), true)
	f.Fuzz(func(t *testing.T, index, times []byte, base int64, damage bool) {
		c := NewChecker(base, offsetIndex(index, base), timeIndex(times, base))
		for i, s := range tenBatches() {
			if damage && i == 4 {
				c.Damage()
				continue
			}
			c.Add(s)
		}
		o, ti, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if most := len(index)/8 + 1; o.BadCount+o.Unjudged > most || o.Entries > len(index)/8 {
			t.Errorf("%+v of %d bytes", o, len(index))
		}
		if most := len(times)/12 + 1; ti.BadCount+ti.Unjudged > most || ti.Entries > len(times)/12 {
			t.Errorf("%+v of %d bytes", ti, len(times))
		}
		if o.Entries*8+int(o.Padding) > len(index) {
			t.Errorf("%+v is more than %d bytes", o, len(index))
		}
	})
}
