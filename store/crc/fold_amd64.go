package crc

import "golang.org/x/sys/cpu"

// canFold says whether the processor has what fold uses: Intel's since Ice Lake (2019),
// AMD's since Zen 4 (2022).
var canFold = cpu.X86.HasSSE42 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW &&
	cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2 &&
	cpu.X86.HasAVX512VPCLMULQDQ

// minFold is the shortest input that fold takes.
const minFold = 64

// fold goes on with a bare CRC-32C state, without the inversions before and after, over p,
// which must have at least minFold bytes.
//
//go:noescape
func fold(state uint32, p []byte) uint32

// The constants of fold, pairs that move a lane of 16 bytes over so many bits of message:
// x^(bits+31) for the first eight bytes, x^(bits-33) for the last. A test computes them from
// the polynomial.
var (
	// over2048 and over512 move all four lanes of a vector by four vectors, and by one.
	over2048 = [2]uint64{0xdcb17aa4, 0xb9e02b86}
	over512  = [2]uint64{0x740eef02, 0x9e4addf8}
	// overRest moves the first three lanes of a vector onto the fourth, and that nowhere.
	overRest = [8]uint64{
		0x1c291d04, 0xddc0152b, // 384 bits
		0x3da6d0cb, 0xba4fc28e, // 256 bits
		0xf20c0dfe, 0x493c7d27, // 128 bits
		0, 0,
	}
)
