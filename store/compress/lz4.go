package compress

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// Part of the on-disk format; never change.
const (
	lz4Magic        = 0x184d2204 // 04 22 4d 18, little-endian
	lz4Header       = "\x04\x22\x4d\x18\x60\x40\x82"
	lz4Stored       = 1 << 31 // block length bit: the block is not compressed
	lz4WrittenBlock = 64 << 10
)

// The bits of FLG.
const (
	flgReserved        = 0x03 // must be 0; bit 0 announces a dictionary
	flgContentChecksum = 0x04
	flgContentSize     = 0x08
	flgBlockChecksum   = 0x10
	flgIndependent     = 0x20 // must be 1
	flgVersion         = 0xc0 // must be 01
	flgVersion1        = 0x40
)

// lz4MaxRatio bounds what a block can unpack to: a match grows by 255 a byte.
const lz4MaxRatio = 255

// lz4Frame is what the header of a frame says.
type lz4Frame struct {
	flg      byte
	maxBlock int // most bytes in a block, packed or not
	size     int // of the header
}

func (f lz4Frame) has(flag byte) bool { return f.flg&flag != 0 }

// decodeLZ4 unpacks one frame; what stands behind it is not looked at.
func decodeLZ4(dst, src []byte, o Options) ([]byte, error) {
	f, err := parseLZ4Header(src, o.LegacyLZ4)
	if err != nil {
		return dst, err
	}
	end := len(dst) + o.limit()
	for pos := f.size; ; {
		b, err := f.block(src, pos)
		if err != nil || b.last {
			return dst, err
		}
		if dst, err = f.append(dst, src, b); err != nil {
			return dst, err
		}
		if len(dst) > end {
			return dst[:end], ErrTooLarge
		}
		pos = b.next
	}
}

// parseLZ4Header checks what Kafka checks, in its order.
func parseLZ4Header(src []byte, legacy bool) (lz4Frame, error) {
	if len(src) < len(lz4Header) {
		return lz4Frame{}, damaged(src, 0, "lz4: frame ends early")
	}
	if binary.LittleEndian.Uint32(src) != lz4Magic {
		return lz4Frame{}, damaged(src, 0, "lz4: no frame magic")
	}
	f := lz4Frame{flg: src[4], size: len(lz4Header)}
	if err := f.checkFlags(src); err != nil {
		return f, err
	}
	bd := src[5]
	if bd&0x8f != 0 || bd>>4 < 4 {
		return f, damaged(src, 5, "lz4: block size byte 0x%02x is not supported", bd)
	}
	f.maxBlock = 1 << (8 + 2*(bd>>4)) // 4: 64 KiB to 7: 4 MiB
	if f.has(flgContentSize) {
		f.size += 8
	}
	if len(src) < f.size {
		return f, damaged(src, 6, "lz4: frame ends early")
	}
	hc := f.size - 1
	if want := byte(xxh32(src[4:hc]) >> 8); src[hc] != want && !legacy {
		return f, damaged(src, hc, "lz4: header checksum 0x%02x, computed 0x%02x", src[hc], want)
	}
	return f, nil
}

func (f lz4Frame) checkFlags(src []byte) error {
	switch {
	case f.has(flgReserved):
		return damaged(src, 4, "lz4: reserved bits are set")
	case !f.has(flgIndependent):
		return damaged(src, 4, "lz4: dependent blocks are not supported")
	case f.flg&flgVersion != flgVersion1:
		return damaged(src, 4, "lz4: version %d of the frame is not supported", f.flg>>6)
	}
	return nil
}

// lz4Block is one block of a frame, or the end mark.
type lz4Block struct {
	start, end int // of its bytes in src
	next       int // where the next block begins
	stored     bool
	last       bool // the end mark
}

// block reads the block at pos, and verifies its checksum if it has one.
func (f lz4Frame) block(src []byte, pos int) (lz4Block, error) {
	if len(src)-pos < 4 {
		return lz4Block{}, damaged(src, pos, "lz4: no end mark")
	}
	word := binary.LittleEndian.Uint32(src[pos:])
	size := int(word &^ lz4Stored)
	b := lz4Block{start: pos + 4, end: pos + 4 + size, stored: word&lz4Stored != 0, last: size == 0}
	b.next = b.end
	if f.trailer(b) {
		b.next += 4
	}
	switch {
	case size > f.maxBlock:
		return b, damaged(src, pos, "lz4: block of %d bytes, more than %d", size, f.maxBlock)
	case b.next > len(src):
		return b, damaged(src, pos, "lz4: frame ends early")
	case !b.last && b.next > b.end:
		return b, checkBlock(src, b)
	}
	return b, nil
}

// trailer says whether a checksum stands behind a block. That behind the end mark
// must be there, but is not compared, as in Kafka: the batch has its own.
func (f lz4Frame) trailer(b lz4Block) bool {
	if b.last {
		return f.has(flgContentChecksum)
	}
	return f.has(flgBlockChecksum)
}

func checkBlock(src []byte, b lz4Block) error {
	stored, computed := binary.LittleEndian.Uint32(src[b.end:]), xxh32(src[b.start:b.end])
	if stored != computed {
		return damaged(src, b.start, "lz4: block checksum 0x%08x, computed 0x%08x", stored, computed)
	}
	return nil
}

// append unpacks a block behind dst.
func (f lz4Frame) append(dst, src []byte, b lz4Block) ([]byte, error) {
	block := src[b.start:b.end]
	if b.stored {
		return append(dst, block...), nil
	}
	room := min(f.maxBlock, lz4MaxRatio*len(block))
	dst = slices.Grow(dst, room)
	n, err := lz4.UncompressBlock(block, dst[len(dst):len(dst)+room])
	if err != nil || !lz4EndsRight(block, dst[len(dst):len(dst)+n]) {
		return dst, damaged(src, b.start, "lz4: block does not unpack")
	}
	return dst[:len(dst)+n], nil
}

// encodeLZ4 appends a frame as Kafka writes it, to the byte.
func (e *Encoder) encodeLZ4(dst, src []byte) ([]byte, error) {
	if e.lz4 == nil {
		e.lz4 = new(lz4.CompressorCCompat)
	}
	dst = append(dst, lz4Header...)
	for len(src) > 0 {
		n := min(len(src), lz4WrittenBlock)
		var err error
		if dst, err = e.appendLZ4Block(dst, src[:n]); err != nil {
			return dst, err
		}
		src = src[n:]
	}
	return append(dst, 0, 0, 0, 0), nil
}

// appendLZ4Block packs a block, or stores it as it is where packing gains nothing.
func (e *Encoder) appendLZ4Block(dst, block []byte) ([]byte, error) {
	dst = slices.Grow(dst, 4+lz4.CompressBlockBound(len(block)))
	start := len(dst) + 4
	n, err := e.lz4.CompressBlock(block, dst[start:cap(dst)])
	if err != nil {
		return dst, err
	}
	if n == 0 || n >= len(block) {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(block))|lz4Stored)
		return append(dst, block...), nil
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	return dst[:start+n], nil
}
