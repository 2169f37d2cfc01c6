package segment_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"logdir/store/compress"
	"logdir/store/record"
	"logdir/store/segment"
)

// This file is about lengths that claim more than their batch: the frames behind are then
// inside of it. And about batches that really are inside of others, as values of records.

// swallower writes a random log, and damages some of its batches by their length.
type swallower struct {
	*rapid.T
	nested bool // records hold batches whose offsets would fit into the log
	log    []byte
	next   int64 // log end offset
	whole  []written
	hurt   []written
}

// written is a batch that stands in the log.
type written struct {
	pos, size int
	// holds says that records hold whole batches.
	holds bool
	how   string
}

// value is what a record holds: text, or some batches of a log.
func (w *swallower) value() (value []byte, holds bool) {
	if rapid.IntRange(0, 3).Draw(w.T, "holds batches") > 0 {
		return []byte(strings.Repeat("x", rapid.IntRange(0, 150).Draw(w.T, "text"))), false
	}
	from := int64(0) // of another log, or an early part of this one
	if w.nested {
		from = w.next + []int64{-3, 0, 1, 1000}[rapid.IntRange(0, 3).Draw(w.T, "from")]
	}
	var inner []byte
	for i := range int64(rapid.IntRange(1, 3).Draw(w.T, "batches")) {
		inner = append(inner, w.build(max(0, from)+i, compress.None, []byte("inner"), nil)...)
	}
	return inner, true
}

func (w *swallower) build(base int64, codec compress.Codec, values ...[]byte) []byte {
	m := record.NoProducer()
	m.BaseOffset, m.Codec = base, codec
	b := record.NewBuilder()
	b.Reset(m)
	for i, v := range values {
		b.Append(&record.Record{Offset: base + int64(i), Timestamp: 1700000000000, Value: v})
	}
	raw, err := b.Build(nil)
	if err != nil {
		w.Fatal(err)
	}
	return raw
}

// batch makes the next batch, without adding it to the log.
func (w *swallower) batch() (raw []byte, holds bool) {
	var values [][]byte
	for range rapid.IntRange(1, 3).Draw(w.T, "records") {
		v, h := w.value()
		values, holds = append(values, v), holds || h
	}
	codec := compress.None
	if !holds && rapid.IntRange(0, 4).Draw(w.T, "compressed") == 0 {
		codec = compress.Snappy
	}
	return w.build(w.next, codec, values...), holds
}

func (w *swallower) add(raw []byte, holds bool, how string) {
	at := written{len(w.log), len(raw), holds, how}
	w.log = append(w.log, raw...)
	if how == "" {
		w.whole = append(w.whole, at)
	} else {
		w.hurt = append(w.hurt, at)
	}
}

// write adds n batches, one of them torn perhaps: the next begins where it began.
func (w *swallower) write(n int, gaps bool) {
	torn := false
	for range n {
		if gaps && !torn {
			w.next += int64(rapid.IntRange(0, 2).Draw(w.T, "gap"))
		}
		raw, holds := w.batch()
		if torn = !w.nested && len(w.hurt) == 0 && rapid.IntRange(0, 6).Draw(w.T, "torn") == 0; torn {
			have := rapid.IntRange(12, len(raw)-1).Draw(w.T, "have")
			for raw[have] == 0 { // or the zeros with which the next begins make it whole
				have--
			}
			w.add(raw[:have], holds, "torn")
			continue
		}
		w.add(raw, holds, "")
		b, _ := record.Parse(raw)
		w.next = b.NextOffset()
	}
}

// damage changes the length of a batch.
func (w *swallower) damage() {
	if len(w.whole) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.whole)-1).Draw(w.T, "victim")
	v := w.whole[i]
	var end int
	switch rapid.IntRange(0, 4).Draw(w.T, "end") {
	case 0: // a batch behind
		end = w.whole[rapid.IntRange(i, len(w.whole)-1).Draw(w.T, "end of")].end()
	case 1:
		end = len(w.log)
	case 2:
		end = rapid.IntRange(v.pos+61, len(w.log)).Draw(w.T, "inside")
	case 3:
		end = len(w.log) + rapid.IntRange(1, 1000).Draw(w.T, "beyond")
	case 4:
		end = v.end()
	}
	v.how = fmt.Sprintf("ends at %d", end)
	binary.BigEndian.PutUint32(w.log[v.pos+8:], uint32(end-v.pos-12))
	if end == v.end() || rapid.Bool().Draw(w.T, "flip") {
		at := rapid.IntRange(v.pos+21, v.end()-1).Draw(w.T, "flipped")
		if w.nested {
			at = rapid.SampledFrom([]int{v.pos + 17, v.pos + 26, v.pos + 60, v.end() - 1}).Draw(w.T, "flipped") // no length of a record
		}
		w.log[at] ^= 1 << rapid.IntRange(0, 7).Draw(w.T, "bit")
		v.how += fmt.Sprintf(", flipped at %d", at)
	}
	w.whole = append(w.whole[:i:i], w.whole[i+1:]...)
	w.hurt = append(w.hurt, v)
}

func (v written) end() int { return v.pos + v.size }

// coincides says whether the torn batch, had it been written to its end, would end just
// where the file does: then it is as good an explanation as the batches behind it.
func (w *swallower) coincides() bool {
	for _, v := range w.hurt {
		if v.how == "torn" && v.pos+12+int(binary.BigEndian.Uint32(w.log[v.pos+8:])) == len(w.log) {
			return true
		}
	}
	return false
}

// Whatever the length of a batch claims, no other is lost with it. And no batch is made of
// the value of a record, even one that would fit into the log, if that is all the damage.
func TestScanFindsWhatALengthSwallows(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		w := &swallower{T: t, nested: rapid.Bool().Draw(t, "nested"), next: 100}
		w.write(rapid.IntRange(2, 7).Draw(t, "batches"), rapid.Bool().Draw(t, "gaps"))
		w.damage()
		if !w.nested && len(w.hurt) < 2 && rapid.Bool().Draw(t, "more") {
			w.damage()
		}
		if w.coincides() {
			t.SkipNow()
		}
		o := segment.Options{Base: 100}
		s := segment.NewScanner(bytes.NewReader(w.log), int64(len(w.log)), o)
		good := map[int]bool{}
		for s.Next() {
			if s.Damage() == nil {
				good[int(s.Pos())] = true
			}
		}
		for _, v := range w.whole {
			if !good[v.pos] {
				t.Fatalf("the batch at %d is lost\nwhole %+v\nhurt %+v\n%x\n%s", v.pos, w.whole, w.hurt, w.log, scan(tb, w.log, o))
			}
		}
		if w.nested && len(good) > len(w.whole) {
			t.Fatalf("a value is read as batches\nwhole %+v\nhurt %+v\n%x\n%s", w.whole, w.hurt, w.log, scan(tb, w.log, o))
		}
	})
}

func TestScanSwallowed(t *testing.T) {
	f := fixtureF(t)
	two := put(f, 6*batchSize+68, "77") // batch 6 has a wrong checksum
	other := string(join(appendBatch(t, nil, 5, 0), appendBatch(t, nil, 6, 0)))
	holds := appendBatchOf(t, nil, 10, 0, other)                                                            // of another log
	same := appendBatchOf(t, nil, 0, 0, string(join(appendBatch(t, nil, 1, 0), appendBatch(t, nil, 2, 0)))) // fits
	torn := appendBatchOf(t, nil, 10, 0, strings.Repeat("x", 200))[:100]
	tornEarly := torn[:30]
	ten := appendBatch(t, nil, 10, 0)
	runScanCases(t, []scanCase{
		{"the rest exactly, payload hurt, one of them hurt", put(put(two, 296, "000001a4"), 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 next 5 at 360: length 420 (no batch)",
			"good 5..5 at 360",
			"bad-crc at 432 size 72 offsets 6..6 next 7 at 504: stored f080e023 computed 0745934b",
			"good 7..9 at 504")},
		{"up to another exactly, payload hurt, one of them hurt", put(put(two, 296, "00000114"), 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 next 5 at 360: length 276 (no batch)",
			"good 5..5 at 360",
			"bad-crc at 432 size 72 offsets 6..6 next 7 at 504: stored f080e023 computed 0745934b",
			"good 7..9 at 504")},
		{"a length, in front of what it holds", join(put(same, 8, "7fffffff"), batch(f, 1)), segment.Options{}, lines(
			"bad-length at 0 size 216 offsets 0..0 next 1 at 216: length 2147483647, but 204 makes the stored checksum match",
			"good 1..1 at 216")},
		{"a length and the payload, in front of what it holds", join(put(put(same, 8, "7fffffff"), 66, "77"), batch(f, 1)), segment.Options{}, lines(
			"bad-length at 0 size 216 next 1 at 216: length 2147483647 (no batch)",
			"good 1..1 at 216")},
		{"torn, and the log goes on", join(f, torn, ten, appendBatch(t, nil, 11, 0)), segment.Options{}, lines(
			"good 0..9 at 0",
			"bad-length at 720 size 100 next 10 at 820: length 261 (no batch)",
			"good 10..11 at 820")},
		{"torn, and the log goes on with damage", join(f, torn, ten, put(appendBatch(t, nil, 11, 0), 70, "77"), appendBatch(t, nil, 12, 0)), segment.Options{}, lines(
			"good 0..9 at 0",
			"bad-length at 720 size 100 next 10 at 820: length 261 (no batch)",
			"good 10..10 at 820",
			"bad-crc at 894 size 74 offsets 11..11 next 12 at 968: stored 1b9ce88f computed c6d94237",
			"good 12..12 at 968")},
		{"torn in what it holds", join(f, holds[:200]), segment.Options{}, lines(
			"good 0..9 at 0",
			"torn at 720 size 200 offsets 10..10: have 200 of 217 bytes (no batch)")},
		// What follows may be older bytes of the file, or a batch with a wrong offset. Only the
		// first goes with a torn tail.
		{"torn, then second copies", join(f, tornEarly, f[144:360]), segment.Options{}, lines(
			"good 0..9 at 0",
			"torn at 720 size 30 offsets 10..-1: have 30 of 273 bytes (no batch)",
			"stale at 750 size 216 offsets 2..4: 3 batches with offsets already used, log end is 10 (no batch)")},
		{"torn, then a batch in the wrong place", join(f, tornEarly, appendBatchOf(t, nil, 3, 0, "else")), segment.Options{}, lines(
			"good 0..9 at 0",
			"torn at 720 size 30 offsets 10..-1: have 30 of 273 bytes (no batch)",
			"bad-offset at 750 size 74 offsets 3..3: base offset 3 goes back, log end is 10")},
		{"garbage, then a batch in the wrong place", join(f, []byte(strings.Repeat("?", 40)), appendBatchOf(t, nil, 3, 0, "else")), segment.Options{}, lines(
			"good 0..9 at 0",
			"bad-magic at 720 size 40: magic 63 (no batch)",
			"bad-offset at 760 size 74 offsets 3..3: base offset 3 goes back, log end is 10")},
	})
}

// In the records of MKB1 frames no frames of Kafka's are looked for, since no log has both.
func TestScanMKB1HoldsBatches(t *testing.T) {
	m := record.NoProducer()
	m.Format = record.MKB1
	var frames [][]byte
	for i := range int64(3) {
		m.BaseOffset = i
		b := record.NewBuilder()
		b.Reset(m)
		b.Append(&record.Record{Offset: i, Value: appendBatch(t, nil, i+5, 0)})
		raw, err := b.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, raw)
	}
	first, second := put(frames[0], 60, "ff"), put(frames[1], 4, "00ffffff")
	size := len(frames[0])
	runScanCases(t, []scanCase{
		{"the first is damaged", join(first, frames[1]), segment.Options{}, lines(
			fmt.Sprintf("bad-crc at 0 size %d offsets 0..0 next 1 at %d: stored 261e9ab3 computed e022c2d5", size, size),
			fmt.Sprintf("good 1..1 at %d", size))},
		{"a length, and the payload", join(frames[0], put(second, 60, "ff"), frames[2]), segment.Options{}, lines(
			"good 0..0 at 0",
			fmt.Sprintf("bad-length at %d size %d next 2 at %d: length 16777215 (no batch)", size, size, 2*size),
			fmt.Sprintf("good 2..2 at %d", 2*size))},
	})
}

// Hundreds of batches whose length claims megabytes, and whose payload is hurt as well, cost no
// other batch: not even because too much was spent on what they claim.
func TestScanManyLongClaims(t *testing.T) {
	const n, every = 20_000, 50
	for i := range 4 {
		codec, more := []compress.Codec{compress.None, compress.Gzip}[i%2], []byte{8, 9}[i/2]
		one := compressed(t, codec)
		log := bytes.Repeat(one, n)
		for i := range n {
			b := log[i*len(one):]
			binary.BigEndian.PutUint64(b, uint64(i))
			if i%every == 7 {
				b[more], b[100] = 8, 'y' // 128 MiB more, or 512 KiB
			}
		}
		start := time.Now()
		s := segment.NewScanner(bytes.NewReader(log), int64(len(log)), segment.Options{})
		good := 0
		for s.Next() {
			if s.Damage() == nil {
				good++
			}
		}
		if want := n - n/every; good != want {
			t.Errorf("%s: %d good batches, want %d", codec, good, want)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: took %v", codec, d)
		}
	}
}

// compressed is a batch of about 1000 bytes, which no codec makes much smaller.
func compressed(t *testing.T, codec compress.Codec) []byte {
	value := make([]byte, 900)
	rand.NewChaCha8([32]byte{}).Read(value)
	m := record.NoProducer()
	m.LeaderEpoch, m.Codec = 0, codec
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{Value: value})
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
