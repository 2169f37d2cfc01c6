package producer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// Suffix ends the name of a snapshot file.
const Suffix = ".snapshot"

// maxSnapshot bounds what is read of a snapshot: more than five million producers.
const maxSnapshot = 256 << 20

// FileName is the name of the snapshot that holds the state below offset.
func FileName(offset int64) string { return fmt.Sprintf("%020d%s", offset, Suffix) }

// ParseFileName reads the offset from a snapshot's name.
func ParseFileName(name string) (offset int64, ok bool) {
	digits, ok := strings.CutSuffix(name, Suffix)
	if !ok {
		return 0, false
	}
	offset, err := strconv.ParseInt(digits, 10, 64)
	return offset, err == nil && offset >= 0
}

// List returns the offsets of the snapshots in a partition directory, rising.
func List(fsys vfs.ReadFS, dir string) ([]int64, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var offsets []int64
	for _, e := range entries {
		if offset, ok := ParseFileName(e.Name()); ok && !e.IsDir() {
			offsets = append(offsets, offset)
		}
	}
	slices.Sort(offsets)
	return slices.Compact(offsets), nil
}

// ReadSnapshot reads one snapshot file.
func ReadSnapshot(fsys vfs.ReadFS, name string) ([]Entry, error) {
	data, err := vfs.ReadAll(fsys, name, maxSnapshot)
	if err != nil {
		return nil, err
	}
	entries, err := ParseSnapshot(data)
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		damage.Path = name
	}
	return entries, err
}

// Loaded is what LoadNewest found.
type Loaded struct {
	State *State
	// Offset is where feeding batches must begin: that of the snapshot, or the log start.
	Offset int64
	// FromSnapshot tells the two apart.
	FromSnapshot bool
	// Skipped are newer snapshots that are damaged. A broker deletes them.
	Skipped []*corrupt.Error
}

// LoadNewest loads the newest good snapshot of a partition directory that lies above the log
// start offset and not above the log end, as a broker does. Nothing has expired yet; see
// Expire.
func LoadNewest(fsys vfs.ReadFS, dir string, window int, logStart, logEnd int64) (Loaded, error) {
	l := Loaded{State: NewState(window), Offset: logStart}
	offsets, err := List(fsys, dir)
	if err != nil {
		return l, err
	}
	for _, offset := range slices.Backward(offsets) {
		if offset <= logStart || offset > logEnd {
			continue
		}
		loaded, err := l.load(fsys, filepath.Join(dir, FileName(offset)), offset)
		if err != nil || loaded {
			return l, err
		}
	}
	return l, nil
}

// load tries one snapshot. Damage is noted, and no error.
func (l *Loaded) load(fsys vfs.ReadFS, name string, offset int64) (bool, error) {
	entries, err := ReadSnapshot(fsys, name)
	if damage, ok := errors.AsType[*corrupt.Error](err); ok {
		l.Skipped = append(l.Skipped, damage)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.State.Restore(entries)
	l.Offset, l.FromSnapshot = offset, true
	return true, nil
}

// Save writes the snapshot for offset, the log end, atomically. At offset 0 there is
// nothing to write.
func (s *State) Save(fsys vfs.FS, dir string, offset int64) error {
	if offset <= 0 {
		return nil
	}
	return vfs.WriteAtomic(fsys, filepath.Join(dir, FileName(offset)), AppendSnapshot(nil, s.Entries()))
}
