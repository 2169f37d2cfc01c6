package compress

import (
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Encoder packs. It builds what a codec needs when the codec is first asked for and
// keeps it, so that nothing is allocated later. Not safe for concurrent use.
type Encoder struct {
	out  appender
	gzip *gzip.Writer
	// lz4 finds the same matches as the C library that Kafka uses. It is 64 KiB.
	lz4  *lz4.CompressorCCompat
	zstd *zstd.Encoder
}

// NewEncoder returns an Encoder for every codec. What a codec needs is made when it is
// first used.
func NewEncoder() *Encoder { return new(Encoder) }

// Encode appends src, packed, to dst. dst and src must not overlap.
func (e *Encoder) Encode(dst, src []byte, c Codec) ([]byte, error) {
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return e.encodeGzip(dst, src)
	case Snappy:
		return encodeSnappy(dst, src), nil
	case LZ4:
		return e.encodeLZ4(dst, src)
	case Zstd:
		return e.encodeZstd(dst, src)
	}
	return dst, fmt.Errorf("unknown compression type id %d", uint8(c))
}
