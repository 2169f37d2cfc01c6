package index

import (
	"encoding/binary"
	"io"
	"iter"
)

// TimeEntry leads from a timestamp to a batch.
type TimeEntry struct {
	// Timestamp is the largest in the segment up to here, ms.
	Timestamp int64
	// Offset is absolute: since Kafka 4.0 the last one of the batch that carries the
	// timestamp, with older brokers some offset inside that batch.
	Offset int64
}

// TimeIndex is a time index file, of which only the entries that are asked for are read.
// It is safe for concurrent use if its reader is.
type TimeIndex struct {
	table
	base int64
}

// NewTimeIndex reads a .timeindex of size bytes whose segment begins at offset base.
func NewTimeIndex(r io.ReaderAt, size, base int64) *TimeIndex {
	return &TimeIndex{table{r, size, TimeEntrySize}, base}
}

// Len counts the whole entries in the file, preallocated zeros included.
func (x *TimeIndex) Len() int { return x.len() }

// EffectiveLen counts the entries before preallocated zeros, searching for the end.
func (x *TimeIndex) EffectiveLen() (int, error) {
	return x.used(func(e []byte) bool { return x.parse(e).isPadding(x.base) })
}

// isPadding tells the first entry of preallocated zeros from a real one. It does not
// hold for entry 0.
func (e TimeEntry) isPadding(base int64) bool { return e.Offset <= base }

// At reads entry i, which must be below Len.
func (x *TimeIndex) At(i int) (TimeEntry, error) {
	entry, err := x.read(nil, i, 1)
	if err != nil {
		return TimeEntry{}, err
	}
	return x.parse(entry), nil
}

// Last reads the last entry before preallocated zeros; ok is false if there is none.
func (x *TimeIndex) Last() (e TimeEntry, ok bool, err error) {
	n, err := x.EffectiveLen()
	if err != nil || n == 0 {
		return TimeEntry{}, false, err
	}
	e, err = x.At(n - 1)
	return e, err == nil, err
}

// Lookup finds the entry with the greatest timestamp that is not above target. No batch
// before its offset carries a larger timestamp, so a scan from there finds the first
// record with a timestamp of at least target. Without such an entry it returns
// timestamp -1 at the base offset, and false.
func (x *TimeIndex) Lookup(target int64) (e TimeEntry, ok bool, err error) {
	start := TimeEntry{Timestamp: -1, Offset: x.base}
	n, err := x.EffectiveLen()
	if err != nil {
		return start, false, err
	}
	above, err := x.search(0, n, func(e []byte) bool { return x.parse(e).Timestamp > target })
	if err != nil || above == 0 {
		return start, false, err
	}
	e, err = x.At(above - 1)
	return e, err == nil, err
}

// All walks the entries one by one up to preallocated zeros.
func (x *TimeIndex) All() iter.Seq2[TimeEntry, error] {
	return func(yield func(TimeEntry, error) bool) {
		first := true
		for raw, err := range x.entries(x.len()) {
			if err != nil {
				yield(TimeEntry{}, err)
				return
			}
			e := x.parse(raw)
			if !first && e.isPadding(x.base) || !yield(e, nil) {
				return
			}
			first = false
		}
	}
}

func (x *TimeIndex) parse(entry []byte) TimeEntry {
	relative := int32(binary.BigEndian.Uint32(entry[posTimeRelative:]))
	return TimeEntry{int64(binary.BigEndian.Uint64(entry[posTimestamp:])), x.base + int64(relative)}
}

// AppendTimeEntry appends one entry of a .timeindex. The offset must be within
// 2147483647 of base.
func AppendTimeEntry(dst []byte, base int64, e TimeEntry) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Timestamp))
	return binary.BigEndian.AppendUint32(dst, uint32(e.Offset-base))
}
