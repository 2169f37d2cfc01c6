package segment

import (
	"io"

	"logdir/store/corrupt"
	"logdir/store/record"
)

// Options say what a Scanner scans and what it knows beforehand.
type Options struct {
	// Base is the segment's base offset; batches below it are damage.
	Base int64
	// Limit is the base offset of the next segment; batches at or above it are damage.
	// 0 or less means that there is none.
	Limit int64
	// Start and End bound the bytes to scan. Start must be the first byte of a batch. End 0
	// or less means the size; an End before the size stops the scan at the batch that
	// would cross it, without calling it damage.
	Start, End int64
	// LogEnd is the log end offset before Start, if that is known and above Base.
	LogEnd int64
	// Epoch is the leader epoch before Start.
	Epoch int32

	// SkipCRC trusts lengths and does not compute checksums.
	SkipCRC bool
	// Deep also decompresses and parses the records of each batch.
	Deep bool
	// StopAtDamage ends the scan with the first damaged range.
	StopAtDamage bool
	// MaxBatch is the largest batch, in bytes, whose torn beginning is believed, and to
	// which a deep scan decompresses. 0 means 128 MiB.
	MaxBatch int
}

// Scanner walks the frames of a .log and classifies what is not one. The good frames
// and the damaged ranges that it yields cover the file without gap or overlap.
//
//	s := segment.NewScanner(f, size, segment.Options{Base: base})
//	for s.Next() {
//		if d := s.Damage(); d != nil { ... continue }
//		use(s.Batch(), s.Pos())
//	}
//	if err := s.Err(); err != nil { ... } // I/O, never damage
//
// It reads 1 MiB at a time into one buffer and allocates nothing while all is well.
type Scanner struct {
	o     Options
	pos   int64
	batch record.Batch
	whole bool
	dmg   *corrupt.Error
	err   error
}

// NewScanner returns a Scanner over the first size bytes of r.
func NewScanner(r io.ReaderAt, size int64, o Options) *Scanner {
	s := new(Scanner)
	s.Reset(r, size, o)
	return s
}

// Reset begins another scan and keeps the buffers.
func (s *Scanner) Reset(r io.ReaderAt, size int64, o Options) { s.o = o }

// Next goes to the next frame or damaged range. It is false at the end and at an I/O error.
func (s *Scanner) Next() bool { return false }

// Batch is the frame at Pos, valid until the next call. It is nil in a damaged range that
// is not a whole frame.
func (s *Scanner) Batch() *record.Batch {
	if !s.whole {
		return nil
	}
	return &s.batch
}

// Damage is nil for a good frame. Path is left to the caller.
func (s *Scanner) Damage() *corrupt.Error { return s.dmg }

// Pos is the first byte of the frame or range. After the last Next it is where the scan
// ended.
func (s *Scanner) Pos() int64 { return s.pos }

// Err is the I/O error, a *ReadError, that stopped the scan, or nil.
func (s *Scanner) Err() error { return s.err }

// NextOffset is the log end offset behind all good frames so far.
func (s *Scanner) NextOffset() int64 { return 0 }

// Epoch is the leader epoch of the good frames so far.
func (s *Scanner) Epoch() int32 { return 0 }
