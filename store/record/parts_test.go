package record

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// follow is the position behind the parts of a frame.
func follow(raw []byte, f Format) (end int, deltas []int32) {
	b := Assume(raw, int64(len(raw)), f)
	start, counts := b.Parts()
	end = start
	for range counts[0] {
		size, delta, ok := PartSize(f, raw[end:])
		if !ok || size > int64(len(raw)-end) {
			return -1, deltas
		}
		end, deltas = end+int(size), append(deltas, delta)
	}
	return end, deltas
}

// The records of a batch lead to its end, whatever its own length says.
func TestPartsLeadToTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NoProducer()
		m.BaseOffset = 7
		b := NewBuilder()
		b.Reset(m)
		n := rapid.IntRange(1, 5).Draw(t, "records")
		for i := range int64(n) {
			value := strings.Repeat("v", rapid.IntRange(0, 300).Draw(t, "value"))
			b.Append(&Record{Offset: 7 + i, Timestamp: rapid.Int64Range(0, 1<<50).Draw(t, "timestamp"), Value: []byte(value)})
		}
		raw, err := b.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		end, deltas := follow(raw, V2)
		if end != len(raw) || len(deltas) != n || deltas[n-1] != int32(n-1) {
			t.Errorf("end %d of %d, offset deltas %v", end, len(raw), deltas)
		}
	})
}

func TestPartsOfAMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		f    Format
	}{
		{"v0", messageV0(1, 0, []byte("key"), []byte("value")), V0},
		{"v0, null key", messageV0(1, 0, nil, []byte("value")), V0},
		{"v1", messageV1(1, 0, 5, []byte("key"), []byte("value")), V1},
		{"v0, null value", messageV0(1, 0, []byte("key"), nil), V0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if end, _ := follow(c.raw, c.f); end != len(c.raw) {
				t.Errorf("end %d of %d", end, len(c.raw))
			}
		})
	}
}

func TestPartThatCannotBe(t *testing.T) {
	for name, b := range map[string][]byte{
		"the offset of a batch":   {0, 0, 0, 0, 0, 0, 0, 9},
		"a negative length":       {1, 0, 0, 0, 0, 0, 0},
		"shorter than its fields": {0x0a, 0, 0, 0, 1, 1, 0},
		"cut":                     {0x80},
		"nothing":                 {},
	} {
		if size, _, ok := PartSize(V2, b); ok {
			t.Errorf("%s: a record of %d bytes", name, size)
		}
	}
	if _, _, ok := PartSize(V0, []byte{0xff, 0xff, 0xff, 0xfe}); ok {
		t.Error("a key of -2 bytes")
	}
}
