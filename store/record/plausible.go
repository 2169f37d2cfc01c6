package record

import "encoding/binary"

// Plausible says whether head can be the beginning of a frame that some writer made: what
// Peek asks, and that the fields with few legal values have one. It is how a search for
// the next frame passes over bytes that only look like one at first sight, before a
// checksum is computed. head is HeaderSize bytes, or what is left of the file: fields that
// are cut off count as plausible.
func Plausible(head []byte) bool {
	size, f, ok := Peek(head)
	if !ok {
		return false
	}
	switch f {
	case V2:
		return len(head) < HeaderSize || plausibleV2(head)
	case MKB1:
		return len(head) < MKB1HeaderSize || plausibleMKB1(head)
	}
	return plausibleLegacy(head, size, f)
}

// plausibleV2: counts, producer fields.
func plausibleV2(head []byte) bool {
	last, count := int32At(head, posLastOffsetDelta), int32At(head, posRecordsCount)
	return last >= 0 && count >= 0 && int64(count) <= int64(last)+1 &&
		int64At(head, posProducerID) >= NoProducerID &&
		int16At(head, posProducerEpoch) >= -1 &&
		int32At(head, posBaseSequence) >= NoSequence
}

func plausibleMKB1(head []byte) bool {
	return head[mkb1PosVersion] == mkb1Version && int64At(head, mkb1PosBaseOffset) >= 0 &&
		head[mkb1PosFlags] < 8 && int32At(head, mkb1PosLastOffsetDelta) >= 0
}

// plausibleLegacy: the lengths of key and value must add up to the size of the message.
func plausibleLegacy(head []byte, size int64, f Format) bool {
	pos := legacyPosTimestamp
	if f == V1 {
		pos += 8
	}
	if len(head) < pos+4 {
		return true
	}
	key := int64(int32At(head, pos))
	rest := size - int64(pos) - 4 - max(key, 0) // the value with its length field
	if key < -1 || rest < 4 {
		return false
	}
	valuePos := int64(pos) + 4 + max(key, 0)
	if valuePos+4 > int64(len(head)) {
		return true
	}
	value := int64(int32(binary.BigEndian.Uint32(head[valuePos:])))
	return value >= -1 && rest == 4+max(value, 0)
}
