package checkpoint

import (
	"strconv"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// PartitionMetadata is the content of a partition.metadata file.
type PartitionMetadata struct {
	Version int32
	TopicID UUID
}

// ParsePartitionMetadata reads a partition.metadata file. The error is a *corrupt.Error of
// kind bad-metadata; at byte 0 with Size 0 it means a file without bytes, which to Kafka 2.8 is
// one without an id. Like Kafka it does not look at the keys, nor at further lines.
func ParsePartitionMetadata(data []byte) (PartitionMetadata, error) {
	m, damage := parsePartitionMetadata(data)
	if damage != nil {
		return PartitionMetadata{}, damage
	}
	return m, nil
}

func parsePartitionMetadata(data []byte) (m PartitionMetadata, err *corrupt.Error) {
	if err := checkUTF8(corrupt.BadMetadata, data); err != nil {
		return m, err
	}
	n := 0
	for l := range lines(data) {
		switch n++; n {
		case 1:
			m.Version, err = parseMetadataVersion(l)
		case 2:
			m.TopicID, err = parseTopicID(l)
		}
		if err != nil || n == 2 {
			return m, err
		}
	}
	if n == 0 {
		return m, corrupt.New(corrupt.BadMetadata, 0, 0, "no bytes: Kafka 2.8 left the file so until it knew the id, newer brokers do not start")
	}
	return m, corrupt.New(corrupt.BadMetadata, int64(len(data)), 0, "one line, not version and topic_id")
}

func parseMetadataVersion(l line) (int32, *corrupt.Error) {
	f, err := valueAfterColon(l, "version")
	if err != nil {
		return 0, err
	}
	v, err := l.number(corrupt.BadMetadata, f, "version", 32)
	if err == nil && v < 0 {
		err = l.badAt(corrupt.BadMetadata, f.at, len(f.text), "version", "version %d", v)
	}
	return int32(v), err
}

func parseTopicID(l line) (UUID, *corrupt.Error) {
	f, err := valueAfterColon(l, "topic_id")
	if err != nil {
		return UUID{}, err
	}
	id, bad := ParseUUID(f.text)
	switch {
	case bad != nil:
		err = l.badAt(corrupt.BadMetadata, f.at, len(f.text), "topic_id", "%v", bad)
	case id == ZeroUUID:
		err = l.badAt(corrupt.BadMetadata, f.at, len(f.text), "topic_id", "id %s is all zeros", id)
	}
	return id, err
}

// valueAfterColon cuts a line at each colon with white space behind it, which must give
// two parts, and returns the second.
func valueAfterColon(l line, name string) (field, *corrupt.Error) {
	parts := splitColons(l.text)
	if len(parts) != 2 {
		return field{}, l.bad(corrupt.BadMetadata, name, "%s is not %q", quote(l.text), name+": value")
	}
	return parts[1], nil
}

// splitColons is Java's split at ":\s+": empty parts at the end are left out.
func splitColons(text string) []field {
	var parts []field
	start := 0
	for at := 0; at+1 < len(text); at++ {
		if text[at] != ':' || !isSpace(text[at+1]) {
			continue
		}
		parts = append(parts, field{text[start:at], start})
		for at++; at < len(text) && isSpace(text[at]); at++ {
		}
		start = at
		at--
	}
	parts = append(parts, field{text[start:], start})
	for len(parts) > 0 && parts[len(parts)-1].text == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// AppendPartitionMetadata appends the file's text, which ends without a line feed.
func AppendPartitionMetadata(dst []byte, m PartitionMetadata) []byte {
	dst = append(dst, "version: "...)
	dst = strconv.AppendInt(dst, int64(m.Version), 10)
	dst = append(dst, "\ntopic_id: "...)
	return append(dst, m.TopicID.String()...)
}

// ReadPartitionMetadata reads the partition.metadata file name.
func ReadPartitionMetadata(fsys vfs.ReadFS, name string) (PartitionMetadata, error) {
	data, err := readState(fsys, name)
	if err != nil {
		return PartitionMetadata{}, err
	}
	m, err := ParsePartitionMetadata(data)
	return m, inFile(name, err)
}

// WritePartitionMetadata replaces the partition.metadata file name atomically.
func WritePartitionMetadata(fsys vfs.FS, name string, m PartitionMetadata) error {
	return vfs.WriteAtomic(fsys, name, AppendPartitionMetadata(nil, m))
}
