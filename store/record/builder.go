package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"logdir/store/compress"
)

// Builder writes one batch after the other. It is made to be reused: once its buffers
// have grown it allocates nothing. It is not safe for concurrent use.
//
//	b.Reset(meta)
//	b.Append(&record) // any number
//	frame, err = b.Build(frame[:0])
type Builder struct {
	meta    Meta
	records []byte // encoded, not compressed
	count   int
	err     error // the first refusal of Append

	lastOffset    int64
	baseTimestamp int64
	maxTimestamp  int64

	encoder *compress.Encoder
}

// NewBuilder returns a Builder that wants a Reset first.
func NewBuilder() *Builder { return &Builder{encoder: compress.NewEncoder()} }

// Reset forgets all records and begins a batch.
func (b *Builder) Reset(m Meta) {
	if m.Format != MKB1 {
		m.Format = V2
	}
	b.meta, b.records, b.count, b.err = m, b.records[:0], 0, nil
	b.lastOffset, b.baseTimestamp, b.maxTimestamp = m.BaseOffset-1, NoTimestamp, NoTimestamp
	if m.HasDeleteHorizon {
		b.baseTimestamp = m.DeleteHorizon
	}
}

// Append adds a copy of r: offset, timestamp, key, value and headers; the rest of r does
// not count. Offsets must rise and may have gaps. A record that does not fit makes Build fail.
func (b *Builder) Append(r *Record) {
	if b.err == nil {
		b.err = b.refusal(r)
	}
	if b.err != nil {
		return
	}
	if b.count == 0 && !b.meta.HasDeleteHorizon {
		b.baseTimestamp = r.Timestamp
	}
	if b.meta.Format == MKB1 {
		b.appendMKB1(r)
	} else {
		b.appendV2(r)
	}
	b.lastOffset, b.count = r.Offset, b.count+1
	b.maxTimestamp = max(b.maxTimestamp, r.Timestamp)
}

// refusal says why r cannot follow the records so far.
func (b *Builder) refusal(r *Record) error {
	switch {
	case r.Offset <= b.lastOffset:
		return fmt.Errorf("record offset %d after %d", r.Offset, b.lastOffset)
	case r.Offset-b.meta.BaseOffset > math.MaxInt32:
		return fmt.Errorf("record offset %d is too far from base offset %d", r.Offset, b.meta.BaseOffset)
	case b.Size()+RecordSize(r) > math.MaxInt32:
		return fmt.Errorf("record at offset %d makes the batch larger than 2 GiB", r.Offset)
	}
	return nil
}

// Len is the number of records so far.
func (b *Builder) Len() int { return b.count }

// Size is the bytes of the batch so far, header included, before compression: what a
// producer compares with its batch size.
func (b *Builder) Size() int {
	if b.meta.Format == MKB1 {
		return MKB1HeaderSize + len(b.meta.TransactionalID) + len(b.records)
	}
	return HeaderSize + len(b.records)
}

// SizeWith is what Size would be after Append(r).
func (b *Builder) SizeWith(r *Record) int {
	if b.meta.Format == MKB1 {
		return b.Size() + mkb1RecordSize(r)
	}
	base := b.baseTimestamp
	if b.count == 0 && !b.meta.HasDeleteHorizon {
		base = r.Timestamp
	}
	body := bodySizeV2(r, r.Timestamp-base, int32(r.Offset-b.meta.BaseOffset))
	return b.Size() + varintSize(int32(body)) + body
}

// Build appends the frame to dst. The Builder keeps its records: Build again, or Reset.
func (b *Builder) Build(dst []byte) ([]byte, error) {
	switch {
	case b.err != nil:
		return dst, b.err
	case b.meta.Format == MKB1:
		return b.buildMKB1(dst)
	case b.count == 0:
		return dst, errors.New("a batch without records")
	}
	return b.buildV2(dst)
}

// BuildEmpty appends a v2 batch without records, 61 bytes: what compaction leaves of a
// batch whose producer or last offset must be remembered. It takes the offsets of the
// Meta up to its LastOffset; maxTimestamp, in ms, is that of the batch it stands for.
func (b *Builder) BuildEmpty(dst []byte, maxTimestamp int64) []byte {
	m := b.meta
	m.Codec, m.HasDeleteHorizon = compress.None, false
	dst = appendHeaderV2(dst, &m)
	raw := dst[len(dst)-HeaderSize:]
	fillV2(raw, max(m.LastOffset, m.BaseOffset)-m.BaseOffset, NoTimestamp, maxTimestamp, 0)
	binary.BigEndian.PutUint32(raw[posBatchLength:], HeaderSize-sizedFrom)
	Seal(raw)
	return dst
}
