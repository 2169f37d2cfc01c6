package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	// windowSize is the largest frame that a window holds.
	windowSize = 1 << 20
	// readSize is what it reads at a time once it is warm: little enough to be still in the
	// processor's own cache when its bytes are looked at, with room for another worker.
	readSize = 256 << 10
	// firstRead is what it reads first: many a scan ends after one batch.
	firstRead = 64 << 10
	// pageSize is what reads end on, so that the next one begins there: the kernel copies
	// from page to page at twice the speed.
	pageSize = 4096
)

// window is a buffer that slides over a file. Its bytes are read once as long as one
// goes forward.
//
//	store  |          ....kept|read...............          |
//	                  '-------- buf -------------'
//	       0                     half                          2*half
//
// What is read always goes to the middle, and what is kept of the bytes before is moved in
// front of it. The pages that are not touched cost no memory; but the collector counts them,
// and a short command on a small log should end before it has to run. So the store is
// smaller where the file is.
type window struct {
	r   io.ReaderAt
	end int64 // nothing is read from here on

	store []byte
	half  int    // of store: windowSize, or as much as the file needs
	buf   []byte // the bytes at pos, in store
	pos   int64
	read  int // how much to read next
	err   *ReadError
}

func (w *window) reset(r io.ReaderAt, end int64) {
	half := firstRead
	for half < windowSize && int64(half) < end {
		half *= 2
	}
	if 2*half > len(w.store) {
		w.store = make([]byte, 2*half)
	}
	*w = window{r: r, end: end, store: w.store, half: len(w.store) / 2, read: firstRead}
}

// at gives the bytes from pos on: n of them at least, n being windowSize at most, or all up
// to the end if there are fewer. They stay valid until the next call. It gives nil after
// an I/O error.
func (w *window) at(pos int64, n int) []byte {
	if i := pos - w.pos; i >= 0 && i+int64(n) <= int64(len(w.buf)) {
		return w.buf[i:]
	}
	return w.slide(pos, n)
}

// slide moves the window to pos, keeps what it already has from there on, and reads more.
func (w *window) slide(pos int64, n int) []byte {
	have := 0
	if i := pos - w.pos; i >= 0 && i < int64(len(w.buf)) {
		kept := w.buf[max(i, int64(len(w.buf)-w.half)):]
		have = copy(w.store[w.half-len(kept):], kept)
	}
	w.buf, w.pos = w.store[w.half-have:w.half], pos
	need := int(max(0, min(w.end-pos, int64(n))))
	if need > have {
		w.fill(need)
	}
	if len(w.buf) < need {
		return nil
	}
	return w.buf
}

// fill reads until the window has as many bytes as are needed, and more if it can: behind
// the last readable byte of a dying disk the second try is a short one.
func (w *window) fill(need int) {
	have := len(w.buf)
	from := w.pos + int64(have)
	want := int64(max(need-have, w.read-int(from%pageSize)))
	want = min(want, w.end-from)
	w.read = min(2*w.read, readSize)
	got, err := w.r.ReadAt(w.store[w.half:w.half+int(want)], from)
	if have+got < need {
		var more int
		more, err = w.r.ReadAt(w.store[w.half+got:w.half+need-have], from+int64(got))
		got += more
	}
	w.buf = w.store[w.half-have : w.half+got]
	if have+got < need {
		w.fail(from+int64(got), int64(need-have-got), err)
	}
}

func (w *window) fail(pos, size int64, err error) {
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file was longer a moment ago
	}
	w.err = &ReadError{pos, size, err}
}

// zerosToEnd says whether every byte from pos to the end is zero. It reads them all.
func (w *window) zerosToEnd(pos int64) bool {
	for pos < w.end {
		b := w.at(pos, 1)
		if len(b) == 0 || !allZero(b) {
			return false
		}
		pos += int64(len(b))
	}
	return true
}

// allZero compares b with itself, one byte shifted: the library does that in wide words.
func allZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

// zeroRun counts the zero bytes at the start of b, in steps of eight: it may fall short
// by seven.
func zeroRun(b []byte) int {
	n := 0
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:]) == 0 {
		n += 8
	}
	return n
}
