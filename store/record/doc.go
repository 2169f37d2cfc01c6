// Package record reads and writes the frames of a log: Kafka's record batch v2, the
// messages v0 and v1 of older brokers (read only), and the teaching frame MKB1.
// One Batch is a view over the bytes of any of them; the bytes say which it is.
//
// # Record batch v2 (Kafka: DefaultRecordBatch)
//
// All integers are big-endian and signed, but for the checksum.
//
//	 0       8      12      16 17     21  23    27       35       43    51 53   57   61
//	+--------+-------+-------+-+-------+---+-----+--------+--------+-----+--+----+----+-- - -+
//	|baseOff | length| epoch |2|  crc  |att| lod | baseTs |  maxTs | pid |pe|bseq| n  |recs..|
//	+--------+-------+-------+-+-------+---+-----+--------+--------+-----+--+----+----+-- - -+
//	                                   '------------- under the checksum --------------------'
//
//	pos  size  type    field                 meaning
//	  0     8  int64   baseOffset            offset of the first record when the batch was made
//	  8     4  int32   batchLength           bytes behind this field, at least 49
//	 12     4  int32   partitionLeaderEpoch  epoch of the leader that appended it, -1 unknown
//	 16     1  int8    magic                 2
//	 17     4  uint32  crc                   CRC-32C (Castagnoli) of everything from 21 on
//	 21     2  int16   attributes            codec, timestamp type and flags, see below
//	 23     4  int32   lastOffsetDelta       last offset minus baseOffset, never negative
//	 27     8  int64   baseTimestamp         ms the deltas count from, or the delete horizon
//	 35     8  int64   maxTimestamp          largest timestamp, ms, or the append time
//	 43     8  int64   producerId            -1 none
//	 51     2  int16   producerEpoch         -1 none
//	 53     4  int32   baseSequence          sequence of the first record, -1 none
//	 57     4  int32   recordsCount          records that follow, 0 in an emptied batch
//	 61     -  bytes   records               the records, compressed as one stream if at all
//
// The checksum begins behind itself, so that a leader can set baseOffset and
// partitionLeaderEpoch without touching it. The price is that those two, the length
// and the magic are unprotected: a flipped bit in one of them is found by its
// neighbours or not at all.
//
// Attribute bits: 0-2 codec (none, gzip, snappy, lz4, zstd), 3 timestamp type
// (0 CreateTime, 1 LogAppendTime: every record's time is maxTimestamp), 4 transactional,
// 5 control batch, 6 baseTimestamp holds the delete horizon. The rest is unused.
//
// Compaction removes records but keeps baseOffset and lastOffsetDelta, so offsets may
// have gaps, recordsCount may be smaller than lastOffsetDelta+1, and may be zero.
//
// # A record of a v2 batch (Kafka: DefaultRecord)
//
//	length          varint   bytes behind this field
//	attributes      int8     unused, 0
//	timestampDelta  varlong  against baseTimestamp, may be negative
//	offsetDelta     varint   against baseOffset
//	keyLength       varint   negative for a null key
//	key             bytes
//	valueLength     varint   negative for a null value (a tombstone)
//	value           bytes
//	headersCount    varint   never negative
//	  headerKeyLength varint, headerKey UTF-8, headerValueLength varint, headerValue
//
// A varint is zig-zag (0, -1, 1, -2 become 0, 1, 2, 3) and then cut into groups of
// seven bits, the lowest first, with the high bit set on all but the last byte. The
// number 75 is 150 after zig-zag, binary 1 0010110, so the bytes are 0x96 0x01.
package record
