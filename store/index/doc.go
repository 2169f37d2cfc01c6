// Package index reads, builds and judges the index files beside a log segment: the
// offset index, the time index and the transaction index of Kafka, and the offset
// index of MKB1. They hold nothing that the log does not tell as well, but for one
// thing: which aborted transactions a reader must skip is cheap to know only from here.
//
// All integers are big-endian. Offsets are relative to the segment's base offset, the
// number in the file's name. There is no header, no checksum and no entry count.
//
// # Offset index, .index (Kafka: OffsetIndex)
//
//	 0          4          8
//	+----------+----------+
//	| relative | position |  entry 0, entry 1, ...
//	+----------+----------+
//
//	pos  size  type    field           meaning
//	  0     4  int32   relativeOffset  offset minus base offset, strictly rising
//	  4     4  int32   position        first byte of a batch in the .log, strictly rising
//
// Which offset of the batch is stored depends on who wrote it. Kafka up to 1.1 stored
// the first offset of what one append brought; 2.0 to 3.9 the last offset of all that
// an append brought, which on a follower is a group of batches, at the position of the
// first; since 4.0 the last offset of the one batch that starts there. All three are
// safe to look up, since no batch before the position holds the offset or a later one.
//
// A batch gets an entry when more than index.interval.bytes lie between its position and
// that of the batch indexed last (the start of the segment at first). So the first
// batch never has one, and a segment of up to 4096 bytes has an empty index.
//
// # Time index, .timeindex (Kafka: TimeIndex)
//
//	 0                    8          12
//	+--------------------+----------+
//	|     timestamp      | relative |  entry 0, entry 1, ...
//	+--------------------+----------+
//
//	pos  size  type    field           meaning
//	  0     8  int64   timestamp       largest timestamp in the segment so far, ms, strictly rising
//	  8     4  int32   relativeOffset  last offset of the first batch that carries it, never falling
//
// An entry is offered with each offset index entry, and once more when the segment is
// rolled, closed or recovered; it is written if its timestamp is larger than the last.
//
// # Transaction index, .txnindex (Kafka: TransactionIndex)
//
//	 0     2            10            18            26            34
//	+-----+------------+-------------+-------------+-------------+
//	|  0  | producerId | firstOffset | lastOffset  | lastStable  |
//	+-----+------------+-------------+-------------+-------------+
//
//	pos  size  type    field             meaning
//	  0     2  int16   version           0
//	  2     8  int64   producerId        whose transaction was aborted
//	 10     8  int64   firstOffset       its first record; may lie in an earlier segment
//	 18     8  int64   lastOffset        its ABORT marker, strictly rising
//	 26     8  int64   lastStableOffset  first offset of the oldest other open one, or lastOffset+1
//
// The offsets are absolute here. The file is there only when it has an entry.
//
// # Offset index of MKB1
//
//	 0          4                    12
//	+----------+--------------------+
//	| relative |      position      |  entry 0, entry 1, ...
//	+----------+--------------------+
//
//	pos  size  type    field           meaning
//	  0     4  uint32  relativeOffset  first offset of the batch minus base offset
//	  4     8  uint64  position        first byte of the batch in the .log
//
// Here the first batch of a segment is always indexed, and after it each whose position
// is at least the interval past the last indexed one.
//
// # Preallocation
//
// Kafka creates .index and .timeindex at full size, zero-filled, and trims them when the
// segment is rolled or the broker stops. After a crash the active segment's files end in
// zeros, so readers here stop at the first entry behind entry 0 whose relative offset
// is zero or less, as Kafka's dump tool does. An entry of zeros alone, at entry 0, is
// harmless to look up: it says that the segment begins at its beginning.
package index
