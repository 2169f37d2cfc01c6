package compress

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
)

// Part of the on-disk format; never change.
const (
	// xerialMagic and xerialVersion begin the stream that snappy-java writes.
	xerialMagic   = "\x82SNAPPY\x00"
	xerialVersion = 1
	xerialHeader  = 16
	// xerialBlock is how many bytes snappy-java packs into one chunk.
	xerialBlock = 32 << 10
	// xerialMagicHead is read as a chunk length where a second stream begins.
	xerialMagicHead = 0x82534e41
)

// snappyMaxRatio bounds what a block can unpack to: a copy of 64 bytes takes three.
const snappyMaxRatio = 22

func decodeSnappy(dst, src []byte, limit int) ([]byte, error) {
	if !isXerial(src) {
		return appendSnappyBlock(dst, src, 0, len(src), len(dst)+limit)
	}
	if version := int32(binary.BigEndian.Uint32(src[8:])); version < xerialVersion {
		return dst, damaged(src, 8, "snappy: version %d of the stream is too old", version)
	}
	return decodeXerial(dst, src, len(dst)+limit)
}

// isXerial tells a stream from a bare block by its magic. Without room for the whole
// header Java takes it for a block.
func isXerial(src []byte) bool {
	return len(src) >= xerialHeader && string(src[:len(xerialMagic)]) == xerialMagic
}

// decodeXerial walks the chunks behind the header. Fewer than four bytes at the end
// are ignored; Java does not see them.
func decodeXerial(dst, src []byte, end int) ([]byte, error) {
	for pos := xerialHeader; len(src)-pos >= 4; {
		size := binary.BigEndian.Uint32(src[pos:])
		if size == xerialMagicHead {
			if !isXerial(src[pos:]) {
				return dst, damaged(src, pos, "snappy: broken header of a concatenated stream")
			}
			pos += xerialHeader
			continue
		}
		pos += 4
		if size > math.MaxInt32 || int(size) > len(src)-pos {
			return dst, damaged(src, pos-4, "snappy: chunk of %d bytes, but %d are left", size, len(src)-pos)
		}
		var err error
		if dst, err = appendSnappyBlock(dst, src, pos, pos+int(size), end); err != nil {
			return dst, err
		}
		pos += int(size)
	}
	return dst, nil
}

// appendSnappyBlock unpacks the raw block src[from:to], until dst would be longer
// than end.
func appendSnappyBlock(dst, src []byte, from, to, end int) ([]byte, error) {
	block := src[from:to]
	size, err := snappy.DecodedLen(block)
	if err != nil || size > snappyMaxRatio*len(block) {
		return dst, damaged(src, from, "snappy: impossible length of a block")
	}
	if size > end-len(dst) {
		return dst, ErrTooLarge
	}
	dst = slices.Grow(dst, size)
	out, err := snappy.DecodeStrict(dst[len(dst):cap(dst)], block)
	if err != nil {
		return dst, damaged(src, from, "snappy: block does not unpack")
	}
	return dst[:len(dst)+len(out)], nil
}

// encodeSnappy appends a xerial stream. Nothing at all is packed as one empty block,
// since some readers refuse a stream without any.
func encodeSnappy(dst, src []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	dst = binary.BigEndian.AppendUint32(dst, xerialVersion)
	for {
		n := min(len(src), xerialBlock)
		dst = appendXerialChunk(dst, src[:n])
		if src = src[n:]; len(src) == 0 {
			return dst
		}
	}
}

func appendXerialChunk(dst, src []byte) []byte {
	dst = slices.Grow(dst, 4+s2.MaxEncodedLen(len(src)))
	start := len(dst) + 4
	block := s2.EncodeSnappy(dst[start:cap(dst)], src)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(block)))
	return dst[:start+len(block)]
}
