package inspect

import (
	"encoding/binary"
	"errors"
	"io"

	"logdir/store/record"
)

// streamedCRC computes the checksum of the frame at pos in pieces and compares it with
// the stored one: for frames too large to hold before it is known that they are frames.
// A frame that the file does not hold to its end is not right.
func streamedCRC(src io.ReaderAt, pos, size int64, f record.Format) (bool, error) {
	piece := make([]byte, min(size, runSize))
	sum, stored := uint32(0), uint32(0)
	for done := int64(0); done < size; done += int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), size-done)]
		n, err := src.ReadAt(piece, pos+done)
		if n < len(piece) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		covered := piece
		if done == 0 {
			stored, covered = storedCRC(piece, f), piece[f.ChecksumStart():]
		}
		sum = record.Checksum(sum, f, covered)
	}
	return sum == stored, nil
}

// storedCRC reads the checksum of a frame: in every format it stands right before the
// bytes that it covers.
func storedCRC(frame []byte, f record.Format) uint32 {
	return binary.BigEndian.Uint32(frame[f.ChecksumStart()-4:])
}
