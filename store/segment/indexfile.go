package segment

import (
	"errors"
	"io/fs"

	"logdir/store/vfs"
)

// indexFile is a .index or .timeindex that grows. Behind its entries there may be
// preallocated zeros of a broker.
type indexFile struct {
	file  vfs.File // nil as long as there is none
	size  int64    // of the file
	used  int64    // bytes of entries
	dirty bool     // written since the last sync
}

// openIndex opens an index file, if there is one.
func openIndex(fsys vfs.FS, name string) (*indexFile, error) {
	file, err := fsys.OpenRW(name)
	if errors.Is(err, fs.ErrNotExist) {
		return new(indexFile), nil
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &indexFile{file: file, size: info.Size()}, nil
}

// make creates the file, if there is none, without entries.
func (x *indexFile) make(fsys vfs.FS, name string) error {
	if x.file != nil {
		return x.trim()
	}
	file, err := fsys.Create(name)
	if err != nil {
		return err
	}
	x.file, x.dirty = file, true
	return nil
}

// add writes entries behind those that are there, and cuts padding off.
func (x *indexFile) add(entries []byte) error {
	if len(entries) == 0 {
		return nil
	}
	if _, err := x.file.WriteAt(entries, x.used); err != nil {
		return err
	}
	x.used += int64(len(entries))
	x.size, x.dirty = max(x.size, x.used), true
	return x.trim()
}

// trim cuts the file to its entries.
func (x *indexFile) trim() error {
	if x.size == x.used {
		return nil
	}
	x.size, x.dirty = x.used, true
	return x.file.Truncate(x.used)
}

func (x *indexFile) sync() error {
	if !x.dirty {
		return nil
	}
	x.dirty = false
	return x.file.Sync()
}

func (x *indexFile) close() error { return x.file.Close() }
