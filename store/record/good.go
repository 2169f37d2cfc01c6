package record

import (
	"encoding/binary"

	"logdir/store/crc"
)

// Good views the frame at the start of buf if that is a v2 batch, whole, with the right
// checksum and a possible header: what nearly all frames of a log are. Where it is not
// ok, Sniff, Parse and CRCValid tell why; a good frame of another format is not ok either.
func Good(buf []byte) (b Batch, ok bool) {
	if len(buf) < HeaderSize || buf[posMagic] != byte(V2) {
		return Batch{}, false
	}
	size := sizedFrom + int(int32At(buf, posBatchLength))
	if size < HeaderSize || size > len(buf) {
		return Batch{}, false
	}
	raw := buf[:size:size]
	if binary.BigEndian.Uint32(raw[posCRC:]) != crc.Checksum(raw[posAttributes:]) {
		return Batch{}, false
	}
	// The sign bit of either count is the sign bit of both.
	if int32At(raw, posLastOffsetDelta)|int32At(raw, posRecordsCount) < 0 {
		return Batch{}, false
	}
	return Batch{raw, uint32(size), V2}, true
}
