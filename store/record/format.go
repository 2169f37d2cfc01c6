package record

import (
	"encoding/binary"
	"math"
	"strconv"

	"logdir/store/corrupt"
)

// Format tells the frames apart. For Kafka's three it is the magic byte.
type Format uint8

// The formats that are read. V0 and V1 are never written.
const (
	V0   Format = 0
	V1   Format = 1
	V2   Format = 2
	MKB1 Format = 'M'

	unknownFormat Format = 0xff
)

// String is the format as a dump prints it behind "magic: ".
func (f Format) String() string {
	if f == MKB1 {
		return "MKB1"
	}
	return strconv.Itoa(int(f))
}

// Sizes in bytes. Part of the on-disk format; never change.
const (
	// PrefixSize is what Sniff needs: offset, size, four bytes, magic.
	PrefixSize = 17
	// HeaderSize is the v2 header, and the size of an emptied batch.
	HeaderSize = 61
	// MinLegacySize is the smallest value of a v0 size field.
	MinLegacySize = minV0Length

	// sizedFrom is where the bytes that a size field counts begin, in all formats.
	sizedFrom = 12
)

// mkb1Magic is the first four bytes of an MKB1 frame. As the high half of an offset
// it would be beyond 5 * 10^18, which no Kafka log reaches.
const mkb1Magic = 0x4d4b4231

// Peek reads the size of the whole frame and its format from its first bytes, without
// judging them: ok is false if the bytes cannot begin a frame. It allocates nothing.
func Peek(prefix []byte) (size int64, f Format, ok bool) {
	if len(prefix) < PrefixSize {
		return 0, 0, false
	}
	size, f = claim(prefix)
	return size, f, f.known() && size >= f.MinSize() && size <= f.maxSize()
}

// Sniff is Peek with the reason for a refusal. size is the whole frame on disk, its
// 12-byte head included, as the bytes claim it: it is not yet bounded by the file.
//
// The error is of kind torn if prefix is shorter than PrefixSize, bad-magic or
// bad-length otherwise, and at byte 0, the start of the frame.
func Sniff(prefix []byte) (size int64, f Format, err *corrupt.Error) {
	if len(prefix) < PrefixSize {
		return 0, 0, corrupt.Newf(corrupt.Torn, 0, int64(len(prefix)), "have %d bytes, need unknown", len(prefix))
	}
	size, f = claim(prefix)
	switch {
	case !f.known():
		err = corrupt.Newf(corrupt.BadMagic, 0, corrupt.Unknown, "magic %d", int8(prefix[posMagic]))
		err.Field = "magic"
	case size < f.MinSize() || size > f.maxSize():
		err = corrupt.Newf(corrupt.BadLength, 0, corrupt.Unknown, "length %d", size-sizedFrom)
		err.Field = "batchLength"
	}
	return size, f, err
}

// claim reads size and format from at least PrefixSize bytes.
func claim(prefix []byte) (int64, Format) {
	if binary.BigEndian.Uint32(prefix) == mkb1Magic {
		return sizedFrom + int64(binary.BigEndian.Uint32(prefix[4:])), MKB1
	}
	f := Format(prefix[posMagic])
	if f == MKB1 { // the byte 'M' alone does not make a frame of that format
		f = unknownFormat
	}
	return sizedFrom + int64(int32At(prefix, posBatchLength)), f
}

func (f Format) known() bool { return f <= V2 || f == MKB1 }

// MinSize is the smallest frame of a known format, in bytes.
func (f Format) MinSize() int64 {
	switch f {
	case V0:
		return sizedFrom + minV0Length
	case V1:
		return sizedFrom + minV1Length
	case MKB1:
		return MKB1HeaderSize
	}
	return HeaderSize
}

// maxSize is the largest frame that a size field can tell.
func (f Format) maxSize() int64 {
	if f == MKB1 {
		return sizedFrom + mkb1MaxPayload
	}
	return sizedFrom + math.MaxInt32
}

func int16At(b []byte, pos int) int16 { return int16(binary.BigEndian.Uint16(b[pos:])) }
func int32At(b []byte, pos int) int32 { return int32(binary.BigEndian.Uint32(b[pos:])) }
func int64At(b []byte, pos int) int64 { return int64(binary.BigEndian.Uint64(b[pos:])) }
