package message

import "math/bits"

// maxUvarint is the most bytes that a 32-bit uvarint takes.
const maxUvarint = 5

// Uvarint reads a number of up to 32 bits from the start of b and returns the bytes it takes, or
// 0 if there is none: the bytes end early, or it has more than 32 bits.
func Uvarint(b []byte) (v uint32, size int) {
	for i := 0; i < len(b) && i < maxUvarint; i++ {
		if i == maxUvarint-1 && b[i] > 0x0f {
			return 0, 0
		}
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// AppendUvarint appends a number.
func AppendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// UvarintSize is how many bytes AppendUvarint appends.
func UvarintSize(v uint32) int { return max(1, (bits.Len32(v)+6)/7) }
