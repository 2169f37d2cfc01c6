package record

import (
	"errors"
	"fmt"

	"logdir/store/compress"
	"logdir/store/corrupt"
)

// Reader iterates over the records of batches. It is made to be reused: once its buffers
// have grown, it allocates nothing, neither per record nor per batch. It is not safe for
// concurrent use.
//
//	r := record.NewReader()
//	for each batch {
//		r.Reset(batch)
//		for r.Next() {
//			use(r.Record())
//		}
//		if err := r.Err(); err != nil { ... }
//	}
type Reader struct {
	// Limit bounds what one batch may decompress to; 0 means compress.DefaultLimit.
	Limit int

	batch Batch
	rec   Record
	err   *corrupt.Error

	data   []byte // where the records stand: in the frame, or decompressed
	pos    int    // of the next record in data
	origin int    // position of data[0] in the frame, 0 if decompressed
	left   int32  // records to come
	last   int32  // offset delta of the record before, -1 at first

	plain   []byte // reused for decompressed records
	headers []Header
	decoder *compress.Decoder

	legacy legacyState
}

// NewReader returns a Reader without a batch: its Next is false until Reset.
func NewReader() *Reader { return &Reader{decoder: compress.NewDecoder()} }

// Reset begins the records of b. It keeps no pointer to b, only to the bytes under it.
func (r *Reader) Reset(b *Batch) {
	r.batch, r.err, r.data, r.pos, r.origin, r.left, r.last = *b, nil, nil, 0, 0, 0, -1
	r.rec = Record{TimestampType: b.TimestampType(), Headers: r.headers[:0]}
	switch {
	case !b.Whole():
		r.fail(0, b.Size(), "have %d of %d bytes", len(b.raw), b.Size())
	case b.format == V2:
		r.resetV2()
	case b.format == MKB1:
		r.resetMKB1()
	default:
		r.resetLegacy()
	}
}

// Next goes to the next record. It is false at the end and at damage: see Err.
func (r *Reader) Next() bool {
	switch r.batch.format {
	case V2:
		return r.nextV2()
	case MKB1:
		return r.nextMKB1()
	}
	return r.nextLegacy()
}

// Record is the record that Next went to. It is valid until the next call.
func (r *Reader) Record() *Record { return &r.rec }

// Err is nil, or the *corrupt.Error of kind bad-records at which Next stopped. Its
// position counts from the start of the frame; in a compressed batch it is that of the
// compressed records, and the detail tells the place inside them.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// fail ends the batch with damage at a position of r.data.
func (r *Reader) fail(pos, size int, format string, args ...any) bool {
	detail := fmt.Sprintf(format, args...)
	if r.batch.CodecBits() == 0 {
		pos += r.origin
	} else {
		detail += fmt.Sprintf(" at byte %d of the decompressed records", pos)
		pos, size = r.batch.recordsStart(), r.batch.Size()-r.batch.recordsStart()
	}
	r.refuse(corrupt.New(corrupt.BadRecords, int64(pos), int64(size), detail))
	return false
}

// refuse ends the batch with err, and says which batch it is.
func (r *Reader) refuse(err *corrupt.Error) {
	err.BaseOffset, err.LastOffset, err.Records = r.batch.BaseOffset(), r.batch.LastOffset(), int64(r.batch.Count())
	r.err, r.left = err, 0
}

// decompress puts the plain form of src, which begins at byte pos of the frame, into r.data.
func (r *Reader) decompress(src []byte, pos int, o compress.Options) bool {
	o.Limit = r.Limit
	plain, err := r.decoder.Decode(r.plain[:0], src, r.batch.Codec(), o)
	if err != nil {
		r.refuse(asCorrupt(err, pos, len(src)))
		return false
	}
	r.plain, r.data = plain, plain
	return true
}

// asCorrupt moves a decoder's complaint about src to src's place in the frame.
func asCorrupt(err error, pos, size int) *corrupt.Error {
	if c, ok := errors.AsType[*corrupt.Error](err); ok {
		moved := *c
		moved.Pos += int64(pos)
		return &moved
	}
	return corrupt.New(corrupt.BadRecords, int64(pos), int64(size), err.Error())
}
