package index

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// unhex reads bytes written as hex with blanks and line ends.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func offsetIndex(data []byte, base int64) *OffsetIndex {
	return NewOffsetIndex(bytes.NewReader(data), int64(len(data)), base)
}

func timeIndex(data []byte, base int64) *TimeIndex {
	return NewTimeIndex(bytes.NewReader(data), int64(len(data)), base)
}

// collect reads all entries of a walk.
func collect[E any](t testing.TB, all func(func(E, error) bool)) []E {
	t.Helper()
	var entries []E
	for e, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func TestOffsetIndexStopsAtPadding(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
		want []OffsetEntry
	}{
		{"no bytes", "", nil},
		{"two entries", "00000003000000d8 00000006000001b0", []OffsetEntry{{103, 216}, {106, 432}}},
		{"padding", "00000003000000d8 00000006000001b0 0000000000000000 0000000000000000", []OffsetEntry{{103, 216}, {106, 432}}},
		{"zeros alone are one entry, as Kafka's tool shows it", "0000000000000000 0000000000000000", []OffsetEntry{{100, 0}}},
		{"a negative offset ends it too", "00000003000000d8 ffffffff00000001", []OffsetEntry{{103, 216}}},
		{"a fragment is no entry", "00000003000000d8 000000", []OffsetEntry{{103, 216}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := offsetIndex(unhex(t, c.file), 100)
			if diff := cmp.Diff(c.want, collect(t, x.All())); diff != "" {
				t.Error(diff)
			}
			if n, err := x.EffectiveLen(); err != nil || n != len(c.want) {
				t.Errorf("effective length %d, %v", n, err)
			}
			last, ok, err := x.Last()
			if err != nil || ok != (len(c.want) > 0) || ok && last != c.want[len(c.want)-1] {
				t.Errorf("last %v, %v, %v", last, ok, err)
			}
		})
	}
}

func TestMKB1Index(t *testing.T) {
	file := unhex(t, "00000000 0000000000000000  00000007 0000000000001040")
	x := NewMKB1Index(bytes.NewReader(file), int64(len(file)), 50)
	want := []OffsetEntry{{50, 0}, {57, 4160}}
	if diff := cmp.Diff(want, collect(t, x.All())); diff != "" {
		t.Error(diff)
	}
	var again []byte
	for _, e := range want {
		again = AppendMKB1Entry(again, 50, e)
	}
	if !bytes.Equal(again, file) {
		t.Errorf("written %x, read %x", again, file)
	}
}

func TestTimeIndex(t *testing.T) {
	file := unhex(t, "0000018bcfe573b8 00000003  0000018bcfe57f70 00000006  000000000000000000000000")
	x := timeIndex(file, 0)
	want := []TimeEntry{{1700000003000, 3}, {1700000006000, 6}}
	if diff := cmp.Diff(want, collect(t, x.All())); diff != "" {
		t.Error(diff)
	}
	if last, ok, err := x.Last(); last != want[1] || !ok || err != nil {
		t.Errorf("last %v, %v, %v", last, ok, err)
	}
	for _, c := range []struct {
		target int64
		want   TimeEntry
		ok     bool
	}{
		{1700000002999, TimeEntry{-1, 0}, false},
		{1700000003000, want[0], true},
		{1700000005999, want[0], true},
		{1700000006000, want[1], true},
		{1 << 62, want[1], true},
	} {
		if got, ok, err := x.Lookup(c.target); got != c.want || ok != c.ok || err != nil {
			t.Errorf("lookup %d: %v, %v, %v", c.target, got, ok, err)
		}
	}
}

// drawRising draws n numbers that rise from low on, strictly.
func drawRising(t *rapid.T, name string, n int, low int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		low += rapid.Int64Range(1, 50).Draw(t, fmt.Sprintf("%s%d", name, i))
		list[i] = low
	}
	return list
}

// A look-up by halves finds what a look at every entry finds, and the bytes read back.
func TestLookupIsALinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 1<<40).Draw(t, "base")
		n := rapid.IntRange(0, 300).Draw(t, "entries")
		offsets, positions, times := drawRising(t, "o", n, base), drawRising(t, "p", n, 0), drawRising(t, "t", n, 0)
		var file, timeFile []byte
		for i := range n {
			file = AppendOffsetEntry(file, base, OffsetEntry{offsets[i], positions[i]})
			timeFile = AppendTimeEntry(timeFile, base, TimeEntry{times[i], offsets[i]})
		}
		padding := rapid.IntRange(0, 200).Draw(t, "padding")
		file = append(file, make([]byte, padding*OffsetEntrySize)...)
		timeFile = append(timeFile, make([]byte, padding*TimeEntrySize)...)
		if n == 0 && padding > 0 {
			return // one entry of zeros, see TestOffsetIndexStopsAtPadding
		}
		target := base + rapid.Int64Range(-5, 300*50).Draw(t, "target")
		want, found := OffsetEntry{Offset: base}, false
		for i := range n {
			if offsets[i] <= target {
				want, found = OffsetEntry{offsets[i], positions[i]}, true
			}
		}
		if got, ok, err := offsetIndex(file, base).Lookup(target); got != want || ok != found || err != nil {
			t.Fatalf("offset %d: got %v, %v, %v, want %v", target, got, ok, err, want)
		}
		at := rapid.Int64Range(0, 300*50).Draw(t, "timestamp")
		wantTime, found := TimeEntry{-1, base}, false
		if i := slices.IndexFunc(times, func(ts int64) bool { return ts > at }); i != 0 && n > 0 {
			if i < 0 {
				i = n
			}
			wantTime, found = TimeEntry{times[i-1], offsets[i-1]}, true
		}
		if got, ok, err := timeIndex(timeFile, base).Lookup(at); got != wantTime || ok != found || err != nil {
			t.Fatalf("time %d: got %v, %v, %v, want %v", at, got, ok, err, wantTime)
		}
	})
}

// countingReader counts bytes and calls.
type countingReader struct {
	*bytes.Reader
	calls, bytes int
}

func (r *countingReader) ReadAt(p []byte, pos int64) (int, error) {
	r.calls++
	r.bytes += len(p)
	return r.Reader.ReadAt(p, pos)
}

// A look-up in a large index, preallocated to 10 MiB, reads a few hundred bytes.
func TestLookupReadsLittle(t *testing.T) {
	var file []byte
	for i := range int64(100_000) {
		file = AppendOffsetEntry(file, 0, OffsetEntry{2*i + 1, 100 * (i + 1)})
	}
	file = append(file, make([]byte, 10<<20-len(file))...)
	r := &countingReader{Reader: bytes.NewReader(file)}
	got, ok, err := NewOffsetIndex(r, int64(len(file)), 0).Lookup(123_456)
	if want := (OffsetEntry{123_455, 6_172_800}); got != want || !ok || err != nil {
		t.Errorf("got %v, %v, %v, want %v", got, ok, err, want)
	}
	if r.calls > 40 || r.bytes > 2000 {
		t.Errorf("%d reads of %d bytes", r.calls, r.bytes)
	}
}

// failingReader fails every read.
type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

var errBroken = fmt.Errorf("broken disk")

func TestReadErrorsSurface(t *testing.T) {
	x, y := NewOffsetIndex(failingReader{}, 800, 0), NewTimeIndex(failingReader{}, 1200, 0)
	calls := map[string]func() error{
		"EffectiveLen": func() error { _, err := x.EffectiveLen(); return err },
		"Lookup":       func() error { _, _, err := x.Lookup(5); return err },
		"Last":         func() error { _, _, err := x.Last(); return err },
		"At":           func() error { _, err := x.At(1); return err },
		"time Lookup":  func() error { _, _, err := y.Lookup(5); return err },
		"time Last":    func() error { _, _, err := y.Last(); return err },
		"All": func() error {
			for _, err := range x.All() {
				return err
			}
			return nil
		},
		"Checker": func() error { _, _, err := NewChecker(0, x, y).Finish(); return err },
		"ReadState": func() error {
			_, err := ReadState(0, x, y)
			return err
		},
		"TxnIndex": func() error { return NewTxnIndex(failingReader{}, 340, 0).Check() },
	}
	for name, call := range calls {
		if err := call(); err != errBroken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Entries survive writing and reading, whatever they hold.
func TestEntriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 1<<50).Draw(t, "base")
		e := OffsetEntry{base + rapid.Int64Range(0, MaxRelativeOffset).Draw(t, "relative"), rapid.Int64Range(0, 1<<31-1).Draw(t, "pos")}
		if got, err := offsetIndex(AppendOffsetEntry(nil, base, e), base).At(0); got != e || err != nil {
			t.Fatalf("%v became %v, %v", e, got, err)
		}
		ti := TimeEntry{rapid.Int64().Draw(t, "timestamp"), e.Offset}
		if got, err := timeIndex(AppendTimeEntry(nil, base, ti), base).At(0); got != ti || err != nil {
			t.Fatalf("%v became %v, %v", ti, got, err)
		}
		m := OffsetEntry{e.Offset, rapid.Int64Range(0, 1<<62).Draw(t, "mkb1 pos")}
		raw := AppendMKB1Entry(nil, base, m)
		if got, err := NewMKB1Index(bytes.NewReader(raw), int64(len(raw)), base).At(0); got != m || err != nil {
			t.Fatalf("%v became %v, %v", m, got, err)
		}
	})
}
