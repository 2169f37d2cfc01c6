package record

import (
	"bytes"
	"testing"
)

// Markers as a broker wrote them: an abort at offset 2, a commit at offset 4, and one of a
// transactional producer 9 with coordinator epoch 7 (D11).
var markers = []struct {
	hex    string
	meta   func(*Meta)
	marker EndTxnMarker
	time   int64
}{
	{
		`
		0000000000000002 00000042 00000000 02 10bdf102 0030 00000000
		0000018bcfe56805 0000018bcfe56805 00000000000003e8 0000 ffffffff 00000001
		20 00 00 00 08 0000 0000 0c 0000 00000005 00`,
		func(m *Meta) { m.BaseOffset, m.ProducerID = 2, 1000 },
		EndTxnMarker{Abort, 5},
		1700000000005,
	},
	{
		`
		0000000000000004 00000042 00000000 02 d48c09b6 0030 00000000
		0000018bcfe5680f 0000018bcfe5680f 00000000000003e8 0000 ffffffff 00000001
		20 00 00 00 08 0000 0001 0c 0000 00000005 00`,
		func(m *Meta) { m.BaseOffset, m.ProducerID = 4, 1000 },
		EndTxnMarker{Commit, 5},
		1700000000015,
	},
	{
		`
		0000000000000001 00000042 00000000 02 049e805f 0030 00000000
		0000018bcfe56801 0000018bcfe56801 0000000000000009 0000 ffffffff 00000001
		20 00 00 00 08 0000 0001 0c 0000 00000007 00`,
		func(m *Meta) { m.BaseOffset, m.ProducerID = 1, 9 },
		EndTxnMarker{Commit, 7},
		1700000000001,
	},
}

func TestEndTxnMarkers(t *testing.T) {
	for _, c := range markers {
		raw := hexBytes(t, c.hex)
		b, bad := Parse(raw)
		if bad != nil || !b.CRCValid() || !b.IsControl() || !b.IsTransactional() || b.Size() != 78 {
			t.Fatalf("%v, control %t, %d bytes", bad, b.IsControl(), b.Size())
		}
		r := NewReader()
		r.Reset(&b)
		if !r.Next() {
			t.Fatal(r.Err())
		}
		if got, bad := ParseEndTxnMarker(r.Record()); bad != nil || got != c.marker {
			t.Errorf("got %v, %v, want %v", got, bad, c.marker)
		}
		m := NoProducer()
		m.LeaderEpoch, m.ProducerEpoch = 0, 0
		c.meta(&m)
		got, err := AppendEndTxnMarker(nil, m, c.marker, c.time)
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("wrote %x, %v, want %x", got, err, raw)
		}
	}
}

func TestAppendEndTxnMarkerRefuses(t *testing.T) {
	_, err := AppendEndTxnMarker(nil, NoProducer(), EndTxnMarker{LeaderChange, 0}, 0)
	if err == nil || err.Error() != "control type LEADER_CHANGE ends no transaction" {
		t.Error(err)
	}
}

func TestParseControl(t *testing.T) {
	for _, c := range []struct {
		name, key, value, want string
		marker                 bool // whether it is to be an end marker
	}{
		{"abort", "00000000", "000000000005", "ABORT", true},
		{"key version 1 is read as 0", "00010001", "000000000005", "COMMIT", true},
		{"more bytes than known", "00000001 aabb", "000000000005 cc", "COMMIT", true},
		{"leader change", "00000002", "", "LEADER_CHANGE", false},
		{"unknown to Kafka", "00000009", "", "9", false},
		{"key of three bytes", "000000", "", "bad-records at byte 61: control record key of 3 bytes (CORRUPT_MESSAGE)", false},
		{"key version -1", "ffff0000", "", "bad-records at byte 61: control record key version -1 (CORRUPT_MESSAGE)", false},
		{"marker of five bytes", "00000001", "0000000000", "COMMIT", false},
		{"marker version -1", "00000001", "ffff00000005", "COMMIT", false},
	} {
		r := &Record{Key: hexBytes(t, c.key), Value: hexBytes(t, c.value), Pos: 61, Size: 10}
		kind, bad := ParseControl(r)
		got := kind.String()
		if bad != nil {
			got = bad.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if _, bad := ParseEndTxnMarker(r); (bad == nil) != c.marker {
			t.Errorf("%s: as an end marker: %v", c.name, bad)
		}
	}
}
