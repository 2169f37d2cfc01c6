package producer

import (
	"encoding/binary"
	"math"

	"logdir/store/corrupt"
	"logdir/store/crc"
	"logdir/store/record"
)

// Entry is what a snapshot holds of one producer.
type Entry struct {
	ProducerID    int64
	ProducerEpoch int16
	// LastSequence, LastOffset and OffsetDelta describe its last data batch; without one
	// they are -1, -1 and 0.
	LastSequence int32
	LastOffset   int64
	OffsetDelta  int32
	// Timestamp is the largest of that batch, or that of a later marker, ms.
	Timestamp int64
	// CoordinatorEpoch is that of its last marker, or -1.
	CoordinatorEpoch int32
	// TxnFirstOffset is where its open transaction began, or -1.
	TxnFirstOffset int64
}

// FirstSequence is the sequence of the last batch's first record, or -1.
func (e *Entry) FirstSequence() int32 {
	if e.LastOffset < 0 {
		return record.NoSequence
	}
	return subtractSequence(e.LastSequence, e.OffsetDelta)
}

// subtractSequence counts a sequence back by delta: before 0 comes 2147483647.
func subtractSequence(sequence, delta int32) int32 {
	if sequence < delta {
		return math.MaxInt32 - (delta - sequence) + 1
	}
	return sequence - delta
}

// ParseSnapshot reads a snapshot file. The error is a *corrupt.Error of kind bad-snapshot,
// and then there are no entries: without the checksum none can be trusted.
func ParseSnapshot(data []byte) ([]Entry, error) {
	if damage := checkSnapshot(data); damage != nil {
		return nil, damage
	}
	entries := make([]Entry, (len(data)-HeaderSize)/EntrySize)
	for i := range entries {
		entries[i] = parseEntry(data[HeaderSize+i*EntrySize:])
	}
	return entries, nil
}

// checkSnapshot judges everything that stands around the entries.
func checkSnapshot(data []byte) *corrupt.Error {
	if len(data) < HeaderSize {
		return corrupt.Newf(corrupt.BadSnapshot, 0, int64(len(data)), "have %d bytes, the header alone has %d", len(data), HeaderSize)
	}
	if v := int16(binary.BigEndian.Uint16(data[posVersion:])); v != snapshotVersion {
		return badHeader(0, "version %d, not %d", v, snapshotVersion)
	}
	claimed := int64(int32(binary.BigEndian.Uint32(data[posCount:])))
	if body := int64(len(data) - HeaderSize); body != claimed*EntrySize {
		return badHeader(2, "says %d entries, which take %d bytes, has %d", claimed, claimed*EntrySize, body)
	}
	stored, computed := binary.BigEndian.Uint32(data[posCRC:]), crc.Checksum(data[posCount:])
	if stored != computed {
		err := corrupt.New(corrupt.BadSnapshot, 0, int64(len(data)), "")
		err.Field, err.HasCRC, err.Stored, err.Computed = HeaderLayout[1].Name, true, stored, computed
		return err
	}
	return nil
}

// badHeader reports row field of HeaderLayout.
func badHeader(field int, format string, args ...any) *corrupt.Error {
	f := HeaderLayout[field]
	err := corrupt.Newf(corrupt.BadSnapshot, int64(f.Pos), int64(f.Size), format, args...)
	err.Field = f.Name
	return err
}

func parseEntry(b []byte) Entry {
	return Entry{
		ProducerID:       int64(binary.BigEndian.Uint64(b[posProducerID:])),
		ProducerEpoch:    int16(binary.BigEndian.Uint16(b[posProducerEpoch:])),
		LastSequence:     int32(binary.BigEndian.Uint32(b[posLastSequence:])),
		LastOffset:       int64(binary.BigEndian.Uint64(b[posLastOffset:])),
		OffsetDelta:      int32(binary.BigEndian.Uint32(b[posOffsetDelta:])),
		Timestamp:        int64(binary.BigEndian.Uint64(b[posTimestamp:])),
		CoordinatorEpoch: int32(binary.BigEndian.Uint32(b[posCoordinatorEpoch:])),
		TxnFirstOffset:   int64(binary.BigEndian.Uint64(b[posTxnFirstOffset:])),
	}
}

// AppendSnapshot appends a snapshot file.
func AppendSnapshot(dst []byte, entries []Entry) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, snapshotVersion)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(entries)))
	for i := range entries {
		dst = appendEntry(dst, &entries[i])
	}
	file := dst[start:]
	binary.BigEndian.PutUint32(file[posCRC:], crc.Checksum(file[posCount:]))
	return dst
}

func appendEntry(dst []byte, e *Entry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.ProducerID))
	dst = binary.BigEndian.AppendUint16(dst, uint16(e.ProducerEpoch))
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.LastSequence))
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.LastOffset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.OffsetDelta))
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Timestamp))
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.CoordinatorEpoch))
	return binary.BigEndian.AppendUint64(dst, uint64(e.TxnFirstOffset))
}
