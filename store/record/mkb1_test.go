package record

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/compress"
	"logdir/store/corrupt"
)

// mkb1Example is one record: key alice, value created, offset 0.
const mkb1Example = `
	4d4b4231 0000004a 438c39c4                            // magic, length 74, crc
	01 0000000000000000 00000000                          // version, base offset, leader epoch
	ffffffffffffffff ffffffff ffffffff                    // producer id, epoch, base sequence
	00 00000000 0000 00000001                             // flags, last delta, id length, count
	00000000 0000018bcfe56800 00000005 00000007 0000      // delta, timestamp, lengths, headers
	616c696365 63726561746564`

// mkb1Meta is a frame of MKB1 at a base offset, with nothing else set.
func mkb1Meta(base int64) Meta {
	m := NoProducer()
	m.Format, m.BaseOffset, m.LeaderEpoch = MKB1, base, 0
	return m
}

func build(t testing.TB, m Meta, records ...Record) []byte {
	t.Helper()
	b := NewBuilder()
	b.Reset(m)
	for i := range records {
		b.Append(&records[i])
	}
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestMKB1Example(t *testing.T) {
	raw := hexBytes(t, mkb1Example)
	b, bad := Parse(raw)
	if bad != nil {
		t.Fatal(bad)
	}
	got := map[string]any{
		"format": b.Format().String(), "size": b.Size(), "crc": b.CRCValid(), "base": b.BaseOffset(), "next": b.NextOffset(),
		"epoch": b.LeaderEpoch(), "pid": b.ProducerID(), "pepoch": b.ProducerEpoch(), "seq": b.BaseSequence(),
		"count": b.Count(), "first": b.BaseTimestamp(), "max": b.MaxTimestamp(), "codec": b.Codec().String(),
	}
	want := map[string]any{
		"format": "MKB1", "size": 86, "crc": true, "base": int64(0), "next": int64(1),
		"epoch": int32(0), "pid": int64(-1), "pepoch": int32(-1), "seq": int32(-1),
		"count": int32(1), "first": int64(1700000000000), "max": int64(1700000000000), "codec": "none",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := build(t, mkb1Meta(0), Record{Timestamp: 1700000000000, Key: []byte("alice"), Value: []byte("created")})
	if diff := cmp.Diff(hex.EncodeToString(raw), hex.EncodeToString(again)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestMKB1Marker(t *testing.T) {
	m := mkb1Meta(7)
	m.Transactional, m.Control, m.TransactionalID = true, true, "tx-a"
	for marker, flags := range map[ControlType]byte{Commit: 0x03, Abort: 0x05} {
		m.Marker = marker
		raw := build(t, m)
		b, bad := Parse(raw)
		if bad != nil {
			t.Fatal(bad)
		}
		if raw[mkb1PosFlags] != flags || len(raw) != MKB1HeaderSize+4 {
			t.Errorf("%s: flags %02x in %d bytes, want %02x in %d", marker, raw[mkb1PosFlags], len(raw), flags, MKB1HeaderSize+4)
		}
		got, ok := b.Marker()
		if !ok || got != marker || !b.IsControl() || !b.IsTransactional() || b.LastOffset() != 7 {
			t.Errorf("%s reads as %s, last offset %d", marker, got, b.LastOffset())
		}
		r := NewReader()
		if r.Reset(&b); r.Next() || r.Err() != nil {
			t.Errorf("%s: a record, or %v", marker, r.Err())
		}
		if id := b.Meta().TransactionalID; id != "tx-a" {
			t.Errorf("%s: transactional id %q", marker, id)
		}
	}
}

// TestMKB1Rules breaks one rule of the format after the other, under a right checksum.
func TestMKB1Rules(t *testing.T) {
	const data, marker = "data", "marker"
	for _, c := range []struct {
		name  string
		frame string
		pos   int // written to with the bytes of hex
		hex   string
		want  string
	}{
		{"version", data, mkb1PosVersion, "02", "version 2"},
		{"base offset", data, mkb1PosBaseOffset, "ffffffffffffffff", "baseOffset -1"},
		{"last offset delta", data, mkb1PosLastOffsetDelta, "80000000", "lastOffsetDelta -2147483648"},
		{"id longer than the frame", data, mkb1PosTxnIDLength, "ffff", "transactionalIdLength 65535, have 53 bytes"},
		{"id without the flag", data, mkb1PosTxnIDLength, "0001", "a transactional id, but not transactional"},
		{"no records", data, mkb1PosRecordsCount, "00000000", "no records"},
		{"more records than bytes", data, mkb1PosRecordsCount, "00000003", "recordsCount 3, have 53 bytes"},
		{"far more records", data, mkb1PosRecordsCount, "ffffffff", "recordsCount 4294967295, have 53 bytes"},
		{"a record less", data, mkb1PosRecordsCount, "00000001", "25 bytes behind the last of 1 records"},

		{"first delta below 0", data, 52, "ffffffff", "offset delta -1 after -1, last offset delta of the batch 5"},
		{"delta does not rise", data, 80, "00000000", "offset delta 0 after 0, last offset delta of the batch 5"},
		{"delta beyond the last", data, 80, "00000006", "offset delta 6 after 0, last offset delta of the batch 5"},
		{"key length -2", data, 64, "fffffffe", "record 0 of 2 does not parse"},
		{"key longer than the frame", data, 64, "00000100", "record 0 of 2 does not parse"},
		{"value length -2", data, 96, "fffffffe", "record 1 of 2 does not parse"},
		{"value longer than the frame", data, 96, "00000004", "record 1 of 2 does not parse"},
		{"headers that are not there", data, 100, "0001", "record 1 of 2 does not parse"},

		{"commit and abort", marker, mkb1PosFlags, "07", "commit and abort in one frame"},
		{"a marker without id", marker, mkb1PosTxnIDLength, "0000", "a marker without transactional id"},
		{"a marker not transactional", marker, mkb1PosFlags, "02", "a transactional id, but not transactional"},
		{"a marker with records", marker, mkb1PosRecordsCount, "00000001", "a marker with 1 records"},
		{"a marker over two offsets", marker, mkb1PosLastOffsetDelta, "00000001", "a marker that takes more than one offset"},
		{"a longer marker", marker, mkb1PosTxnIDLength, "0001", "3 bytes behind the last of 0 records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := mkb1Frame(t, c.frame == marker)
			copy(raw[c.pos:], hexBytes(t, c.hex))
			Seal(raw)
			err := readAll(t, raw)
			bad, ok := errors.AsType[*corrupt.Error](err)
			if !ok || bad.Kind != corrupt.BadRecords || bad.Detail != c.want {
				t.Errorf("got %v, want bad-records: %s", err, c.want)
			}
		})
	}
}

// mkb1Frame is a marker, or two records with offsets 40 and 45: 28 bytes from byte 52
// on with key k and value four, and 25 bytes from byte 80 on with key k and value v2.
func mkb1Frame(t *testing.T, marker bool) []byte {
	m := mkb1Meta(40)
	if marker {
		m.Transactional, m.Control, m.Marker, m.TransactionalID = true, true, Commit, "tx-a"
		return build(t, m)
	}
	return build(t, m,
		Record{Offset: 40, Timestamp: 1, Key: []byte("k"), Value: []byte("value")},
		Record{Offset: 45, Timestamp: 2, Key: []byte("k"), Value: []byte("v2")})
}

// readAll parses a frame and reads it to its end.
func readAll(t *testing.T, raw []byte) error {
	t.Helper()
	b, bad := View(raw)
	if bad != nil {
		t.Fatal(bad)
	}
	b.MaxTimestamp() // must bear any bytes too
	r := NewReader()
	for r.Reset(&b); r.Next(); {
	}
	return r.Err()
}

func TestMKB1WriterRefuses(t *testing.T) {
	plain := Record{Offset: 40, Key: []byte("k")}
	for _, c := range []struct {
		name    string
		change  func(*Meta)
		records []Record
		want    string
	}{
		{"compression", func(m *Meta) { m.Codec = compress.LZ4 }, []Record{plain}, "MKB1 has no compression, not even lz4"},
		{"delete horizon", func(m *Meta) { m.HasDeleteHorizon = true }, []Record{plain}, "MKB1 has no delete horizon"},
		{"no records", func(*Meta) {}, nil, "not an MKB1 frame: no records"},
		{"negative base", func(m *Meta) { m.BaseOffset = -9 }, []Record{plain}, "not an MKB1 frame: baseOffset -9"},
		{
			"long id", func(m *Meta) { m.TransactionalID = strings.Repeat("x", 65536) },
			[]Record{plain},
			"transactional id of 65536 bytes is longer than MKB1 can hold",
		},
		{
			"last offset", func(m *Meta) { m.LastOffset = 40 + math.MaxInt32 + 1 },
			[]Record{plain},
			"last offset 2147483688 is too far from base offset 40",
		},
		{
			"large", func(*Meta) {},
			[]Record{{Offset: 40, Value: make([]byte, mkb1MaxPayload)}},
			"payload of 16777278 bytes is larger than MiniKafka takes, 16777216",
		},
		{
			"many headers", func(*Meta) {},
			[]Record{{Offset: 40, Headers: make([]Header, 65536)}},
			"record at offset 40 has 65536 headers, more than MKB1 can hold",
		},
		{
			"long header", func(*Meta) {},
			[]Record{{Offset: 40, Headers: []Header{{Key: make([]byte, 65536)}}}},
			"record at offset 40 has a header key of 65536 bytes, more than MKB1 can hold",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mkb1Meta(40)
			c.change(&m)
			b := NewBuilder()
			b.Reset(m)
			for i := range c.records {
				b.Append(&c.records[i])
			}
			raw, err := b.Build([]byte("before"))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if string(raw) != "before" {
				t.Errorf("left %q", raw)
			}
		})
	}
}

func TestMKB1RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mkb1Meta(rapid.Int64Range(0, 1<<40).Draw(t, "base"))
		m.LeaderEpoch = rapid.Int32().Draw(t, "epoch")
		m.ProducerID, m.ProducerEpoch = rapid.Int64().Draw(t, "pid"), rapid.Int32().Draw(t, "pepoch")
		m.BaseSequence = rapid.Int32Range(-1, math.MaxInt32).Draw(t, "sequence")
		if m.Transactional = rapid.Bool().Draw(t, "transactional"); m.Transactional {
			m.TransactionalID = rapid.String().Draw(t, "id")
		}
		records := drawRecords(t, m.BaseOffset)
		m.LastOffset = records[len(records)-1].Offset + rapid.Int64Range(0, 9).Draw(t, "gap at the end")

		b := NewBuilder()
		b.Reset(m)
		for i := range records {
			b.Append(&records[i])
		}
		raw, err := b.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) != b.Size() {
			t.Errorf("%d bytes, but Size said %d", len(raw), b.Size())
		}
		batch, bad := Parse(raw)
		if bad != nil || !batch.CRCValid() {
			t.Fatalf("%v, crc valid %v", bad, batch.CRCValid())
		}
		if diff := cmp.Diff(m, batch.Meta()); diff != "" {
			t.Errorf("meta (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(rowsOf(records), rowsRead(t, &batch)); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	})
}

// drawRecords draws at least one record, with rising offsets from base on.
func drawRecords(t *rapid.T, base int64) []Record {
	field := rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "null") {
			return nil
		}
		return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")...)
	})
	records := make([]Record, rapid.IntRange(1, 5).Draw(t, "records"))
	for i := range records {
		base += rapid.Int64Range(0, 3).Draw(t, "gap")
		records[i] = Record{
			Offset: base, Timestamp: rapid.Int64Range(-1, 1<<50).Draw(t, "timestamp"),
			Key: field.Draw(t, "key"), Value: field.Draw(t, "value"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			h := Header{Key: []byte(rapid.String().Draw(t, "header")), Value: field.Draw(t, "header value")}
			records[i].Headers = append(records[i].Headers, h)
		}
		base++
	}
	return records
}

func rowsOf(records []Record) []string {
	rows := []string{}
	for i := range records {
		rows = append(rows, recordRow(&records[i]))
	}
	return rows
}

func rowsRead(t fataler, b *Batch) []string {
	r, rows := NewReader(), []string{}
	for r.Reset(b); r.Next(); {
		rows = append(rows, recordRow(r.Record()))
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows
}

// fataler is what *testing.T and *rapid.T have in common here.
type fataler interface{ Fatal(args ...any) }

// recordRow is what every format keeps of a record, in one line.
func recordRow(r *Record) string {
	var row strings.Builder
	fmt.Fprintf(&row, "%d at %d: %s = %s", r.Offset, r.Timestamp, quoted(r.Key), quoted(r.Value))
	for _, h := range r.Headers {
		fmt.Fprintf(&row, " %s:%s", quoted(h.Key), quoted(h.Value))
	}
	return row.String()
}

// FuzzMKB1: nothing panics, and what reads to its end is written again to the same bytes.
func FuzzMKB1(f *testing.F) {
	f.Add(hexBytes(f, mkb1Example)[sizedFrom:])
	b := NewBuilder()
	r := NewReader()
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) < MKB1HeaderSize-sizedFrom {
			return
		}
		raw := binary.BigEndian.AppendUint32([]byte("MKB1"), uint32(len(payload)))
		raw = append(append(raw, 0, 0, 0, 0), payload...)
		Seal(raw)
		batch, bad := View(raw)
		if bad != nil {
			t.Skip(bad)
		}
		batch.MaxTimestamp()
		b.Reset(batch.Meta())
		for r.Reset(&batch); r.Next(); {
			b.Append(r.Record())
		}
		if r.Err() != nil || batch.Attributes()&^(mkb1Transactional|mkb1Commit|mkb1Abort) != 0 {
			return
		}
		again, err := b.Build(nil)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%v\nread    %x\nwritten %x", err, raw, again)
		}
	})
}
