package crc

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestCheckValue(t *testing.T) {
	// The value by which catalogues of CRCs tell them apart.
	if got := Checksum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("got %#x", got)
	}
}

// noise is n bytes without a pattern, the same in each run.
func noise(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(random.Uint32())
	}
	return p
}

// Every length around all thresholds, at every place in a cache line, from any state.
func TestLikeHashCRC32(t *testing.T) {
	const longest, line = 4096, 64
	p := noise(longest + line)
	for at := range line {
		for n := range longest + 1 {
			piece, state := p[at:at+n], uint32(n)*0x9e3779b9
			if got, want := Update(state, piece), crc32.Update(state, table, piece); got != want {
				t.Fatalf("%d bytes at %d from %#x: got %#x, want %#x", n, at, state, got, want)
			}
		}
	}
}

func TestLong(t *testing.T) {
	p := noise(1<<20 + 63)
	if got, want := Checksum(p), crc32.Checksum(p, table); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

// In two pieces it is the same as in one, wherever the cut.
func TestPieces(t *testing.T) {
	p := noise(1500)
	want := crc32.Checksum(p, table)
	for cut := range len(p) + 1 {
		if got := Update(Checksum(p[:cut]), p[cut:]); got != want {
			t.Fatalf("cut at %d: got %#x, want %#x", cut, got, want)
		}
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(uint32(0), []byte("123456789"), uint16(4))
	f.Add(^uint32(0), noise(513), uint16(65))
	f.Fuzz(func(t *testing.T, state uint32, p []byte, cut uint16) {
		at := min(int(cut), len(p))
		want := crc32.Update(state, table, p)
		if got := Update(Update(state, p[:at]), p[at:]); got != want {
			t.Fatalf("got %#x, want %#x", got, want)
		}
	})
}

// BenchmarkChecksum sets the kernel beside hash/crc32: 150 bytes is a batch of one record.
func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{40, 150, 1 << 10, 16 << 10, 256 << 10} {
		p := make([]byte, n)
		b.Run(fmt.Sprintf("%d/crc", n), func(b *testing.B) { benchmark(b, p, Checksum) })
		b.Run(fmt.Sprintf("%d/hash", n), func(b *testing.B) {
			benchmark(b, p, func(p []byte) uint32 { return crc32.Checksum(p, table) })
		})
	}
}

func benchmark(b *testing.B, p []byte, sum func([]byte) uint32) {
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		sum(p)
	}
}
