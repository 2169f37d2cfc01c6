package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// OS is the file system of the machine.
func OS() FS { return osFS{} }

type osFS struct{}

const (
	fileMode = 0o644
	dirMode  = 0o755
)

func (osFS) Open(name string) (ReadFile, error) { return asReadFile(os.Open(name)) }

func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadDir follows symbolic links to directories, as a broker does that looks for partitions.
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(name)
	for i, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if info, err := os.Stat(filepath.Join(name, e.Name())); err == nil && info.IsDir() {
			entries[i] = linkedDir{e}
		}
	}
	return entries, err
}

// linkedDir is a symbolic link to a directory.
type linkedDir struct{ fs.DirEntry }

// IsDir is true, although the Type is that of a link.
func (linkedDir) IsDir() bool { return true }

func (osFS) OpenRW(name string) (File, error) {
	return asFile(os.OpenFile(name, os.O_RDWR, fileMode))
}

func (osFS) OpenCreate(name string) (File, error) {
	return asFile(os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode))
}

func (osFS) Create(name string) (File, error) {
	return asFile(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode))
}

func (osFS) Mkdir(name string) error    { return os.Mkdir(name, dirMode) }
func (osFS) MkdirAll(name string) error { return os.MkdirAll(name, dirMode) }

func (osFS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error             { return os.Remove(name) }

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
}

// Chtimes leaves the access time alone: a zero time means no change.
func (osFS) Chtimes(name string, mtime time.Time) error {
	return os.Chtimes(name, time.Time{}, mtime)
}

func (osFS) FreeSpace(name string) (int64, error) { return freeSpace(name) }

func (osFS) Locked(name string) (bool, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := testLock(f)
	return held, errors.Join(err, f.Close())
}

func (osFS) Lock(name string, exclusive bool) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := takeLock(f, exclusive); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// asFile keeps a nil *os.File from hiding in a non-nil interface.
func asFile(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func asReadFile(f *os.File, err error) (ReadFile, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
