// Package faultfs makes a file system fail on demand: at the n-th changing operation,
// on a path, half-way through a write, or when bad sectors are read.
package faultfs

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"logdir/store/vfs"
)

// ErrCrashed is what every changing operation returns once the process counts as dead.
var ErrCrashed = errors.New("crashed")

// ErrFault is the error that FailAt returns.
var ErrFault = errors.New("injected fault")

// Kind names a changing operation.
type Kind string

// The changing operations.
const (
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	Create   Kind = "create"
	Mkdir    Kind = "mkdir"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	SyncDir  Kind = "syncdir"
	Chtimes  Kind = "chtimes"
)

// Op is one changing operation that is about to happen.
type Op struct {
	N    int // 1 for the first
	Kind Kind
	Path string
	Pos  int64 // Write: position of the first byte; Truncate: new size
	Size int   // Write: bytes
}

// Hook decides about an operation: nil lets it happen, an error stops it, a ShortWrite
// lets the first bytes of a write happen.
type Hook func(Op) error

// ShortWrite is a hook's way to write only the first N bytes and then fail with Err.
type ShortWrite struct {
	N   int
	Err error
}

// Error implements error.
func (s ShortWrite) Error() string { return "short write: " + s.Err.Error() }

// Unwrap gives the error behind the short write.
func (s ShortWrite) Unwrap() error { return s.Err }

// FailAt fails the n-th operation with ErrFault and no other.
func FailAt(n int) Hook {
	return func(op Op) error {
		if op.N == n {
			return ErrFault
		}
		return nil
	}
}

// CrashAt lets n-1 operations happen; the n-th and all later ones fail with ErrCrashed.
func CrashAt(n int) Hook {
	return func(op Op) error {
		if op.N >= n {
			return ErrCrashed
		}
		return nil
	}
}

// FS wraps a file system.
type FS struct {
	inner vfs.FS

	mu   sync.Mutex
	hook Hook
	n    int
	bad  map[string][]badRange
}

type badRange struct{ from, to int64 }

var _ vfs.FS = (*FS)(nil)

// Wrap puts hook before every changing operation of inner; nil only counts.
func Wrap(inner vfs.FS, hook Hook) *FS {
	return &FS{inner: inner, hook: hook, bad: map[string][]badRange{}}
}

// Ops is how many changing operations were asked for so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// BadSectors makes reads of name that touch the bytes from (included) to to (not
// included) fail with EIO.
func (f *FS) BadSectors(name string, from, to int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := filepath.Clean(name)
	f.bad[key] = append(f.bad[key], badRange{from, to})
}

func (f *FS) ask(kind Kind, path string, pos int64, size int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.hook == nil {
		return nil
	}
	return f.hook(Op{N: f.n, Kind: kind, Path: path, Pos: pos, Size: size})
}

// Open implements vfs.ReadFS.
func (f *FS) Open(name string) (vfs.ReadFile, error) {
	in, err := f.inner.Open(name)
	if err != nil {
		return nil, err
	}
	return &readFile{ReadFile: in, fs: f, name: name}, nil
}

// Stat implements vfs.ReadFS.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.inner.Stat(name) }

// ReadDir implements vfs.ReadFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) { return f.inner.ReadDir(name) }

// Locked implements vfs.ReadFS.
func (f *FS) Locked(name string) (bool, error) { return f.inner.Locked(name) }

// FreeSpace implements vfs.FS.
func (f *FS) FreeSpace(name string) (int64, error) { return f.inner.FreeSpace(name) }

// Lock implements vfs.FS. It is no changing operation, though it may make the file.
func (f *FS) Lock(name string, exclusive bool) (io.Closer, error) {
	return f.inner.Lock(name, exclusive)
}

// OpenRW implements vfs.FS.
func (f *FS) OpenRW(name string) (vfs.File, error) { return f.wrap(f.inner.OpenRW(name))(name) }

// OpenCreate implements vfs.FS. It counts as an operation only if it makes the file.
func (f *FS) OpenCreate(name string) (vfs.File, error) {
	if there, err := vfs.Exists(f.inner, name); err == nil && !there {
		if err := f.ask(Create, name, 0, 0); err != nil {
			return nil, err
		}
	}
	return f.wrap(f.inner.OpenCreate(name))(name)
}

// Create implements vfs.FS.
func (f *FS) Create(name string) (vfs.File, error) {
	if err := f.ask(Create, name, 0, 0); err != nil {
		return nil, err
	}
	return f.wrap(f.inner.Create(name))(name)
}

// wrap takes the two results of an open and then the name.
func (f *FS) wrap(in vfs.File, err error) func(string) (vfs.File, error) {
	return func(name string) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		return &file{readFile: readFile{ReadFile: in, fs: f, name: name}, inner: in}, nil
	}
}

// Mkdir implements vfs.FS.
func (f *FS) Mkdir(name string) error {
	return f.then(f.ask(Mkdir, name, 0, 0), func() error { return f.inner.Mkdir(name) })
}

// MkdirAll implements vfs.FS. It counts as one operation, and only if name is not there.
func (f *FS) MkdirAll(name string) error {
	if there, err := vfs.Exists(f.inner, name); err == nil && there {
		return f.inner.MkdirAll(name)
	}
	return f.then(f.ask(Mkdir, name, 0, 0), func() error { return f.inner.MkdirAll(name) })
}

// Rename implements vfs.FS.
func (f *FS) Rename(oldname, newname string) error {
	return f.then(f.ask(Rename, newname, 0, 0), func() error { return f.inner.Rename(oldname, newname) })
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	return f.then(f.ask(Remove, name, 0, 0), func() error { return f.inner.Remove(name) })
}

// SyncDir implements vfs.FS.
func (f *FS) SyncDir(name string) error {
	return f.then(f.ask(SyncDir, name, 0, 0), func() error { return f.inner.SyncDir(name) })
}

// Chtimes implements vfs.FS.
func (f *FS) Chtimes(name string, mtime time.Time) error {
	return f.then(f.ask(Chtimes, name, 0, 0), func() error { return f.inner.Chtimes(name, mtime) })
}

func (*FS) then(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}

type readFile struct {
	vfs.ReadFile
	fs   *FS
	name string
}

// ReadAt reads up to the first bad sector and fails there.
func (r *readFile) ReadAt(p []byte, pos int64) (int, error) {
	good := r.fs.readable(r.name, pos, int64(len(p)))
	if good == int64(len(p)) {
		return r.ReadFile.ReadAt(p, pos)
	}
	n, err := r.ReadFile.ReadAt(p[:good], pos)
	if err == nil {
		err = &fs.PathError{Op: "read", Path: r.name, Err: syscall.EIO}
	}
	return n, err
}

// readable is how many bytes from pos on lie before the first bad sector.
func (f *FS) readable(name string, pos, size int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.bad[filepath.Clean(name)] {
		if b.from < pos+size && pos < b.to {
			size = max(b.from-pos, 0)
		}
	}
	return size
}

type file struct {
	readFile
	inner vfs.File
}

// WriteAt implements io.WriterAt.
func (w *file) WriteAt(p []byte, pos int64) (int, error) {
	err := w.fs.ask(Write, w.name, pos, len(p))
	if short, ok := errors.AsType[ShortWrite](err); ok {
		n, werr := w.inner.WriteAt(p[:min(short.N, len(p))], pos)
		return n, errors.Join(werr, short.Err)
	}
	if err != nil {
		return 0, err
	}
	return w.inner.WriteAt(p, pos)
}

// Truncate implements vfs.File.
func (w *file) Truncate(size int64) error {
	return w.fs.then(w.fs.ask(Truncate, w.name, size, 0), func() error { return w.inner.Truncate(size) })
}

// Sync implements vfs.File.
func (w *file) Sync() error {
	return w.fs.then(w.fs.ask(Sync, w.name, 0, 0), func() error { return w.inner.Sync() })
}
