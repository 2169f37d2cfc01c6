package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/corrupt"
	"logdir/store/vfs/memfs"
)

// damage is what a test says of a *corrupt.Error.
type damage struct {
	Kind      corrupt.Kind
	Pos, Size int64
	Field     string
	Detail    string
}

func damageOf(t testing.TB, err error) damage {
	t.Helper()
	e, ok := errors.AsType[*corrupt.Error](err)
	if !ok {
		t.Fatalf("%v (%T) is no *corrupt.Error", err, err)
	}
	return damage{e.Kind, e.Pos, e.Size, e.Field, e.Detail}
}

// What Kafka's reader takes, to the letter.
func TestReaderTakes(t *testing.T) {
	one := Offsets{{"orders", 0, 42}}
	for _, c := range []struct {
		name, text string
		want       Offsets
	}{
		{"no bytes", "", nil},
		{"a version alone", "0\n", nil},
		{"a version without line feed", "0", nil},
		{"no entries", "0\n0\n", nil},
		{"one entry", "0\n1\norders 0 42\n", one},
		{"no line feed at the end", "0\n1\norders 0 42", one},
		{"CR LF", "0\r\n1\r\norders 0 42\r\n", one},
		{"CR alone", "0\r1\rorders 0 42\r", one},
		{"runs of white space", "0\n1\norders \t 0\f\v42  \n", one},
		{"plus signs", "+0\n+1\norders +0 +42\n", one},
		{"white space at the start makes an empty topic", "0\n1\n 0 42\n", Offsets{{"", 0, 42}}},
		{"any text is a topic", "0\n1\n\u00fc\u00a0x 0 42\n", Offsets{{"\u00fc\u00a0x", 0, 42}}},
		{"the largest numbers", "0\n1\nt 2147483647 9223372036854775807\n", Offsets{{"t", 1<<31 - 1, 1<<63 - 1}}},
		{"negative ones too", "0\n1\nt -1 -1\n", Offsets{{"t", -1, -1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseOffsets([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What it refuses, with line and byte.
func TestReaderRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       damage
	}{
		{"another version", "1\n0\n", damage{corrupt.BadCheckpoint, 0, 1, "version", "line 1: version 1, not 0"}},
		{"a version that is no number", "x\n0\n", damage{corrupt.BadCheckpoint, 0, 1, "version", `line 1: version "x" is no number`}},
		{"white space around the version", "0 \n0\n", damage{corrupt.BadCheckpoint, 0, 2, "version", `line 1: version "0 " is no number`}},
		{"an empty first line", "\n0\n", damage{corrupt.BadCheckpoint, 0, 0, "version", `line 1: version "" is no number`}},
		{"a count that is no number", "0\none\n", damage{corrupt.BadCheckpoint, 2, 3, "entries", `line 2: entries "one" is no number`}},
		{"a count beyond int32", "0\n2147483648\n", damage{corrupt.BadCheckpoint, 2, 10, "entries", `line 2: entries "2147483648" is no int32`}},
		{"a negative count", "0\n-1\n", damage{corrupt.BadCheckpoint, 2, 2, "entries", "line 2: says -1 entries, has 0"}},
		{"too few entries", "0\n2\nt 0 5\n", damage{corrupt.BadCheckpoint, 2, 1, "entries", "line 2: says 2 entries, has 1"}},
		{"two billion entries", "0\n2147483647\nt 0 5\n", damage{corrupt.BadCheckpoint, 2, 10, "entries", "line 2: says 2147483647 entries, has 1"}},
		{"too many entries", "0\n1\nt 0 5\nt 1 5\n", damage{corrupt.BadCheckpoint, 2, 1, "entries", "line 2: says 1 entries, has 2"}},
		{"a blank last line", "0\n1\nt 0 5\n\n", damage{corrupt.BadCheckpoint, 10, 0, "", `line 4: 1 fields in "", not topic, partition and offset`}},
		{"two fields", "0\n1\nt 5\n", damage{corrupt.BadCheckpoint, 4, 3, "", `line 3: 2 fields in "t 5", not topic, partition and offset`}},
		{"four fields", "0\n1\nt 0 5 x\n", damage{corrupt.BadCheckpoint, 4, 7, "", `line 3: 4 fields in "t 0 5 x", not topic, partition and offset`}},
		{"a partition that is no number", "0\n1\nt zero 5\n", damage{corrupt.BadCheckpoint, 6, 4, "partition", `line 3: partition "zero" is no number`}},
		{"a partition beyond int32", "0\n1\nt 2147483648 5\n", damage{corrupt.BadCheckpoint, 6, 10, "partition", `line 3: partition "2147483648" is no int32`}},
		{"an offset that is no number", "0\r\n1\r\nt 0 5x\r\n", damage{corrupt.BadCheckpoint, 10, 2, "offset", `line 3: offset "5x" is no number`}},
		{"an offset beyond int64", "0\n1\nt 0 9223372036854775808\n", damage{corrupt.BadCheckpoint, 8, 19, "offset", `line 3: offset "9223372036854775808" is no int64`}},
		{"not UTF-8", "0\n1\nt\xff 0 5\n", damage{corrupt.BadCheckpoint, 5, 1, "", "line 3: byte 0xff is not UTF-8"}},
		{"zeros, as a crash may leave", "\x00\x00\x00", damage{corrupt.BadCheckpoint, 0, 3, "version", `line 1: version "\x00\x00\x00" is no number`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseOffsets([]byte(c.text))
			if diff := cmp.Diff(c.want, damageOf(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The lines before the bad one are there to be shown.
func TestReaderKeepsWhatItRead(t *testing.T) {
	got, err := ParseOffsets([]byte("0\n3\nt 0 5\nt 1 6\nt x 7\n"))
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(Offsets{{"t", 0, 5}, {"t", 1, 6}}, got); diff != "" {
		t.Error(diff)
	}
}

// What the reader takes although it cannot be right.
func TestCheckOffsets(t *testing.T) {
	text := "0\n5\nt 0 5\nt -1 5\nt 1 -5\n 2 5\nt 0 6\n"
	want := []damage{
		{corrupt.BadCheckpoint, 10, 6, "partition", "line 4: partition -1"},
		{corrupt.BadCheckpoint, 17, 6, "offset", "line 5: offset -5"},
		{corrupt.BadCheckpoint, 24, 4, "topic", `line 6: no topic in " 2 5"`},
		{corrupt.BadCheckpoint, 29, 5, "", "line 7: t-0 stands on line 3 too"},
	}
	var got []damage
	for _, err := range CheckOffsets([]byte(text)) {
		got = append(got, damageOf(t, err))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if found := CheckOffsets([]byte("0\nx\n")); len(found) != 1 || found[0].Field != "entries" {
		t.Errorf("a file that does not parse: %v", found)
	}
}

// Damaged leader-epoch-checkpoints of a log of ten records: each is named with its line,
// and what is rebuilt from the log replaces it.
func TestDamagedEpochs(t *testing.T) {
	for _, c := range []struct {
		text string
		want []damage
	}{
		{"", nil},
		{"0\n1\n0 zero\n", []damage{{corrupt.BadCheckpoint, 6, 4, "startOffset", `line 3: startOffset "zero" is no number`}}},
		{"0\n2\n0 0\n", []damage{{corrupt.BadCheckpoint, 2, 1, "entries", "line 2: says 2 entries, has 1"}}},
		{"0\n2\n5 0\n3 10\n", []damage{{corrupt.BadCheckpoint, 8, 4, "epoch", "line 4: epoch 3 after epoch 5, and start offset 10 is not below the log end 10"}}},
		{"0\n2\n0 0\n3 5\n", nil},
		{"0\n2\n0 0\n3 10\n", nil}, // the leader of epoch 3 has not appended yet
		{"0\n2\n0 0\n3 11\n", []damage{{corrupt.BadCheckpoint, 8, 4, "startOffset", "line 4: start offset 11 lies beyond the log end 10"}}},
		{"0\n2\n0 5\n3 5\n", []damage{{corrupt.BadCheckpoint, 8, 3, "startOffset", "line 4: start offset 5 after 5"}}},
		{"0\n2\n-1 0\n3 -5\n", []damage{
			{corrupt.BadCheckpoint, 4, 4, "epoch", "line 3: epoch -1"},
			{corrupt.BadCheckpoint, 9, 4, "startOffset", "line 4: start offset -5"},
		}},
	} {
		var got []damage
		for _, err := range CheckEpochs([]byte(c.text), 10) {
			got = append(got, damageOf(t, err))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
	var rebuilt Epochs
	for offset, epoch := range []int32{0, 0, 0, 0, 0, 3, 3, 3, 3, 3} {
		rebuilt.Assign(epoch, int64(offset))
	}
	if got := string(AppendEpochs(nil, rebuilt)); got != "0\n2\n0 0\n3 5\n" {
		t.Errorf("rebuilt %q", got)
	}
}

// What a broker makes of lines that go back.
func TestLoadEpochs(t *testing.T) {
	for _, c := range []struct {
		lines, want Epochs
	}{
		{Epochs{{0, 0}, {2, 10}, {3, 10}}, Epochs{{0, 0}, {3, 10}}},
		{Epochs{{5, 0}, {3, 10}}, Epochs{{3, 10}}},
		{Epochs{{1, 0}, {1, 20}}, Epochs{{1, 0}}},
		{Epochs{{1, 20}, {1, 0}}, Epochs{{1, 0}}},
		{Epochs{{0, 0}, {1, 10}, {2, 20}, {1, 15}}, Epochs{{0, 0}, {1, 15}}},
		{Epochs{{0, 10}, {1, 20}, {2, 5}}, Epochs{{2, 5}}},
	} {
		if diff := cmp.Diff(c.want, c.lines.Load()); diff != "" {
			t.Errorf("%v: %s", c.lines, diff)
		}
	}
}

func TestAssignReports(t *testing.T) {
	h := Epochs{{1, 10}}
	if h.Assign(1, 10) || h.Assign(1, 11) {
		t.Error("the same epoch again is news")
	}
	if !h.Assign(1, 9) || !h.Assign(2, 12) {
		t.Error("an earlier start or a new epoch is none")
	}
}

func TestTruncateEpochs(t *testing.T) {
	history := Epochs{{0, 0}, {2, 10}, {5, 20}}
	for _, c := range []struct {
		name  string
		apply func(*Epochs) bool
		want  Epochs
		news  bool
	}{
		{"end beyond", func(h *Epochs) bool { return h.TruncateFromEnd(21) }, history, false},
		{"end at a start", func(h *Epochs) bool { return h.TruncateFromEnd(20) }, history[:2], true},
		{"end at 0", func(h *Epochs) bool { return h.TruncateFromEnd(0) }, Epochs{}, true},
		{"start at the first", func(h *Epochs) bool { return h.TruncateFromStart(0) }, history, false},
		{"start inside", func(h *Epochs) bool { return h.TruncateFromStart(5) }, Epochs{{0, 5}, {2, 10}, {5, 20}}, true},
		{"start at a start", func(h *Epochs) bool { return h.TruncateFromStart(10) }, Epochs{{2, 10}, {5, 20}}, true},
		{"start beyond", func(h *Epochs) bool { return h.TruncateFromStart(99) }, Epochs{{5, 99}}, true},
		{"start below", func(h *Epochs) bool { return h.TruncateFromStart(-1) }, history, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := append(Epochs{}, history...)
			if news := c.apply(&h); news != c.news {
				t.Errorf("changed: %v", news)
			}
			if diff := cmp.Diff(c.want, h); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A follower's question, and the leader's answer.
func TestEndOffsetFor(t *testing.T) {
	history := Epochs{{2, 10}, {4, 20}, {7, 30}}
	for _, c := range []struct {
		epoch int32
		want  EpochEnd
	}{
		{-1, EpochEnd{-1, -1}},
		{1, EpochEnd{1, 10}}, // older than all that is known
		{2, EpochEnd{2, 20}},
		{3, EpochEnd{2, 20}},
		{4, EpochEnd{4, 30}},
		{6, EpochEnd{4, 30}},
		{7, EpochEnd{7, 35}},
		{8, EpochEnd{-1, -1}},
	} {
		if got := history.EndOffsetFor(c.epoch, 35); got != c.want {
			t.Errorf("epoch %d: %v, want %v", c.epoch, got, c.want)
		}
	}
	if got := (Epochs{}).EndOffsetFor(0, 35); got != (EpochEnd{-1, -1}) {
		t.Errorf("without history: %v", got)
	}
	for offset, want := range map[int64]int32{9: -1, 10: 2, 19: 2, 20: 4, 1000: 7} {
		if got := history.EpochAt(offset); got != want {
			t.Errorf("offset %d: epoch %d, want %d", offset, got, want)
		}
	}
}

// Whatever is assigned, both numbers rise, and the newest assignment is in force.
func TestEpochsRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Epochs
		for i := range rapid.IntRange(1, 30).Draw(t, "assignments") {
			epoch := rapid.Int32Range(0, 10).Draw(t, fmt.Sprintf("epoch%d", i))
			start := rapid.Int64Range(0, 100).Draw(t, fmt.Sprintf("start%d", i))
			h.Assign(epoch, start)
			if last, _ := h.Latest(); last.Epoch != epoch || last.StartOffset > start {
				t.Fatalf("assigned %d at %d, the latest is %v", epoch, start, last)
			}
		}
		if found := CheckEpochs(AppendEpochs(nil, h), -1); found != nil {
			t.Fatalf("%v: %v", h, found)
		}
		read, err := ParseEpochs(AppendEpochs(nil, h))
		if diff := cmp.Diff(h, read); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func TestOffsetsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Offsets
		for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
			topic := rapid.StringMatching(`[a-zA-Z0-9._-]{1,40}`).Draw(t, fmt.Sprintf("topic%d", i))
			o.Set(topic, rapid.Int32Range(0, 1<<31-1).Draw(t, "partition"), rapid.Int64Min(0).Draw(t, "offset"))
		}
		text := AppendOffsets(nil, o)
		if found := CheckOffsets(text); found != nil {
			t.Fatal(found)
		}
		got, err := ParseOffsets(text)
		if diff := cmp.Diff(o, got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
		crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		if got, err = ParseOffsets(crlf); err != nil || cmp.Diff(o, got) != "" {
			t.Fatalf("with CR LF: %v %v", got, err)
		}
	})
}

func TestOffsetsOfAPartition(t *testing.T) {
	o := Offsets{{"b", 1, 7}, {"a", 10, 8}, {"a", 2, 9}, {"b", 1, 11}}
	if got, ok := o.Get("b", 1); !ok || got != 11 {
		t.Errorf("the last line does not win: %d", got)
	}
	o.Set("b", 1, 12)
	if got, ok := o.Get("b", 1); !ok || got != 12 {
		t.Errorf("set to 12, got %d", got)
	}
	o.Set("c", 0, 1)
	o.Sort()
	if diff := cmp.Diff(Offsets{{"a", 2, 9}, {"a", 10, 8}, {"b", 1, 12}, {"c", 0, 1}}, o); diff != "" {
		t.Error(diff)
	}
	if !o.Delete("a", 2) || o.Delete("a", 2) {
		t.Error("delete does not tell whether there was a line")
	}
	if _, ok := o.Get("a", 2); ok || len(o) != 3 {
		t.Errorf("not deleted: %v", o)
	}
}

// Each file is written so that it reads back, and damage names the file.
func TestFiles(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	offsets, epochs := Offsets{{"orders", 0, 5}}, Epochs{{3, 4}}
	if err := errors.Join(WriteOffsets(fsys, "d/o", offsets), WriteEpochs(fsys, "d/e", epochs)); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadOffsets(fsys, "d/o"); err != nil || cmp.Diff(offsets, got) != "" {
		t.Error(got, err)
	}
	if got, err := ReadEpochs(fsys, "d/e"); err != nil || cmp.Diff(epochs, got) != "" {
		t.Error(got, err)
	}
	if got, err := ReadOffsets(fsys, "d/none"); err != nil || got != nil {
		t.Error("a missing file:", got, err)
	}
	if got, err := ReadEpochs(fsys, "d/none"); err != nil || got != nil {
		t.Error("a missing file:", got, err)
	}
	_, err := ReadOffsets(fsys, "d/e")
	if err == nil || !strings.HasPrefix(err.Error(), "d/e: bad-checkpoint at byte 4: line 3: ") {
		t.Errorf("damage reads %v", err)
	}
}

func FuzzOffsets(f *testing.F) {
	for _, seed := range []string{"", "0\n1\norders 0 42\n", "0\r\n2147483647\r\n", "0\n1\n a b\n", "\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseOffsets(data)
		if err != nil {
			d := damageOf(t, err)
			if d.Kind != corrupt.BadCheckpoint || d.Pos < 0 || d.Pos+d.Size > int64(len(data)) {
				t.Errorf("%+v in %d bytes", d, len(data))
			}
			return
		}
		for _, e := range o {
			if strings.ContainsAny(e.Topic, " \t\r\n") {
				t.Errorf("topic %q", e.Topic)
			}
		}
		again, err := ParseOffsets(AppendOffsets(nil, o))
		if diff := cmp.Diff(o, again); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}

func FuzzEpochs(f *testing.F) {
	for _, seed := range []string{"", "0\n2\n0 0\n3 5\n", "0\n1\n0 zero\n", "0\n2\n5 0\n3 10\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseEpochs(data)
		found := CheckEpochs(data, 10)
		if err != nil {
			if len(found) != 1 {
				t.Errorf("%v, but %v", err, found)
			}
			return
		}
		if again, err := ParseEpochs(AppendEpochs(nil, h)); err != nil || cmp.Diff(h, again) != "" {
			t.Error(h, again, err)
		}
		if CheckEpochs(data, -1) == nil && cmp.Diff(h, h.Load()) != "" {
			t.Errorf("%v is in order, but a broker loads %v", h, h.Load())
		}
	})
}
