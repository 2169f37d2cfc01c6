package record

import "encoding/binary"

// SetBaseOffset moves the frame to another base offset; of a legacy frame, its last
// offset. No checksum of Kafka's covers it; MKB1's does and is stored anew.
func SetBaseOffset(raw []byte, offset int64) {
	if _, f := claim(raw); f != MKB1 {
		binary.BigEndian.PutUint64(raw[posBaseOffset:], uint64(offset))
		return
	}
	binary.BigEndian.PutUint64(raw[mkb1PosBaseOffset:], uint64(offset))
	Seal(raw)
}

// SetLeaderEpoch sets the partition leader epoch, as SetBaseOffset does the offset. A
// legacy frame has none and stays as it is.
func SetLeaderEpoch(raw []byte, epoch int32) {
	switch _, f := claim(raw); f {
	case V2:
		binary.BigEndian.PutUint32(raw[posLeaderEpoch:], uint32(epoch))
	case MKB1:
		binary.BigEndian.PutUint32(raw[mkb1PosLeaderEpoch:], uint32(epoch))
		Seal(raw)
	}
}

// Seal stores the checksum that the frame's bytes have now.
func Seal(raw []byte) {
	_, f := claim(raw)
	crc := Checksum(0, f, raw[f.ChecksumStart():])
	binary.BigEndian.PutUint32(raw[f.crcPos():], crc)
}

// SetBaseSequence sets the sequence of a v2 or MKB1 frame's first record. The checksum
// covers it and is stored anew.
func SetBaseSequence(raw []byte, sequence int32) {
	pos := posBaseSequence
	if _, f := claim(raw); f == MKB1 {
		pos = mkb1PosBaseSequence
	}
	binary.BigEndian.PutUint32(raw[pos:], uint32(sequence))
	Seal(raw)
}
