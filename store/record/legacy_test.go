package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store/compress"
	"logdir/store/corrupt"
)

// message builders: each gives one whole entry, offset and size included.

func messageV0(offset int64, attributes byte, key, value []byte) []byte {
	return sealed(offset, append([]byte{0, attributes}, lengthed(key, value)...))
}

func messageV1(offset int64, attributes byte, timestamp int64, key, value []byte) []byte {
	b := binary.BigEndian.AppendUint64([]byte{1, attributes}, uint64(timestamp))
	return sealed(offset, append(b, lengthed(key, value)...))
}

// lengthed puts an int32 length before each of the fields, -1 where it is nil.
func lengthed(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = append(binary.BigEndian.AppendUint32(b, mkb1Length(f)), f...)
	}
	return b
}

// sealed puts offset, size and checksum before what a message has from its magic on.
func sealed(offset int64, rest []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(offset))
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(rest)))
	b = binary.BigEndian.AppendUint32(b, Checksum(0, V0, rest))
	return append(b, rest...)
}

// packed are inner messages as the value of a wrapper.
func packed(t testing.TB, c compress.Codec, messages ...[]byte) []byte {
	t.Helper()
	b, err := compress.NewEncoder().Encode(nil, join(messages...), c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// legacyRow is a record of a v0 or v1 batch in one line.
func legacyRow(r *Record) string {
	row := fmt.Sprintf("%d %s %d key %s value %s", r.Offset, r.TimestampType, r.Timestamp, quoted(r.Key), quoted(r.Value))
	if !r.CRCValid {
		row += " crc wrong"
	}
	return row
}

func quoted(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

// legacyRows reads every record of the frame; a damage is the last row.
func legacyRows(t *testing.T, raw []byte) []string {
	t.Helper()
	b, bad := Parse(raw)
	if bad != nil {
		return []string{bad.Error()}
	}
	r, rows := NewReader(), []string{}
	for r.Reset(&b); r.Next(); {
		rows = append(rows, legacyRow(r.Record()))
	}
	if bad, ok := errors.AsType[*corrupt.Error](r.Err()); ok {
		rows = append(rows, fmt.Sprintf("%s at %d: %s", bad.Kind, bad.Pos, bad.Detail))
	}
	return rows
}

// Everything below with offsets 100 to 102 was written by Apache Kafka's own classes.
var legacyVectors = []struct {
	name, hex string
	crc       uint32
	rows      []string
}{
	{
		"v0, null key", `
		0000000000000065 00000010 d5960a78 00 00      // offset 101, size 16, crc, magic, attributes
		ffffffff 00000002 7632`, 0xd5960a78,
		[]string{`101 NoTimestampType -1 key null value "v2"`},
	},
	{
		"v0, null value", `
		0000000000000066 0000000f 908204f6 00 00
		00000001 6b ffffffff`, 0x908204f6,
		[]string{`102 NoTimestampType -1 key "k" value null`},
	},
	{
		"v1, CreateTime", `
		0000000000000064 00000019 3e731674 01 00 0000018bcfe56800
		00000001 6b 00000002 7631`, 0x3e731674,
		[]string{`100 CreateTime 1700000000000 key "k" value "v1"`},
	},
	{
		"v1, LogAppendTime", `
		0000000000000064 00000019 226f466f 01 08 0000018bcfe56be7
		00000001 6b 00000002 7631`, 0x226f466f,
		[]string{`100 LogAppendTime 1700000000999 key "k" value "v1"`},
	},
	{
		"v0 wrapper, lz4 with the header checksum of old", `
		0000000000000066 0000006a fedfcbce 00 03 ffffffff 0000005c
		04224d18 60 40 1a 4d000000
		12000100916400000011615054270f0081016b0000000276310d00f10200006500000010d5960a78
		0000ffffffff1c0010321900f008000000660000000f908204f60000000000016bffffffff 00000000`, 0xfedfcbce,
		[]string{
			`100 NoTimestampType -1 key "k" value "v1"`,
			`101 NoTimestampType -1 key null value "v2"`,
			`102 NoTimestampType -1 key "k" value null`,
		},
	},
	{
		"v1 wrapper, lz4", `
		0000000000000066 00000078 6e666c45 01 03 0000018bcfe56805 ffffffff 00000062
		04224d18 60 40 82 53000000
		16000100e0193e73167401000000018bcfe568180080016b0000000276310c000018008500000018820bfd0325005105
		ffffffff240011322200b50000020000001768de2ac52400a003000000016bffffffff 00000000`, 0x6e666c45,
		v1Rows,
	},
	{
		"v1 wrapper, snappy", `
		0000000000000066 0000007e 6ba7f066 01 02 0000018bcfe56805 ffffffff 00000068
		82534e4150505900 00000001 00000001 00000054
		6c0000190134193e73167401000000018bcfe56801181c016b000000027631010c01181c00000018820bfd0301090525
		1005ffffffff0524043200090120020000001768de2ac515242403000000016bffffffff`, 0x6ba7f066,
		v1Rows,
	},
}

var v1Rows = []string{
	`100 CreateTime 1700000000000 key "k" value "v1"`,
	`101 CreateTime 1700000000005 key null value "v2"`,
	`102 CreateTime 1700000000003 key "k" value null`,
}

func TestLegacyVectors(t *testing.T) {
	for _, v := range legacyVectors {
		t.Run(v.name, func(t *testing.T) {
			raw := hexBytes(t, v.hex)
			b, err := Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if b.StoredCRC() != v.crc || !b.CRCValid() {
				t.Errorf("crc %08x, computed %08x; want %08x", b.StoredCRC(), b.ComputeCRC(), v.crc)
			}
			if diff := cmp.Diff(v.rows, legacyRows(t, raw)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLegacyView: what a v0 or v1 frame tells without being unpacked.
func TestLegacyView(t *testing.T) {
	wrapper := hexBytes(t, legacyVectors[5].hex)
	b, bad := Parse(wrapper)
	if bad != nil {
		t.Fatal(bad)
	}
	got := map[string]any{
		"format": b.Format().String(), "base": b.BaseOffset(), "last": b.LastOffset(), "next": b.NextOffset(),
		"count": b.Count(), "codec": b.Codec().String(), "type": b.TimestampType().String(), "max": b.MaxTimestamp(),
		"epoch": b.LeaderEpoch(), "pid": b.ProducerID(), "pepoch": b.ProducerEpoch(), "seq": b.LastSequence(),
		"txn": b.IsTransactional(), "control": b.IsControl(),
	}
	want := map[string]any{
		"format": "1", "base": int64(102), "last": int64(102), "next": int64(103),
		"count": int32(-1), "codec": "lz4", "type": "CreateTime", "max": int64(1700000000005),
		"epoch": int32(-1), "pid": int64(-1), "pepoch": int32(-1), "seq": int32(-1),
		"txn": false, "control": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrappers(t *testing.T) {
	const lat = timestampTypeBit
	gzip, none := byte(compress.Gzip), byte(compress.None)
	k, v := []byte("k"), []byte("v")
	// two relative messages, as a producer of v1 packs them
	pair := func(t *testing.T, c compress.Codec) []byte {
		return packed(t, c, messageV1(0, none, 5, k, v), messageV1(1, none, 6, k, nil))
	}
	for _, c := range []struct {
		name string
		raw  []byte
		rows []string
	}{
		{
			"v0 has absolute offsets, gaps included",
			messageV0(9, gzip, nil, packed(t, compress.Gzip, messageV0(4, none, k, v), messageV0(9, none, nil, v))),
			[]string{`4 NoTimestampType -1 key "k" value "v"`, `9 NoTimestampType -1 key null value "v"`},
		},
		{
			"v1 counts back from the wrapper",
			messageV1(41, gzip, 6, nil, pair(t, compress.Gzip)),
			[]string{`40 CreateTime 5 key "k" value "v"`, `41 CreateTime 6 key "k" value null`},
		},
		{
			"v1 after compaction: the first is gone, and one between",
			messageV1(41, gzip, 6, nil, packed(t, compress.Gzip, messageV1(1, none, 5, k, v), messageV1(3, none, 6, k, v))),
			[]string{`39 CreateTime 5 key "k" value "v"`, `41 CreateTime 6 key "k" value "v"`},
		},
		{
			"v1, wrapper offset 0: as they are",
			messageV1(0, gzip, 6, nil, pair(t, compress.Gzip)),
			[]string{`0 CreateTime 5 key "k" value "v"`, `1 CreateTime 6 key "k" value null`},
		},
		{
			"v1, the wrapper's append time is everybody's",
			messageV1(1, gzip|lat, 99, nil, pair(t, compress.Gzip)),
			[]string{`0 LogAppendTime 99 key "k" value "v"`, `1 LogAppendTime 99 key "k" value null`},
		},
		{
			"v1, an inner type does not count",
			messageV1(7, gzip, 6, nil, packed(t, compress.Gzip, messageV1(0, lat, 5, k, v))),
			[]string{`7 CreateTime 5 key "k" value "v"`},
		},
		{
			"v0 inside v1",
			messageV1(7, gzip|lat, 99, nil, packed(t, compress.Gzip, messageV0(0, none, k, v), messageV1(1, none, 5, k, v))),
			[]string{`6 NoTimestampType -1 key "k" value "v"`, `7 LogAppendTime 99 key "k" value "v"`},
		},
		{
			"v1 inside v0 keeps its time and has no type",
			messageV0(7, gzip, nil, packed(t, compress.Gzip, messageV1(7, none, 5, k, v))),
			[]string{`7 NoTimestampType 5 key "k" value "v"`},
		},
		{
			"the last message is cut off",
			messageV0(7, gzip, nil, packed(t, compress.Gzip, messageV0(7, none, k, v), messageV0(8, none, k, v)[:20])),
			[]string{`7 NoTimestampType -1 key "k" value "v"`},
		},
		{
			"an inner checksum is wrong",
			messageV0(7, gzip, nil, packed(t, compress.Gzip, messageV0(6, none, k, v), flipped(messageV0(7, none, k, v), 22))),
			[]string{`6 NoTimestampType -1 key "k" value "v"`, `7 NoTimestampType -1 key "j" value "v" crc wrong`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.rows, legacyRows(t, c.raw)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// flipped is b with the lowest bit of one byte turned over.
func flipped(b []byte, pos int) []byte {
	b[pos] ^= 1
	return b
}

func TestBrokenWrappers(t *testing.T) {
	k, v := []byte("k"), []byte("v")
	inner := messageV0(7, 0, k, v)
	wrap := func(messages ...[]byte) []byte {
		return messageV0(7, byte(compress.LZ4), nil, packed(t, compress.LZ4, messages...))
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"null value", messageV0(7, 1, nil, nil), "bad-records at 0: compressed messages, but a null value"},
		{"no messages", wrap(), "bad-records at 26: compressed messages, but none in it at byte 0 of the decompressed records"},
		{"zstd", messageV1(7, 4, 1, nil, v), "bad-records at 0: codec zstd in a message of format 1"},
		{"codec 6", messageV1(7, 6, 1, nil, v), "bad-records at 0: codec unknown(6) in a message of format 1"},
		{"not lz4", messageV0(7, 3, nil, []byte("not lz4 at all")), "bad-records at 26: lz4: no frame magic"},
		{"compressed in compressed", wrap(wrap(inner)), "bad-records at 26: an inner message is compressed at byte 0 of the decompressed records"},
		{"v2 inside", wrap(flippedMagic(inner)), "bad-records at 26: magic of an inner message at byte 0 of the decompressed records"},
		{"too small", wrap(inner, resized(inner, 13)), "bad-records at 26: size of an inner message at byte 28 of the decompressed records"},
		{
			"too small for v1", messageV1(7, 3, 1, nil, packed(t, compress.LZ4, resized(messageV1(0, 0, 1, nil, nil), 21))),
			"bad-records at 34: size of an inner message at byte 0 of the decompressed records",
		},
		{
			"key too long", wrap(sealed(7, []byte("\x00\x00"+"\x00\x00\x00\x09k"+"\xff\xff\xff\xff"))),
			"bad-records at 26: keyLength is larger than the message at byte 0 of the decompressed records",
		},
		{
			"value too long", wrap(sealed(7, []byte("\x00\x00"+"\x00\x00\x00\x01k"+"\x00\x00\x00\x01"))),
			"bad-records at 26: valueLength is larger than the message at byte 0 of the decompressed records",
		},
		{
			"wrapper offset below the last inner one", messageV1(1, 3, 1, nil, packed(t, compress.LZ4, messageV1(2, 0, 1, k, v))),
			"bad-records at 34: wrapper offset 1 is less than the last inner offset 2 at byte 0 of the decompressed records",
		},
		{
			"header checksum of v0 in v1", messageV1(7, 3, 1, nil, oldHC(packed(t, compress.LZ4, messageV1(0, 0, 1, k, v)))),
			"bad-records at 40: lz4: header checksum 0x1a, computed 0x82",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, legacyRows(t, c.raw)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func flippedMagic(b []byte) []byte {
	b = append([]byte(nil), b...)
	b[legacyPosMagic] = 2
	return b
}

func resized(b []byte, size uint32) []byte {
	b = append([]byte(nil), b...)
	binary.BigEndian.PutUint32(b[legacyPosSize:], size)
	return b
}

// oldHC gives an lz4 frame the header checksum that producers of v0 wrote.
func oldHC(frame []byte) []byte {
	frame[6] = 0x1a
	return frame
}

func TestLegacyReaderDoesNotAllocate(t *testing.T) {
	fixtures.WithoutRace(t)
	r := NewReader()
	for _, v := range legacyVectors {
		b, bad := Parse(hexBytes(t, v.hex))
		if bad != nil {
			t.Fatal(bad)
		}
		read := func() {
			for r.Reset(&b); r.Next(); {
			}
		}
		read()
		if n := testing.AllocsPerRun(50, read); n != 0 {
			t.Errorf("%s: %v allocations a batch", v.name, n)
		}
	}
}

// FuzzWrapper: whatever stands in a wrapper, reading ends, and every message that is
// read lies in it, one behind the other.
func FuzzWrapper(f *testing.F) {
	f.Add(uint8(0), int64(1), messageV0(1, 0, []byte("k"), nil))
	f.Add(uint8(1), int64(9), join(messageV1(0, 0, 5, nil, nil), messageV1(1, 0, 6, nil, nil)))
	r := NewReader()
	f.Fuzz(func(t *testing.T, magic uint8, offset int64, inner []byte) {
		value := packed(t, compress.Snappy, inner)
		raw := messageV0(offset, byte(compress.Snappy), nil, value)
		if magic%2 == 1 {
			raw = messageV1(offset, byte(compress.Snappy), 7, nil, value)
		}
		b, bad := Parse(raw)
		if bad != nil {
			t.Fatal(bad)
		}
		pos := 0
		for r.Reset(&b); r.Next(); {
			rec := r.Record()
			if rec.Pos != pos || rec.Size < sizedFrom+minV0Length || rec.Pos+rec.Size > len(inner) {
				t.Fatalf("message at %d with %d bytes, the one before ended at %d of %d", rec.Pos, rec.Size, pos, len(inner))
			}
			pos += rec.Size
		}
		if r.Err() == nil && pos == 0 {
			t.Error("neither a message nor an error")
		}
	})
}

// FuzzLegacyMessage: no message, however broken under a right checksum, breaks the reader.
func FuzzLegacyMessage(f *testing.F) {
	f.Add(messageV0(0, 0, []byte("k"), []byte("v"))[legacyPosMagic:])
	f.Add(messageV1(0, 1, 5, nil, []byte("not gzip"))[legacyPosMagic:])
	r := NewReader()
	f.Fuzz(func(t *testing.T, rest []byte) {
		raw := sealed(3, rest)
		b, bad := View(raw)
		if bad != nil || b.Format() > V1 {
			return
		}
		for r.Reset(&b); r.Next(); {
		}
		if err := r.Err(); err != nil {
			if bad, ok := errors.AsType[*corrupt.Error](err); !ok || bad.Kind != corrupt.BadRecords {
				t.Errorf("%v, want bad-records", err)
			}
		}
	})
}
