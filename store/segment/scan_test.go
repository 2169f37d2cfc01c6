package segment_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/segment"
)

// scanCase is one damaged file and what a scan must say about it, in the lines of scan.
type scanCase struct {
	name string
	file []byte
	o    segment.Options
	want string
}

func runScanCases(t *testing.T, cases []scanCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, scan(t, c.file, c.o)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			requireTiles(t, c.file, c.o)
		})
	}
}

// tiles is used for one file after the other, so that whatever Reset forgets to reset shows.
var tiles segment.Scanner

// requireTiles: what a scan yields covers the file without gap or overlap, damage lies
// where it says, and a good frame has the right checksum.
func requireTiles(t testing.TB, f []byte, o segment.Options) {
	t.Helper()
	s := &tiles
	s.Reset(bytes.NewReader(f), int64(len(f)), o)
	end := int64(0)
	for s.Next() {
		if s.Pos() != end || s.Size() <= 0 {
			t.Fatalf("range of %d bytes at %d, but the one before ends at %d", s.Size(), s.Pos(), end)
		}
		end += s.Size()
		d, b := s.Damage(), s.Batch()
		switch {
		case d == nil && (!o.SkipCRC && !b.CRCValid() || int64(b.Size()) != s.Size()):
			t.Fatalf("good frame at %d of %d bytes, checksum valid: %t", s.Pos(), b.Size(), b.CRCValid())
		case d != nil && d.Kind != "bad-records" && (d.Pos != s.Pos() || d.Size != s.Size()):
			t.Fatalf("range %d..%d, damage %d..%d", s.Pos(), end, d.Pos, d.Pos+d.Size)
		}
	}
	if s.Err() != nil || end != int64(len(f)) || s.Pos() != end {
		t.Fatalf("scan ended at %d, Pos %d, of %d bytes: %v", end, s.Pos(), len(f), s.Err())
	}
}

func TestScanWithoutDamage(t *testing.T) {
	f := fixtureF(t)
	rising := join(batch(f, 0), inEpoch(batch(f, 1), 7), inEpoch(batch(f, 2), 7))
	runScanCases(t, []scanCase{
		{"F", f, segment.Options{}, lines("good 0..9 at 0")},
		{"deep", f, segment.Options{Deep: true}, lines("good 0..9 at 0")},
		{"empty file", nil, segment.Options{Base: 2076}, ""},
		{"D2c: cut at the end of a batch", cut(f, 648), segment.Options{}, lines("good 0..8 at 0")},
		{"D8: gaps of compaction", join(batch(f, 0), batch(f, 5), batch(f, 9)), segment.Options{}, lines("good 0..9 at 0")},
		{"D9: emptied batch", join(emptied(t, 0, 4), f[360:432]), segment.Options{Deep: true}, lines("good 0..5 at 0")},
		{"epoch rises", rising, segment.Options{}, lines("good 0..2 at 0")},
		{"epoch rises with the last batch", rising[:144], segment.Options{}, lines("good 0..1 at 0")},
		{"no epochs at all", join(inEpoch(batch(f, 0), -1), inEpoch(batch(f, 1), -1)), segment.Options{}, lines("good 0..1 at 0")},
		{"gap before the last batch", join(batch(f, 0), at(batch(f, 1), 1000)), segment.Options{}, lines("good 0..1000 at 0")},
	})
}

func TestScanEndOfFile(t *testing.T) {
	f := fixtureF(t)
	junk := []byte("the quick brown fox jumps over the lazy dog, and then over a second one which is longer")
	lazy := put(join(f, make([]byte, 4096)), 2720, "01")
	runScanCases(t, []scanCase{
		{"D1a: zeros", join(f, make([]byte, 4096)), segment.Options{}, lines(
			"good 0..9 at 0",
			"zeros at 720 size 4096: 4096 zero bytes to the end of the file (no batch)")},
		{"D1c: zeros but for one byte", lazy, segment.Options{}, lines(
			"good 0..9 at 0",
			"garbage at 720 size 4096: no batch in 4096 bytes to the end of the file (no batch)")},
		{"twelve zeros", join(f, make([]byte, 12)), segment.Options{}, lines(
			"good 0..9 at 0",
			"zeros at 720 size 12: 12 zero bytes to the end of the file (no batch)")},
		{"eleven zeros", join(f, make([]byte, 11)), segment.Options{}, lines(
			"good 0..9 at 0",
			"torn at 720 size 11: have 11 bytes, need unknown (no batch)")},
		{"nothing but zeros", make([]byte, 100), segment.Options{Base: 42}, lines(
			"zeros at 0 size 100: 100 zero bytes to the end of the file (no batch)")},
		{"D2a: torn", cut(f, 700), segment.Options{}, lines(
			"good 0..8 at 0",
			"torn at 648 size 52 offsets 9..-1: have 52 of 72 bytes (no batch)")},
		{"D2b: torn in the first field", cut(f, 655), segment.Options{}, lines(
			"good 0..8 at 0",
			"torn at 648 size 7: have 7 bytes, need unknown (no batch)")},
		{"D2d: torn behind the header", cut(f, 712), segment.Options{}, lines(
			"good 0..8 at 0",
			"torn at 648 size 64 offsets 9..9: have 64 of 72 bytes (no batch)")},
		{"torn behind the length", cut(f, 648+13), segment.Options{}, lines(
			"good 0..8 at 0",
			"torn at 648 size 13: have 13 of 72 bytes (no batch)")},
		{"torn, but of an offset that was used", join(f, batch(f, 3)[:50]), segment.Options{}, lines(
			"good 0..9 at 0",
			"garbage at 720 size 50: no batch in 50 bytes to the end of the file (no batch)")},
		{"torn, but of a batch beyond belief", join(cut(f, 648), put(batch(f, 9), 8, "00800000")[:50]), segment.Options{MaxBatch: 1 << 20}, lines(
			"good 0..8 at 0",
			"garbage at 648 size 50: no batch in 50 bytes to the end of the file (no batch)")},
		{"garbage", join(f, junk), segment.Options{}, lines(
			"good 0..9 at 0",
			"garbage at 720 size 87: no batch in 87 bytes to the end of the file (no batch)")},
		{"garbage of sixteen bytes", join(f, junk[:16]), segment.Options{}, lines(
			"good 0..9 at 0",
			"garbage at 720 size 16: 16 bytes not the beginning of a batch (no batch)")},
		{"garbage of one byte", join(f, []byte{0x2e}), segment.Options{}, lines(
			"good 0..9 at 0",
			"garbage at 720 size 1: 1 byte not the beginning of a batch (no batch)")},
		{"nothing but garbage", junk, segment.Options{}, lines(
			"garbage at 0 size 87: no batch in 87 bytes to the end of the file (no batch)")},
		{"last batch with a wrong checksum", put(f, 717, "00"), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-crc at 648 size 72 offsets 9..9: stored 540503b8 computed d337f3e8")},
		{"wrong checksum, then torn", cut(put(f, 645, "77"), 700), segment.Options{}, lines(
			"good 0..7 at 0",
			"bad-crc at 576 size 72 offsets 8..8: stored 4bd6f4a1 computed ee9766df",
			"torn at 648 size 52 offsets 9..-1: have 52 of 72 bytes (no batch)")},
		{"wrong checksum, then zeros", join(put(f, 717, "00"), make([]byte, 100)), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-crc at 648 size 72 offsets 9..9: stored 540503b8 computed d337f3e8",
			"zeros at 720 size 100: 100 zero bytes to the end of the file (no batch)")},
		{"wrong checksum, then garbage", join(put(f, 717, "00"), junk), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-crc at 648 size 72 offsets 9..9: stored 540503b8 computed d337f3e8",
			"garbage at 720 size 87: no batch in 87 bytes to the end of the file (no batch)")},
	})
}

func TestScanStale(t *testing.T) {
	f := fixtureF(t)
	newer := join(inEpoch(batch(f, 0), 3), inEpoch(batch(f, 1), 3), inEpoch(batch(f, 2), 3))
	runScanCases(t, []scanCase{
		{"second copies", join(f, f[144:360]), segment.Options{}, lines(
			"good 0..9 at 0",
			"stale at 720 size 216 offsets 2..4: 3 batches with offsets already used, log end is 10 (no batch)")},
		{"second copies out of order", join(f, batch(f, 4), batch(f, 2)), segment.Options{}, lines(
			"good 0..9 at 0",
			"stale at 720 size 144 offsets 2..4: 2 batches with offsets already used, log end is 10 (no batch)")},
		{"second copies, then zeros", join(f, batch(f, 2), make([]byte, 100)), segment.Options{}, lines(
			"good 0..9 at 0",
			"stale at 720 size 72 offsets 2..2: 1 batch with offsets already used, log end is 10 (no batch)",
			"zeros at 792 size 100: 100 zero bytes to the end of the file (no batch)")},
		{"second copies, then a torn one", join(f, batch(f, 2), appendBatch(t, nil, 10, 0)[:40]), segment.Options{}, lines(
			"good 0..9 at 0",
			"stale at 720 size 72 offsets 2..2: 1 batch with offsets already used, log end is 10 (no batch)",
			"torn at 792 size 40 offsets 10..-1: have 40 of 74 bytes (no batch)")},
		{"of an older leader", join(newer, inEpoch(appendBatchOf(t, nil, 1, 0, "else"), 2)), segment.Options{}, lines(
			"good 0..2 at 0",
			"stale at 216 size 74 offsets 1..1: 1 batch with offsets already used, log end is 3 (no batch)")},
		{"of an older leader, but in a gap", join(newer[:72], newer[144:], inEpoch(batch(f, 3), 3), inEpoch(appendBatchOf(t, nil, 1, 0, "else"), 2)), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 216 size 74 offsets 1..1: base offset 1 goes back, log end is 4")},
		// The same leader wrote it, and it is nowhere else: it may be a good batch with a
		// damaged offset, and must not be cut as a copy.
		{"of the same leader, but no copy", join(f, appendBatchOf(t, nil, 3, 0, "else")), segment.Options{}, lines(
			"good 0..9 at 0",
			"bad-offset at 720 size 74 offsets 3..3: base offset 3 goes back, log end is 10")},
		{"a copy in the middle is no tail", join(f[:360], f[288:]), segment.Options{}, lines(
			"good 0..4 at 0",
			"bad-offset at 360 size 72 offsets 4..4 next 5 at 432: base offset 4 goes back, log end is 5",
			"good 5..9 at 432")},
	})
}

func TestScanLength(t *testing.T) {
	f := fixtureF(t)
	proved := func(length string) string {
		return lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 offsets 4..4 next 5 at 360: length "+length+", but 60 makes the stored checksum match",
			"good 5..9 at 360")
	}
	provedLast := func(length string) string {
		return lines(
			"good 0..8 at 0",
			"bad-length at 648 size 72 offsets 9..9: length "+length+", but 60 makes the stored checksum match")
	}
	cases := []scanCase{
		{"first batch", put(f, 8, "7fffffff"), segment.Options{}, lines(
			"bad-length at 0 size 72 offsets 0..0 next 1 at 72: length 2147483647, but 60 makes the stored checksum match",
			"good 1..9 at 72")},
		{"swallows two batches exactly, payload hurt too", put(put(f, 296, "000000cc"), 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 next 5 at 360: length 204 (no batch)",
			"good 5..9 at 360")},
		{"swallows the rest exactly, payload hurt too", put(put(f, 296, "000001a4"), 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 next 5 at 360: length 420 (no batch)",
			"good 5..9 at 360")},
		{"the next batch is torn", cut(put(f, 584, "00ffffff"), 700), segment.Options{}, lines(
			"good 0..7 at 0",
			"bad-length at 576 size 72 offsets 8..8: length 16777215, but 60 makes the stored checksum match",
			"torn at 648 size 52 offsets 9..-1: have 52 of 72 bytes (no batch)")},
	}
	for _, l := range []struct{ hex, length string }{
		{"7fffffff", "2147483647"}, // D4
		{"ffffffff", "-1"},         // D4
		{"00000000", "0"},          // D4
		{"00000030", "48"},         // D4: one below the smallest
		{"0000003b", "59"},         // a byte short
		{"0000003d", "61"},         // a byte long
		{"00000084", "132"},        // swallows a batch exactly
		{"0000009c", "156"},        // swallows one and a piece
		{"000001a4", "420"},        // swallows all that follow
	} {
		cases = append(cases,
			scanCase{"D4: " + l.hex, put(f, 296, l.hex), segment.Options{}, proved(l.length)},
			scanCase{"D4 in the last batch: " + l.hex, put(f, 656, l.hex), segment.Options{}, provedLast(l.length)})
	}
	runScanCases(t, cases)
}

func TestScanChecksumAndMagic(t *testing.T) {
	f := fixtureF(t)
	junk := []byte("the quick brown fox jumps over the lazy dog")
	runScanCases(t, []scanCase{
		{"D3: one flipped bit", put(f, 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-crc at 288 size 72 offsets 4..4 next 5 at 360: stored 58ecbc14 computed fdad2e6a",
			"good 5..9 at 360")},
		{"first batch", put(f, 69, "77"), segment.Options{}, lines(
			"bad-crc at 0 size 72 offsets 0..0 next 1 at 72: stored 4017795e computed e556eb20",
			"good 1..9 at 72")},
		{"two in a row", put(put(f, 357, "77"), 429, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-crc at 288 size 72 offsets 4..4 next 6 at 432: stored 58ecbc14 computed fdad2e6a",
			"bad-crc at 360 size 72 offsets 5..5 next 6 at 432: stored 869dc368 computed 23dc5116",
			"good 6..9 at 432")},
		{"three places", put(put(put(f, 69, "77"), 296, "00ffffff"), 500, "aa"), segment.Options{}, lines(
			"bad-crc at 0 size 72 offsets 0..0 next 1 at 72: stored 4017795e computed e556eb20",
			"good 1..3 at 72",
			"bad-length at 288 size 72 offsets 4..4 next 5 at 360: length 16777215, but 60 makes the stored checksum match",
			"good 5..5 at 360",
			"bad-crc at 432 size 72 offsets 6..6 next 7 at 504: stored f080e023 computed 47044c03",
			"good 7..9 at 504")},
		{"a block of zeros over two batches", join(f[:310], make([]byte, 100), f[410:]), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-crc at 288 size 72 offsets 4..4 next 6 at 432: stored 58ecbc14 computed d21feb49",
			"bad-length at 360 size 72 next 6 at 432: length 0 (no batch)",
			"good 6..9 at 432")},
		{"zeros for a batch", join(f[:288], make([]byte, 72), f[360:]), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-length at 288 size 72 next 5 at 360: length 0 (no batch)",
			"good 5..9 at 360")},
		{"garbage between batches", join(f[:288], junk, f[288:]), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-magic at 288 size 43 next 4 at 331: magic 102 (no batch)",
			"good 4..9 at 331")},
		{"magic 3", put(f, 288+16, "03"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-magic at 288 size 72 offsets 4..4 next 5 at 360: magic 3, but 2 makes the stored checksum match",
			"good 5..9 at 360")},
		{"magic 1", put(f, 288+16, "01"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-magic at 288 size 72 offsets 4..4 next 5 at 360: magic 1, but 2 makes the stored checksum match",
			"good 5..9 at 360")},
		{"magic of the last batch", put(f, 648+16, "ff"), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-magic at 648 size 72 offsets 9..9: magic -1, but 2 makes the stored checksum match")},
		{"magic and payload", put(put(f, 288+16, "03"), 357, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-magic at 288 size 72 next 5 at 360: magic 3 (no batch)",
			"good 5..9 at 360")},
		{"checksums are not asked for", put(f, 357, "77"), segment.Options{SkipCRC: true}, lines("good 0..9 at 0")},
	})
}

func TestScanOffsets(t *testing.T) {
	f := fixtureF(t)
	moved := func(i int, offset int64) []byte {
		return join(f[:i*batchSize], at(batch(f, i), offset), f[(i+1)*batchSize:])
	}
	runScanCases(t, []scanCase{
		{"one too high", moved(4, 1004), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 288 size 72 offsets 1004..1004 next 5 at 360: base offset 1004, but the batches behind go on from 4",
			"good 5..9 at 360")},
		{"one too high by one", moved(4, 5), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 288 size 72 offsets 5..5 next 5 at 360: base offset 5, but the batches behind go on from 4",
			"good 5..9 at 360")},
		{"one too low", moved(4, 1), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 288 size 72 offsets 1..1 next 5 at 360: base offset 1 goes back, log end is 4",
			"good 5..9 at 360")},
		{"negative", moved(4, math.MinInt64), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 288 size 72 next 5 at 360: base offset -9223372036854775808 is below the segment's 0",
			"good 5..9 at 360")},
		{"the first too high", moved(0, 1004), segment.Options{}, lines(
			"bad-offset at 0 size 72 offsets 1004..1004 next 1 at 72: base offset 1004, but the batches behind go on from 0",
			"good 1..9 at 72")},
		{"the last but one too high", moved(8, 1004), segment.Options{}, lines(
			"good 0..7 at 0",
			"bad-offset at 576 size 72 offsets 1004..1004 next 9 at 648: base offset 1004, but the batches behind go on from 8",
			"good 9..9 at 648")},
		{"the last too low", moved(9, 4), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-offset at 648 size 72 offsets 4..4: base offset 4 goes back, log end is 9")},
		{"the last reaches into the next segment", moved(9, 1004), segment.Options{Limit: 10}, lines(
			"good 0..8 at 0",
			"bad-offset at 648 size 72 offsets 1004..1004: last offset 1004 reaches into the next segment at 10")},
		{"too far for an index", moved(9, 1<<31), segment.Options{}, lines(
			"good 0..8 at 0",
			"bad-offset at 648 size 72 offsets 2147483648..2147483648: last offset 2147483648 is too far from the segment's base offset 0")},
		{"below the segment", f[:216], segment.Options{Base: 2}, lines(
			"bad-offset at 0 size 72 offsets 0..0 next 2 at 144: base offset 0 is below the segment's 2",
			"bad-offset at 72 size 72 offsets 1..1 next 2 at 144: base offset 1 is below the segment's 2",
			"good 2..2 at 144")},
		{"below the log end of the segment before", f[:144], segment.Options{LogEnd: 1}, lines(
			"bad-offset at 0 size 72 offsets 0..0 next 1 at 72: base offset 0 goes back, log end is 1",
			"good 1..1 at 72")},
		{
			"behind a gap it is the one that falls",
			join(f[:144], at(batch(f, 4), 1000), at(batch(f, 5), 500), at(batch(f, 6), 1002), at(batch(f, 7), 1003)),
			segment.Options{},
			lines(
				"good 0..1000 at 0",
				"bad-offset at 216 size 72 offsets 500..500 next 1002 at 288: base offset 500 goes back, log end is 1001",
				"good 1002..1003 at 288"),
		},
		{"an outlier and a flipped bit behind it", put(moved(4, 1004), 429, "77"), segment.Options{}, lines(
			"good 0..3 at 0",
			"bad-offset at 288 size 72 offsets 1004..1004 next 6 at 432: base offset 1004, but the batches behind go on from 4",
			"bad-crc at 360 size 72 offsets 5..5 next 6 at 432: stored 869dc368 computed 23dc5116",
			"good 6..9 at 432")},
	})
}

func TestScanEpochs(t *testing.T) {
	f := fixtureF(t)
	epochs := func(e ...int32) []byte {
		var out []byte
		for i, epoch := range e {
			out = append(out, inEpoch(batch(f, i), epoch)...)
		}
		return out
	}
	runScanCases(t, []scanCase{
		{"one too high", epochs(0, 0, 7, 0, 0), segment.Options{}, lines(
			"good 0..1 at 0",
			"bad-offset at 144 size 72 offsets 2..2 next 3 at 216: leader epoch 7, but the batches behind have 0",
			"good 3..4 at 216")},
		{"one too low", epochs(7, 7, 1, 7), segment.Options{}, lines(
			"good 0..1 at 0",
			"bad-offset at 144 size 72 offsets 2..2 next 3 at 216: leader epoch 1 falls, was 7",
			"good 3..3 at 216")},
		{"one has none", epochs(3, 3, -1, 3), segment.Options{}, lines(
			"good 0..1 at 0",
			"bad-offset at 144 size 72 offsets 2..2 next 3 at 216: leader epoch -1 falls, was 3",
			"good 3..3 at 216")},
		{"the second too low", epochs(3, 0, 3, 3), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-offset at 72 size 72 offsets 1..1 next 2 at 144: leader epoch 0 falls, was 3",
			"good 2..3 at 144")},
		{"the first too high", epochs(3, 0, 0, 0), segment.Options{}, lines(
			"bad-offset at 0 size 72 offsets 0..0 next 1 at 72: leader epoch 3, but the batches behind have 0",
			"good 1..3 at 72")},
		{"below that of the segment before", epochs(1, 4), segment.Options{Epoch: 3}, lines(
			"bad-offset at 0 size 72 offsets 0..0 next 1 at 72: leader epoch 1 falls, was 3",
			"good 1..1 at 72")},
		{"D12: five batches in epoch 3", epochs(0, 0, 0, 0, 0, 3, 3, 3, 3, 3), segment.Options{}, lines("good 0..9 at 0")},
	})
}

func TestScanRange(t *testing.T) {
	f := fixtureF(t)
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), segment.Options{Start: 144, End: 300})
	var got []int64
	for s.Next() {
		if s.Damage() != nil {
			t.Fatal(s.Damage())
		}
		got = append(got, s.Pos())
	}
	if d := cmp.Diff([]int64{144, 216}, got); d != "" || s.Err() != nil || s.Pos() != 288 {
		t.Fatalf("stopped at %d with %v (-want +got)\n%s", s.Pos(), s.Err(), d)
	}
	if s.NextOffset() != 4 {
		t.Errorf("log end %d, want 4", s.NextOffset())
	}
}

func TestScanStopsAtDamage(t *testing.T) {
	f := put(fixtureF(t), 357, "77")
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), segment.Options{StopAtDamage: true})
	good := 0
	for s.Next() {
		if s.Damage() != nil {
			break
		}
		good++
	}
	if good != 4 || s.Damage() == nil || s.Pos() != 288 || s.NextOffset() != 4 {
		t.Fatalf("%d good frames, then %v at %d, log end %d", good, s.Damage(), s.Pos(), s.NextOffset())
	}
	if s.Next() {
		t.Error("the scan goes on")
	}
}
