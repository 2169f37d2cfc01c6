package record

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"logdir/store/compress"
	"logdir/store/corrupt"
	"logdir/store/crc"
)

// Batch is a view of one frame of any format. It holds no copy: it is valid as long as
// the bytes under it. The zero value is empty and has no format; see Raw.
//
// A v0 or v1 frame is one message, or a wrapper around compressed ones. What a wrapper
// holds is known only after decompression, so its BaseOffset and LastOffset are both the
// wrapper's own offset, which is that of its last message, and its Count is unknown.
type Batch struct {
	raw    []byte
	size   uint32 // of the whole frame; more than len(raw) if only its header is at hand
	format Format
}

// Parse views raw, which must be exactly one frame, and checks what its header alone
// can tell: magic, lengths, counts. It does not compute the checksum.
//
// Errors are of kind bad-magic or bad-length, with an empty Batch, or of kind
// bad-records for a header field that the checksum covers; then the Batch is usable as far
// as its header goes, so that its checksum can be asked.
func Parse(raw []byte) (Batch, *corrupt.Error) {
	b, err := View(raw)
	if err != nil {
		return b, err
	}
	return b, b.Check()
}

// View is Parse without Check: magic and lengths only.
func View(raw []byte) (Batch, *corrupt.Error) {
	size, format, err := Sniff(raw)
	if err != nil {
		return Batch{}, err
	}
	if size != int64(len(raw)) {
		err = corrupt.Newf(corrupt.BadLength, 0, int64(len(raw)), "length %d, frame has %d", size-sizedFrom, len(raw)-sizedFrom)
		err.Field = "batchLength"
		return Batch{}, err
	}
	return Batch{raw, uint32(len(raw)), format}, nil
}

// Assume views a frame of size bytes as one of format f, whatever its bytes say. head is
// the whole frame or the beginning of it, at least the smallest frame of the format: then
// the fields of the header can be asked, but not the checksum nor the records. See Whole.
func Assume(head []byte, size int64, f Format) Batch { return Batch{head, uint32(size), f} }

// Whole says whether all bytes of the frame are at hand.
func (b *Batch) Whole() bool { return len(b.raw) == int(b.size) }

// Check judges the header fields under the checksum: with a checksum that is right, a
// refusal means that the frame was written wrong. The kind is bad-records.
func (b *Batch) Check() *corrupt.Error {
	switch b.format {
	case V2:
		return checkV2(b.raw)
	case MKB1:
		return checkMKB1(b.raw)
	}
	return checkLegacy(b.raw, b.format)
}

func checkV2(raw []byte) *corrupt.Error {
	if int32At(raw, posRecordsCount) >= 0 && int32At(raw, posLastOffsetDelta) >= 0 {
		return nil
	}
	return refuseV2(raw)
}

func refuseV2(raw []byte) *corrupt.Error {
	if n := int32At(raw, posRecordsCount); n < 0 {
		return badField("recordsCount", int64(len(raw)), "recordsCount %d", n)
	}
	return badField("lastOffsetDelta", int64(len(raw)), "lastOffsetDelta %d", int32At(raw, posLastOffsetDelta))
}

// badField refuses a whole frame for one field of its header.
func badField(field string, size int64, format string, args ...any) *corrupt.Error {
	err := corrupt.Newf(corrupt.BadRecords, 0, size, format, args...)
	err.Field = field
	return err
}

// Raw is the frame's bytes, or those of them that are at hand; nil for the zero Batch.
func (b *Batch) Raw() []byte { return b.raw }

// Size is the bytes of the whole frame.
func (b *Batch) Size() int { return int(b.size) }

// Format tells the frame's format.
func (b *Batch) Format() Format { return b.format }

// BaseOffset is the offset of the first record when the batch was made. Of a legacy
// wrapper it is the last message's offset.
func (b *Batch) BaseOffset() int64 {
	if b.format == MKB1 {
		return int64At(b.raw, mkb1PosBaseOffset)
	}
	return int64At(b.raw, posBaseOffset)
}

// LastOffset is the last offset that the batch takes, whether or not a record is left there.
func (b *Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.lastOffsetDelta()) }

// NextOffset is LastOffset plus one.
func (b *Batch) NextOffset() int64 { return b.LastOffset() + 1 }

func (b *Batch) lastOffsetDelta() int32 {
	switch b.format {
	case V2:
		return int32At(b.raw, posLastOffsetDelta)
	case MKB1:
		return int32At(b.raw, mkb1PosLastOffsetDelta)
	}
	return 0
}

// Place is BaseOffset, LastOffset and LeaderEpoch at once, for those who ask it of every
// batch of a log.
func (b *Batch) Place() (base, last int64, epoch int32) {
	if b.format != V2 {
		return b.BaseOffset(), b.LastOffset(), b.LeaderEpoch()
	}
	raw := b.raw[:HeaderSize]
	base = int64At(raw, posBaseOffset)
	return base, base + int64(int32At(raw, posLastOffsetDelta)), int32At(raw, posLeaderEpoch)
}

// Extent is BaseOffset, LastOffset and MaxTimestamp at once, for those who index a log.
// The timestamp is NoTimestamp for MKB1, whose records are not read for it.
func (b *Batch) Extent() (base, last, maxTimestamp int64) {
	if b.format != V2 {
		return b.olderExtent()
	}
	raw := b.raw[:HeaderSize]
	base = int64At(raw, posBaseOffset)
	return base, base + int64(int32At(raw, posLastOffsetDelta)), int64At(raw, posMaxTimestamp)
}

func (b *Batch) olderExtent() (base, last, maxTimestamp int64) {
	maxTimestamp = NoTimestamp
	if b.format != MKB1 {
		maxTimestamp = b.MaxTimestamp()
	}
	return b.BaseOffset(), b.LastOffset(), maxTimestamp
}

// LeaderEpoch is the partition leader epoch, -1 where none is known.
func (b *Batch) LeaderEpoch() int32 {
	switch b.format {
	case V2:
		return int32At(b.raw, posLeaderEpoch)
	case MKB1:
		return int32At(b.raw, mkb1PosLeaderEpoch)
	}
	return NoLeaderEpoch
}

// Count is the number of records the header tells. A plain v0 or v1 message is one; of a
// legacy wrapper nothing is known without reading it, which is -1.
func (b *Batch) Count() int32 {
	switch {
	case b.format == V2:
		return int32At(b.raw, posRecordsCount)
	case b.format == MKB1:
		return int32At(b.raw, mkb1PosRecordsCount)
	case b.CodecBits() == 0:
		return 1
	}
	return -1
}

// StoredCRC is the checksum in the frame.
func (b *Batch) StoredCRC() uint32 { return binary.BigEndian.Uint32(b.raw[b.format.crcPos():]) }

// ComputeCRC is the checksum of the frame's bytes: CRC-32C for v2, else CRC-32 (IEEE).
func (b *Batch) ComputeCRC() uint32 { return Checksum(0, b.format, b.raw[b.format.ChecksumStart():]) }

// CRCValid says whether the two agree.
func (b *Batch) CRCValid() bool { return b.StoredCRC() == b.ComputeCRC() }

// Checksum goes on with the format's checksum over p. It lets a frame be checked that is
// too large to hold: start with 0 at ChecksumStart and feed the rest of the frame.
func Checksum(sum uint32, f Format, p []byte) uint32 {
	if f == V2 {
		return crc.Update(sum, p)
	}
	return crc32.Update(sum, crc32.IEEETable, p)
}

// ChecksumStart is the first byte of a frame that its checksum covers; it covers the
// frame to its end.
func (f Format) ChecksumStart() int {
	switch f {
	case V2:
		return posAttributes
	case MKB1:
		return sizedFrom
	}
	return legacyPosMagic
}

func (f Format) crcPos() int {
	switch f {
	case V2:
		return posCRC
	case MKB1:
		return mkb1PosCRC
	}
	return legacyPosCRC
}

// Attributes are the raw bits: v2's two bytes, the one byte of v0 and v1, MKB1's flags.
func (b *Batch) Attributes() int16 {
	switch b.format {
	case V2:
		return int16At(b.raw, posAttributes)
	case MKB1:
		return int16(b.raw[mkb1PosFlags])
	}
	return int16(b.raw[legacyPosAttributes])
}

// CodecBits are the three bits of the codec, of which 5 to 7 mean none. 0 for MKB1.
func (b *Batch) CodecBits() uint8 {
	if b.format == MKB1 {
		return 0
	}
	return uint8(b.Attributes() & codecMask)
}

// Codec is CodecBits as a codec, known or not.
func (b *Batch) Codec() compress.Codec { return compress.Codec(b.CodecBits()) }

// TimestampType tells what the timestamps mean.
func (b *Batch) TimestampType() TimestampType {
	switch {
	case b.format == V0 || b.format == MKB1 && b.Count() == 0:
		return NoTimestampType
	case b.format != MKB1 && b.Attributes()&timestampTypeBit != 0:
		return LogAppendTime
	}
	return CreateTime
}

// IsTransactional says whether the batch belongs to a transaction, data or marker.
func (b *Batch) IsTransactional() bool {
	switch b.format {
	case V2:
		return b.Attributes()&transactionalBit != 0
	case MKB1:
		return b.Attributes()&mkb1Transactional != 0
	}
	return false
}

// IsControl says whether the batch holds control records instead of data.
func (b *Batch) IsControl() bool {
	switch b.format {
	case V2:
		return b.Attributes()&controlBit != 0
	case MKB1:
		return b.Attributes()&(mkb1Commit|mkb1Abort) != 0
	}
	return false
}

// DeleteHorizon is the time, ms, from which the cleaner may drop the batch's tombstones
// or its marker, if one is set (KIP-534).
func (b *Batch) DeleteHorizon() (int64, bool) {
	if b.format != V2 || b.Attributes()&deleteHorizonBit == 0 {
		return 0, false
	}
	return int64At(b.raw, posBaseTimestamp), true
}

// BaseTimestamp is what a v2 batch's timestamp deltas count from, ms: the first record's
// timestamp, or the delete horizon. In the other formats it is the first timestamp.
func (b *Batch) BaseTimestamp() int64 {
	switch b.format {
	case V2:
		return int64At(b.raw, posBaseTimestamp)
	case V1:
		return int64At(b.raw, legacyPosTimestamp)
	case MKB1:
		base, _ := mkb1Timestamps(b.raw)
		return base
	}
	return NoTimestamp
}

// MaxTimestamp is the largest timestamp of the batch, ms, or NoTimestamp. MKB1 does not
// store it: it is read from the records there.
func (b *Batch) MaxTimestamp() int64 {
	switch b.format {
	case V2:
		return int64At(b.raw, posMaxTimestamp)
	case V1:
		return int64At(b.raw, legacyPosTimestamp)
	case MKB1:
		_, largest := mkb1Timestamps(b.raw)
		return largest
	}
	return NoTimestamp
}

// ProducerID is the idempotent producer's id, or NoProducerID.
func (b *Batch) ProducerID() int64 {
	switch b.format {
	case V2:
		return int64At(b.raw, posProducerID)
	case MKB1:
		return int64At(b.raw, mkb1PosProducerID)
	}
	return NoProducerID
}

// ProducerEpoch is that producer's epoch, or NoProducerEpoch. MKB1 has 32 bits for it.
func (b *Batch) ProducerEpoch() int32 {
	switch b.format {
	case V2:
		return int32(int16At(b.raw, posProducerEpoch))
	case MKB1:
		return int32At(b.raw, mkb1PosProducerEpoch)
	}
	return NoProducerEpoch
}

// BaseSequence is the sequence of the batch's first record, or NoSequence.
func (b *Batch) BaseSequence() int32 {
	switch b.format {
	case V2:
		return int32At(b.raw, posBaseSequence)
	case MKB1:
		return int32At(b.raw, mkb1PosBaseSequence)
	}
	return NoSequence
}

// LastSequence is the sequence at LastOffset, or NoSequence.
func (b *Batch) LastSequence() int32 { return AddSequence(b.BaseSequence(), b.lastOffsetDelta()) }

// AddSequence counts a sequence on by delta. 2147483647 is followed by 0; NoSequence stays.
func AddSequence(sequence, delta int32) int32 {
	switch {
	case sequence == NoSequence:
		return NoSequence
	case sequence > math.MaxInt32-delta:
		return delta - (math.MaxInt32 - sequence) - 1
	}
	return sequence + delta
}
