package record

// Field is one row of a format table.
type Field struct {
	// Name is Kafka's name of the field.
	Name string
	// Pos is the first byte, counted from the start of the frame.
	Pos int
	// Size is the number of bytes; 0 means all that is left.
	Size int
	// Type is the type on disk, big-endian.
	Type string
	// Checked says whether the checksum covers the field.
	Checked bool
	// Meaning says in words what the field holds.
	Meaning string
}

// Positions of the v2 header. Part of the on-disk format; never change.
const (
	posBaseOffset      = 0
	posBatchLength     = 8
	posLeaderEpoch     = 12
	posMagic           = 16
	posCRC             = 17
	posAttributes      = 21
	posLastOffsetDelta = 23
	posBaseTimestamp   = 27
	posMaxTimestamp    = 35
	posProducerID      = 43
	posProducerEpoch   = 51
	posBaseSequence    = 53
	posRecordsCount    = 57
	posRecords         = 61
)

// Bits of the v2 attributes. Part of the on-disk format; never change.
const (
	codecMask         = 0x07
	timestampTypeBit  = 0x08
	transactionalBit  = 0x10
	controlBit        = 0x20
	deleteHorizonBit  = 0x40
	minV2Length       = HeaderSize - sizedFrom
	minV0Length       = 14
	minV1Length       = 22
	legacyChecksummed = posMagic
)

// Layout is the table of the record batch v2. The package comment and
// logdir-segment(5) show the same rows; a test holds them to it.
var Layout = []Field{
	{"baseOffset", posBaseOffset, 8, "int64", false, "offset of the first record when the batch was made"},
	{"batchLength", posBatchLength, 4, "int32", false, "bytes behind this field, at least 49"},
	{"partitionLeaderEpoch", posLeaderEpoch, 4, "int32", false, "epoch of the leader that appended it, -1 unknown"},
	{"magic", posMagic, 1, "int8", false, "2"},
	{"crc", posCRC, 4, "uint32", false, "CRC-32C (Castagnoli) of everything from 21 on"},
	{"attributes", posAttributes, 2, "int16", true, "codec, timestamp type and flags, see below"},
	{"lastOffsetDelta", posLastOffsetDelta, 4, "int32", true, "last offset minus baseOffset, never negative"},
	{"baseTimestamp", posBaseTimestamp, 8, "int64", true, "ms the deltas count from, or the delete horizon"},
	{"maxTimestamp", posMaxTimestamp, 8, "int64", true, "largest timestamp, ms, or the append time"},
	{"producerId", posProducerID, 8, "int64", true, "-1 none"},
	{"producerEpoch", posProducerEpoch, 2, "int16", true, "-1 none"},
	{"baseSequence", posBaseSequence, 4, "int32", true, "sequence of the first record, -1 none"},
	{"recordsCount", posRecordsCount, 4, "int32", true, "records that follow, 0 in an emptied batch"},
	{"records", posRecords, 0, "bytes", true, "the records, compressed as one stream if at all"},
}
