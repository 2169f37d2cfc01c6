package inspect

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/record"
)

// frameOf views hex with blanks as one frame.
func frameOf(t *testing.T, text string) *Frame {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	b, damage := record.View(raw)
	if damage != nil {
		t.Fatal(damage)
	}
	return &Frame{Batch: b, Valid: b.CRCValid()}
}

func TestAnatomyOfARecord(t *testing.T) {
	f := frameOf(t, `
		0000000000000007 0000004a 00000002 02 7233bd0a 0000 00000001
		0000018bcfe56800 0000018bcfe56800 0000000000000009 0001 00000005 00000002
		22 00 00 00 02 6b 02 76 04 04 6831 02 78 04 6832 01
		0c 00 13 02 00 00 00`)
	type line struct{ Hex, Name, Value string }
	var got []line
	for _, p := range Anatomy(f) {
		got = append(got, line{hex.EncodeToString(p.Bytes), p.Name, p.Value})
	}
	want := []line{
		{"0000000000000007", "baseOffset", "7"},
		{"0000004a", "batchLength", "74"},
		{"00000002", "partitionLeaderEpoch", "2"},
		{"02", "magic", "2"},
		{"7233bd0a", "crc", "0x7233bd0a, right"},
		{"0000", "attributes", "0: none CreateTime"},
		{"00000001", "lastOffsetDelta", "1, last offset 8"},
		{"0000018bcfe56800", "baseTimestamp", "1700000000000"},
		{"0000018bcfe56800", "maxTimestamp", "1700000000000"},
		{"0000000000000009", "producerId", "9"},
		{"0001", "producerEpoch", "1"},
		{"00000005", "baseSequence", "5"},
		{"00000002", "recordsCount", "2"},
		{"22", "length", "17"},
		{"00", "attributes", "0"},
		{"00", "timestampDelta", "0, timestamp 1700000000000"},
		{"00", "offsetDelta", "0, offset 7"},
		{"02", "keyLength", "1"},
		{"6b", "key", `"k"`},
		{"02", "valueLength", "1"},
		{"76", "value", `"v"`},
		{"04", "headersCount", "2"},
		{"04", "headerKeyLength", "2"},
		{"6831", "headerKey", `"h1"`},
		{"02", "headerValueLength", "1"},
		{"78", "headerValue", `"x"`},
		{"04", "headerKeyLength", "2"},
		{"6832", "headerKey", `"h2"`},
		{"01", "headerValueLength", "-1, null"},
		{"0c", "length", "6"},
		{"00", "attributes", "0"},
		{"13", "timestampDelta", "-10, timestamp 1699999999990"},
		{"02", "offsetDelta", "1, offset 8"},
		{"00", "keyLength", "0"},
		{"00", "valueLength", "0"},
		{"00", "headersCount", "0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzAnatomy takes any frame apart: the parts are the frame, without gap or overlap.
func FuzzAnatomy(f *testing.F) {
	for _, seed := range []string{
		"00000000000000640000004c0000000402e928b5f70000000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000312000000026b0476310010000a0201047632000e000604026b0100",
		"000000000000006400000011615054270000000000016b000000027631",
		"4d4b42310000004a438c39c401000000000000000000000000ffffffffffffffffffffffffffffffff0000000000000000000001000000000000018bcfe5680000000005000000070000616c69636563726561746564",
	} {
		raw, _ := hex.DecodeString(seed)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := record.View(raw)
		if err != nil {
			return
		}
		var joined []byte
		for _, p := range Anatomy(&Frame{Batch: b}) {
			if p.Pos != len(joined) || len(p.Bytes) == 0 {
				t.Fatalf("part %q of %d bytes at %d, the one before ends at %d", p.Name, len(p.Bytes), p.Pos, len(joined))
			}
			joined = append(joined, p.Bytes...)
		}
		if !bytes.Equal(joined, raw) {
			t.Fatalf("%d of %d bytes", len(joined), len(raw))
		}
	})
}
