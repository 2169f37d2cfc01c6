package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/fixtures"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
)

// Every field of the format broken alone is found as its own kind, where its batch is.
func TestScanFieldDamage(t *testing.T) {
	f := fixtureF(t)
	own := map[string]corrupt.Kind{
		"baseOffset":           corrupt.BadOffset,
		"batchLength":          corrupt.BadLength,
		"partitionLeaderEpoch": corrupt.BadOffset,
		"magic":                corrupt.BadMagic,
	}
	for _, field := range record.Layout {
		kind, unprotected := own[field.Name]
		if !unprotected {
			kind = corrupt.BadCRC
		}
		size := max(field.Size, 1)
		for bit := range 8 * size {
			broken := bytes.Clone(f)
			broken[288+field.Pos+bit/8] ^= 1 << (bit % 8)
			requireOneDamage(t, broken, field.Name, kind)
		}
	}
}

// requireOneDamage wants batch 4 of F damaged with a kind, and all others good.
func requireOneDamage(t *testing.T, f []byte, field string, kind corrupt.Kind) {
	t.Helper()
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), segment.Options{})
	good := 0
	for s.Next() {
		d := s.Damage()
		if d == nil {
			good++
			continue
		}
		want := corrupt.New(kind, 288, batchSize, "")
		if d.Kind != kind || d.Pos != 288 || d.Size != batchSize || d.NextPos != 360 || d.NextOffset != 5 {
			t.Errorf("%s: found %v, next %d at %d, want %v", field, d, d.NextOffset, d.NextPos, want)
		}
		if kind != corrupt.BadCRC && d.Field != field {
			t.Errorf("field %q, want %q", d.Field, field)
		}
	}
	if good != 9 {
		t.Errorf("%s: %d good batches, want 9", field, good)
	}
}

// Whatever one byte of one batch becomes, all other batches stay good.
func TestScanOneByte(t *testing.T) {
	f := fixtureF(t)
	rapid.Check(t, func(t *rapid.T) {
		broken := bytes.Clone(f)
		pos := rapid.IntRange(0, len(f)-1).Draw(t, "pos")
		broken[pos] ^= byte(rapid.IntRange(1, 255).Draw(t, "xor"))
		hurt := pos / batchSize
		s := segment.NewScanner(bytes.NewReader(broken), int64(len(f)), segment.Options{})
		good := map[int64]bool{}
		for s.Next() {
			if s.Damage() == nil {
				good[s.Pos()] = true
			}
		}
		for i := range 10 {
			if i != hurt && !good[int64(i*batchSize)] {
				t.Fatalf("batch %d is not good any more", i)
			}
		}
	})
}

func FuzzScan(f *testing.F) {
	file := fixtureF(f)
	for _, seed := range [][]byte{
		file, cut(file, 700), put(file, 296, "7fffffff"), put(file, 357, "77"), put(file, 304, "01"),
		join(file, make([]byte, 50)), join(file, file[144:360]), join(file[:288], at(batch(file, 4), 1000), file[360:]),
		[]byte("MKB1"), join(file, []byte("MKB1\x00\x00\x00\x4a")),
	} {
		f.Add(seed, int64(0), int64(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, base, limit int64) {
		o := segment.Options{Base: base, Limit: limit, Deep: true, MaxBatch: 1 << 20}
		requireTiles(t, file, o)
		o.SkipCRC, o.Deep = true, false
		requireTiles(t, file, o)
	})
}

// A log larger than the window, with frames of all sizes up to more than it.
func TestScanAcrossWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var f []byte
	var ends []int
	for i := range 60 {
		size := []int{0, 100, 16 << 10, 300 << 10, 1 << 20, 3 << 20}[r.IntN(6)]
		f = appendBatchOf(t, f, int64(i), 0, strings.Repeat("x", size))
		ends = append(ends, len(f))
	}
	if got := scan(t, f, segment.Options{Deep: true}); got != lines("good 0..59 at 0") {
		t.Fatal(got)
	}
	requireTiles(t, f, segment.Options{})
	for i, end := range ends { // the last byte of each batch
		broken := bytes.Clone(f)
		broken[end-1] ^= 1
		s := segment.NewScanner(bytes.NewReader(broken), int64(len(f)), segment.Options{})
		var bad []int64
		good := 0
		for s.Next() {
			if s.Damage() != nil {
				bad = append(bad, s.Damage().BaseOffset, s.Pos()+s.Size())
				continue
			}
			good++
		}
		if d := cmp.Diff([]int64{int64(i), int64(end)}, bad); d != "" || good != 59 {
			t.Fatalf("batch %d: %d good ones (-want +got)\n%s", i, good, d)
		}
	}
}

// A frame beyond the window that is damaged is handed out with its header only.
func TestScanLargeFrameIsNotLoaded(t *testing.T) {
	f := appendBatchOf(t, nil, 0, 0, strings.Repeat("x", 3<<20))
	f[len(f)-10] ^= 1
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), segment.Options{})
	if !s.Next() || s.Damage() == nil || s.Damage().Kind != corrupt.BadCRC {
		t.Fatalf("found %v", s.Damage())
	}
	b := s.Batch()
	if b.Whole() || b.Size() != len(f) || b.Count() != 1 || s.Damage().Records != 1 {
		t.Errorf("whole %t, size %d, count %d", b.Whole(), b.Size(), b.Count())
	}
}

// Batches that are the value of a record are not batches of this log, even where the one
// around them is damaged, or is followed by damage.
func TestScanNestedBatches(t *testing.T) {
	inner := string(join(appendBatch(t, nil, 5, 0), appendBatch(t, nil, 6, 0)))
	outer := appendBatchOf(t, nil, 0, 0, inner)
	large := appendBatchOf(t, nil, 0, 0, inner+strings.Repeat("x", 2<<20))
	next := appendBatch(t, nil, 1, 0)
	broken := put(outer, len(outer)-1, "01")
	runScanCases(t, []scanCase{
		{"good", join(outer, next), segment.Options{}, lines("good 0..1 at 0")},
		{"good, garbage behind", join(large, []byte(strings.Repeat("?", 100))), segment.Options{}, lines(
			"good 0..0 at 0",
			"garbage at 2097372 size 100: no batch in 100 bytes to the end of the file (no batch)")},
		{"damaged", join(broken, next), segment.Options{}, lines(
			"bad-crc at 0 size 216 offsets 0..0 next 1 at 216: stored a1ffc363 computed 53944060",
			"good 1..1 at 216")},
		{"damaged, at the end", broken, segment.Options{}, lines(
			"bad-crc at 0 size 216 offsets 0..0: stored a1ffc363 computed 53944060")},
	})
}

// sparse is a file of a size of which only the first bytes are there; the rest is zeros.
type sparse struct {
	head []byte
	size int64
}

func (s sparse) ReadAt(p []byte, pos int64) (int, error) {
	n := int(min(int64(len(p)), s.size-pos))
	clear(p[:n])
	if pos < int64(len(s.head)) {
		copy(p[:n], s.head[pos:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// D1b: 3 GiB of zeros behind F take a second, and no more memory than anything else.
func TestScanSparseTail(t *testing.T) {
	const size = 3 << 30
	s := segment.NewScanner(sparse{fixtureF(t), size}, size, segment.Options{})
	var found []*corrupt.Error
	for s.Next() {
		if s.Damage() != nil {
			found = append(found, s.Damage())
		}
	}
	if len(found) != 1 || found[0].Kind != corrupt.Zeros || found[0].Pos != 720 || found[0].Size != size-720 {
		t.Fatalf("found %v, %v", found, s.Err())
	}
}

// D1c at that size: one byte in the zeros makes it garbage, and that is no slower.
func TestScanSparseTailWithAByte(t *testing.T) {
	const size = 1 << 30
	s := segment.NewScanner(sparse{put(join(fixtureF(t), make([]byte, 4096)), 2720, "01"), size}, size, segment.Options{})
	var last *corrupt.Error
	for s.Next() {
		last = s.Damage()
	}
	if last == nil || last.Kind != corrupt.Garbage || last.Pos != 720 {
		t.Fatalf("found %v, %v", last, s.Err())
	}
}

// D4 with all of it unreadable as frames: a claim of 2 GiB must not be allocated.
func TestScanAllocatesNoClaim(t *testing.T) {
	f := fixtureF(t)
	binary.BigEndian.PutUint32(f[8:], 1<<31-1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := segment.NewScanner(sparse{f, 4 << 30}, 2<<30+1000, segment.Options{StopAtDamage: true})
	s.Next()
	runtime.ReadMemStats(&after)
	if s.Damage() == nil || s.Damage().Kind != corrupt.BadLength || s.Damage().Size != batchSize {
		t.Errorf("found %v", s.Damage())
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
}

// Many frames that all claim to reach far must not cost their product.
func TestScanHostileLengths(t *testing.T) {
	const frames = 200_000
	one := appendBatch(t, nil, 0, 0)
	f := bytes.Repeat(one, frames)
	for i := range frames {
		head := f[i*batchSize:]
		binary.BigEndian.PutUint64(head, uint64(i))
		binary.BigEndian.PutUint32(head[8:], uint32(len(f)-i*batchSize-12-i%7))
		head[30]++ // no length makes this checksum right
	}
	start := time.Now()
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), segment.Options{})
	for s.Next() {
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	requireTiles(t, f, segment.Options{})
}

// rotten fails to read some bytes, as a dying disk does.
type rotten struct {
	io.ReaderAt
	from, to int64
}

var errRotten = errors.New("input/output error")

func (r rotten) ReadAt(p []byte, pos int64) (int, error) {
	if pos < r.to && pos+int64(len(p)) > r.from {
		n := int(max(0, r.from-pos))
		n, _ = r.ReaderAt.ReadAt(p[:n], pos)
		return n, errRotten
	}
	return r.ReaderAt.ReadAt(p, pos)
}

// An I/O error is no damage: everything in front of it is handed out, then the scan stops
// and names the place.
func TestScanReadError(t *testing.T) {
	f := fixtureF(t)
	s := segment.NewScanner(rotten{bytes.NewReader(f), 400, 500}, int64(len(f)), segment.Options{})
	var good []int64
	for s.Next() {
		if s.Damage() != nil {
			t.Fatal(s.Damage())
		}
		good = append(good, s.Batch().BaseOffset())
	}
	if d := cmp.Diff([]int64{0, 1, 2, 3, 4}, good); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	bad, ok := errors.AsType[*segment.ReadError](s.Err())
	if !ok || !errors.Is(bad, errRotten) || bad.Pos != 400 {
		t.Errorf("error %v", s.Err())
	}
}

// A file that is shorter than it was is an error of the same sort.
func TestScanShrunkFile(t *testing.T) {
	f := fixtureF(t)
	s := segment.NewScanner(bytes.NewReader(f[:500]), int64(len(f)), segment.Options{})
	for s.Next() {
	}
	if !errors.Is(s.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("error %v", s.Err())
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	fixtures.WithoutRace(t)
	f := fixtureF(t)
	gaps := join(batch(f, 0), batch(f, 3), batch(f, 5), batch(f, 9))
	for name, file := range map[string][]byte{"dense": f, "gaps": gaps} {
		r := bytes.NewReader(file)
		s := segment.NewScanner(r, int64(len(file)), segment.Options{Deep: true})
		if n := testing.AllocsPerRun(100, func() {
			s.Reset(r, int64(len(file)), segment.Options{Deep: true})
			for s.Next() {
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations a scan", name, n)
		}
	}
}
