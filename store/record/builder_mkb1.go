package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"logdir/store/compress"
)

// mkb1RecordSize is the exact size of r in a frame.
func mkb1RecordSize(r *Record) int {
	size := mkb1RecordHeader + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += 6 + len(h.Key) + len(h.Value)
	}
	return size
}

// appendMKB1 adds one record to b.records.
func (b *Builder) appendMKB1(r *Record) {
	if b.err = mkb1Refusal(r); b.err != nil {
		return
	}
	timestamp := r.Timestamp
	if b.meta.TimestampType == LogAppendTime {
		timestamp = b.meta.AppendTime
	}
	be, dst := binary.BigEndian, b.records
	dst = be.AppendUint32(dst, uint32(r.Offset-b.meta.BaseOffset))
	dst = be.AppendUint64(dst, uint64(timestamp))
	dst = be.AppendUint32(dst, mkb1Length(r.Key))
	dst = be.AppendUint32(dst, mkb1Length(r.Value))
	dst = be.AppendUint16(dst, uint16(len(r.Headers)))
	dst = append(dst, r.Key...)
	dst = append(dst, r.Value...)
	for _, h := range r.Headers {
		dst = be.AppendUint16(dst, uint16(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = be.AppendUint32(dst, mkb1Length(h.Value))
		dst = append(dst, h.Value...)
	}
	b.records = dst
}

// mkb1Length is the length of p as it is written, -1 for null.
func mkb1Length(p []byte) uint32 {
	if p == nil {
		return math.MaxUint32
	}
	return uint32(len(p))
}

// mkb1Refusal says which 16-bit number of the format r does not fit.
func mkb1Refusal(r *Record) error {
	if len(r.Headers) > math.MaxUint16 {
		return fmt.Errorf("record at offset %d has %d headers, more than MKB1 can hold", r.Offset, len(r.Headers))
	}
	for _, h := range r.Headers {
		if len(h.Key) > math.MaxUint16 {
			return fmt.Errorf("record at offset %d has a header key of %d bytes, more than MKB1 can hold", r.Offset, len(h.Key))
		}
	}
	return nil
}

// buildMKB1 appends the frame of everything in b.
func (b *Builder) buildMKB1(dst []byte) ([]byte, error) {
	if err := b.mkb1Impossible(); err != nil {
		return dst, err
	}
	m, start, be := &b.meta, len(dst), binary.BigEndian
	last := max(m.LastOffset, b.lastOffset, m.BaseOffset) - m.BaseOffset
	dst = append(dst, "MKB1"...)
	dst = be.AppendUint32(dst, uint32(b.Size()-sizedFrom))
	dst = be.AppendUint32(dst, 0) // crc
	dst = append(dst, mkb1Version)
	dst = be.AppendUint64(dst, uint64(m.BaseOffset))
	dst = be.AppendUint32(dst, uint32(m.LeaderEpoch))
	dst = be.AppendUint64(dst, uint64(m.ProducerID))
	dst = be.AppendUint32(dst, uint32(m.ProducerEpoch))
	dst = be.AppendUint32(dst, uint32(m.BaseSequence))
	dst = append(dst, m.mkb1Flags())
	dst = be.AppendUint32(dst, uint32(last))
	dst = be.AppendUint16(dst, uint16(len(m.TransactionalID)))
	dst = be.AppendUint32(dst, uint32(b.count))
	dst = append(dst, m.TransactionalID...)
	dst = append(dst, b.records...)
	if err := checkMKB1(dst[start:]); err != nil {
		return dst[:start], fmt.Errorf("not an MKB1 frame: %s", err.Detail)
	}
	Seal(dst[start:])
	return dst, nil
}

// mkb1Impossible says what of b has no place in the format.
func (b *Builder) mkb1Impossible() error {
	m := &b.meta
	switch {
	case m.Codec != compress.None:
		return fmt.Errorf("MKB1 has no compression, not even %s", m.Codec)
	case m.HasDeleteHorizon:
		return errors.New("MKB1 has no delete horizon")
	case len(m.TransactionalID) > math.MaxUint16:
		return fmt.Errorf("transactional id of %d bytes is longer than MKB1 can hold", len(m.TransactionalID))
	case b.Size()-sizedFrom > mkb1MaxPayload:
		return fmt.Errorf("payload of %d bytes is larger than MiniKafka takes, %d", b.Size()-sizedFrom, mkb1MaxPayload)
	case m.LastOffset-m.BaseOffset > math.MaxInt32:
		return fmt.Errorf("last offset %d is too far from base offset %d", m.LastOffset, m.BaseOffset)
	}
	return nil
}

func (m *Meta) mkb1Flags() byte {
	var flags byte
	if m.Transactional {
		flags |= mkb1Transactional
	}
	switch {
	case m.Control && m.Marker == Commit:
		flags |= mkb1Commit
	case m.Control:
		flags |= mkb1Abort
	}
	return flags
}
