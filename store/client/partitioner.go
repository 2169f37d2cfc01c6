package client

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"strings"
)

// Partitioner is a hash that maps a key to a partition. A key is any byte string that
// is not null; the empty key is a key.
type Partitioner uint8

// The key hashes, in the order in which partition-of shows them.
const (
	// CRC32 is CRC-32 (IEEE) as an unsigned number: MiniKafka's, and librdkafka's
	// and kcat's "consistent".
	CRC32 Partitioner = iota
	// MD5 takes the 128-bit digest as one big-endian number: KafkaLite's.
	MD5
	// Murmur2 is the Java client's default: murmur2 with the sign bit cleared.
	Murmur2
)

// Partitioners lists them all.
var Partitioners = []Partitioner{CRC32, MD5, Murmur2}

var partitionerNames = [...]string{CRC32: "crc32", MD5: "md5", Murmur2: "murmur2"}

// String is the name that --partitioner and logdir.partitioner take.
func (p Partitioner) String() string { return nameOf(partitionerNames[:], int(p)) }

// ParsePartitioner is the inverse of String.
func ParsePartitioner(name string) (Partitioner, error) {
	i, err := indexOf(partitionerNames[:], name, "partitioner")
	return Partitioner(i), err
}

// Partition is the number in 0..n-1 that key falls on. n must be positive.
func (p Partitioner) Partition(key []byte, n int) int {
	switch p {
	case MD5:
		return md5Mod(md5.Sum(key), n)
	case Murmur2:
		return int(murmur2(key)&0x7fffffff) % n
	default:
		return int(uint64(crc32.ChecksumIEEE(key)) % uint64(n))
	}
}

// md5Mod is the 128-bit number modulo n: the high half leaves a remainder below n,
// which bits.Div64 then takes as the high word of the rest.
func md5Mod(digest [md5.Size]byte, n int) int {
	high := binary.BigEndian.Uint64(digest[:8])
	low := binary.BigEndian.Uint64(digest[8:])
	_, rem := bits.Div64(high%uint64(n), low, uint64(n))
	return int(rem)
}

// murmur2 is the 32-bit hash of org.apache.kafka.common.utils.Utils.
func murmur2(data []byte) uint32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
		r    = 24
	)
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> r
		h = h*m ^ k*m
	}
	if len(data) > 0 {
		h = (h ^ tailWord(data)) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// tailWord is the last one to three bytes as a little-endian number.
func tailWord(data []byte) uint32 {
	var w uint32
	for i, b := range data {
		w |= uint32(b) << (8 * i)
	}
	return w
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func indexOf(names []string, name, what string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: one of %s", what, name, strings.Join(names, ", "))
}
