package record

import (
	"fmt"
	"testing"

	"logdir/store/corrupt"
)

func TestSniff(t *testing.T) {
	for _, c := range []struct{ name, hex, want string }{
		{"v2", "0000000000000005 0000003c 00000000 02", "72 2"},
		{"v1", "0000000000000005 00000016 00000000 01", "34 1"},
		{"v0", "0000000000000005 0000000e 00000000 00", "26 0"},
		{"MKB1", "4d4b4231 0000004a 438c39c4 00000000 00", "86 MKB1"},
		{"2 GiB, which the file may have", "0000000000000005 7fffffff 00000000 02", "2147483659 2"},
		{"v2, a byte too short", "0000000000000005 00000030 00000000 02", "bad-length batchLength: length 48"},
		{"v1, a byte too short", "0000000000000005 00000015 00000000 01", "bad-length batchLength: length 21"},
		{"v0, a byte too short", "0000000000000005 0000000d 00000000 00", "bad-length batchLength: length 13"},
		{"zeros", "0000000000000000 00000000 00000000 00", "bad-length batchLength: length 0"},
		{"negative", "0000000000000005 ffffffff 00000000 02", "bad-length batchLength: length -1"},
		{"MKB1, beyond its bound", "4d4b4231 01000001 438c39c4 00000000 00", "bad-length batchLength: length 16777217"},
		{"MKB1, a byte too short", "4d4b4231 00000027 438c39c4 00000000 00", "bad-length batchLength: length 39"},
		{"magic 3", "0000000000000005 0000003c 00000000 03", "bad-magic magic: magic 3"},
		{"magic -1", "0000000000000005 0000003c 00000000 ff", "bad-magic magic: magic -1"},
		{"magic M without MKB", "0000000000000005 0000003c 00000000 4d", "bad-magic magic: magic 77"},
		{"sixteen bytes", "0000000000000005 0000003c 00000000", "torn : have 16 bytes, need unknown"},
		{"nothing", "", "torn : have 0 bytes, need unknown"},
	} {
		prefix := hexBytes(t, c.hex)
		size, format, err := Sniff(prefix)
		got := fmt.Sprintf("%d %s", size, format)
		if err != nil {
			got = fmt.Sprintf("%s %s: %s", err.Kind, err.Field, err.Detail)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if _, _, ok := Peek(prefix); ok != (err == nil) {
			t.Errorf("%s: Peek says %t, Sniff %v", c.name, ok, err)
		}
	}
}

func TestParseWantsOneFrame(t *testing.T) {
	raw := hexBytes(t, v2Vectors[0].hex)
	for _, b := range [][]byte{raw[:len(raw)-1], append(raw, 0)} {
		if _, err := Parse(b); err == nil || err.Kind != corrupt.BadLength || err.Pos != 0 {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

// A header that cannot be a frame's is not plausible, whichever field says so.
func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		name string
		pos  int
		to   string
		want bool
	}{
		{"as it is", 0, "", true},
		{"a wrong checksum", 17, "00000000", true},
		{"compacted", 23, "00000009", true},
		{"more records than offsets", 57, "00000004", false},
		{"negative count", 57, "ffffffff", false},
		{"negative last offset delta", 23, "ffffffff", false},
		{"producer -2", 43, "fffffffffffffffe", false},
		{"producer epoch -2", 51, "fffe", false},
		{"sequence -2", 53, "fffffffe", false},
		{"magic 3", 16, "03", false},
		{"length 48", 8, "00000030", false},
	} {
		raw := hexBytes(t, v2Vectors[0].hex)
		copy(raw[c.pos:], hexBytes(t, c.to))
		if got := Plausible(raw[:HeaderSize]); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// What is cut off speaks neither for nor against.
func TestPlausibleCutOff(t *testing.T) {
	raws := [][]byte{
		hexBytes(t, v2Vectors[0].hex), hexBytes(t, mkb1Example),
		messageV0(5, 0, []byte("key"), []byte("value")), messageV1(5, 0, 1700000000000, nil, nil),
	}
	for _, raw := range raws {
		for n := PrefixSize; n <= min(len(raw), HeaderSize); n++ {
			if !Plausible(raw[:n]) {
				t.Errorf("%d bytes of %x", n, raw)
			}
		}
	}
	for n := range PrefixSize {
		if Plausible(raws[0][:n]) {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

// The lengths of key and value must add up in a message.
func TestPlausibleLegacy(t *testing.T) {
	raw := messageV1(5, 0, 1700000000000, []byte("key"), []byte("value"))
	raw[29]++ // a longer key
	if Plausible(raw) {
		t.Error("key too long")
	}
	raw[29]--
	raw[36]++ // a longer value, behind 26+4+3 bytes and its three high bytes
	if Plausible(raw) {
		t.Error("value too long")
	}
}

// Of a frame that is not all at hand the header can be asked, and nothing else.
func TestViewHeader(t *testing.T) {
	raw := hexBytes(t, v2Vectors[0].hex)
	b, size, ok := ViewHeader(raw[:HeaderSize])
	if !ok || size != int64(len(raw)) || b.Whole() || b.Size() != len(raw) || b.LastOffset() != 102 || b.Count() != 3 {
		t.Errorf("%d bytes, whole %t, last offset %d", b.Size(), b.Whole(), b.LastOffset())
	}
	r := NewReader()
	if r.Reset(&b); r.Next() || r.Err() == nil {
		t.Error("records without their bytes")
	}
	if _, _, ok := ViewHeader(raw[:HeaderSize-1]); ok {
		t.Error("sixty bytes are no header")
	}
}

func TestPlace(t *testing.T) {
	for _, raw := range [][]byte{hexBytes(t, v2Vectors[6].hex), hexBytes(t, mkb1Example), messageV0(5, 0, nil, nil)} {
		b, _ := Parse(raw)
		base, last, epoch := b.Place()
		if base != b.BaseOffset() || last != b.LastOffset() || epoch != b.LeaderEpoch() {
			t.Errorf("%s: %d..%d epoch %d", b.Format(), base, last, epoch)
		}
	}
}
