package inspect

import (
	"encoding/binary"
	"io"

	"logdir/store/record"
)

// redpandaHeaderSize is the size of a batch header in Redpanda's logs. They are little-endian,
// and their fields are those of Kafka's batch in another order:
//
//	pos  size  field
//	  0     4  header_crc: CRC-32C of the 57 bytes behind it
//	  4     4  size of the batch
//	  8     8  base offset
//	 16     1  type
//	 17     4  crc of the batch as Kafka has it
//	 21    40  attributes, last offset delta, timestamps, producer, count
const redpandaHeaderSize = 61

// isRedpanda says whether a batch of Redpanda begins at byte pos, which its checksum tells.
func isRedpanda(src io.ReaderAt, pos int64) bool {
	var header [redpandaHeaderSize]byte
	if _, err := src.ReadAt(header[:], pos); err != nil {
		return false // an error of the disk is met again by who reads on
	}
	return header != [redpandaHeaderSize]byte{} &&
		binary.LittleEndian.Uint32(header[:]) == record.Checksum(0, record.V2, header[4:])
}
