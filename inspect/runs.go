package inspect

import (
	"errors"
	"io"
	"sync"

	"logdir/store/record"
	"logdir/store/segment"
)

const (
	// runSize is how many bytes of a log one worker takes at a time.
	runSize = 256 << 10
	// maxHeld is the largest frame that is read into memory before its checksum is known.
	maxHeld = 16 << 20
)

// run is a stretch of whole frames, and the bytes in front of it that are none.
type run struct {
	seq  int
	gap  gap
	pos  int64  // of data[0] in the file
	data []byte // whole frames only, in buf
	buf  []byte // reused
}

// gap is a range of a log in which no frame can be found.
type gap struct {
	pos, size int64
	atEnd     bool
}

// walker cuts a log into runs. It trusts each size field, as Kafka's reader does; where
// a size or a magic cannot be right, it looks for the next good batch. Workers share it.
type walker struct {
	src  io.ReaderAt
	end  int64 // where reading stops: the file's size, or --max-bytes
	tail bool  // bytes left at the end are told (not with --max-bytes)

	mu   sync.Mutex
	seq  int
	pos  int64 // of the next frame
	last int64 // start of the frame before it, -1 if there is none
	done bool
}

func newWalker(src io.ReaderAt, start, end int64, tail bool) *walker {
	return &walker{src: src, pos: start, end: end, tail: tail, last: -1}
}

// stop ends the walk: further calls of next are false.
func (w *walker) stop() {
	w.mu.Lock()
	w.done = true
	w.mu.Unlock()
}

// next fills r with the next run. It is false when the log is at its end.
func (w *walker) next(r *run) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return false, nil
	}
	r.seq, r.gap, r.data = w.seq, gap{}, nil
	w.seq++
	if err := w.fill(r); err != nil || len(r.data) > 0 {
		return err == nil, err
	}
	// Not one whole frame at pos: step over what is there.
	if w.skip(r); w.done {
		return r.gap.size > 0, nil
	}
	err := w.fill(r)
	return err == nil, err
}

// fill reads the whole frames at pos.
func (w *walker) fill(r *run) error {
	want := min(runSize, w.end-w.pos)
	if want <= 0 {
		return nil
	}
	if err := w.read(r, int(want)); err != nil {
		return err
	}
	n, last := wholeFrames(r.buf, w.end-w.pos)
	if n == 0 {
		var err error
		if n, err = w.large(r); err != nil {
			return err
		}
	}
	r.pos, r.data = w.pos, r.buf[:n]
	if n > 0 {
		w.last = w.pos + int64(last)
		w.pos += int64(n)
	}
	return nil
}

func (w *walker) read(r *run, n int) error {
	if cap(r.buf) < n || cap(r.buf) > max(n, 16*runSize) {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	got, err := w.src.ReadAt(r.buf, w.pos)
	if errors.Is(err, io.EOF) { // the file became shorter while it was read
		err = nil
		w.end = w.pos + int64(got)
	}
	r.buf = r.buf[:got]
	if err != nil {
		return &segment.ReadError{Pos: w.pos, Size: int64(n), Err: err}
	}
	return nil
}

// large reads the one frame at pos if it is larger than a run. One too large to be held
// is read only if its checksum, which is computed in passing, is right.
func (w *walker) large(r *run) (int, error) {
	size, format, fits := frameAt(r.buf, w.end-w.pos)
	if !fits || size <= int64(len(r.buf)) {
		return 0, nil
	}
	if size > maxHeld {
		right, err := streamedCRC(w.src, w.pos, size, format)
		if err != nil || !right {
			return 0, err
		}
	}
	if err := w.read(r, int(size)); err != nil {
		return 0, err
	}
	n, _ := wholeFrames(r.buf, size)
	return n, nil
}

// skip goes to the next good batch behind pos, or to the end, and notes the gap.
func (w *walker) skip(r *run) {
	after := w.pos
	if w.last >= 0 && !w.checked(w.last) {
		after = w.last // the frame before may have claimed too many bytes
	}
	next := w.end
	if w.end-after > record.PrefixSize {
		next = nextBatch(w.src, after, w.end)
	}
	r.gap = gap{pos: w.pos, size: next - w.pos, atEnd: next >= w.end}
	w.pos, w.last = next, -1
	if next < w.end {
		r.gap.size = max(0, r.gap.size)
		return
	}
	w.done = true
	if !w.tail {
		r.gap = gap{}
	}
}

// checked says whether the frame at pos has a right checksum.
func (w *walker) checked(pos int64) bool {
	prefix := make([]byte, record.PrefixSize)
	if _, err := w.src.ReadAt(prefix, pos); err != nil {
		return false
	}
	size, format, ok := record.Peek(prefix)
	if !ok {
		return false
	}
	right, err := streamedCRC(w.src, pos, size, format)
	return err == nil && right
}

// wholeFrames tells how many bytes of b are whole frames, and where the last of them
// begins. left is how many bytes the file has from b's start on.
func wholeFrames(b []byte, left int64) (n, last int) {
	for {
		size, _, fits := frameAt(b[n:], left-int64(n))
		if !fits || size > int64(len(b)-n) {
			return n, last
		}
		last, n = n, n+int(size)
	}
}

// frameAt tells the size of the frame at the start of b, and whether it may be one: it
// fits into what is left of the file, and either has a known format, or could be a batch
// of which only the magic byte is hurt.
func frameAt(b []byte, left int64) (size int64, f record.Format, fits bool) {
	size, f, ok := record.Peek(b)
	if !ok {
		if size < record.HeaderSize || size > left || !checkedAsV2(b, size) {
			return size, f, false
		}
		f = record.V2
	}
	return size, f, size <= left
}

// checkedAsV2 says whether the frame of size bytes at the start of b has the checksum of
// a v2 batch, whatever its magic byte says.
func checkedAsV2(b []byte, size int64) bool {
	return size <= int64(len(b)) &&
		storedCRC(b, record.V2) == record.Checksum(0, record.V2, b[record.V2.ChecksumStart():size])
}

// nextBatch finds the first good batch behind byte after, or end.
func nextBatch(src io.ReaderAt, after, end int64) int64 {
	s := segment.NewScanner(src, end, segment.Options{Start: after})
	for s.Next() {
		if s.Damage() == nil && s.Pos() > after {
			return s.Pos()
		}
	}
	return end
}
