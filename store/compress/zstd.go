package compress

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdMaxWindow is the largest window that Kafka's library takes by default.
	zstdMaxWindow = 128 << 20
	// zstdWindow is the window we write: Kafka's default level 3 has the same.
	zstdWindow = 2 << 20
)

// decodeZstd unpacks every frame of src.
func (d *Decoder) decodeZstd(dst, src []byte, limit int) ([]byte, error) {
	if len(src) == 0 {
		return dst, damaged(src, 0, "zstd: no frame")
	}
	if err := d.prepareZstd(limit); err != nil {
		return dst, err
	}
	start := len(dst)
	out, err := d.zstd.DecodeAll(src, dst)
	if out == nil {
		out = dst
	}
	if len(out)-start > limit || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return out[:min(len(out), start+limit)], ErrTooLarge
	}
	if err != nil {
		return out, damaged(src, 0, "zstd: %v", err)
	}
	return out, nil
}

// prepareZstd builds the decoder, again where the limit changes, which is rare.
func (d *Decoder) prepareZstd(limit int) error {
	if d.zstd != nil && d.zstdLimit == limit {
		return nil
	}
	if d.zstd != nil {
		d.zstd.Close()
	}
	z, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(zstdMaxWindow),
		zstd.WithDecoderMaxMemory(uint64(limit)))
	if err != nil {
		return err
	}
	d.zstd, d.zstdLimit = z, limit
	return nil
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
