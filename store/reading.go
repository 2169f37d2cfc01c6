package store

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// reading is one segment open for reading: its log, and its indexes once asked for.
type reading struct {
	fs   vfs.ReadFS
	dir  string
	base int64
	swap string // what comes behind the suffix of each file: "" or .swap
	log  vfs.ReadFile
	size int64
	mkb1 bool

	indexes []io.Closer
}

func openReading(fsys vfs.ReadFS, dir string, base int64, swap string) (*reading, error) {
	log, err := fsys.Open(filepath.Join(dir, segment.FileName(base, segment.LogSuffix+swap)))
	if err != nil {
		return nil, err
	}
	s := &reading{fs: fsys, dir: dir, base: base, swap: swap, log: log}
	if err := s.measure(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.mkb1, err = isMKB1(log)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// measure notes how long the log is now.
func (s *reading) measure() error {
	info, err := s.log.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	return nil
}

// isMKB1 looks at the first frame: the two formats have different index entries.
func isMKB1(log io.ReaderAt) (bool, error) {
	var prefix [record.PrefixSize]byte
	if n, err := log.ReadAt(prefix[:], 0); n < len(prefix) {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	_, format, ok := record.Peek(prefix[:])
	return ok && format == record.MKB1, nil
}

func (s *reading) path(suffix string) string {
	return filepath.Join(s.dir, segment.FileName(s.base, suffix+s.swap))
}

// open opens a file beside the log; ok is false if it is not there.
func (s *reading) open(suffix string) (f vfs.ReadFile, size int64, ok bool, err error) {
	f, err = s.fs.Open(s.path(suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, nil
	}
	if err != nil {
		return nil, 0, false, err
	}
	s.indexes = append(s.indexes, f)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, false, err
	}
	return f, info.Size(), true, nil
}

// offsets is the offset index, nil if there is none.
func (s *reading) offsets() (*index.OffsetIndex, error) {
	f, size, ok, err := s.open(segment.IndexSuffix)
	if err != nil || !ok {
		return nil, err
	}
	if s.mkb1 {
		return index.NewMKB1Index(f, size, s.base), nil
	}
	return index.NewOffsetIndex(f, size, s.base), nil
}

// times is the time index, nil if there is none.
func (s *reading) times() (*index.TimeIndex, error) {
	if s.mkb1 {
		return nil, nil
	}
	f, size, ok, err := s.open(segment.TimeIndexSuffix)
	if err != nil || !ok {
		return nil, err
	}
	return index.NewTimeIndex(f, size, s.base), nil
}

// seek finds by the offset index where a scan for offset may begin. An entry that does
// not lead to a batch is not followed: the scan then begins at the start.
func (s *reading) seek(offset int64) (pos int64, err error) {
	x, err := s.offsets()
	if err != nil || x == nil {
		return 0, err
	}
	entry, found, err := x.Lookup(offset)
	if err != nil || !found {
		return 0, err
	}
	ok, err := s.leads(entry)
	if err != nil || !ok {
		return 0, err
	}
	return entry.Pos, nil
}

// last is the last entry of the offset index that leads to a batch.
func (s *reading) last() (index.OffsetEntry, error) {
	none := index.OffsetEntry{Offset: s.base}
	x, err := s.offsets()
	if err != nil || x == nil {
		return none, err
	}
	entry, found, err := x.Last()
	if err != nil || !found {
		return none, err
	}
	if ok, err := s.leads(entry); err != nil || !ok {
		return none, err
	}
	return entry, nil
}

// leads tells whether a batch begins where the entry says, one whose offset fits. Brokers
// differ in which offset of the batch they store, but none stores a smaller one than its
// first.
func (s *reading) leads(e index.OffsetEntry) (bool, error) {
	if e.Pos < 0 || e.Pos > s.size-record.PeekSize {
		return false, nil
	}
	header := make([]byte, min(record.HeaderSize, s.size-e.Pos))
	if _, err := s.log.ReadAt(header, e.Pos); err != nil {
		return false, err
	}
	size, format, ok := record.Peek(header)
	if !ok || size > s.size-e.Pos {
		return false, nil
	}
	base := record.PeekOffset(header, format)
	return base >= s.base && base <= e.Offset, nil
}

// Close closes the log and the indexes.
func (s *reading) Close() error {
	err := s.log.Close()
	for _, f := range s.indexes {
		err = errors.Join(err, f.Close())
	}
	return err
}
