package compress

import (
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// minGzipRead is the least room that is offered to the inflater at once.
const minGzipRead = 4 << 10

// gzipRemainderIgnored is how many bytes behind a member Java does not even look at:
// a header and a trailer do not fit into them.
const gzipRemainderIgnored = 18

// decodeGzip unpacks member after member. Only the first must have a right header;
// behind a member, bytes that are no header end the stream without complaint.
func (d *Decoder) decodeGzip(dst, src []byte, limit int) ([]byte, error) {
	d.in.Reset(src)
	defer d.in.Reset(nil)
	if err := d.gzip.Reset(&d.in); err != nil {
		return dst, d.gzipDamaged(src, err)
	}
	end := len(dst) + limit
	for {
		d.gzip.Multistream(false)
		var err error
		if dst, err = d.inflate(dst, end); err != nil {
			return dst, d.gzipDamaged(src, err)
		}
		if d.in.Len() <= gzipRemainderIgnored || d.gzip.Reset(&d.in) != nil {
			return dst, nil
		}
	}
}

// inflate appends one member, until dst would be longer than end.
func (d *Decoder) inflate(dst []byte, end int) ([]byte, error) {
	for {
		if len(dst) == end {
			return dst, d.expectEOF()
		}
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, min(minGzipRead, end-len(dst)))
		}
		n, err := d.gzip.Read(dst[len(dst):min(cap(dst), end)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

// expectEOF reads the trailer of a member that fills the limit to the last byte.
func (d *Decoder) expectEOF() error {
	var more [1]byte
	n, err := d.gzip.Read(more[:])
	if n > 0 {
		return ErrTooLarge
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// gzipDamaged gives an error the position up to which src was read.
func (d *Decoder) gzipDamaged(src []byte, err error) error {
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged(src, len(src), "gzip: stream ends early")
	}
	return damaged(src, len(src)-d.in.Len(), "%v", err)
}

// encodeGzip appends one member, with the header that Java writes.
func (e *Encoder) encodeGzip(dst, src []byte) ([]byte, error) {
	e.out.b = dst
	defer func() { e.out.b = nil }()
	if e.gzip == nil {
		e.gzip = gzip.NewWriter(&e.out)
	} else {
		e.gzip.Reset(&e.out)
	}
	if _, err := e.gzip.Write(src); err != nil {
		return dst, err
	}
	if err := e.gzip.Close(); err != nil {
		return dst, err
	}
	return e.out.b, nil
}

// appender is an io.Writer onto the end of a slice.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}
