// Package input reads the records that produce is given: lines of a stream, lines of
// files, or whole files.
//
// A goroutine reads ahead, so that a producer can close a batch by its age while the
// input is silent, and so that reading overlaps with encoding when it is not. It hands
// over runs of whole records as large as one read gives them; nothing is allocated per
// record and, once the buffers are made, nothing per run.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// Sizes of the buffers. One read fills at most one of them; a longer record makes its
// own grow, up to MaxRecord.
const (
	bufferSize = 256 << 10
	buffers    = 3 // being read, waiting, being encoded
	// MaxRecord bounds one record of the input in bytes, delimiter included.
	MaxRecord = 64 << 20
)

// ErrTooLong says that a record of the input is larger than MaxRecord.
var ErrTooLong = errors.New("a record of the input is larger than 64 MiB")

// Part is one piece of the input.
type Part struct {
	// Name says in errors what could not be read.
	Name string
	Open func() (io.ReadCloser, error)
	// Whole makes the part one single record, delimiters and all.
	Whole bool
}

// Run is a sequence of whole records.
type Run struct {
	// Data holds the records, each ended by the delimiter; the last one of a part may
	// lack it. It is valid until Release.
	Data []byte
	// At is when the run was read.
	At time.Time
	// Whole says that Data is one single record without a delimiter.
	Whole bool

	buffer []byte
}

// Reader reads parts one after the other.
type Reader struct {
	parts     []Part
	delimiter []byte
	now       func() time.Time
	runs      chan Run
	free      chan []byte
	stop      chan struct{}
	err       error // written before runs is closed
}

// NewReader starts to read. The delimiter must not be empty.
func NewReader(parts []Part, delimiter []byte, now func() time.Time) *Reader {
	r := &Reader{
		parts: parts, delimiter: delimiter, now: now,
		runs: make(chan Run), free: make(chan []byte, buffers), stop: make(chan struct{}),
	}
	for range buffers {
		r.free <- nil
	}
	go r.readAll()
	return r
}

// Runs gives the records; it is closed at the end of the input or at an error.
func (r *Reader) Runs() <-chan Run { return r.runs }

// Release gives the memory of a run back to the reader.
func (r *Reader) Release(run Run) { r.free <- run.buffer }

// Err is why Runs was closed early, or nil.
func (r *Reader) Err() error { return r.err }

// Stop ends the reading before the end of the input. A read that waits for a terminal
// or a pipe is left behind; it ends with the process.
func (r *Reader) Stop() { close(r.stop) }

var errStopped = errors.New("stopped")

func (r *Reader) readAll() {
	defer close(r.runs)
	for _, part := range r.parts {
		if err := r.readPart(part); err != nil {
			if !errors.Is(err, errStopped) {
				r.err = err
			}
			return
		}
	}
}

// readPart reads one part. An error of opening names it already.
func (r *Reader) readPart(part Part) error {
	src, err := part.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	read := r.readRecords
	if part.Whole {
		read = r.readWhole
	}
	if err := read(src); err != nil {
		return fmt.Errorf("%s: %w", part.Name, err)
	}
	return nil
}

// readWhole hands over everything in src as one record, also when that is nothing.
func (r *Reader) readWhole(src io.Reader) error {
	buf, err := r.buffer(bufferSize)
	if err != nil {
		return err
	}
	n := 0
	for {
		m, err := src.Read(buf[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return r.send(Run{Data: buf[:n], Whole: true, buffer: buf})
		}
		if err != nil {
			return err
		}
		if buf, err = grown(buf, n); err != nil {
			return err
		}
	}
}

// readRecords hands over whole records as they come and carries a cut one over into
// the next buffer. The carried bytes may lie in a buffer that was released and taken
// again: copy moves them correctly then, too, and nobody else writes there.
func (r *Reader) readRecords(src io.Reader) error {
	var cut []byte
	for {
		buf, err := r.buffer(len(cut) + bufferSize/4)
		if err != nil {
			return err
		}
		n, end := copy(buf, cut), 0
		for err == nil && end == 0 {
			if buf, err = grown(buf, n); err != nil {
				return err
			}
			var m int
			m, err = src.Read(buf[n:])
			end = r.lastEnd(buf[:n+m], n)
			n += m
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil {
			end = n // the last record may lack its delimiter
		}
		cut = buf[end:n]
		if sendErr := r.send(Run{Data: buf[:end], buffer: buf}); sendErr != nil || err != nil {
			return sendErr
		}
	}
}

// lastEnd is the position behind the last delimiter in data, or 0. The first known
// bytes hold no whole delimiter; records are counted from the front, so that a
// delimiter that overlaps itself is cut as the encoder will cut it.
func (r *Reader) lastEnd(data []byte, known int) int {
	if len(r.delimiter) == 1 {
		if at := bytes.LastIndexByte(data[known:], r.delimiter[0]); at >= 0 {
			return known + at + 1
		}
		return 0
	}
	end := 0
	for {
		at := bytes.Index(data[end:], r.delimiter)
		if at < 0 {
			return end
		}
		end += at + len(r.delimiter)
	}
}

// buffer takes a free buffer of at least size bytes.
func (r *Reader) buffer(size int) ([]byte, error) {
	select {
	case buf := <-r.free:
		if len(buf) < size {
			buf = make([]byte, max(size, bufferSize))
		}
		return buf, nil
	case <-r.stop:
		return nil, errStopped
	}
}

// grown is buf, or when its n bytes fill it a buffer twice as large.
func grown(buf []byte, n int) ([]byte, error) {
	if n < len(buf) {
		return buf, nil
	}
	if n >= MaxRecord {
		return nil, ErrTooLong
	}
	larger := make([]byte, min(2*len(buf), MaxRecord))
	copy(larger, buf)
	return larger, nil
}

func (r *Reader) send(run Run) error {
	if len(run.Data) == 0 && !run.Whole {
		r.free <- run.buffer
		return nil
	}
	run.At = r.now()
	select {
	case r.runs <- run:
		return nil
	case <-r.stop:
		return errStopped
	}
}
