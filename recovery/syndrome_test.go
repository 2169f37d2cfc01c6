package recovery

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"logdir/store/record"
)

// sealed is a frame of n bytes, with the checksum that its format wants.
func sealed(f record.Format, n int, seed uint64) []byte {
	raw := make([]byte, n)
	r := rand.NewChaCha8(seedOf(seed))
	_, _ = r.Read(raw) // never fails
	binary.BigEndian.PutUint32(raw[checksumPos(f):], record.Checksum(0, f, raw[f.ChecksumStart():]))
	return raw
}

func explained(f record.Format, raw []byte) []byteError {
	stored := binary.BigEndian.Uint32(raw[checksumPos(f):])
	return explain(f, len(raw), stored, record.Checksum(0, f, raw[f.ChecksumStart():]))
}

// TestExplainFindsTheByte: whichever byte under the checksum, or of it, is changed by
// whatever, that change is among the explanations.
func TestExplainFindsTheByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]record.Format{record.V0, record.V1, record.V2, record.MKB1}).Draw(t, "format")
		n := rapid.IntRange(70, 3000).Draw(t, "size")
		raw := sealed(f, n, rapid.Uint64().Draw(t, "seed"))
		if got := explained(f, raw); len(got) != 0 && got[0].xor != 0 {
			t.Fatalf("an undamaged frame is explained by %v", got)
		}
		pos := rapid.IntRange(f.ChecksumStart(), n-1).Draw(t, "pos")
		if rapid.Bool().Draw(t, "in checksum") {
			pos = checksumPos(f) + pos%4
		}
		want := byteError{pos, byte(rapid.IntRange(1, 255).Draw(t, "xor"))}
		raw[want.pos] ^= want.xor
		if got := explained(f, raw); !slices.Contains(got, want) {
			t.Fatalf("explanations %v lack %v", got, want)
		}
	})
}

// flipped is a sealed frame of n bytes with one bit flipped in the middle.
func flipped(n int) []byte {
	raw := sealed(record.V2, n, 1)
	raw[n/2] ^= 0x10
	return raw
}

// TestExplainGrowsWithTheSize: a batch that is 16 times larger takes about 16 times longer,
// by no means the 256 times of looking at each pair of bytes.
func TestExplainGrowsWithTheSize(t *testing.T) {
	took := map[int]time.Duration{}
	for _, size := range []int{64 << 10, 1 << 20} {
		raw := flipped(size)
		took[size] = time.Hour
		for range 3 {
			began := time.Now()
			e, why, ok := onlyExplanation(explained(record.V2, raw))
			took[size] = min(took[size], time.Since(began))
			if !ok || e.pos != size/2 || why != "one flipped bit" {
				t.Fatalf("%d bytes: %v %q %v", size, e, why, ok)
			}
		}
	}
	if took[1<<20] > 100*took[64<<10] {
		t.Errorf("64 KiB took %v, 1 MiB took %v", took[64<<10], took[1<<20])
	}
}

// BenchmarkExplain tells how many times longer an explanation takes than one checksum.
func BenchmarkExplain(b *testing.B) {
	for _, size := range []int{16 << 10, 1 << 20} {
		raw := flipped(size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				explained(record.V2, raw)
			}
			const rounds = 100
			began := time.Now()
			for range rounds {
				record.Checksum(0, record.V2, raw)
			}
			one := time.Since(began).Seconds() / rounds
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/one, "checksums")
		})
	}
}

// TestTwoExplanationsAreNone: what two things explain is not proved.
func TestTwoExplanationsAreNone(t *testing.T) {
	for _, c := range []struct {
		name string
		all  []byteError
		ok   bool
	}{
		{"nothing", nil, false},
		{"one bit", []byteError{{30, 4}}, true},
		{"one bit, and a byte elsewhere", []byteError{{30, 4}, {90, 7}}, true},
		{"two bits", []byteError{{30, 4}, {90, 8}}, false},
		{"one byte", []byteError{{90, 7}}, true},
		{"two bytes", []byteError{{90, 7}, {91, 5}}, false},
	} {
		if _, _, ok := onlyExplanation(c.all); ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
	}
}
