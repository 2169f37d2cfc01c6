package recovery

import (
	"hash/crc32"
	"math/bits"

	"logdir/store/record"
)

// byteError is one wrong byte that explains a checksum.
type byteError struct {
	pos int  // in the frame
	xor byte // what the byte must be changed by
}

// oneBit says whether a single flipped bit is enough.
func (e byteError) oneBit() bool { return bits.OnesCount8(e.xor) == 1 }

// explain finds every single wrong byte that explains why a frame of n bytes has the
// checksum computed and not the one stored in it. A wrong byte of the stored checksum
// itself counts too.
//
// A CRC is linear: the checksums of two messages of one length differ by a value that
// depends only on where and how they differ, not on what they say. A byte changed by x at
// a distance of k bytes from the end changes the checksum by table[x] pushed on by k zero
// bytes. So the difference is pulled back byte by byte, and at each place it is looked
// up whether it is a table entry. That takes one step a byte, whatever the frame holds.
func explain(f record.Format, n int, stored, computed uint32) []byteError {
	poly := crc32.IEEETable
	if f == record.V2 {
		poly = crc32.MakeTable(crc32.Castagnoli)
	}
	var at [256]byte // the table index with a given high byte; they are all different
	for i, entry := range poly {
		at[entry>>24] = byte(i)
	}
	difference := stored ^ computed
	found := wrongChecksum(f, difference)
	for pos := n - 1; pos >= f.ChecksumStart(); pos-- {
		x := at[difference>>24]
		if x != 0 && poly[x] == difference {
			found = append(found, byteError{pos, x})
		}
		difference = (difference^poly[x])<<8 | uint32(x)
	}
	return found
}

// wrongChecksum explains a difference by one wrong byte of the checksum itself.
func wrongChecksum(f record.Format, difference uint32) []byteError {
	for i := range 4 {
		shift := 24 - 8*i
		if x := byte(difference >> shift); uint32(x)<<shift == difference {
			return []byteError{{checksumPos(f) + i, x}}
		}
	}
	return nil
}

// checksumPos is where a frame keeps its checksum.
func checksumPos(f record.Format) int {
	switch f {
	case record.V2:
		return 17
	case record.MKB1:
		return 8
	}
	return 12
}
