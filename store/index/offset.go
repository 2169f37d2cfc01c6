package index

import (
	"encoding/binary"
	"io"
	"iter"
)

// OffsetEntry leads from an offset to a batch.
type OffsetEntry struct {
	// Offset is absolute. Which one of the batch it is, see the package comment.
	Offset int64
	// Pos is the batch's first byte in the .log.
	Pos int64
}

// OffsetIndex is an offset index file, of which only the entries that are asked for are
// read. It is safe for concurrent use if its reader is.
type OffsetIndex struct {
	table
	base int64
	mkb1 bool
}

// NewOffsetIndex reads a .index of size bytes whose segment begins at offset base.
func NewOffsetIndex(r io.ReaderAt, size, base int64) *OffsetIndex {
	return &OffsetIndex{table{r, size, OffsetEntrySize}, base, false}
}

// NewMKB1Index reads the .index of an MKB1 segment.
func NewMKB1Index(r io.ReaderAt, size, base int64) *OffsetIndex {
	return &OffsetIndex{table{r, size, MKB1EntrySize}, base, true}
}

// Len counts the whole entries in the file, preallocated zeros included.
func (x *OffsetIndex) Len() int { return x.len() }

// EffectiveLen counts the entries before preallocated zeros. It searches for the end,
// which is right as long as the file holds entries, then zeros.
func (x *OffsetIndex) EffectiveLen() (int, error) {
	return x.used(func(e []byte) bool { return x.parse(e).isPadding(x.base) })
}

// isPadding tells the first entry of preallocated zeros from a real one. It does not
// hold for entry 0.
func (e OffsetEntry) isPadding(base int64) bool { return e.Offset <= base }

// At reads entry i, which must be below Len. A negative relative offset gives an Offset
// below the base.
func (x *OffsetIndex) At(i int) (OffsetEntry, error) {
	entry, err := x.read(nil, i, 1)
	if err != nil {
		return OffsetEntry{}, err
	}
	return x.parse(entry), nil
}

// Last reads the last entry before preallocated zeros; ok is false if there is none.
func (x *OffsetIndex) Last() (e OffsetEntry, ok bool, err error) {
	n, err := x.EffectiveLen()
	if err != nil || n == 0 {
		return OffsetEntry{}, false, err
	}
	e, err = x.At(n - 1)
	return e, err == nil, err
}

// Lookup finds the entry with the greatest offset that is not above target. Every batch
// before its position ends below target, so a scan from there finds target. Without such
// an entry it returns the start of the segment and false.
func (x *OffsetIndex) Lookup(target int64) (e OffsetEntry, ok bool, err error) {
	start := OffsetEntry{Offset: x.base}
	n, err := x.EffectiveLen()
	if err != nil {
		return start, false, err
	}
	above, err := x.search(0, n, func(e []byte) bool { return x.parse(e).Offset > target })
	if err != nil || above == 0 {
		return start, false, err
	}
	e, err = x.At(above - 1)
	return e, err == nil, err
}

// All walks the entries one by one up to preallocated zeros.
func (x *OffsetIndex) All() iter.Seq2[OffsetEntry, error] {
	return func(yield func(OffsetEntry, error) bool) {
		first := true
		for raw, err := range x.entries(x.len()) {
			if err != nil {
				yield(OffsetEntry{}, err)
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

func (x *OffsetIndex) parse(entry []byte) OffsetEntry {
	if x.mkb1 {
		relative := binary.BigEndian.Uint32(entry[posRelativeOffset:])
		return OffsetEntry{x.base + int64(relative), int64(binary.BigEndian.Uint64(entry[posPosition:]))}
	}
	relative := int32(binary.BigEndian.Uint32(entry[posRelativeOffset:]))
	return OffsetEntry{x.base + int64(relative), int64(int32(binary.BigEndian.Uint32(entry[posPosition:])))}
}

// AppendOffsetEntry appends one entry of a .index. The offset must be within 2147483647
// of base, the position below 2147483648.
func AppendOffsetEntry(dst []byte, base int64, e OffsetEntry) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.Offset-base))
	return binary.BigEndian.AppendUint32(dst, uint32(e.Pos))
}

// AppendMKB1Entry appends one entry of an MKB1 index.
func AppendMKB1Entry(dst []byte, base int64, e OffsetEntry) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.Offset-base))
	return binary.BigEndian.AppendUint64(dst, uint64(e.Pos))
}
