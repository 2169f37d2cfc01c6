package recovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
)

// chunkSize is how many bytes one read or write moves.
const chunkSize = 1 << 20

// part is a run of bytes of a file that is put together from others.
type part struct {
	size int64
	src  io.ReaderAt // nil for zeros
	pos  int64       // first byte in src
}

// assembly is a file put together from parts. It reads like one file, so that the
// outcome of a plan can be scanned before anything is written.
type assembly []part

func literal(p []byte) assembly {
	if len(p) == 0 {
		return nil
	}
	return assembly{{size: int64(len(p)), src: bytes.NewReader(p)}}
}

// Size is the bytes of the whole.
func (a assembly) Size() int64 {
	var n int64
	for _, p := range a {
		n += p.size
	}
	return n
}

// ReadAt implements io.ReaderAt.
func (a assembly) ReadAt(dst []byte, pos int64) (int, error) {
	done := 0
	for _, p := range a {
		if pos >= p.size {
			pos -= p.size
			continue
		}
		want := int(min(p.size-pos, int64(len(dst)-done)))
		n, err := p.readAt(dst[done:done+want], pos)
		done += n
		if err != nil {
			return done, err
		}
		pos = 0
		if done == len(dst) {
			return done, nil
		}
	}
	return done, io.EOF
}

// readAt fills dst, which ends within the part.
func (p part) readAt(dst []byte, pos int64) (int, error) {
	if p.src == nil {
		clear(dst)
		return len(dst), nil
	}
	n, err := p.src.ReadAt(dst, p.pos+pos)
	if n == len(dst) {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// each hands the bytes over in order, with their position.
func (a assembly) each(do func(pos int64, p []byte) error) error {
	buf := make([]byte, min(chunkSize, a.Size()))
	var pos int64
	for _, p := range a {
		for done := int64(0); done < p.size; {
			n, err := p.readAt(buf[:min(int64(len(buf)), p.size-done)], done)
			if err != nil {
				return err
			}
			if err := do(pos, buf[:n]); err != nil {
				return err
			}
			done, pos = done+int64(n), pos+int64(n)
		}
	}
	return nil
}

// sha256 is the checksum of the whole, in hex.
func (a assembly) sha256() (string, error) {
	h := sha256.New()
	err := a.each(func(_ int64, p []byte) error {
		h.Write(p)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// cut replaces size bytes at pos by other ones.
type cut struct {
	pos, size int64
	new       assembly
}

// splice is src, of size bytes, with its cuts made. Cuts are in order and apart.
func splice(src io.ReaderAt, size int64, cuts []cut) assembly {
	var out assembly
	var pos int64
	for _, c := range cuts {
		out = out.keep(src, pos, c.pos)
		out = append(out, c.new...)
		pos = c.pos + c.size
	}
	return out.keep(src, pos, size)
}

// keep appends the bytes from from (included) to to (not included) of src.
func (a assembly) keep(src io.ReaderAt, from, to int64) assembly {
	if from >= to {
		return a
	}
	return append(a, part{size: to - from, src: src, pos: from})
}

// grow is how many bytes longer the cuts make a file.
func grow(cuts []cut) int64 {
	var n int64
	for _, c := range cuts {
		n += c.new.Size() - c.size
	}
	return n
}

// inPlace says whether the cuts can be made without moving a byte that stays: each puts
// as many bytes as it takes, but for one at the end of the file. A cut that replaces the
// whole file is not made in place, so that a crash leaves the old file or the new one.
func inPlace(cuts []cut, size int64) bool {
	for _, c := range cuts {
		end := c.pos+c.size == size
		if c.new.Size() != c.size && (!end || c.pos == 0 && c.new.Size() > 0) {
			return false
		}
		if c.pos == 0 && end && size > 0 && c.new.Size() > 0 {
			return false
		}
	}
	return true
}
