package segment

import (
	"errors"
	"io/fs"

	"logdir/store/vfs"
)

// indexFile is a .index or .timeindex that grows. Behind its entries there may be
// preallocated zeros of a broker.
type indexFile struct {
	file  vfs.File
	size  int64 // of the file
	used  int64 // bytes of entries
	dirty bool  // written since the last sync
}

// openIndex opens an index file, or makes it; then made is true.
func openIndex(fsys vfs.FS, name string) (x *indexFile, made bool, err error) {
	file, err := fsys.OpenRW(name)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = fsys.Create(name)
		made = true
	}
	if err != nil {
		return nil, false, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return &indexFile{file: file, size: info.Size(), dirty: made}, made, nil
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
