package segment

import (
	"io"

	"logdir/store/corrupt"
	"logdir/store/record"
)

// FrameScanner walks a .log as Kafka's dump tool does: it trusts each size field, goes on
// behind a frame whose checksum is wrong, and ends where no whole frame follows.
type FrameScanner struct {
	pos   int64
	batch record.Batch
}

// NewFrameScanner returns a FrameScanner over the first size bytes of r.
func NewFrameScanner(r io.ReaderAt, size int64) *FrameScanner { return new(FrameScanner) }

// Next goes to the next frame.
func (s *FrameScanner) Next() bool { return false }

// Batch is the frame at Pos, valid until the next call. A magic above 2 is read as v2, as
// Kafka does: Raw()[16] has the byte. A frame too large for the buffer whose checksum is
// wrong has only its header loaded: see record.Batch.Whole.
func (s *FrameScanner) Batch() *record.Batch { return &s.batch }

// CRCValid says whether the frame's checksum is right (Kafka: isvalid).
func (s *FrameScanner) CRCValid() bool { return false }

// Pos is the first byte of the frame; after the last, of what is left.
func (s *FrameScanner) Pos() int64 { return s.pos }

// Trailing is the number of bytes behind the last frame.
func (s *FrameScanner) Trailing() int64 { return 0 }

// Damage is set at the end if the trailing bytes are such that Kafka's tool dies of them: 18
// or more that begin with a size field below 14.
func (s *FrameScanner) Damage() *corrupt.Error { return nil }

// Err is the I/O error that stopped the walk, or nil.
func (s *FrameScanner) Err() error { return nil }
