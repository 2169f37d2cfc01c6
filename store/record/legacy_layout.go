package record

// Positions in a v0 or v1 message. Part of the on-disk format; never change.
const (
	legacyPosSize       = posBatchLength
	legacyPosCRC        = 12
	legacyPosMagic      = posMagic
	legacyPosAttributes = 17
	legacyPosTimestamp  = 18 // v1 only
	legacyPosKeyV0      = 18
	legacyPosKeyV1      = 26
)

// LayoutV0 and LayoutV1 are the tables of the messages of older brokers (Kafka:
// LegacyRecord). All integers are big-endian.
//
//	 0       8      12     16 17 18       22 - -  - -
//	+--------+------+------+-+--+--------+----+-------+-----+
//	| offset | size | crc  |0|at| keyLen |key |valLen |value|      v0, until 0.9
//	+--------+------+------+-+--+--------+----+-------+-----+
//	                        '---- under the checksum -------'
//	 0       8      12     16 17 18         26       30 - -  - -
//	+--------+------+------+-+--+----------+--------+----+-------+-----+
//	| offset | size | crc  |1|at| timestamp| keyLen |key |valLen |value|      v1, since 0.10
//	+--------+------+------+-+--+----------+--------+----+-------+-----+
//
//	pos  size  type    field        meaning
//	  0     8  int64   offset       of the message; a wrapper has that of its last message
//	  8     4  int32   size         bytes behind this field, at least 14, in v1 22
//	 12     4  uint32  crc          CRC-32 (IEEE) of everything from 16 on
//	 16     1  int8    magic        0 or 1
//	 17     1  int8    attributes   bits 0-2 codec, in v1 bit 3 timestamp type
//	 18     8  int64   timestamp    ms, -1 none; only in v1, so that in v0 the rest stands 8 lower
//	 26     4  int32   keyLength    negative for a null key
//	 30     -  bytes   payload      key, then int32 valueLength, negative for null, then value
//
// Compressed messages stand together in the value of one, the wrapper, whose codec is
// set: complete messages, each with offset, size and checksum of its own. In v0 their
// offsets are right; in v1 they count from the first one that was produced, so that the
// broker need not repack, and their absolute place follows from the last one:
//
//	wrapper 102 [ 0 1 2 ]  is 100 101 102
//	wrapper 102 [ 0 2 ]    is 100 102, after compaction has taken one
//
// A wrapper offset of 0 means that they are right as they are (old librdkafka). With
// LogAppendTime in the wrapper, the wrapper's time is that of every message in it.
var (
	LayoutV0 = []Field{
		{"offset", posBaseOffset, 8, "int64", false, "of the message; a wrapper has that of its last message"},
		{"size", legacyPosSize, 4, "int32", false, "bytes behind this field, at least 14"},
		{"crc", legacyPosCRC, 4, "uint32", false, "CRC-32 (IEEE) of everything from 16 on"},
		{"magic", legacyPosMagic, 1, "int8", true, "0"},
		{"attributes", legacyPosAttributes, 1, "int8", true, "bits 0-2 codec"},
		{"keyLength", legacyPosKeyV0, 4, "int32", true, "negative for a null key"},
		{"payload", legacyPosKeyV0 + 4, 0, "bytes", true, "key, then int32 valueLength, negative for null, then value"},
	}
	LayoutV1 = []Field{
		{"offset", posBaseOffset, 8, "int64", false, "of the message; a wrapper has that of its last message"},
		{"size", legacyPosSize, 4, "int32", false, "bytes behind this field, at least 22"},
		{"crc", legacyPosCRC, 4, "uint32", false, "CRC-32 (IEEE) of everything from 16 on"},
		{"magic", legacyPosMagic, 1, "int8", true, "1"},
		{"attributes", legacyPosAttributes, 1, "int8", true, "bits 0-2 codec, bit 3 timestamp type"},
		{"timestamp", legacyPosTimestamp, 8, "int64", true, "ms, -1 none"},
		{"keyLength", legacyPosKeyV1, 4, "int32", true, "negative for a null key"},
		{"payload", legacyPosKeyV1 + 4, 0, "bytes", true, "key, then int32 valueLength, negative for null, then value"},
	}
)

// LayoutOf is the table of a format's frame.
func LayoutOf(f Format) []Field {
	switch f {
	case V0:
		return LayoutV0
	case V1:
		return LayoutV1
	case MKB1:
		return MKB1Layout
	}
	return Layout
}
