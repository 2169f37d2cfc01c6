package segment_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/segment"
)

// frames renders what a FrameScanner finds: base offset and validity of each frame, what
// trails, and whether Kafka's tool dies of it.
func frames(t testing.TB, f []byte) string {
	t.Helper()
	s := segment.NewFrameScanner(bytes.NewReader(f), int64(len(f)))
	var out strings.Builder
	for s.Next() {
		fmt.Fprintf(&out, "%d", s.Batch().BaseOffset())
		if !s.CRCValid() {
			fmt.Fprintf(&out, "(%08x)", s.ComputedCRC())
		}
		out.WriteByte(' ')
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	fmt.Fprintf(&out, "trailing %d at %d", s.Trailing(), s.Pos())
	if s.Damage() != nil {
		fmt.Fprintf(&out, " dies: %s", s.Damage().Detail)
	}
	return out.String()
}

func TestFrames(t *testing.T) {
	f := fixtureF(t)[:216]
	large := appendBatchOf(t, nil, 3, 0, strings.Repeat("x", 2<<20))
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "trailing 0 at 0"},
		{"good", f, "0 1 2 trailing 0 at 216"},
		{"wrong checksum", put(f, 141, "77"), "0 1(395dcb50) 2 trailing 0 at 216"},
		{"magic 3 is read as v2", put(f, 72+16, "03"), "0 1 2 trailing 0 at 216"},
		{"offsets are not looked at", join(f[144:], f[:72]), "2 0 trailing 0 at 144"},
		{"torn", f[:200], "0 1 trailing 56 at 144"},
		{"seventeen zeros", join(f, make([]byte, 17)), "0 1 2 trailing 17 at 216"},
		{"eighteen zeros", join(f, make([]byte, 18)), "0 1 2 trailing 18 at 216 dies: length 0"},
		{"text", join(f, bytes.Repeat([]byte("text"), 9)), "0 1 2 trailing 36 at 216"},
		{"length 13", put(f, 72+8, "0000000d"), "0 trailing 144 at 72 dies: length 13"},
		{"a large one", join(f, large), "0 1 2 3 trailing 0 at 2097444"},
		{"a large one, damaged", join(f, put(large, len(large)-9, "00")), "0 1 2 3(5d2cf359) trailing 0 at 2097444"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, frames(t, c.file)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestFramesStartAt(t *testing.T) {
	f := fixtureF(t)
	s := segment.NewFrameScanner(bytes.NewReader(f), int64(len(f)))
	s.StartAt(360)
	if !s.Next() || s.Batch().BaseOffset() != 5 || s.Pos() != 360 {
		t.Errorf("at %d", s.Pos())
	}
}

// The damage of a large frame does not make it be loaded; the good one is.
func TestFramesLoadsLargeFramesOnlyIfGood(t *testing.T) {
	large := appendBatchOf(t, nil, 3, 0, strings.Repeat("x", 2<<20))
	for _, c := range []struct {
		file  []byte
		whole bool
	}{{large, true}, {put(large, len(large)-9, "00"), false}} {
		s := segment.NewFrameScanner(bytes.NewReader(c.file), int64(len(c.file)))
		if !s.Next() || s.Batch().Whole() != c.whole || s.Batch().Size() != len(large) {
			t.Errorf("whole %t, size %d", s.Batch().Whole(), s.Batch().Size())
		}
	}
}

func FuzzFrames(f *testing.F) {
	file := fixtureF(f)
	f.Add(file)
	f.Add(file[:700])
	f.Add(put(file, 80, "00000050"))
	f.Add(join(file, make([]byte, 18)))
	var s segment.FrameScanner
	f.Fuzz(func(t *testing.T, file []byte) {
		s.Reset(bytes.NewReader(file), int64(len(file)))
		end := int64(0)
		for s.Next() {
			if s.Pos() != end {
				t.Fatalf("frame at %d, but the one before ends at %d", s.Pos(), end)
			}
			end += int64(s.Batch().Size())
		}
		if s.Err() != nil || end+s.Trailing() != int64(len(file)) {
			t.Fatalf("%d bytes of frames, %d trailing, of %d: %v", end, s.Trailing(), len(file), s.Err())
		}
	})
}
