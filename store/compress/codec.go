// Package compress packs and unpacks the record part of a batch with the codecs of
// Kafka: gzip, snappy, lz4 and zstd. It is exactly as strict as a broker, where the
// libraries below it are not, and it never makes more bytes than it was allowed to.
//
// # Framing
//
// gzip is one member (RFC 1952), or several in a row: as with Java's GZIPInputStream
// further members are read, and bytes behind a member that do not begin another one
// are ignored.
//
// zstd is one frame (RFC 8878), or several in a row, with nothing behind them.
//
// snappy comes in two forms. Java writes the xerial stream; librdkafka and others
// write one bare block, told apart by the missing magic. Written is always the
// xerial stream. All of it is big-endian:
//
//	+-----------------------+-----------+-----------+  +---------+------------+
//	| 82 SNAPPY 00  8 bytes | version 4 | compat. 4 |  | length 4| raw block  | ...
//	+-----------------------+-----------+-----------+  +---------+------------+
//
// lz4 is one frame. Blocks must be independent, which many encoders must be told.
// All of it is little-endian:
//
//	+---------------+-----+----+----------------+----+
//	| 04 22 4d 18   | FLG | BD | content size 8 | HC |   content size only with FLG bit 3
//	+---------------+-----+----+----------------+----+
//	+----------+---------------+------------+
//	| length 4 | block         | checksum 4 |  ...       length bit 31: stored as it is
//	+----------+---------------+------------+            checksum only with FLG bit 4
//	+-------------+--------------------+
//	| 00 00 00 00 | content checksum 4 |                 checksum only with FLG bit 2
//	+-------------+--------------------+
//
// HC is the second byte of xxh32 over FLG up to HC. Producers of message format v0
// included the magic in it by mistake (KAFKA-3160), so that there it proves nothing.
// Kafka writes 04 22 4d 18 60 40 82: version 1, independent blocks of at most 64 KiB,
// no checksums, no content size.
package compress

import (
	"errors"
	"fmt"

	"logdir/store/corrupt"
)

// Codec is a compression type with the number it has in the attributes of a batch.
// Part of the on-disk format; never change.
type Codec uint8

// The codecs, as Kafka numbers them. 5 to 7 name none.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4 // not in message formats v0 and v1
)

// Mask cuts the codec out of the attributes.
const Mask = 0x07

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// Codecs lists every codec in the order of its number.
func Codecs() []Codec { return []Codec{None, Gzip, Snappy, LZ4, Zstd} }

// Valid says whether the number names a codec.
func (c Codec) Valid() bool { return int(c) < len(codecNames) }

// String is Kafka's name of the codec: none, gzip, snappy, lz4 or zstd.
func (c Codec) String() string {
	if !c.Valid() {
		return fmt.Sprintf("unknown(%d)", uint8(c))
	}
	return codecNames[c]
}

// ParseCodec reads a name that String gives.
func ParseCodec(name string) (Codec, error) {
	for i, n := range codecNames {
		if n == name {
			return Codec(i), nil
		}
	}
	return None, fmt.Errorf("unknown compression type %q: want none, gzip, snappy, lz4 or zstd", name)
}

// DefaultLimit is the most bytes one batch may unpack to unless Options says otherwise.
const DefaultLimit = 128 << 20

// ErrTooLarge says that there is more to unpack than Options.Limit.
var ErrTooLarge = errors.New("decompressed size exceeds the limit")

// Options say how a broker would read the bytes.
type Options struct {
	// Limit is the most bytes to unpack; 0 means DefaultLimit.
	Limit int
	// LegacyLZ4 ignores the header checksum of lz4, as Kafka does in message format v0.
	LegacyLZ4 bool
}

func (o Options) limit() int {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return o.Limit
}

// damaged reports that src does not unpack from pos on.
func damaged(src []byte, pos int, format string, args ...any) error {
	return corrupt.Newf(corrupt.BadRecords, int64(pos), int64(len(src)-pos), format, args...)
}
