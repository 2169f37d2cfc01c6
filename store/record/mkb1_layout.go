package record

// Positions in an MKB1 frame. Part of the on-disk format; never change.
const (
	mkb1PosMagic           = 0
	mkb1PosLength          = 4
	mkb1PosCRC             = 8
	mkb1PosVersion         = 12 // the payload begins here
	mkb1PosBaseOffset      = 13
	mkb1PosLeaderEpoch     = 21
	mkb1PosProducerID      = 25
	mkb1PosProducerEpoch   = 33
	mkb1PosBaseSequence    = 37
	mkb1PosFlags           = 41
	mkb1PosLastOffsetDelta = 42
	mkb1PosTxnIDLength     = 46
	mkb1PosRecordsCount    = 48

	// MKB1HeaderSize is the smallest frame: magic, length, CRC, payload header.
	MKB1HeaderSize = 52

	mkb1Version = 1
	// mkb1MaxPayload is the largest payload that MiniKafka takes.
	mkb1MaxPayload = 16 << 20
	// mkb1RecordHeader is what a record has in front of its key.
	mkb1RecordHeader = 22
)

// Flags of an MKB1 frame. Part of the on-disk format; never change.
const (
	mkb1Transactional = 1 << iota
	mkb1Commit
	mkb1Abort
)

// MKB1Layout is the table of the frame of MiniKafka. All integers are big-endian. Unlike
// in a batch of Kafka, everything but magic and length is under the checksum.
//
//	 0    4      8     12 13        21     25   33 37 41  42      46    48    52
//	+----+------+-----+--+---------+------+----+--+--+---+-------+-----+-----+- - - -+
//	|MKB1|length| crc | 1| baseOff |epoch |pid |pe|bs|flg|lastDel|idLen|count|id recs|
//	+----+------+-----+--+---------+------+----+--+--+---+-------+-----+-----+- - - -+
//	                   '---------------- payload, under the checksum ----------------'
//
//	pos  size  type    field                  meaning
//	  0     4  bytes   magic                  "MKB1"
//	  4     4  uint32  payloadLength          bytes from 12 on, at most 16 MiB
//	  8     4  uint32  crc                    CRC-32 (IEEE) of everything from 12 on
//	 12     1  uint8   version                1
//	 13     8  int64   baseOffset             offset of the first record when the batch was made
//	 21     4  int32   leaderEpoch            epoch of the leader that appended it
//	 25     8  int64   producerId             -1 none
//	 33     4  int32   producerEpoch          -1 none
//	 37     4  int32   baseSequence           -1 none
//	 41     1  uint8   flags                  bit 0 transactional, bit 1 commit, bit 2 abort
//	 42     4  int32   lastOffsetDelta        last offset minus baseOffset, never negative
//	 46     2  uint16  transactionalIdLength  bytes of the id that follows the header
//	 48     4  uint32  recordsCount           0 in a commit or an abort, and only there
//	 52     -  bytes   records                transactional id, then the records
//
// A record:
//
//	int32 offsetDelta, int64 timestamp, int32 keyLength, int32 valueLength (-1 null),
//	uint16 headersCount, key, value, and for each header
//	uint16 keyLength, key, int32 valueLength (-1 null), value
//
// Offset deltas rise and may have gaps. There is no compression.
var MKB1Layout = []Field{
	{"magic", mkb1PosMagic, 4, "bytes", false, `"MKB1"`},
	{"payloadLength", mkb1PosLength, 4, "uint32", false, "bytes from 12 on, at most 16 MiB"},
	{"crc", mkb1PosCRC, 4, "uint32", false, "CRC-32 (IEEE) of everything from 12 on"},
	{"version", mkb1PosVersion, 1, "uint8", true, "1"},
	{"baseOffset", mkb1PosBaseOffset, 8, "int64", true, "offset of the first record when the batch was made"},
	{"leaderEpoch", mkb1PosLeaderEpoch, 4, "int32", true, "epoch of the leader that appended it"},
	{"producerId", mkb1PosProducerID, 8, "int64", true, "-1 none"},
	{"producerEpoch", mkb1PosProducerEpoch, 4, "int32", true, "-1 none"},
	{"baseSequence", mkb1PosBaseSequence, 4, "int32", true, "-1 none"},
	{"flags", mkb1PosFlags, 1, "uint8", true, "bit 0 transactional, bit 1 commit, bit 2 abort"},
	{"lastOffsetDelta", mkb1PosLastOffsetDelta, 4, "int32", true, "last offset minus baseOffset, never negative"},
	{"transactionalIdLength", mkb1PosTxnIDLength, 2, "uint16", true, "bytes of the id that follows the header"},
	{"recordsCount", mkb1PosRecordsCount, 4, "uint32", true, "0 in a commit or an abort, and only there"},
	{"records", MKB1HeaderSize, 0, "bytes", true, "transactional id, then the records"},
}
