package recovery

import (
	"encoding/binary"
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

// TestExplainIsFast: milliseconds for a batch of 16 KiB, under a second for 1 MiB.
func TestExplainIsFast(t *testing.T) {
	for size, limit := range map[int]time.Duration{16 << 10: 50 * time.Millisecond, 1 << 20: time.Second} {
		raw := sealed(record.V2, size, 1)
		raw[size/2] ^= 0x10
		began := time.Now()
		e, why, ok := onlyExplanation(explained(record.V2, raw))
		if !ok || e.pos != size/2 || why != "one flipped bit" {
			t.Errorf("%d bytes: %v %q %v", size, e, why, ok)
		}
		if took := time.Since(began); took > limit {
			t.Errorf("%d bytes took %v", size, took)
		}
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
