// Package vfs is the one way to the file system. Everything that touches a disk
// goes through FS, so that tests can crash it at every operation (memfs) and fail
// any one of them (faultfs). Readers take a ReadFS, which has no writing method.
//
// Names are operating-system paths, absolute or relative to the working directory.
// Errors satisfy errors.Is with fs.ErrNotExist, fs.ErrExist and fs.ErrPermission.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrLocked says that another process holds a lock that conflicts.
var ErrLocked = errors.New("locked by another process")

// ReadFile is an open file that cannot be written.
type ReadFile interface {
	io.ReaderAt
	io.Closer
	// Stat gives size, modification time and mode.
	Stat() (fs.FileInfo, error)
}

// File is a file open for reading and writing. There is no file cursor.
type File interface {
	ReadFile
	io.WriterAt
	// Truncate sets the size in bytes; a longer file reads as zeros.
	Truncate(size int64) error
	// Sync makes the bytes and the size survive a power cut (fsync).
	Sync() error
}

// ReadFS is a file system that cannot be written.
type ReadFS interface {
	Open(name string) (ReadFile, error)
	Stat(name string) (fs.FileInfo, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Locked tests, without taking it, whether another process holds an exclusive
	// lock on the file name. A file that is not there is not locked.
	Locked(name string) (bool, error)
}

// FS is a file system that can be written.
type FS interface {
	ReadFS
	// OpenRW opens an existing file for reading and writing.
	OpenRW(name string) (File, error)
	// OpenCreate opens a file for reading and writing and makes it if it is not there.
	OpenCreate(name string) (File, error)
	// Create makes a new file, and fails with fs.ErrExist if it is there.
	Create(name string) (File, error)
	// Mkdir makes one directory; MkdirAll its parents too, and may find them there.
	Mkdir(name string) error
	MkdirAll(name string) error
	// Rename replaces newname if it is a file.
	Rename(oldname, newname string) error
	// Remove deletes a file or an empty directory.
	Remove(name string) error
	// SyncDir makes the entries of a directory survive a power cut.
	SyncDir(name string) error
	// Chtimes sets a modification time.
	Chtimes(name string, mtime time.Time) error
	// FreeSpace is how many bytes can still be written to the file system that holds
	// the directory name.
	FreeSpace(name string) (int64, error)
	// Lock tries once to lock a file, made if need be, for this open handle, as the
	// JVM's FileChannel.tryLock does (fcntl record locks). ErrLocked if another has it.
	Lock(name string, exclusive bool) (io.Closer, error)
}
