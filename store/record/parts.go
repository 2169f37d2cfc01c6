package record

// minRecord is the smallest v2 record behind its length: six fields of one byte.
const minRecord = 6

// Parts tells how to follow a frame to its end without its own length: from start on stand
// parts, one behind the other, each of which begins with its size. A v0 or v1 message has
// two, key and value. A v2 batch that is not compressed has its records, and two fields that
// tell how many if none was removed: counts are both. MKB1 has none. Only the header is
// looked at.
func (b *Batch) Parts() (start int, counts [2]int64) {
	switch b.format {
	case V2:
		return posRecords, [2]int64{int64(b.Count()), int64(b.lastOffsetDelta()) + 1}
	case V0:
		return legacyPosKeyV0, [2]int64{2, 2}
	case V1:
		return legacyPosKeyV1, [2]int64{2, 2}
	}
	return 0, [2]int64{-1, -1}
}

// PartSize is how many bytes the part takes that begins with b, of which PartHead are
// enough. delta is the offset delta of a v2 record, -1 for other parts. ok is false if there
// can be no such part.
func PartSize(f Format, b []byte) (n int64, delta int32, ok bool) {
	if f != V2 {
		if len(b) < 4 {
			return 0, 0, false
		}
		length := int32At(b, 0)
		return 4 + int64(max(length, 0)), -1, length >= -1
	}
	b = b[:min(len(b), PartHead)]
	length, start := varint(b, 0)
	if length < minRecord || start == past {
		return 0, 0, false
	}
	_, pos := varlong(b, start+1) // behind the attributes
	delta, pos = varint(b, pos)
	return int64(start) + int64(length), delta, pos != past && pos-start < int(length)
}

// PartHead is how many bytes tell the size of a part.
const PartHead = 5 + 1 + 10 + 5
