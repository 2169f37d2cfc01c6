package segment

import (
	"errors"
	"io"

	"logdir/store/record"
)

const (
	// largeBlock is read at once where batches are small, smallBlock where a larger read
	// would mostly bring bytes that nobody looks at.
	largeBlock = 64 << 10
	smallBlock = 4 << 10
	// fewHeaders served by one block make the next one small.
	fewHeaders = 4
)

// Headers reads batch headers of a log where they stand, with few reads and without
// reading what is between them.
type Headers struct {
	src    io.ReaderAt
	end    int64 // size of the log
	buf    []byte
	block  []byte // bytes at pos
	pos    int64
	served int
}

// Reset begins another log of size bytes and keeps the buffer.
func (h *Headers) Reset(src io.ReaderAt, size int64) {
	*h = Headers{src: src, end: size, buf: h.buf, served: fewHeaders}
}

// At reads the header at byte pos. ok is false if no frame that the log holds to its end
// begins there. size is the whole frame's. The view is valid until the next call.
func (h *Headers) At(pos int64) (b record.Batch, size int64, ok bool, err error) {
	if pos < 0 || h.end-pos < record.PrefixSize {
		return b, 0, false, nil
	}
	if err := h.hold(pos, min(record.HeaderSize, h.end-pos)); err != nil {
		return b, 0, false, err
	}
	h.served++
	b, size, ok = record.ViewHeader(h.block[pos-h.pos:])
	return b, size, ok && size <= h.end-pos, nil
}

// hold makes the block cover n bytes at pos, if the file still has them.
func (h *Headers) hold(pos, n int64) error {
	if pos >= h.pos && pos+n <= h.pos+int64(len(h.block)) {
		return nil
	}
	if h.buf == nil {
		h.buf = make([]byte, largeBlock)
	}
	want := largeBlock
	if h.served < fewHeaders {
		want = smallBlock
	}
	got, err := h.src.ReadAt(h.buf[:min(int64(want), h.end-pos)], pos)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	h.block, h.pos, h.served = h.buf[:got], pos, 0
	return err
}
