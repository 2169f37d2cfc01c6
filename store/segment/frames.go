package segment

import (
	"io"

	"logdir/store/corrupt"
	"logdir/store/record"
)

// FrameScanner walks a .log as Kafka's dump tool does: it trusts each size field, goes on
// behind a frame whose checksum is wrong, and ends where no whole frame follows.
type FrameScanner struct {
	w        walker
	valid    bool
	computed uint32
	damage   *corrupt.Error
}

// kafkaBlind is how many bytes at the end of a file Kafka does not look at: offset, size and
// four bytes more, but no magic.
const kafkaBlind = record.PrefixSize

// NewFrameScanner returns a FrameScanner over the first size bytes of r.
func NewFrameScanner(r io.ReaderAt, size int64) *FrameScanner {
	s := new(FrameScanner)
	s.Reset(r, size)
	return s
}

// Reset begins another walk and keeps the buffers.
func (s *FrameScanner) Reset(r io.ReaderAt, size int64) {
	s.w.reset(r, size, new(Options))
	s.valid, s.damage = false, nil
}

// StartAt makes the next frame the one at pos, which must be the first byte of one.
func (s *FrameScanner) StartAt(pos int64) { s.w.next = pos }

// Next goes to the next frame.
func (s *FrameScanner) Next() bool {
	w := &s.w
	w.pos, w.whole = w.next, false
	if w.end-w.pos <= kafkaBlind {
		return false
	}
	head := w.at(w.pos, record.HeaderSize)
	if w.err != nil {
		return false
	}
	f := kafkaFormat(head)
	size := sizeAs(head, f)
	switch {
	case size < sizeEnd+record.MinLegacySize || size < f.MinSize() && size <= w.end-w.pos:
		s.damage = corrupt.Newf(corrupt.BadLength, w.pos, w.end-w.pos, "length %d", size-sizeEnd)
		return false
	case size > w.end-w.pos:
		return false
	}
	return s.take(size, f)
}

// kafkaFormat is how Kafka reads a frame: whatever is not v0 or v1 is v2. Frames of MKB1
// are told by their first bytes.
func kafkaFormat(head []byte) record.Format {
	magic := int8(head[record.PrefixSize-1])
	switch {
	case string(head[:4]) == mkb1Magic:
		return record.MKB1
	case magic >= int8(record.V2):
		return record.V2
	case magic == int8(record.V0):
		return record.V0
	}
	return record.V1 // and negative ones
}

// take makes the frame of so many bytes the current one. A large one is loaded only if its
// checksum is right.
func (s *FrameScanner) take(size int64, f record.Format) bool {
	w := &s.w
	if size <= windowSize {
		raw := w.at(w.pos, int(size))
		if w.err != nil {
			return false
		}
		w.take(record.Assume(raw[:size], size, f))
		s.computed = w.batch.ComputeCRC()
		s.valid = s.computed == w.batch.StoredCRC()
		return true
	}
	stored := w.storedCRC(w.pos, f)
	s.computed = w.checksum(&w.window, 0, f, w.pos+int64(f.ChecksumStart()), w.pos+size)
	s.valid = s.computed == stored
	if s.valid {
		return w.load(size, f)
	}
	return w.takeHead(size, f)
}

// Batch is the frame at Pos, valid until the next call. A magic above 2 is read as v2, as
// Kafka does: Raw()[16] has the byte. A frame of more than 1 MiB whose checksum is wrong
// has only its header at hand: see record.Batch.Whole.
func (s *FrameScanner) Batch() *record.Batch { return &s.w.batch }

// CRCValid says whether the frame's checksum is right (Kafka: isvalid).
func (s *FrameScanner) CRCValid() bool { return s.valid }

// ComputedCRC is what the frame's checksum should be.
func (s *FrameScanner) ComputedCRC() uint32 { return s.computed }

// Pos is the first byte of the frame; after the last, of what is left.
func (s *FrameScanner) Pos() int64 { return s.w.pos }

// Trailing is the number of bytes behind the last frame.
func (s *FrameScanner) Trailing() int64 { return s.w.end - s.w.next }

// Damage is set at the end if the trailing bytes are such that Kafka's tool dies of them: 18
// or more that begin with a size field below 14, or a v2 frame shorter than its header.
func (s *FrameScanner) Damage() *corrupt.Error { return s.damage }

// Err is the I/O error that stopped the walk, a *ReadError, or nil.
func (s *FrameScanner) Err() error {
	if s.w.err == nil {
		return nil
	}
	return s.w.err
}
