package compress

import (
	"errors"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdMaxWindow is the largest window that Kafka's library takes by default.
	zstdMaxWindow = 128 << 20
	// zstdWindow is the window we write: Kafka's default level 3 has the same.
	zstdWindow = 2 << 20
	// zstdMaxRatio bounds what a stream can unpack to: a block of 128 KiB takes at
	// least four bytes.
	zstdMaxRatio = 32 << 10
	// zstdMinRoom is the least room that is tried where the frame does not tell its size.
	zstdMinRoom = 64 << 10
)

// decodeZstd unpacks every frame of src. The library is told to fill the room that it
// is given and no more; where the stream does not tell how much it needs, the room
// grows from a guess.
func (d *Decoder) decodeZstd(dst, src []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return dst, damaged(src, 0, "zstd: no frame")
	}
	if err := d.prepareZstd(); err != nil {
		return dst, err
	}
	most := int(min(int64(limit), zstdMaxRatio*int64(len(src))))
	room, ok := zstdRoom(src, most)
	if !ok {
		return dst, zstdError(src, zstd.ErrDecoderSizeExceeded, most == limit)
	}
	for {
		dst = slices.Grow(dst, room)
		room = min(cap(dst)-len(dst), most)
		out, err := d.zstd.DecodeAll(src, dst[:len(dst):len(dst)+room])
		if err == nil {
			return out, nil
		}
		if room == most || !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return zstdPartial(dst, out, most), zstdError(src, err, most == limit)
		}
		room = min(4*room, most)
	}
}

// zstdRoom says how much room to begin with: what the first frame claims, or a guess.
// It is false if the claim is more than can be.
func zstdRoom(src []byte, most int) (int, bool) {
	var h zstd.Header
	if h.Decode(src) == nil && h.HasFCS {
		return int(min(h.FrameContentSize, uint64(most))), h.FrameContentSize <= uint64(most)
	}
	return min(max(zstdMinRoom, 4*len(src)), most), true
}

// zstdPartial is dst with what the library had appended when it gave up; it may have
// dropped dst altogether, or gone beyond its room by a block.
func zstdPartial(dst, out []byte, most int) []byte {
	if len(out) < len(dst) {
		return dst
	}
	return out[:min(len(out), len(dst)+most)]
}

func zstdError(src []byte, err error, limited bool) error {
	if limited && errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return ErrTooLarge
	}
	return damaged(src, 0, "zstd: %v", err)
}

func (d *Decoder) prepareZstd() error {
	if d.zstd != nil {
		return nil
	}
	z, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(zstdMaxWindow),
		zstd.WithDecodeAllCapLimit(true))
	d.zstd = z
	return err
}

// encodeZstd appends one frame. Like Kafka's it has no checksum: the batch has one.
func (e *Encoder) encodeZstd(dst, src []byte) ([]byte, error) {
	if e.zstd == nil {
		z, err := zstd.NewWriter(nil,
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(zstdWindow),
			zstd.WithZeroFrames(true))
		if err != nil {
			return dst, err
		}
		e.zstd = z
	}
	return e.zstd.EncodeAll(src, dst), nil
}
