package record

import "math"

// Varints are read from a slice and a position and give the position behind. One that
// is cut short or too long gives the position past, from which every further read gives
// past again: a parser checks once, at its end.
const past = math.MaxInt

// varint reads a zig-zag varint of at most five bytes (Kafka: ByteUtils.readVarint).
func varint(b []byte, pos int) (int32, int) {
	if pos < len(b) && b[pos] < 0x80 {
		u := uint32(b[pos])
		return int32(u>>1) ^ -int32(u&1), pos + 1
	}
	return longVarint(b, pos)
}

func longVarint(b []byte, pos int) (int32, int) {
	u, next := uvarint(b, pos, 5)
	v := uint32(u) // Kafka drops what does not fit
	return int32(v>>1) ^ -int32(v&1), next
}

// varlong reads a zig-zag varint of at most ten bytes (Kafka: ByteUtils.readVarlong).
func varlong(b []byte, pos int) (int64, int) {
	u, next := uvarint(b, pos, 10)
	return int64(u>>1) ^ -int64(u&1), next
}

// uvarint reads at most limit groups of seven bits, the lowest first.
func uvarint(b []byte, pos, limit int) (uint64, int) {
	var u uint64
	for i := range limit {
		if pos >= len(b) {
			return 0, past
		}
		c := b[pos]
		pos++
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return u, pos
		}
	}
	return 0, past
}

// appendVarint and appendVarlong write what varint and varlong read.
func appendVarint(dst []byte, v int32) []byte {
	return appendUvarint(dst, uint64(uint32(v)<<1^uint32(v>>31)))
}

func appendVarlong(dst []byte, v int64) []byte {
	return appendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

func appendUvarint(dst []byte, u uint64) []byte {
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// varintSize and varlongSize are the bytes that appendVarint and appendVarlong add.
func varintSize(v int32) int { return uvarintSize(uint64(uint32(v)<<1 ^ uint32(v>>31))) }

func varlongSize(v int64) int { return uvarintSize(uint64(v)<<1 ^ uint64(v>>63)) }

func uvarintSize(u uint64) int {
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}
