package compress

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Decoder unpacks. It builds what a codec needs when the codec is first seen and
// keeps it, so that nothing is allocated later. Not safe for concurrent use.
type Decoder struct {
	in   bytes.Reader
	gzip gzip.Reader
	zstd *zstd.Decoder
}

// NewDecoder returns a Decoder for every codec.
func NewDecoder() *Decoder { return new(Decoder) }

// Decode appends to dst what src unpacks to. dst and src must not overlap.
//
// An error is a *corrupt.Error of kind BadRecords whose Pos counts from the start of
// src, or ErrTooLarge. The result then ends in what was unpacked before the error,
// at most Options.Limit bytes; nothing vouches for them.
func (d *Decoder) Decode(dst, src []byte, c Codec, o Options) ([]byte, error) {
	switch c {
	case None:
		return appendLimited(dst, src, o.limit())
	case Gzip:
		return d.decodeGzip(dst, src, o.limit())
	case Snappy:
		return decodeSnappy(dst, src, o.limit())
	case LZ4:
		return decodeLZ4(dst, src, o)
	case Zstd:
		return d.decodeZstd(dst, src, o.limit())
	}
	return dst, damaged(src, 0, "unknown compression type id %d", uint8(c))
}

// appendLimited appends b, or as much of it as the limit allows.
func appendLimited(dst, b []byte, limit int) ([]byte, error) {
	if len(b) > limit {
		return append(dst, b[:limit]...), ErrTooLarge
	}
	return append(dst, b...), nil
}
