package record

import (
	"encoding/binary"

	"logdir/store/compress"
	"logdir/store/corrupt"
)

// legacyState is what a Reader keeps while it reads a v0 or v1 batch.
type legacyState struct {
	// base is added to the offsets of inner messages, which v1 counts from it.
	base int64
	// inner says that the messages come out of a wrapper.
	inner bool
}

// message is one v0 or v1 entry, offset and size included.
type message []byte

func (m message) magic() Format         { return Format(m[legacyPosMagic]) }
func (m message) crc() uint32           { return binary.BigEndian.Uint32(m[legacyPosCRC:]) }
func (m message) codec() compress.Codec { return compress.Codec(m[legacyPosAttributes] & codecMask) }

// keyStart is where the length of the key stands.
func (m message) keyStart() int {
	if m.magic() == V0 {
		return legacyPosKeyV0
	}
	return legacyPosKeyV1
}

// timestamp is the message's own, in ms.
func (m message) timestamp() int64 {
	if m.magic() == V0 {
		return NoTimestamp
	}
	return int64At(m, legacyPosTimestamp)
}

// fields cuts key and value out of the message, nil for null ones. Like Kafka it takes
// any negative length for null and does not mind bytes behind the value. bad names the
// length that does not fit, or is empty.
func (m message) fields() (key, value []byte, bad string) {
	key, pos := m.field(m.keyStart())
	if pos == past {
		return nil, nil, "keyLength"
	}
	value, pos = m.field(pos)
	if pos == past {
		return nil, nil, "valueLength"
	}
	return key, value, ""
}

// field reads an int32 length at pos and so many bytes, and gives the position behind.
func (m message) field(pos int) ([]byte, int) {
	if len(m)-pos < 4 {
		return nil, past
	}
	length := int(int32At(m, pos))
	pos += 4
	if length < 0 {
		return nil, pos
	}
	if length > len(m)-pos {
		return nil, past
	}
	end := pos + length
	return m[pos:end:end], end
}

// checkLegacy judges the header of a frame whose length is right.
func checkLegacy(raw []byte, _ Format) *corrupt.Error {
	if _, _, bad := message(raw).fields(); bad != "" {
		return badField(bad, int64(len(raw)), "%s is larger than the message", bad)
	}
	return nil
}

// legacyValueSize is the bytes from the start of the message's value to the frame's end.
func (b *Batch) legacyValueSize() int {
	m := message(b.raw)
	_, pos := m.field(m.keyStart())
	if pos == past || len(m)-pos < 4 {
		return 0
	}
	return len(m) - pos - 4
}

// resetLegacy begins to read r.batch, a message or a wrapper of messages.
func (r *Reader) resetLegacy() {
	r.legacy = legacyState{}
	raw := r.batch.raw
	if len(raw) == 0 {
		return // the zero Batch
	}
	if err := checkLegacy(raw, r.batch.format); err != nil {
		r.refuse(err)
		return
	}
	r.data, r.left = raw, 1
	if r.batch.CodecBits() != 0 {
		r.left = 0
		r.resetWrapper()
	}
}

// resetWrapper unpacks the value of a wrapper and looks through the messages in it. Any
// of them being broken, nothing is read, as in Kafka: offsets of v1 are known only from
// the last one.
func (r *Reader) resetWrapper() {
	_, value, _ := message(r.batch.raw).fields()
	start := r.batch.recordsStart()
	switch {
	case r.batch.Codec() >= compress.Zstd:
		r.refuse(badField("attributes", int64(r.batch.Size()), "codec %s in a message of format %s", r.batch.Codec(), r.batch.format))
		return
	case value == nil:
		r.refuse(badField("valueLength", int64(r.batch.Size()), "compressed messages, but a null value"))
		return
	}
	if !r.decompress(value, start, compress.Options{LegacyLZ4: r.batch.format == V0}) {
		return
	}
	last, ok := r.countInner()
	if !ok {
		return
	}
	r.legacy.inner = true
	if r.batch.format == V1 && !r.rebase(last) {
		r.left = 0
	}
}

// countInner counts the messages of r.data into r.left, and gives the offset of the last.
// One that is cut off at the end does not count, as in Kafka.
func (r *Reader) countInner() (last int64, ok bool) {
	pos := 0
	for count := int32(0); ; count++ {
		size, broken := innerSize(r.data[pos:])
		if broken != "" {
			return 0, r.fail(pos, len(r.data)-pos, "%s of an inner message", broken)
		}
		if size == 0 {
			r.data, r.left = r.data[:pos], count
			break
		}
		last = int64At(r.data, pos)
		pos += size
	}
	if r.left == 0 {
		return 0, r.fail(0, 0, "compressed messages, but none in it")
	}
	return last, true
}

// innerSize is the size of the message that b begins with, 0 if b ends before it does.
// broken says in a word what makes it none.
func innerSize(b []byte) (size int, broken string) {
	if len(b) < sizedFrom {
		return 0, ""
	}
	length := int32At(b, legacyPosSize)
	if length < minV0Length {
		return 0, "size"
	}
	if int(length) > len(b)-sizedFrom {
		return 0, ""
	}
	magic := Format(b[legacyPosMagic])
	if magic > V1 {
		return 0, "magic"
	}
	if magic == V1 && length < minV1Length {
		return 0, "size"
	}
	return sizedFrom + int(length), ""
}

// rebase finds the offset that the relative ones of a v1 wrapper count from: the wrapper
// has that of its last message. 0 is what old producers left there.
func (r *Reader) rebase(last int64) bool {
	wrapper := r.batch.BaseOffset()
	if wrapper == 0 {
		return true
	}
	if wrapper < last {
		return r.fail(0, len(r.data), "wrapper offset %d is less than the last inner offset %d", wrapper, last)
	}
	r.legacy.base = wrapper - last
	return true
}

// nextLegacy puts the next message into r.rec.
func (r *Reader) nextLegacy() bool {
	if r.left == 0 {
		return false
	}
	m := message(r.data[r.pos:])
	m = m[:sizedFrom+int(int32At(m, legacyPosSize))]
	if r.legacy.inner && m.codec() != compress.None {
		return r.fail(r.pos, len(m), "an inner message is compressed")
	}
	key, value, bad := m.fields()
	if bad != "" {
		return r.fail(r.pos, len(m), "%s is larger than the message", bad)
	}
	rec := &r.rec
	rec.Key, rec.Value, rec.Sequence = key, value, NoSequence
	rec.Offset = int64At(m, posBaseOffset) + r.legacy.base
	rec.CRC = m.crc()
	rec.CRCValid = rec.CRC == Checksum(0, V1, m[legacyPosMagic:])
	rec.Pos, rec.Size = r.pos, len(m)
	r.stampLegacy(m)
	r.pos += len(m)
	r.left--
	return true
}

// stampLegacy tells the time of a message. The type is the wrapper's, whatever the inner
// attributes say, and with LogAppendTime so is the time: brokers did not repack to set it.
func (r *Reader) stampLegacy(m message) {
	rec := &r.rec
	rec.Timestamp, rec.TimestampType = m.timestamp(), r.batch.TimestampType()
	switch {
	case m.magic() == V0:
		rec.TimestampType = NoTimestampType
	case rec.TimestampType == LogAppendTime:
		rec.Timestamp = r.batch.MaxTimestamp()
	}
}
