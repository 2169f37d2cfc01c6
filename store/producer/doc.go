// Package producer keeps what a partition remembers of its idempotent and transactional
// producers, and the .snapshot files in which it survives a restart.
//
// # Snapshot, N.snapshot (Kafka: ProducerStateManager, ProducerSnapshot)
//
// N, the number in the name, is an offset: the state after all batches below it. All
// integers are big-endian and signed, but for the checksum.
//
//	 0    2      6      10                 56
//	+----+------+------+------------------+------------------+- -
//	| 1  | crc  |  n   |     entry 0      |     entry 1      |
//	+----+------+------+------------------+------------------+- -
//	             '------------- under the checksum -------------'
//
//	pos  size  type    field            meaning
//	  0     2  int16   version          1
//	  2     4  uint32  crc              CRC-32C (Castagnoli) of everything from 6 on
//	  6     4  int32   producerEntries  how many entries follow
//
// and for each producer, from the start of its entry:
//
//	pos  size  type    field                  meaning
//	  0     8  int64   producerId             the producer, rising or in any order
//	  8     2  int16   epoch                  its newest epoch here
//	 10     4  int32   lastSequence           of its last batch, -1 none
//	 14     8  int64   lastOffset             of its last batch, -1 none
//	 22     4  int32   offsetDelta            last minus first offset of that batch
//	 26     8  int64   timestamp              largest of that batch, or of a later marker, ms
//	 34     4  int32   coordinatorEpoch       of its last transaction marker, -1 none
//	 38     8  int64   currentTxnFirstOffset  where its open transaction began, -1 none
//
// In memory up to five batches are remembered of a producer, to answer retries of any of
// them with their first offsets; only the last one survives a restart. A state
// without producers is a file of ten bytes. Kafka writes the entries in the order of a
// hash table, so two good files may differ; here they are written by rising id.
package producer
