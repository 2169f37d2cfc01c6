package producer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/corrupt"
	"logdir/store/vfs/memfs"
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

// A snapshot that Kafka wrote: producer 1000 after an aborted and a committed transaction.
const goldenSnapshot = `
	0001                 version
	ac343359             crc
	00000001             entries
	00000000000003e8     producer id
	0000                 epoch
	00000002             last sequence
	0000000000000003     last offset
	00000000             offset delta
	0000018bcfe5680f     timestamp
	00000005             coordinator epoch
	ffffffffffffffff     no open transaction`

// golden reads commented hex: the first word of each line.
func golden(t testing.TB, text string) []byte {
	t.Helper()
	var digits []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			digits = append(digits, words[0])
		}
	}
	return unhex(t, strings.Join(digits, ""))
}

var goldenEntry = Entry{
	ProducerID: 1000, LastSequence: 2, LastOffset: 3, Timestamp: 1700000000015, CoordinatorEpoch: 5, TxnFirstOffset: -1,
}

func TestSnapshotGolden(t *testing.T) {
	file := golden(t, goldenSnapshot)
	got, err := ParseSnapshot(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Entry{goldenEntry}, got); diff != "" {
		t.Error(diff)
	}
	if again := AppendSnapshot(nil, got); !bytes.Equal(again, file) {
		t.Errorf("written %x, read %x", again, file)
	}
	if empty := AppendSnapshot([]byte("x"), nil); len(empty) != 1+HeaderSize {
		t.Errorf("a snapshot without producers has %d bytes", len(empty)-1)
	} else if got, err := ParseSnapshot(empty[1:]); err != nil || len(got) != 0 {
		t.Errorf("it reads back as %v, %v", got, err)
	}
}

// Each field broken alone: named where it stands outside the checksum, else by the checksum.
func TestSnapshotFieldDamage(t *testing.T) {
	good := golden(t, goldenSnapshot)
	type damage struct {
		pos, size int64
		field     string
		crc       bool
	}
	want := map[string]damage{
		"version":         {0, 2, "version", false},
		"crc":             {0, 56, "crc", true},
		"producerEntries": {6, 4, "producerEntries", false},
	}
	fields := append([]Field{}, HeaderLayout...)
	for _, f := range EntryLayout {
		f.Pos += HeaderSize
		fields = append(fields, f)
		want[f.Name] = want["crc"]
	}
	for _, f := range fields {
		for at := range f.Size {
			file := bytes.Clone(good)
			file[f.Pos+at] ^= 0x10
			entries, err := ParseSnapshot(file)
			e, ok := errors.AsType[*corrupt.Error](err)
			if !ok || entries != nil {
				t.Errorf("%s byte %d: %v, %v", f.Name, at, entries, err)
				continue
			}
			if got := (damage{e.Pos, e.Size, e.Field, e.HasCRC}); e.Kind != corrupt.BadSnapshot || got != want[f.Name] {
				t.Errorf("%s byte %d: %s %+v, want %+v", f.Name, at, e.Kind, got, want[f.Name])
			}
		}
	}
}

func TestSnapshotMessages(t *testing.T) {
	good := golden(t, goldenSnapshot)
	flipped := bytes.Clone(good)
	flipped[20] ^= 1
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"no bytes", nil, "bad-snapshot at byte 0: have 0 bytes, the header alone has 10"},
		{"half a header", good[:9], "bad-snapshot at byte 0: have 9 bytes, the header alone has 10"},
		{"cut", good[:50], "bad-snapshot at byte 6: says 1 entries, which take 46 bytes, has 40"},
		{"longer", append(bytes.Clone(good), 0), "bad-snapshot at byte 6: says 1 entries, which take 46 bytes, has 47"},
		{"two billion entries", unhex(t, "0001 00000000 7fffffff"), "bad-snapshot at byte 6: says 2147483647 entries, which take 98784247762 bytes, has 0"},
		{"a negative count", unhex(t, "0001 00000000 ffffffff"), "bad-snapshot at byte 6: says -1 entries, which take -46 bytes, has 0"},
		{"another version", unhex(t, "0002 00000000 00000000"), "bad-snapshot at byte 0: version 2, not 1"},
		{"a flipped bit", flipped, "bad-snapshot at byte 0: stored 0xac343359, computed 0x9ff888e5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseSnapshot(c.file)
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestFirstSequence(t *testing.T) {
	for _, c := range []struct {
		last, delta, want int32
		offset            int64
	}{
		{7, 3, 4, 10},
		{0, 0, 0, 10},
		{1, 3, math.MaxInt32 - 1, 10}, // 2147483646, 2147483647, 0, 1
		{-1, 0, -1, -1},
	} {
		e := Entry{LastSequence: c.last, OffsetDelta: c.delta, LastOffset: c.offset}
		if got := e.FirstSequence(); got != c.want {
			t.Errorf("last %d, delta %d: first %d, want %d", c.last, c.delta, got, c.want)
		}
	}
}

func drawEntries(t *rapid.T) []Entry {
	entries := make([]Entry, rapid.IntRange(0, 20).Draw(t, "entries"))
	for i := range entries {
		draw := func(name string) int64 { return rapid.Int64().Draw(t, fmt.Sprintf("%s%d", name, i)) }
		entries[i] = Entry{
			draw("id"), int16(draw("epoch")), int32(draw("sequence")), draw("offset"),
			int32(draw("delta")), draw("timestamp"), int32(draw("coordinator")), draw("txn"),
		}
	}
	return entries
}

func TestSnapshotRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawEntries(t)
		got, err := ParseSnapshot(AppendSnapshot(nil, want))
		if err != nil || cmp.Diff(want, got) != "" {
			t.Fatal(err, cmp.Diff(want, got))
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Add(golden(f, goldenSnapshot))
	f.Add(AppendSnapshot(nil, nil))
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := ParseSnapshot(data)
		if err != nil {
			e, ok := errors.AsType[*corrupt.Error](err)
			if !ok || e.Pos < 0 || e.Pos+e.Size > int64(len(data)) {
				t.Errorf("%v in %d bytes", err, len(data))
			}
			return
		}
		if again := AppendSnapshot(nil, entries); !bytes.Equal(again, data) {
			t.Errorf("read %x, written %x", data, again)
		}
		s := NewState(0)
		s.Restore(entries)
		s.Expire(0, 1)
		if open := s.Open(); len(open) > len(entries) {
			t.Errorf("%d open transactions of %d producers", len(open), len(entries))
		}
		s.LastStable(0)
	})
}

// The tables in the package comment and the data say the same, without holes.
func TestPackageCommentShowsTheLayouts(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	comment := strings.Join(strings.Fields(file.Doc.Text()), " ")
	for _, c := range []struct {
		layout []Field
		size   int
	}{{HeaderLayout, HeaderSize}, {EntryLayout, EntrySize}} {
		pos := 0
		for _, f := range c.layout {
			if row := fmt.Sprintf("%d %d %s %s %s", f.Pos, f.Size, f.Type, f.Name, f.Meaning); !strings.Contains(comment, row) {
				t.Errorf("the package comment has no row %q", row)
			}
			if f.Pos != pos {
				t.Errorf("%s at %d, not %d", f.Name, f.Pos, pos)
			}
			pos += f.Size
		}
		if pos != c.size {
			t.Errorf("the rows cover %d of %d bytes", pos, c.size)
		}
	}
}

func TestFileNames(t *testing.T) {
	if got := FileName(5); got != "00000000000000000005.snapshot" {
		t.Error(got)
	}
	for name, want := range map[string]int64{
		"00000000000000000005.snapshot":         5,
		"5.snapshot":                            5,
		"00000000000000000005.snapshot.deleted": -1,
		"00000000000000000005.snapshot.tmp":     -1,
		"abc.snapshot":                          -1,
		"-5.snapshot":                           -1,
		"00000000000000000005.log":              -1,
	} {
		offset, ok := ParseFileName(name)
		if ok != (want >= 0) || ok && offset != want {
			t.Errorf("%s: %d, %v", name, offset, ok)
		}
	}
}

// The newest good snapshot between log start and log end is loaded, as a broker does; newer
// ones that are damaged are named.
func TestLoadNewest(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("p-0"); err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int64{10, 20, 30, 40} {
		s := NewState(0)
		s.Restore([]Entry{{ProducerID: offset, LastSequence: -1, LastOffset: -1, TxnFirstOffset: -1}})
		if err := s.Save(fsys, "p-0", offset); err != nil {
			t.Fatal(err)
		}
	}
	breakFile(t, fsys, "p-0/"+FileName(30))
	for _, c := range []struct {
		start, end, want int64
		found            bool
		skipped          int
	}{
		{0, 100, 40, true, 0},
		{0, 40, 40, true, 0},
		{0, 39, 20, true, 1},
		{0, 15, 10, true, 0},
		{0, 9, 0, false, 0},
		{20, 39, 20, false, 1}, // one at the log start is of no use
		{50, 100, 50, false, 0},
	} {
		l, err := LoadNewest(fsys, "p-0", 0, c.start, c.end)
		if err != nil {
			t.Fatal(err)
		}
		if l.Offset != c.want || l.FromSnapshot != c.found || len(l.Skipped) != c.skipped {
			t.Errorf("%d to %d: %+v", c.start, c.end, l)
		}
		if c.found && (l.State.Len() != 1 || l.State.Entries()[0].ProducerID != c.want) {
			t.Errorf("%d to %d: loaded %v", c.start, c.end, l.State.Entries())
		}
		for _, damage := range l.Skipped {
			if damage.Path != "p-0/"+FileName(30) || damage.Kind != corrupt.BadSnapshot {
				t.Errorf("skipped %v", damage)
			}
		}
	}
}

func breakFile(t *testing.T, fsys *memfs.FS, name string) {
	t.Helper()
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0xff}, 12); err != nil {
		t.Fatal(err)
	}
}

// At offset 0 there is nothing to save.
func TestSaveAtZero(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("p-0"); err != nil {
		t.Fatal(err)
	}
	if err := NewState(0).Save(fsys, "p-0", 0); err != nil {
		t.Fatal(err)
	}
	if offsets, err := List(fsys, "p-0"); err != nil || offsets != nil {
		t.Errorf("%v, %v", offsets, err)
	}
}
