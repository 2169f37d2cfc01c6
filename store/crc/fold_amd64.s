#include "textflag.h"

// CRC-32C by folding.
//
// A message is a polynomial, its first bit the highest power, and its CRC the remainder of
// dividing that by the polynomial P. A piece of the message may be replaced by anything
// with the same remainder, and so 16 bytes of it, a lane, are taken away where they stand
// and come back n bits later, multiplied by x^n mod P and added (that is: XORed) to the
// lane that is there. A vector has four lanes, and all of them go at once:
//
//	| lane 0 | lane 1 | lane 2 | lane 3 | lane 0 | lane 1 | lane 2 | lane 3 | ...
//	    |        |        |        |        ^        ^        ^        ^
//	    '--------|--------|--------|- x^512 '        |        |        |
//	             '--------|--------|- x^512 ---------'        |        |
//	                      '--------|- x^512 ------------------'        |
//	                               '- x^512 ---------------------------'
//
// until one vector is left. Its first three lanes come to the fourth,
//
//	| lane 0 | lane 1 | lane 2 | lane 3 |
//	    |        |        |        ^
//	    |        |        '- x^128 +
//	    |        '---------- x^256 +
//	    '------------------- x^384 '
//
// and the processor's CRC32 instruction divides the 16 bytes that remain.
//
// VPCLMULQDQ multiplies 64 by 64 bits, so that a lane takes two: $0x00 for its first eight
// bytes, which are worth x^64 more, and $0x11 for the last. All this is in mirror writing,
// since CRC-32C has the lowest bit of a byte first. There a product of 64-bit numbers is
// worth x more than it seems, and a constant of 32 bits x^32 more: to move n bits takes
// x^(n-33), and for the first eight bytes x^(n+31).
//
// Zeros in front of a message change nothing. So the first vector is filled up with as many
// as leave whole vectors behind it, and there is no tail to care for. The state to go on
// with is added to the first four bytes of the message.
//
// Only registers from 16 up are used: these need no VZEROUPPER.

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

	// One to three bytes in the first vector would have no room for the state: these go
	// singly.
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

	// The first vector: CX zeros, and so many bytes that whole vectors are left.
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
