// Package crc computes CRC-32C, the checksum of v2 batches and of producer snapshots, at
// the speed of the memory that holds the bytes.
//
// hash/crc32 does so for long inputs only: under 512 bytes it takes eight bytes at a time,
// each step waiting for the one before. Batches of one record are that short, and there
// are millions of them in a log. Where the processor multiplies without carry in 64-byte
// vectors, a kernel of our own takes over; everywhere else this is hash/crc32. See
// fold_amd64.s for how it works.
package crc

import "hash/crc32"

// table is what hash/crc32 knows the Castagnoli polynomial by.
var table = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of p.
func Checksum(p []byte) uint32 { return Update(0, p) }

// Update goes on with crc, the CRC-32C of what stood before p.
func Update(crc uint32, p []byte) uint32 {
	if canFold && len(p) >= minFold {
		return ^fold(^crc, p)
	}
	return crc32.Update(crc, table, p)
}
