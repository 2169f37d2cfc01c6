package record

import (
	"encoding/binary"
	"fmt"
	"math"
)

func (b *Builder) appendV2(r *Record) {
	timestamp, delta := r.Timestamp-b.baseTimestamp, int32(r.Offset-b.meta.BaseOffset)
	dst := appendVarint(b.records, int32(bodySizeV2(r, timestamp, delta)))
	dst = append(dst, 0) // attributes, unused
	dst = appendVarlong(dst, timestamp)
	dst = appendVarint(dst, delta)
	dst = appendField(dst, r.Key)
	dst = appendField(dst, r.Value)
	dst = appendVarint(dst, int32(len(r.Headers)))
	for _, h := range r.Headers {
		dst = appendVarint(dst, int32(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = appendField(dst, h.Value)
	}
	b.records = dst
}

// bodySizeV2 is what the record's length field counts.
func bodySizeV2(r *Record, timestamp int64, delta int32) int {
	size := 1 + varlongSize(timestamp) + varintSize(delta) + fieldSize(r.Key) + fieldSize(r.Value)
	size += varintSize(int32(len(r.Headers)))
	for _, h := range r.Headers {
		size += varintSize(int32(len(h.Key))) + len(h.Key) + fieldSize(h.Value)
	}
	return size
}

// appendField writes what field reads: nil is null.
func appendField(dst, p []byte) []byte {
	if p == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int32(len(p))), p...)
}

func fieldSize(p []byte) int {
	if p == nil {
		return 1
	}
	return varintSize(int32(len(p))) + len(p)
}

func (b *Builder) buildV2(dst []byte) ([]byte, error) {
	m, start := &b.meta, len(dst)
	if m.ProducerEpoch != int32(int16(m.ProducerEpoch)) {
		return dst, fmt.Errorf("producer epoch %d does not fit 16 bits", m.ProducerEpoch)
	}
	last := max(m.LastOffset, b.lastOffset) - m.BaseOffset
	if last > math.MaxInt32 {
		return dst, fmt.Errorf("last offset %d is too far from base offset %d", m.LastOffset, m.BaseOffset)
	}
	dst = appendHeaderV2(dst, m)
	dst, err := b.encoder.Encode(dst, b.records, m.Codec)
	if err != nil {
		return dst[:start], err
	}
	raw, largest := dst[start:], b.maxTimestamp
	if m.TimestampType == LogAppendTime {
		largest = m.AppendTime
	}
	fillV2(raw, last, b.baseTimestamp, largest, b.count)
	binary.BigEndian.PutUint32(raw[posBatchLength:], uint32(len(raw)-sizedFrom))
	Seal(raw)
	return dst, nil
}

// appendHeaderV2 appends a header with everything that m knows; length, checksum and what
// fillV2 sets are still zero.
func appendHeaderV2(dst []byte, m *Meta) []byte {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(m.BaseOffset))
	dst = be.AppendUint32(dst, 0) // batchLength
	dst = be.AppendUint32(dst, uint32(m.LeaderEpoch))
	dst = append(dst, byte(V2))
	dst = be.AppendUint32(dst, 0) // crc
	dst = be.AppendUint16(dst, m.attributes())
	dst = be.AppendUint32(dst, 0) // lastOffsetDelta
	dst = be.AppendUint64(dst, 0) // baseTimestamp
	dst = be.AppendUint64(dst, 0) // maxTimestamp
	dst = be.AppendUint64(dst, uint64(m.ProducerID))
	dst = be.AppendUint16(dst, uint16(m.ProducerEpoch))
	dst = be.AppendUint32(dst, uint32(m.BaseSequence))
	return be.AppendUint32(dst, 0) // recordsCount
}

// fillV2 sets the fields that are known only when all records are.
func fillV2(raw []byte, lastOffsetDelta, baseTimestamp, maxTimestamp int64, count int) {
	be := binary.BigEndian
	be.PutUint32(raw[posLastOffsetDelta:], uint32(lastOffsetDelta))
	be.PutUint64(raw[posBaseTimestamp:], uint64(baseTimestamp))
	be.PutUint64(raw[posMaxTimestamp:], uint64(maxTimestamp))
	be.PutUint32(raw[posRecordsCount:], uint32(count))
}

// attributes are the bits of a v2 batch.
func (m *Meta) attributes() uint16 {
	bits := uint16(m.Codec) & codecMask
	for _, flag := range []struct {
		set bool
		bit uint16
	}{
		{m.TimestampType == LogAppendTime, timestampTypeBit},
		{m.Transactional, transactionalBit},
		{m.Control, controlBit},
		{m.HasDeleteHorizon, deleteHorizonBit},
	} {
		if flag.set {
			bits |= flag.bit
		}
	}
	return bits
}
