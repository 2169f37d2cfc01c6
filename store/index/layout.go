package index

// Field is one row of a format table.
type Field struct {
	// Name is Kafka's name of the field.
	Name string
	// Pos is the first byte, counted from the start of the entry; Size the bytes.
	Pos, Size int
	// Type is the type on disk, big-endian.
	Type string
	// Meaning says in words what the field holds.
	Meaning string
}

// Sizes of one entry in bytes. Part of the on-disk format; never change.
const (
	OffsetEntrySize = 8
	TimeEntrySize   = 12
	TxnEntrySize    = 34
	MKB1EntrySize   = 12
)

// Positions in an entry. Part of the on-disk format; never change.
const (
	posRelativeOffset = 0
	posPosition       = 4

	posTimestamp    = 0
	posTimeRelative = 8

	posTxnVersion    = 0
	posTxnProducerID = 2
	posTxnFirst      = 10
	posTxnLast       = 18
	posTxnLastStable = 26
)

// The names of the fields, as findings carry them.
const (
	fieldRelativeOffset = "relativeOffset"
	fieldPosition       = "position"
	fieldTimestamp      = "timestamp"
)

// OffsetLayout, TimeLayout, TxnLayout and MKB1Layout are the tables of one entry of each
// file. The package comment shows the same rows; a test holds it to them.
var (
	OffsetLayout = []Field{
		{fieldRelativeOffset, posRelativeOffset, 4, "int32", "offset minus base offset, strictly rising"},
		{fieldPosition, posPosition, 4, "int32", "first byte of a batch in the .log, strictly rising"},
	}
	TimeLayout = []Field{
		{fieldTimestamp, posTimestamp, 8, "int64", "largest timestamp in the segment so far, ms, strictly rising"},
		{fieldRelativeOffset, posTimeRelative, 4, "int32", "last offset of the first batch that carries it, never falling"},
	}
	TxnLayout = []Field{
		{"version", posTxnVersion, 2, "int16", "0"},
		{"producerId", posTxnProducerID, 8, "int64", "whose transaction was aborted"},
		{"firstOffset", posTxnFirst, 8, "int64", "its first record; may lie in an earlier segment"},
		{"lastOffset", posTxnLast, 8, "int64", "its ABORT marker, strictly rising"},
		{"lastStableOffset", posTxnLastStable, 8, "int64", "first offset of the oldest other open one, or lastOffset+1"},
	}
	MKB1Layout = []Field{
		{fieldRelativeOffset, posRelativeOffset, 4, "uint32", "first offset of the batch minus base offset"},
		{fieldPosition, posPosition, 8, "uint64", "first byte of the batch in the .log"},
	}
)
