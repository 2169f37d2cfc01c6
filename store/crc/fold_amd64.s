#include "textflag.h"

// CRC-32C by folding.
//
// A message is a polynomial, its first bit the highest power, and its CRC the remainder
// of dividing it by the CRC's polynomial P. So a piece of the message may be replaced by
// anything with the same remainder, further back, and that is what folding does: a lane of
// 16 bytes, multiplied by x^n mod P, stands for itself n bits later, where it is added
// (that is: XORed) to the lane which is there. Four lanes go at once:
//
//	   message  | lane 0 | lane 1 | lane 2 | lane 3 | lane 0'| lane 1'| lane 2'| lane 3'| ...
//	                |        |        |        |         ^        ^        ^        ^
//	                '--------|--------|--------|- x^512 -'        |        |        |
//	                         '--------|--------|- x^512 ----------'        |        |  and so on
//
// until one vector is left. Its first three lanes are moved onto the fourth,
//
//	            | lane 0 | lane 1 | lane 2 | lane 3 |
//	                '--------|--------|- x^384 -^
//	                         '--------|- x^256 -|
//	                                  '- x^128 -'
//
// and the processor's own CRC32 instruction divides the 16 bytes that remain.
//
// VPCLMULQDQ multiplies 64 by 64 bits without carry, so that a lane takes two: $0x00 for
// its first eight bytes, which are worth x^64 more, and $0x11 for the last. CRC-32C has
// the lowest bit of a byte first, the instruction the highest; multiplied in mirror
// writing, a product comes out shifted by one bit and a constant of 32 bits by 32, and so
// the constants have x^(n+31) for the first half (64 - 33) and x^(n-33) for the last.
//
// Zeros before a message change nothing: the first vector is filled up in front with as
// many as leave whole vectors behind it, and there is no tail. A state to go on with is
// added to the first four bytes of the message.
//
// Only the upper half of the registers is used: they need no VZEROUPPER.

// FOLD moves the lanes of v by the constants of k onto those of to, and leaves that in v.
#define FOLD(v, k, to, tmp) \
	VPCLMULQDQ $0x00, k, v, tmp \
	VPCLMULQDQ $0x11, k, v, v \
	VPTERNLOGQ $0x96, to, tmp, v // v = v XOR tmp XOR to

// func fold(state uint32, p []byte) uint32
TEXT ·fold(SB), NOSPLIT, $0-36
	MOVL state+0(FP), AX
	MOVQ p_base+8(FP), SI
	MOVQ p_len+16(FP), DX

	// A first vector of one to three bytes has no room for the state: take them singly.
short:
	MOVQ DX, BX
	ANDQ $63, BX
	DECQ BX
	CMPQ BX, $3
	JAE  first
	CRC32B (SI), AX
	INCQ SI
	DECQ DX
	JMP  short

	// The first vector: what there is too much for whole ones, behind CX bytes of zeros.
first:
	MOVQ DX, CX
	NEGQ CX
	ANDQ $63, CX
	MOVQ $-1, BX
	SHLQ CX, BX
	KMOVQ BX, K1
	VMOVD AX, X17
	VPXORQ (SI), Z17, Z16
	VPEXPANDB.Z Z16, K1, Z16
	SUBQ CX, SI
	ADDQ CX, DX
	ADDQ $64, SI
	SUBQ $64, DX

	// Four vectors side by side, while there are eight or more.
	CMPQ DX, $448
	JB   one
	VBROADCASTI32X4 ·over2048(SB), Z24
	VMOVDQU64 (SI), Z17
	VMOVDQU64 64(SI), Z18
	VMOVDQU64 128(SI), Z19
	ADDQ $192, SI
	SUBQ $192, DX

four:
	FOLD(Z16, Z24, (SI), Z20)
	FOLD(Z17, Z24, 64(SI), Z21)
	FOLD(Z18, Z24, 128(SI), Z22)
	FOLD(Z19, Z24, 192(SI), Z23)
	ADDQ $256, SI
	SUBQ $256, DX
	CMPQ DX, $256
	JAE  four

	VBROADCASTI32X4 ·over512(SB), Z24
	FOLD(Z16, Z24, Z17, Z20)
	FOLD(Z16, Z24, Z18, Z20)
	FOLD(Z16, Z24, Z19, Z20)

	// One vector after the other.
one:
	VBROADCASTI32X4 ·over512(SB), Z24

next:
	SUBQ $64, DX
	JB   lanes
	FOLD(Z16, Z24, (SI), Z20)
	ADDQ $64, SI
	JMP  next

	// Four lanes to one, and what is left of that.
lanes:
	VEXTRACTI32X4 $3, Z16, X19
	VMOVDQU64 ·overRest(SB), Z24
	VPCLMULQDQ $0x00, Z24, Z16, Z17
	VPCLMULQDQ $0x11, Z24, Z16, Z18
	VPXORQ Z17, Z18, Z17
	VEXTRACTI64X4 $1, Z17, Y18
	VPXORQ Y18, Y17, Y17
	VEXTRACTI64X2 $1, Y17, X18
	VPTERNLOGQ $0x96, X18, X19, X17
	VMOVQ X17, BX
	VPEXTRQ $1, X17, CX
	XORL AX, AX
	CRC32Q BX, AX
	CRC32Q CX, AX
	MOVL AX, ret+32(FP)
	RET
