package compress

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"logdir/fixtures"
	"logdir/store/corrupt"
)

// payload draws bytes that pack well, badly, or not at all, over several blocks.
func payload() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		size := rapid.IntRange(0, 200_000).Draw(t, "size")
		alphabet := rapid.SampledFrom([]int{1, 2, 16, 256}).Draw(t, "alphabet")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.IntN(alphabet))
		}
		return b
	})
}

func TestRoundTrip(t *testing.T) {
	e, d := NewEncoder(), NewDecoder() // one of each for everything: both must be reusable
	rapid.Check(t, func(t *rapid.T) {
		plain := payload().Draw(t, "plain")
		c := rapid.SampledFrom(Codecs()).Draw(t, "codec")
		packed, err := e.Encode([]byte("head"), plain, c)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(packed, []byte("head")) {
			t.Fatalf("%s: what stood in dst is gone", c)
		}
		got, err := d.Decode([]byte("front"), packed[4:], c, Options{Limit: max(1, len(plain))})
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if want := append([]byte("front"), plain...); !bytes.Equal(got, want) {
			t.Fatalf("%s: unpacked %d bytes, want %d", c, len(got), len(want))
		}
	})
}

// TestLimitIsExact: one byte less than there is fails, and gives at most what is allowed.
func TestLimitIsExact(t *testing.T) {
	plain := bytes.Repeat([]byte("0123456789"), 20_000)
	d := NewDecoder()
	for _, c := range Codecs() {
		packed := encode(t, plain, c)
		if _, err := d.Decode(nil, packed, c, Options{Limit: len(plain)}); err != nil {
			t.Errorf("%s: limit of %d: %v", c, len(plain), err)
		}
		for _, limit := range []int{1, 65_536, len(plain) - 1} {
			got, err := d.Decode([]byte("front"), packed, c, Options{Limit: limit})
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: limit of %d: %v, want ErrTooLarge", c, limit, err)
			}
			if len(got) > len("front")+limit || !bytes.HasPrefix(append([]byte("front"), plain...), got) {
				t.Errorf("%s: limit of %d: got %d bytes", c, limit, len(got))
			}
		}
	}
}

// TestBombs: a stream of 256 MiB of zeros stops at 1 MiB without the memory for more.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 256<<20)
	for _, c := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		packed := encode(t, zeros, c)
		before := allocated()
		_, err := NewDecoder().Decode(nil, packed, c, Options{Limit: 1 << 20})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", c, err)
		}
		if used := allocated() - before; used > 8<<20 {
			t.Errorf("%s: %d bytes packed took %d bytes of memory", c, len(packed), used)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestFalseClaims: a few bytes that claim to hold 100 MiB do not get them.
func TestFalseClaims(t *testing.T) {
	for name, s := range map[string]struct {
		codec  Codec
		packed string
	}{
		"snappy block":      {Snappy, `80 80 80 32 00 21`},
		"zstd content size": {Zstd, `28b52ffd a0 00004006 090000 21`},
		"lz4 content size":  {LZ4, `04224d18 68 70 0000400600000000 6d 02000000 10 21 00000000`},
	} {
		before := allocated()
		out, err := NewDecoder().Decode(nil, unhex(t, s.packed), s.codec, Options{})
		if used := allocated() - before; used > 1<<20 {
			t.Errorf("%s: took %d bytes of memory: %q, %v", name, used, out, err)
		}
	}
}

// TestDamageAnywhere: whatever single byte is wrong, an error is one of the two.
func TestDamageAnywhere(t *testing.T) {
	plain := []byte("the quick brown fox jumps over the lazy dog, and over the quick brown fox")
	d := NewDecoder()
	for _, c := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		packed := encode(t, plain, c)
		for i := range packed {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				packed[i] ^= flip
				out, err := d.Decode(nil, packed, c, Options{Limit: 1 << 16})
				checkOutcome(t, c, packed, out, err, 1<<16)
				packed[i] ^= flip
			}
			out, err := d.Decode(nil, packed[:i], c, Options{Limit: 1 << 16})
			checkOutcome(t, c, packed[:i], out, err, 1<<16)
		}
		if out, err := d.Decode(nil, packed, c, Options{}); err != nil || !bytes.Equal(out, plain) {
			t.Errorf("%s: the decoder is of no use after errors: %q, %v", c, out, err)
		}
	}
}

// checkOutcome holds Decode to what it promises for any input.
func checkOutcome(t *testing.T, c Codec, src, out []byte, err error, limit int) {
	t.Helper()
	if len(out) > limit {
		t.Errorf("%s: %d bytes, more than %d", c, len(out), limit)
	}
	if err == nil || errors.Is(err, ErrTooLarge) {
		return
	}
	bad, ok := errors.AsType[*corrupt.Error](err)
	if !ok || bad.Kind != corrupt.BadRecords || bad.Pos < 0 || bad.Pos+bad.Size != int64(len(src)) {
		t.Errorf("%s: %#v for %d bytes, want bad-records inside them", c, err, len(src))
	}
}

func encode(t testing.TB, plain []byte, c Codec) []byte {
	t.Helper()
	packed, err := NewEncoder().Encode(nil, plain, c)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// TestNoAllocationOnceWarm: both halves keep what they built.
func TestNoAllocationOnceWarm(t *testing.T) {
	fixtures.WithoutRace(t)
	plain := records(16 << 10)
	e, d := NewEncoder(), NewDecoder()
	var packed, out []byte
	for _, c := range Codecs() {
		run := func() {
			packed, _ = e.Encode(packed[:0], plain, c)
			out, _ = d.Decode(out[:0], packed, c, Options{})
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations a round", c, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, g := range golden {
		f.Add(uint8(g.codec), false, unhex(f, g.packed))
	}
	for _, w := range wrappedMessages {
		f.Add(uint8(w.codec), true, unhex(f, w.packed))
	}
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, codec uint8, legacy bool, src []byte) {
		const limit = 1 << 20
		c := Codec(codec & Mask)
		out, err := d.Decode(nil, src, c, Options{Limit: limit, LegacyLZ4: legacy})
		checkOutcome(t, c, src, out, err, limit)
		if err != nil || !c.Valid() {
			return
		}
		again, err := d.Decode(nil, encode(t, out, c), c, Options{Limit: limit})
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("%s: packed again it is another: %v", c, err)
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(uint8(3), []byte("hello hello hello hello"))
	f.Add(uint8(4), []byte{})
	e, d := NewEncoder(), NewDecoder()
	f.Fuzz(func(t *testing.T, codec uint8, plain []byte) {
		c := Codec(codec % 5)
		packed, err := e.Encode(nil, plain, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(nil, packed, c, Options{})
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: got %d bytes of %d: %v", c, len(got), len(plain), err)
		}
	})
}

// TestLZ4WalkReachesTheEnd: the walk that refuses blocks is right about good ones.
func TestLZ4WalkReachesTheEnd(t *testing.T) {
	e := NewEncoder()
	rapid.Check(t, func(t *rapid.T) {
		frame, err := e.Encode(nil, payload().Draw(t, "plain"), LZ4)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parseLZ4Header(frame, false)
		if err != nil {
			t.Fatal(err)
		}
		for pos := f.size; ; {
			b, err := f.block(frame, pos)
			if err != nil {
				t.Fatal(err)
			}
			if b.last {
				return
			}
			pos = b.next
			if !b.stored && !lz4WalksToEnd(frame[b.start:b.end]) {
				t.Errorf("block at %d: %x", pos, frame[b.start:b.end])
			}
		}
	})
}
