package record

// TimestampType says what the timestamps of a batch mean.
type TimestampType int8

// Kafka's timestamp types. v0 has none, nor has a marker of MKB1.
const (
	NoTimestampType TimestampType = -1
	CreateTime      TimestampType = 0
	LogAppendTime   TimestampType = 1
)

// String is Kafka's name, as its dump tool prints it.
func (t TimestampType) String() string {
	switch t {
	case CreateTime:
		return "CreateTime"
	case LogAppendTime:
		return "LogAppendTime"
	}
	return "NoTimestampType"
}

// Unset values, Kafka's RecordBatch.NO_*.
const (
	NoTimestamp     int64 = -1
	NoProducerID    int64 = -1
	NoProducerEpoch int32 = -1
	NoSequence      int32 = -1
	NoLeaderEpoch   int32 = -1
)

// Record is one record. A Record that a Reader hands out, and every slice in it, is
// valid only until the next call to the Reader.
type Record struct {
	Offset        int64
	Timestamp     int64 // ms, or NoTimestamp
	TimestampType TimestampType
	Sequence      int32 // or NoSequence

	// Key and Value are nil when null; an empty one is not nil. A null value is a tombstone.
	Key, Value []byte
	// Headers keep their order; keys may repeat.
	Headers []Header

	// Pos is the record's first byte: counted from the start of the frame, or of the
	// decompressed records in a compressed batch. Size is its bytes there, length field included.
	Pos, Size int

	// CRC and CRCValid are the message's own checksum, which only v0 and v1 have.
	CRC      uint32
	CRCValid bool
}

// Header is one record header.
type Header struct {
	Key   []byte // UTF-8, never nil
	Value []byte // nil when null
}

// maxRecordOverhead bounds what a record adds to its keys and values: five bytes each
// for length, offset delta, two lengths and header count, ten for the timestamp delta,
// one for the attributes.
const maxRecordOverhead = 5 + 1 + 10 + 5 + 5 + 5 + 5

// RecordSize bounds the bytes that r takes in a batch before compression, wherever it
// stands in it. Builder.SizeWith tells the exact number for one place.
func RecordSize(r *Record) int {
	size := maxRecordOverhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += 10 + len(h.Key) + len(h.Value)
	}
	return size
}
