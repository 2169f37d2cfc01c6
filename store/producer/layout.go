package producer

// Field is one row of a format table.
type Field struct {
	// Name is Kafka's name of the field.
	Name string
	// Pos is the first byte, counted from the start of the file or the entry; Size the bytes.
	Pos, Size int
	// Type is the type on disk, big-endian.
	Type string
	// Meaning says in words what the field holds.
	Meaning string
}

// Sizes in bytes. Part of the on-disk format; never change.
const (
	// HeaderSize is what stands before the entries.
	HeaderSize = 10
	// EntrySize is one producer's entry.
	EntrySize = 46

	snapshotVersion = 1
)

// Positions in the header and in an entry. Part of the on-disk format; never change.
const (
	posVersion = 0
	posCRC     = 2
	posCount   = 6

	posProducerID       = 0
	posProducerEpoch    = 8
	posLastSequence     = 10
	posLastOffset       = 14
	posOffsetDelta      = 22
	posTimestamp        = 26
	posCoordinatorEpoch = 34
	posTxnFirstOffset   = 38
)

// HeaderLayout and EntryLayout are the tables of a snapshot. The package comment shows the
// same rows; a test holds it to them.
var (
	HeaderLayout = []Field{
		{"version", posVersion, 2, "int16", "1"},
		{"crc", posCRC, 4, "uint32", "CRC-32C (Castagnoli) of everything from 6 on"},
		{"producerEntries", posCount, 4, "int32", "how many entries follow"},
	}
	EntryLayout = []Field{
		{"producerId", posProducerID, 8, "int64", "the producer, rising or in any order"},
		{"epoch", posProducerEpoch, 2, "int16", "its newest epoch here"},
		{"lastSequence", posLastSequence, 4, "int32", "of its last batch, -1 none"},
		{"lastOffset", posLastOffset, 8, "int64", "of its last batch, -1 none"},
		{"offsetDelta", posOffsetDelta, 4, "int32", "last minus first offset of that batch"},
		{"timestamp", posTimestamp, 8, "int64", "largest of that batch, or of a later marker, ms"},
		{"coordinatorEpoch", posCoordinatorEpoch, 4, "int32", "of its last transaction marker, -1 none"},
		{"currentTxnFirstOffset", posTxnFirstOffset, 8, "int64", "where its open transaction began, -1 none"},
	}
)
