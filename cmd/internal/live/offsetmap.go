package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"logdir/store"
	"logdir/store/vfs"
)

// OffsetMap is the file that says which offset became which: a line for each row of
// offsets that has no gap, here or there.
//
// Lines are written and synced before their transaction is committed, so that none is ever
// missing. What a transaction left that was not committed is cut when the export goes on.
type OffsetMap struct {
	fs   vfs.FS
	name string
	file vfs.File
	size int64
}

// mapLine is a line of the file.
type mapLine struct {
	Topic       string `json:"topic"`
	Partition   int32  `json:"partition"`
	FirstOffset int64  `json:"first_offset"`
	LastOffset  int64  `json:"last_offset"`
	TargetTopic string `json:"target_topic"`
	Target      int64  `json:"target_offset"`
}

func (l mapLine) source() store.TopicPartition {
	return store.TopicPartition{Topic: l.Topic, Partition: l.Partition}
}

// maxOffsetMap bounds what is read of an offset map.
const maxOffsetMap = 4 << 30

// OpenOffsetMap opens the file of an export, or makes it.
func OpenOffsetMap(fsys vfs.FS, name string) (*OffsetMap, error) {
	f, err := fsys.OpenCreate(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &OffsetMap{fs: fsys, name: name, file: f, size: info.Size()}, nil
}

// Close closes the file. A nil OffsetMap keeps nothing.
func (m *OffsetMap) Close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}

// add writes what the open transaction holds.
func (m *OffsetMap) add(streams []*stream) error {
	if m == nil {
		return nil
	}
	var text []byte
	for _, s := range streams {
		for _, r := range s.openRuns {
			line, err := json.Marshal(mapLine{s.Topic, s.Partition, r.first, r.last, s.Target, r.target})
			if err != nil {
				return err
			}
			text = append(append(text, line...), '\n')
		}
	}
	if _, err := m.file.WriteAt(text, m.size); err != nil {
		return err
	}
	m.size += int64(len(text))
	return m.file.Sync()
}

// cut drops the lines of transactions that were not committed: those at or behind what is.
func (m *OffsetMap) cut(streams []*stream) error {
	if m == nil || m.size == 0 {
		return nil
	}
	next := map[store.TopicPartition]int64{}
	for _, s := range streams {
		next[s.TopicPartition] = s.done.next
	}
	data, err := vfs.ReadAll(m.fs, m.name, maxOffsetMap)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := keepCommitted(data, next)
	if err != nil || len(kept) == len(data) {
		return err
	}
	if err := m.file.Close(); err != nil {
		return err
	}
	if err := vfs.WriteAtomic(m.fs, m.name, kept); err != nil {
		return err
	}
	m.file, err = m.fs.OpenRW(m.name)
	m.size = int64(len(kept))
	return err
}

// keepCommitted are the lines below next. The last line may be torn.
func keepCommitted(data []byte, next map[store.TopicPartition]int64) ([]byte, error) {
	kept := make([]byte, 0, len(data))
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for number, at := 1, 0; lines.Scan(); number++ {
		at += len(lines.Bytes()) + 1
		var l mapLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			if at > len(data) {
				break
			}
			return nil, fmt.Errorf("line %d of the offset map: %w", number, err)
		}
		if n, mine := next[l.source()]; !mine || l.FirstOffset < n {
			kept = append(append(kept, lines.Bytes()...), '\n')
		}
	}
	return kept, lines.Err()
}

// Translate is what an offset of a source became: that of the first record at or behind it.
// A nil OffsetMap knows nothing.
func (m *OffsetMap) Translate(source store.TopicPartition, offset int64) (target int64, ok bool, err error) {
	if m == nil {
		return 0, false, nil
	}
	lines := bufio.NewScanner(io.NewSectionReader(m.file, 0, m.size))
	for lines.Scan() {
		var l mapLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return 0, false, err
		}
		if l.source() == source && l.LastOffset >= offset {
			return l.Target + max(offset-l.FirstOffset, 0), true, nil
		}
	}
	return 0, false, lines.Err()
}
