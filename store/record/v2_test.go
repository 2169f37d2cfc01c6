package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store/compress"
)

// show renders a batch as Kafka's tool would, but shorter, and its records a line each;
// damage is the last line.
func show(t testing.TB, raw []byte) string {
	t.Helper()
	b, bad := Parse(raw)
	if bad != nil {
		return bad.Error() + "\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d..%d count %d epoch %d producer %d/%d/%d..%d %s %s %d",
		b.BaseOffset(), b.LastOffset(), b.Count(), b.LeaderEpoch(),
		b.ProducerID(), b.ProducerEpoch(), b.BaseSequence(), b.LastSequence(),
		b.Codec(), b.TimestampType(), b.MaxTimestamp())
	for flag, set := range map[string]bool{" transactional": b.IsTransactional(), " control": b.IsControl(), " wrong crc": !b.CRCValid()} {
		if set {
			out.WriteString(flag)
		}
	}
	out.WriteByte('\n')
	r := NewReader()
	for r.Reset(&b); r.Next(); {
		showRecord(&out, r.Record())
	}
	if err := r.Err(); err != nil {
		fmt.Fprintf(&out, "%v\n", err)
	}
	return out.String()
}

func showRecord(out *strings.Builder, r *Record) {
	fmt.Fprintf(out, "%d %d seq %d %s=%s", r.Offset, r.Timestamp, r.Sequence, quoted(r.Key), quoted(r.Value))
	for _, h := range r.Headers {
		fmt.Fprintf(out, " %q:%s", h.Key, quoted(h.Value))
	}
	out.WriteByte('\n')
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// Frames of Apache Kafka's own classes, or of an independent script; and what they hold.
var v2Vectors = []struct{ name, hex, want string }{
	{
		"none", `
		0000000000000064 0000004c 00000004 02 e928b5f7 0000 00000002  // base 100, length 76, epoch 4, last delta 2
		0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000003
		12 00 00 00 02 6b 04 7631 00
		10 00 0a 02 01 04 7632 00          // +5 ms, null key
		0e 00 06 04 02 6b 01 00            // +3 ms, null value`,
		text("100..102 count 3 epoch 4 producer -1/-1/-1..-1 none CreateTime 1700000000005",
			`100 1700000000000 seq -1 "k"="v1"`, `101 1700000000005 seq -1 null="v2"`, `102 1700000000003 seq -1 "k"=null`),
	},
	{
		"none, LogAppendTime: deltas do not count", `
		0000000000000064 0000004c 00000004 02 be999503 0008 00000002
		0000018bcfe56800 0000018bcfe56be7 ffffffffffffffff ffff ffffffff 00000003
		12 00 00 00 02 6b 04 7631 00  10 00 0a 02 01 04 7632 00  0e 00 06 04 02 6b 01 00`,
		text("100..102 count 3 epoch 4 producer -1/-1/-1..-1 none LogAppendTime 1700000000999",
			`100 1700000000999 seq -1 "k"="v1"`, `101 1700000000999 seq -1 null="v2"`, `102 1700000000999 seq -1 "k"=null`),
	},
	{
		"gzip", `
		0000000000000064 00000060 00000004 02 c8bd2bb0 0001 00000002
		0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000003
		1f8b08000000000000ff1362606060ca662933641060e0626264293362e063606361ca66640000b4aba4f91b000000`,
		packedRows("gzip"),
	},
	{
		"snappy", `
		0000000000000064 00000062 00000004 02 eab771d1 0002 00000002
		0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000003
		82534e4150505900 00000001 00000001 0000001d
		1b6812000000026b0476310010000a0201047632000e000604026b0100`,
		packedRows("snappy"),
	},
	{
		"lz4", `
		0000000000000064 0000005b 00000004 02 25176a01 0003 00000002
		0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000003
		04224d18 60 40 82 1b000080 12000000026b0476310010000a0201047632000e000604026b0100 00000000`,
		packedRows("lz4"),
	},
	{
		"zstd", `
		0000000000000064 00000058 00000004 02 39d301a7 0004 00000002
		0000018bcfe56800 0000018bcfe56805 ffffffffffffffff ffff ffffffff 00000003
		28b52ffd0058d8000012000000026b0476310010000a0201047632000e000604026b0100010000`,
		packedRows("zstd"),
	},
	{
		"headers, a producer, a negative delta", `
		0000000000000007 0000004a 00000002 02 7233bd0a 0000 00000001
		0000018bcfe56800 0000018bcfe56800 0000000000000009 0001 00000005 00000002
		22 00 00 00 02 6b 02 76 04 04 6831 02 78 04 6832 01
		0c 00 13 02 00 00 00`,
		text("7..8 count 2 epoch 2 producer 9/1/5..6 none CreateTime 1700000000000",
			`7 1700000000000 seq 5 "k"="v" "h1":"x" "h2":null`, `8 1699999999990 seq 6 ""=""`),
	},
	{
		"emptied by the cleaner, with a producer", `
		0000000000000007 00000031 00000002 02 c4b84aae 0000 00000002
		ffffffffffffffff 0000018bcfe56800 0000000000000009 0001 00000005 00000000`,
		text("7..9 count 0 epoch 2 producer 9/1/5..7 none CreateTime 1700000000000"),
	},
	{
		"emptied by the cleaner (D9)", `
		0000000000000000 00000031 00000000 02 f4864318 0000 00000004
		0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000000`,
		text("0..4 count 0 epoch 0 producer -1/-1/-1..-1 none CreateTime 1700000000000"),
	},
	{
		"batch 0 of fixture F", `
		0000000000000000 0000003c 00000000 02 4017795e 0000 00000000
		0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000001
		14 00 00 00 04 6b30 04 7630 00`,
		text("0..0 count 1 epoch 0 producer -1/-1/-1..-1 none CreateTime 1700000000000", `0 1700000000000 seq -1 "k0"="v0"`),
	},
	{
		"text that looks like a dump, one header twice (D14)", `
		0000000000000000 0000007a 00000000 02 be503564 0000 00000000
		0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff 00000001
		8e01 00 00 00 01
		4a 54686973206973206120746573740a7061796c6f61643a2078207c206f66667365743a2039
		04 16 6d792c6865616465723a31 04 00ff 16 6d792c6865616465723a31 01`,
		text("0..0 count 1 epoch 0 producer -1/-1/-1..-1 none CreateTime 1700000000000",
			`0 1700000000000 seq -1 null="This is a test\npayload: x | offset: 9" "my,header:1":"\x00\xff" "my,header:1":null`),
	},
	{
		"data of a transaction", `
		0000000000000000 00000043 00000000 02 26f4963f 0010 00000001
		0000018bcfe56800 0000018bcfe56801 00000000000003e8 0000 00000000 00000002
		10 00 00 00 02 61 02 31 00  10 00 02 02 02 62 02 32 00`,
		text("0..1 count 2 epoch 0 producer 1000/0/0..1 none CreateTime 1700000000001 transactional",
			`0 1700000000000 seq 0 "a"="1"`, `1 1700000000001 seq 1 "b"="2"`),
	},
}

// packedRows is what all compressed vectors hold.
func packedRows(codec string) string {
	return text("100..102 count 3 epoch 4 producer -1/-1/-1..-1 "+codec+" CreateTime 1700000000005",
		`100 1700000000000 seq -1 "k"="v1"`, `101 1700000000005 seq -1 null="v2"`, `102 1700000000003 seq -1 "k"=null`)
}

func TestV2Vectors(t *testing.T) {
	for _, v := range v2Vectors {
		t.Run(v.name, func(t *testing.T) {
			raw := hexBytes(t, v.hex)
			if d := cmp.Diff(v.want, show(t, raw)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if b, ok := Good(raw); !ok || b.Format() != V2 || !bytes.Equal(b.Raw(), raw) {
				t.Error("not taken for a good frame")
			}
			if !Plausible(raw) {
				t.Error("not plausible")
			}
		})
	}
}

// What is read of a vector and written again gives the same bytes, but for what the
// compressors of other languages do differently.
func TestV2Rebuild(t *testing.T) {
	for _, v := range v2Vectors {
		t.Run(v.name, func(t *testing.T) {
			raw := hexBytes(t, v.hex)
			b, _ := Parse(raw)
			again := rebuild(t, &b)
			if b.Codec() == compress.None && b.Count() > 0 && !bytes.Equal(raw, again) {
				t.Errorf("got %x, want %x", again, raw)
			}
			if d := cmp.Diff(v.want, show(t, again)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func rebuild(t *testing.T, b *Batch) []byte {
	t.Helper()
	w := NewBuilder()
	w.Reset(b.Meta())
	if b.Count() == 0 {
		return w.BuildEmpty(nil, b.MaxTimestamp())
	}
	r := NewReader()
	for r.Reset(b); r.Next(); {
		// With LogAppendTime the records' own times are gone; the first vector has them.
		rec := *r.Record()
		if b.TimestampType() == LogAppendTime {
			rec.Timestamp = b.BaseTimestamp() + []int64{0, 5, 3}[w.Len()]
		}
		w.Append(&rec)
	}
	raw, err := w.Build(nil)
	if err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	return raw
}

// An emptied batch keeps its offsets, its producer and its largest timestamp.
func TestBuildEmpty(t *testing.T) {
	m := NoProducer()
	m.BaseOffset, m.LastOffset, m.LeaderEpoch = 7, 9, 2
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = 9, 1, 5
	m.Codec, m.HasDeleteHorizon = compress.Zstd, true // neither is kept
	b := NewBuilder()
	b.Reset(m)
	want := hexBytes(t, v2Vectors[7].hex)
	if got := b.BuildEmpty(nil, 1700000000000); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// With a delete horizon (KIP-534) the deltas count from it, and the times stay.
func TestDeleteHorizon(t *testing.T) {
	m := NoProducer()
	m.HasDeleteHorizon, m.DeleteHorizon = true, 1700000090000
	w := NewBuilder()
	w.Reset(m)
	w.Append(&Record{Offset: 0, Timestamp: 1700000000000, Key: []byte("k")})
	raw, err := w.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := text("0..0 count 1 epoch -1 producer -1/-1/-1..-1 none CreateTime 1700000000000", `0 1700000000000 seq -1 "k"=null`)
	if d := cmp.Diff(want, show(t, raw)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	b, _ := Parse(raw)
	if horizon, ok := b.DeleteHorizon(); !ok || horizon != 1700000090000 {
		t.Errorf("delete horizon %d, %t", horizon, ok)
	}
	b, _ = Parse(hexBytes(t, v2Vectors[0].hex))
	if horizon, ok := b.DeleteHorizon(); ok {
		t.Errorf("delete horizon %d where there is none", horizon)
	}
}

// A compacted batch: sparse offsets, and a last offset beyond the last record.
func TestSparseOffsets(t *testing.T) {
	m := NoProducer()
	m.BaseOffset, m.LastOffset = 100, 120
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = 1, 0, 2147483640
	w := NewBuilder()
	w.Reset(m)
	for _, o := range []int64{103, 107, 108, 111} {
		w.Append(&Record{Offset: o, Timestamp: 5})
	}
	raw, err := w.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := text("100..120 count 4 epoch -1 producer 1/0/2147483640..12 none CreateTime 5",
		"103 5 seq 2147483643 null=null", "107 5 seq 2147483647 null=null",
		"108 5 seq 0 null=null", // sequences begin anew behind the largest
		"111 5 seq 3 null=null")
	if d := cmp.Diff(want, show(t, raw)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestAddSequence(t *testing.T) {
	for _, c := range []struct{ sequence, delta, want int32 }{
		{0, 0, 0}, {5, 7, 12}, {2147483647, 0, 2147483647}, {2147483647, 1, 0}, {2147483640, 10, 2}, {-1, 7, -1},
	} {
		if got := AddSequence(c.sequence, c.delta); got != c.want {
			t.Errorf("%d + %d: got %d, want %d", c.sequence, c.delta, got, c.want)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		meta    func(*Meta)
		offsets []int64
		want    string
	}{
		{"nothing", func(*Meta) {}, nil, "a batch without records"},
		{"an offset below the base", func(m *Meta) { m.BaseOffset = 5 }, []int64{4}, "record offset 4 after 4"},
		{"an offset twice", func(*Meta) {}, []int64{0, 1, 1, 2}, "record offset 1 after 1"},
		{"an offset too far", func(*Meta) {}, []int64{0, 1 << 31}, "record offset 2147483648 is too far from base offset 0"},
		{"a last offset too far", func(m *Meta) { m.LastOffset = 1 << 31 }, []int64{0}, "last offset 2147483648 is too far from base offset 0"},
		{"a producer epoch of MKB1", func(m *Meta) { m.ProducerEpoch = 40000 }, []int64{0}, "producer epoch 40000 does not fit 16 bits"},
		{"a codec that is none", func(m *Meta) { m.Codec = 7 }, []int64{0}, "unknown compression type id 7"},
	} {
		m := NoProducer()
		c.meta(&m)
		w := NewBuilder()
		w.Reset(m)
		for _, o := range c.offsets {
			w.Append(&Record{Offset: o})
		}
		before := []byte("before")
		got, err := w.Build(before)
		if err == nil || err.Error() != c.want || string(got) != "before" {
			t.Errorf("%s: %v, %q", c.name, err, got)
		}
	}
}

// Size is what the frame takes uncompressed, and SizeWith what it would take with one more.
func TestBuilderSize(t *testing.T) {
	w := NewBuilder()
	w.Reset(NoProducer())
	if w.Size() != HeaderSize {
		t.Errorf("empty: %d bytes", w.Size())
	}
	for i := range int64(200) {
		r := Record{
			Offset: i * i, Timestamp: i * 1000, Key: bytes.Repeat([]byte("k"), int(i)),
			Headers: []Header{{Key: []byte("h")}, {Key: []byte{}, Value: bytes.Repeat([]byte("v"), int(i))}},
		}
		want, bound := w.SizeWith(&r), w.Size()+RecordSize(&r)
		w.Append(&r)
		raw, err := w.Build(nil)
		if err != nil || w.Size() != want || len(raw) != want || want > bound {
			t.Fatalf("record %d: size %d, frame %d, foretold %d, at most %d: %v", i, w.Size(), len(raw), want, bound, err)
		}
	}
}

func TestPatches(t *testing.T) {
	raw := hexBytes(t, v2Vectors[0].hex)
	SetBaseOffset(raw, 1<<40)
	SetLeaderEpoch(raw, 77)
	want := text("1099511627776..1099511627778 count 3 epoch 77 producer -1/-1/-1..-1 none CreateTime 1700000000005",
		`1099511627776 1700000000000 seq -1 "k"="v1"`, `1099511627777 1700000000005 seq -1 null="v2"`, `1099511627778 1700000000003 seq -1 "k"=null`)
	if d := cmp.Diff(want, show(t, raw)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	raw[len(raw)-1]++ // a header count that is wrong
	if b, _ := Parse(raw); b.CRCValid() {
		t.Fatal("the checksum does not cover the records")
	}
	Seal(raw)
	if b, _ := Parse(raw); !b.CRCValid() {
		t.Error("the checksum is not right after Seal")
	}
}

// damage is what a Reader says of a frame: kind, position and detail.
func damage(t *testing.T, raw []byte) string {
	t.Helper()
	b, bad := Parse(raw)
	if bad == nil {
		r := NewReader()
		for r.Reset(&b); r.Next(); {
		}
		if !errors.As(r.Err(), &bad) {
			return "none"
		}
	}
	return fmt.Sprintf("%s at %d size %d: %s", bad.Kind, bad.Pos, bad.Size, bad.Detail)
}

// Records that do not parse, under a checksum that is right. The first record of the frame
// takes bytes 61 to 70, the second 71 to 79, the third 80 to 87.
func TestBrokenRecords(t *testing.T) {
	frame := hexBytes(t, v2Vectors[0].hex)
	for _, c := range []struct {
		name string
		pos  int
		to   string
		want string
	}{
		{"record length too long", 80, "10", "bad-records at 80 size 8: record length 8, have 7 bytes"},
		{"record length too short", 61, "10", "bad-records at 61 size 9: record 0 of 9 bytes does not parse"},
		{"record length negative", 61, "01", "bad-records at 61 size 27: record length -1, have 26 bytes"},
		{"record length endless", 61, "ffffffffffff", "bad-records at 61 size 27: record length 0, have 0 bytes"},
		{"key too long", 65, "12", "bad-records at 61 size 10: record 0 of 10 bytes does not parse"},
		{"value too long", 67, "7e", "bad-records at 61 size 10: record 0 of 10 bytes does not parse"},
		{"headers that are not there", 70, "02", "bad-records at 61 size 10: record 0 of 10 bytes does not parse"},
		{"negative number of headers", 70, "01", "bad-records at 61 size 10: record 0 of 10 bytes does not parse"},
		{"offset delta that falls", 74, "00", "bad-records at 71 size 9: offset delta 0 after 0, last offset delta of the batch 2"},
		{"offset delta beyond the last", 83, "06", "bad-records at 80 size 8: offset delta 3 after 1, last offset delta of the batch 2"},
		{"fewer records than there are", 60, "02", "bad-records at 80 size 8: 8 bytes behind the last of 2 records"},
		{"more records than there are", 60, "04", "bad-records at 88 size 0: record length 0, have 0 bytes"},
		{"negative count", 57, "ffffffff", "bad-records at 0 size 88: recordsCount -1"},
		{"negative last offset delta", 23, "ffffffff", "bad-records at 0 size 88: lastOffsetDelta -1"},
		{"a codec that is none", 22, "07", "bad-records at 61 size 27: unknown compression type id 7"},
		{"not compressed as it says", 22, "01", "bad-records at 71 size 17: gzip: invalid header"},
	} {
		raw := bytes.Clone(frame)
		copy(raw[c.pos:], hexBytes(t, c.to))
		Seal(raw)
		if got := damage(t, raw); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// In a compressed batch the position is that of the compressed bytes, and the detail tells
// the place inside.
func TestBrokenCompressedRecords(t *testing.T) {
	plain := hexBytes(t, v2Vectors[0].hex)
	records := bytes.Clone(plain[posRecords:])
	records[len(records)-1] = 1 // the third has -1 headers
	packed, err := compress.NewEncoder().Encode(bytes.Clone(plain[:posRecords]), records, compress.Gzip)
	if err != nil {
		t.Fatal(err)
	}
	packed[22] = byte(compress.Gzip)
	packed[11] = byte(len(packed) - sizedFrom)
	Seal(packed)
	want := fmt.Sprintf("bad-records at 61 size %d: record 2 of 8 bytes does not parse at byte 19 of the decompressed records", len(packed)-61)
	if got := damage(t, packed); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReaderLimit(t *testing.T) {
	m := NoProducer()
	m.Codec = compress.Zstd
	w := NewBuilder()
	w.Reset(m)
	w.Append(&Record{Value: make([]byte, 1<<20)})
	raw, err := w.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Parse(raw)
	r := NewReader()
	for _, c := range []struct {
		limit int
		ok    bool
	}{{1 << 20, false}, {2 << 20, true}, {0, true}} {
		r.Limit = c.limit
		r.Reset(&b)
		if r.Next() != c.ok || (r.Err() == nil) != c.ok {
			t.Errorf("limit %d: %v", c.limit, r.Err())
		}
	}
}

// A record with more headers than the limit has room for is refused before they are made.
func TestReaderLimitsHeaders(t *testing.T) {
	w := NewBuilder()
	w.Reset(NoProducer())
	w.Append(&Record{Headers: make([]Header, 1000)})
	raw, err := w.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Parse(raw)
	r := NewReader()
	r.Limit = 1000
	if r.Reset(&b); r.Next() || r.Err() == nil {
		t.Error("read all the same")
	}
}

func TestReaderDoesNotAllocate(t *testing.T) {
	fixtures.WithoutRace(t)
	for _, codec := range []compress.Codec{compress.None, compress.Snappy, compress.LZ4, compress.Zstd} {
		m := NoProducer()
		m.Codec = codec
		w := NewBuilder()
		w.Reset(m)
		for i := range int64(100) {
			w.Append(&Record{Offset: i, Key: []byte("key"), Value: []byte("value"), Headers: []Header{{Key: []byte("h")}}})
		}
		raw, err := w.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Parse(raw)
		r := NewReader()
		read := func() {
			n := 0
			for r.Reset(&b); r.Next(); {
				n++
			}
			if n != 100 || r.Err() != nil {
				t.Fatal(n, r.Err())
			}
		}
		read()
		if n := testing.AllocsPerRun(100, read); n != 0 {
			t.Errorf("%s: %v allocations a batch", codec, n)
		}
	}
}

func TestBuilderDoesNotAllocate(t *testing.T) {
	fixtures.WithoutRace(t)
	w := NewBuilder()
	var frame []byte
	rec := Record{Key: []byte("key"), Value: []byte("value"), Headers: []Header{{Key: []byte("h")}}}
	build := func() {
		w.Reset(NoProducer())
		for i := range int64(100) {
			rec.Offset = i
			w.Append(&rec)
		}
		var err error
		if frame, err = w.Build(frame[:0]); err != nil {
			t.Fatal(err)
		}
	}
	build()
	if n := testing.AllocsPerRun(100, build); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

// FuzzV2: no bytes make parser or reader panic; what reads without damage reads the same
// once written again.
func FuzzV2(f *testing.F) {
	for _, v := range v2Vectors {
		f.Add(hexBytes(f, v.hex))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		Plausible(raw)
		good, ok := Good(raw)
		if ok != (len(good.Raw()) > 0) || ok && (!good.CRCValid() || good.Check() != nil) {
			t.Fatalf("good %t, but %x", ok, good.Raw())
		}
		b, bad := Parse(raw)
		if bad != nil || b.Format() != V2 {
			return
		}
		r := NewReader()
		r.Limit = 1 << 20
		w := NewBuilder()
		w.Reset(b.Meta())
		var first strings.Builder
		for r.Reset(&b); r.Next(); {
			w.Append(r.Record())
			showRecord(&first, r.Record())
		}
		if r.Err() != nil || b.Count() == 0 || b.TimestampType() == LogAppendTime {
			return
		}
		again, err := w.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		second := show(t, again)
		if _, records, _ := strings.Cut(second, "\n"); records != first.String() {
			t.Errorf("first\n%ssecond\n%s", first.String(), records)
		}
	})
}
