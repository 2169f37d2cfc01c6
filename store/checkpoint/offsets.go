package checkpoint

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// OffsetEntry is one line of an offset checkpoint.
type OffsetEntry struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Offsets is an offset checkpoint, in the order of its file. A partition should stand in
// it once; of two lines the later one counts, as in Kafka.
type Offsets []OffsetEntry

// ParseOffsets reads an offset checkpoint. The error is a *corrupt.Error of kind
// bad-checkpoint; the entries before it are returned with it, which a broker would not use.
func ParseOffsets(data []byte) (Offsets, error) {
	return parseEntries(data, parseOffsetLine)
}

func parseOffsetLine(l line) (e OffsetEntry, err *corrupt.Error) {
	parts := l.fields()
	if len(parts) != 3 {
		return e, l.bad(corrupt.BadCheckpoint, "", "%d fields in %s, not topic, partition and offset", len(parts), quote(l.text))
	}
	partition, err := l.number(corrupt.BadCheckpoint, parts[1], "partition", 32)
	if err != nil {
		return e, err
	}
	offset, err := l.number(corrupt.BadCheckpoint, parts[2], "offset", 64)
	return OffsetEntry{parts[0].text, int32(partition), offset}, err
}

// LegibleOffsets gives the entries of every line that is one, whatever is wrong with the
// rest of the file. Of a partition that stands twice it takes the first.
func LegibleOffsets(data []byte) Offsets {
	var entries Offsets
	seen := map[[2]string]int{}
	for l := range lines(data) {
		if e, err := parseOffsetLine(l); err == nil && checkOffsetLine(l, e, seen) == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// CheckOffsets judges what ParseOffsets lets pass: empty names, negative numbers and
// partitions that stand twice. A file that does not parse gives that one error.
func CheckOffsets(data []byte) []*corrupt.Error {
	var found []*corrupt.Error
	seen := map[[2]string]int{}
	damage := parseContainer(data, func(l line) *corrupt.Error {
		e, err := parseOffsetLine(l)
		if err != nil {
			return err
		}
		if err := checkOffsetLine(l, e, seen); err != nil {
			found = append(found, err)
		}
		return nil
	})
	if damage != nil {
		return []*corrupt.Error{damage}
	}
	return found
}

func checkOffsetLine(l line, e OffsetEntry, seen map[[2]string]int) *corrupt.Error {
	key := [2]string{e.Topic, strconv.Itoa(int(e.Partition))}
	first, twice := seen[key]
	switch {
	case e.Topic == "":
		return l.bad(corrupt.BadCheckpoint, "topic", "no topic in %s", quote(l.text))
	case e.Partition < 0:
		return l.bad(corrupt.BadCheckpoint, "partition", "partition %d", e.Partition)
	case e.Offset < 0:
		return l.bad(corrupt.BadCheckpoint, "offset", "offset %d", e.Offset)
	case twice:
		return l.bad(corrupt.BadCheckpoint, "", "%s-%d stands on line %d too", e.Topic, e.Partition, first)
	}
	seen[key] = l.no
	return nil
}

// AppendOffsets appends the file's text.
func AppendOffsets(dst []byte, o Offsets) []byte {
	dst = appendHeader(dst, len(o))
	for _, e := range o {
		dst = append(dst, e.Topic...)
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, int64(e.Partition), 10)
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, e.Offset, 10)
		dst = append(dst, '\n')
	}
	return dst
}

// ReadOffsets reads the offset checkpoint file name. A file that is not there is empty.
func ReadOffsets(fsys vfs.ReadFS, name string) (Offsets, error) {
	data, err := readState(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o, err := ParseOffsets(data)
	return o, inFile(name, err)
}

// WriteOffsets replaces the offset checkpoint file name atomically.
func WriteOffsets(fsys vfs.FS, name string, o Offsets) error {
	return vfs.WriteAtomic(fsys, name, AppendOffsets(nil, o))
}

// Get returns the offset of a partition. The last line wins.
func (o Offsets) Get(topic string, partition int32) (int64, bool) {
	for _, e := range slices.Backward(o) {
		if e.Topic == topic && e.Partition == partition {
			return e.Offset, true
		}
	}
	return 0, false
}

// Set changes a partition's line, or adds one at the end. Further lines of it are dropped.
func (o *Offsets) Set(topic string, partition int32, offset int64) {
	is := func(e OffsetEntry) bool { return e.Topic == topic && e.Partition == partition }
	at := slices.IndexFunc(*o, is)
	if at < 0 {
		*o = append(*o, OffsetEntry{topic, partition, offset})
		return
	}
	(*o)[at].Offset = offset
	*o = append((*o)[:at+1], slices.DeleteFunc((*o)[at+1:], is)...)
}

// Delete drops a partition's lines and reports whether there was one.
func (o *Offsets) Delete(topic string, partition int32) bool {
	kept := slices.DeleteFunc(*o, func(e OffsetEntry) bool { return e.Topic == topic && e.Partition == partition })
	found := len(kept) < len(*o)
	*o = kept
	return found
}

// Sort orders the lines by topic and partition.
func (o Offsets) Sort() {
	slices.SortStableFunc(o, func(a, b OffsetEntry) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition) - int(b.Partition)
	})
}

// readState reads a whole state file.
func readState(fsys vfs.ReadFS, name string) ([]byte, error) {
	return vfs.ReadAll(fsys, name, maxFile)
}

// inFile adds the file's name to damage.
func inFile(name string, err error) error {
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		damage.Path = name
		return damage
	}
	return err
}
