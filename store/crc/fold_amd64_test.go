package crc

import (
	"hash/crc32"
	"testing"
)

// power is x^n modulo the polynomial, in mirror writing: bit 31 is x^0, as in a CRC's state.
func power(n int) uint64 {
	r := uint32(1) << 31
	for range n {
		carry := r & 1
		r >>= 1
		if carry == 1 {
			r ^= crc32.Castagnoli
		}
	}
	return uint64(r)
}

// lane is what moves a lane over so many bits; see fold_amd64.s for the 31 and the 33.
func lane(bits int) [2]uint64 { return [2]uint64{power(bits + 31), power(bits - 33)} }

func TestConstants(t *testing.T) {
	rest := func(i int) [2]uint64 { return [2]uint64(overRest[2*i:]) }
	for _, c := range []struct {
		bits int
		got  [2]uint64
	}{
		{4 * 512, over2048},
		{512, over512},
		{3 * 128, rest(0)},
		{2 * 128, rest(1)},
		{128, rest(2)},
	} {
		if want := lane(c.bits); c.got != want {
			t.Errorf("over %d bits: %#x, want %#x", c.bits, c.got, want)
		}
	}
	if rest(3) != [2]uint64{} {
		t.Error("the last lane moves")
	}
}

func TestKernelIsUsed(t *testing.T) {
	if !canFold {
		t.Skip("SKIPPED: this processor has no 64-byte carry-less multiplication; only hash/crc32 was tested")
	}
}
