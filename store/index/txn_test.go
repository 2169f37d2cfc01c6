package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"logdir/store/corrupt"
)

func goldenTxn(t testing.TB) []byte {
	return unhex(t, "0000 00000000000003e8 0000000000000000 0000000000000002 0000000000000003")
}

func txnIndex(data []byte, base int64) *TxnIndex {
	return NewTxnIndex(bytes.NewReader(data), int64(len(data)), base)
}

func TestTxnIndexGolden(t *testing.T) {
	want := AbortedTxn{ProducerID: 1000, FirstOffset: 0, LastOffset: 2, LastStableOffset: 3}
	x := txnIndex(goldenTxn(t), 0)
	if diff := cmp.Diff([]AbortedTxn{want}, collect(t, x.All())); diff != "" {
		t.Error(diff)
	}
	if err := x.Check(); err != nil {
		t.Error(err)
	}
	if got := AppendAbortedTxn(nil, want); !bytes.Equal(got, goldenTxn(t)) {
		t.Errorf("written %x", got)
	}
}

// Each field of an entry, broken alone, is named with its byte.
func TestTxnIndexFieldDamage(t *testing.T) {
	for i, f := range TxnLayout {
		t.Run(f.Name, func(t *testing.T) {
			file := append(goldenTxn(t), AppendAbortedTxn(nil, AbortedTxn{1001, 3, 9, 10})...)
			binary.BigEndian.PutUint16(file[TxnEntrySize+f.Pos:], 0xfffe) // negative, or version -2
			err := txnIndex(file, 0).Check()
			var got *corrupt.Error
			if e, ok := err.(*corrupt.Error); ok {
				got = e
			}
			want := &corrupt.Error{Kind: corrupt.BadTxnIndex, Pos: int64(TxnEntrySize + f.Pos), Size: int64(f.Size), Field: TxnLayout[i].Name}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(corrupt.Error{}, "Detail", "BaseOffset", "LastOffset", "Records", "PrevOffset", "NextPos", "NextOffset")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTxnIndexRules(t *testing.T) {
	entry := func(p, first, last, stable int64) []byte {
		return AppendAbortedTxn(nil, AbortedTxn{p, first, last, stable})
	}
	for _, c := range []struct {
		name string
		base int64
		file []byte
		want string // part of the message, empty for none
	}{
		{"empty", 0, nil, ""},
		{"data in an earlier segment", 100, entry(1, 50, 120, 60), ""},
		{"marker in an earlier segment", 100, entry(1, 50, 99, 60), "last offset 99 is below the segment's base offset 100"},
		{"markers fall", 0, slices.Concat(entry(1, 5, 20, 21), entry(2, 6, 19, 21)), "last offset 19 does not rise from 20"},
		{"first behind the marker", 0, entry(1, 21, 20, 21), "first offset 21 is not below the marker at 20"},
		{"stable behind the marker", 0, entry(1, 5, 20, 22), "last stable offset 22, the marker is at 20"},
		{"fragment", 0, append(entry(1, 5, 20, 21), 0, 0, 0), "3 bytes behind entry 0, an entry has 34"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := txnIndex(c.file, c.base).Check()
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A fetch collects what overlaps its offsets, up to the entry that makes the rest stable.
func TestCollectAbortedTxns(t *testing.T) {
	all := []AbortedTxn{{1, 0, 10, 11}, {2, 5, 20, 15}, {3, 15, 30, 31}, {4, 40, 50, 51}}
	var file []byte
	for _, a := range all {
		file = AppendAbortedTxn(file, a)
	}
	for _, c := range []struct {
		from, upper int64
		want        []AbortedTxn
		complete    bool
	}{
		{0, 5, all[:1], true},
		{0, 12, all[:2], true},
		{11, 100, all[1:], false},
		{21, 31, all[2:3], true},
		{51, 60, nil, false},
	} {
		got, complete, err := txnIndex(file, 0).Collect(nil, c.from, c.upper)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || complete != c.complete {
			t.Errorf("%d to %d: complete %v\n%s", c.from, c.upper, complete, diff)
		}
	}
}

func TestTxnIndexAgainstTheLog(t *testing.T) {
	want := []AbortedTxn{{1, 0, 10, 11}, {2, 5, 20, 21}}
	file := AppendAbortedTxn(AppendAbortedTxn(nil, want[0]), want[1])
	for _, c := range []struct {
		name string
		want []AbortedTxn
		err  string
	}{
		{"same", want, ""},
		{"one too many", want[:1], "bad-txnindex at byte 34: producer 2 at 5..20: the log has no such aborted transaction"},
		{"one missing", append(slices.Clone(want), AbortedTxn{3, 25, 30, 31}), "bad-txnindex at byte 68: producer 3 at 25..30 is missing"},
		{"another first offset", []AbortedTxn{want[0], {2, 6, 20, 21}}, "bad-txnindex at byte 44: firstOffset 5, the log says 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			if err := txnIndex(file, 0).CheckAgainst(c.want); err != nil {
				text = err.Error()
			}
			if text != c.err {
				t.Errorf("%q, want %q", text, c.err)
			}
		})
	}
}

func FuzzTxnIndex(f *testing.F) {
	f.Add(goldenTxn(f), int64(0))
	f.Add([]byte{0, 1}, int64(7))
	f.Fuzz(func(t *testing.T, file []byte, base int64) {
		x := txnIndex(file, base)
		if x.Check() != nil {
			return
		}
		var again []byte
		for _, a := range collect(t, x.All()) {
			again = AppendAbortedTxn(again, a)
		}
		if !bytes.Equal(again, file) {
			t.Errorf("read %x, written %x", file, again)
		}
	})
}
