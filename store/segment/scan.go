package segment

import (
	"io"
	"math"

	"logdir/store/compress"
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

	// SkipCRC trusts lengths and does not compute checksums. A batch of more than 1 MiB is
	// then handed out with its header only: see record.Batch.Whole.
	SkipCRC bool
	// Deep also decompresses and parses the records of each batch.
	Deep bool
	// StopAtDamage ends the scan with the first damaged range.
	StopAtDamage bool
	// MaxBatch is the largest batch, in bytes, whose torn beginning is believed, and to
	// which a deep scan decompresses. 0 means 128 MiB.
	MaxBatch int
}

func (o *Options) maxBatch() int {
	if o.MaxBatch <= 0 {
		return compress.DefaultLimit
	}
	return o.MaxBatch
}

// limit is the first offset that the segment cannot hold.
func (o *Options) limit() int64 {
	limit := o.Base + math.MaxInt32 + 1
	if o.Limit > 0 {
		limit = min(limit, o.Limit)
	}
	return limit
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
// It reads 256 KiB at a time into one buffer and allocates nothing while all is well.
type Scanner struct {
	o     Options
	w     walker
	done  bool
	quick bool // the next frame may be taken at a glance

	next  int64 // log end offset so far
	epoch int32 // leader epoch so far

	epochs bool // a batch of this scan has one

	reader *record.Reader // of a deep scan
	scout  *scout         // looks ahead, and back, where offsets do not simply go on
}

// NewScanner returns a Scanner over the first size bytes of r.
func NewScanner(r io.ReaderAt, size int64, o Options) *Scanner {
	s := new(Scanner)
	s.Reset(r, size, o)
	return s
}

// Reset begins another scan and keeps the buffers.
func (s *Scanner) Reset(r io.ReaderAt, size int64, o Options) {
	s.o, s.done, s.quick = o, false, false
	s.next, s.epoch, s.epochs = max(o.Base, o.LogEnd), o.Epoch, false
	s.w.reset(r, size, &o)
	s.w.low, s.w.high = s.next, o.limit()
	if s.scout != nil {
		s.scout.reset()
	}
}

// Next goes to the next frame or damaged range. It is false at the end and at an I/O error.
//
// Almost every frame of a log is good, in the window, and simply goes on: such a one is
// taken at a glance, since of small frames there are millions.
func (s *Scanner) Next() bool {
	w := &s.w
	if i := w.next - w.window.pos; s.quick && uint64(i) < uint64(len(w.buf)) {
		if b, ok := record.Good(w.buf[i:]); ok {
			w.pos, w.damage = w.next, nil
			w.take(b)
			base, last, epoch := b.Place()
			if base != s.next || last >= w.high || epoch != s.epoch {
				s.judge()
				return true
			}
			s.next = last + 1
			return true
		}
	}
	return s.nextSlowly()
}

// nextSlowly is Next for everything else.
func (s *Scanner) nextSlowly() bool {
	if s.done || !s.step() {
		s.end()
		return false
	}
	if s.w.damage == nil {
		s.judge()
	} else {
		s.found(s.w.damage)
		s.count()
	}
	s.quick = s.epochs && !s.done && !s.o.Deep && !s.o.SkipCRC
	return true
}

// step lets the walker look for no frame that begins below the log end.
func (s *Scanner) step() bool {
	s.w.low = s.next
	return s.w.step()
}

// end is the state behind the last frame or range.
func (s *Scanner) end() {
	if s.done {
		s.w.pos = s.w.next
	}
	s.done, s.quick, s.w.whole, s.w.damage = true, false, false, nil
}

// judge decides whether a frame with a right checksum fits where it stands.
func (s *Scanner) judge() {
	b := &s.w.batch
	base, last, epoch := b.Place()
	if base != s.next || last >= s.w.high || last < base {
		if s.judgeOffset(base, last); s.w.damage != nil {
			return
		}
	}
	if b.Format() > record.V1 {
		s.judgeEpoch(epoch)
	}
	s.next = last + 1
	if s.o.Deep && s.w.damage == nil {
		s.judgeRecords()
	}
}

// count moves the log end behind a frame with the right checksum and a wrong header, if
// its offsets are none of what is wrong.
func (s *Scanner) count() {
	b := &s.w.batch
	if s.w.damage.Kind == corrupt.BadRecords && s.w.whole && b.BaseOffset() >= s.next && b.LastOffset() >= b.BaseOffset() && b.LastOffset() < s.w.high {
		s.next = b.LastOffset() + 1
	}
}

// judgeRecords reads every record of the frame.
func (s *Scanner) judgeRecords() {
	if s.reader == nil {
		s.reader = record.NewReader()
	}
	s.reader.Limit = s.o.maxBatch()
	s.reader.Reset(&s.w.batch)
	for s.reader.Next() {
	}
	if err, ok := s.reader.Err().(*corrupt.Error); ok {
		err.Pos += s.w.pos
		s.found(err)
	}
}

// found reports damage, with the next good frame behind it.
func (s *Scanner) found(err *corrupt.Error) {
	s.w.damage, s.done = err, s.o.StopAtDamage
	err.PrevOffset = s.next
	s.quick = s.quick && !s.done
	if !s.done {
		err.NextPos, err.NextOffset = s.ahead().nextGood(s.w.next, s.next)
	}
}

// Batch is the frame at Pos, valid until the next call. Damage may come with a frame too,
// where the frame is whole: a wrong checksum, an offset that does not fit, a length or magic
// that is proved wrong, records that do not parse. Otherwise it is nil.
func (s *Scanner) Batch() *record.Batch {
	if !s.w.whole {
		return nil
	}
	return &s.w.batch
}

// Damage is nil for a good frame. Path is left to the caller.
//
// A frame whose only fault is its leader epoch (kind bad-offset, field
// partitionLeaderEpoch), or its records (kind bad-records), counts with its offsets.
func (s *Scanner) Damage() *corrupt.Error { return s.w.damage }

// Pos is the first byte of the frame or range. After the last Next it is where the scan
// ended.
func (s *Scanner) Pos() int64 { return s.w.pos }

// Size is the bytes of the frame or range.
func (s *Scanner) Size() int64 { return s.w.next - s.w.pos }

// Err is the I/O error, a *ReadError, that stopped the scan, or nil.
func (s *Scanner) Err() error {
	if s.w.err == nil {
		return nil
	}
	return s.w.err
}

// NextOffset is the log end offset behind the good frames so far.
func (s *Scanner) NextOffset() int64 { return s.next }

// Epoch is the leader epoch of the good frames so far.
func (s *Scanner) Epoch() int32 { return s.epoch }
