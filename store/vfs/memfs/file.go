package memfs

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

// file is an open handle.
type file struct {
	fs   *FS
	node *node
	name string
}

// Stat implements vfs.ReadFile.
func (f *file) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.node.info(f.name), nil
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, pos int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	switch {
	case f.node.dir:
		return 0, fail("read", f.name, fmt.Errorf("is a directory"))
	case pos < 0:
		return 0, fail("read", f.name, fs.ErrInvalid)
	case pos >= int64(len(f.node.live)):
		return 0, io.EOF
	}
	n := copy(p, f.node.live[pos:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements io.WriterAt.
func (f *file) WriteAt(p []byte, pos int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.node.dir || pos < 0 {
		return 0, fail("write", f.name, fs.ErrInvalid)
	}
	if end := pos + int64(len(p)); end > int64(len(f.node.live)) {
		f.node.resize(end)
	}
	f.node.mtime = f.fs.tick()
	return copy(f.node.live[pos:], p), nil
}

// Truncate implements vfs.File.
func (f *file) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.node.dir || size < 0 {
		return fail("truncate", f.name, fs.ErrInvalid)
	}
	f.node.resize(size)
	f.node.mtime = f.fs.tick()
	return nil
}

// resize cuts or grows the content; what is new reads as zeros, also where an earlier
// cut left old bytes in the array.
func (n *node) resize(size int64) {
	old := int64(len(n.live))
	if size <= old {
		n.live = n.live[:size]
		return
	}
	n.live = slices.Grow(n.live, int(size-old))[:size]
	clear(n.live[old:])
}

// Sync implements vfs.File.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.node.durable = slices.Clone(f.node.live)
	return nil
}

// Close implements io.Closer.
func (f *file) Close() error { return nil }

// info is a node's state at the time of a Stat.
type info struct {
	name  string
	size  int64
	mtime time.Time
	dir   bool
}

func (n *node) info(name string) info {
	return info{name: name, size: int64(len(n.live)), mtime: n.mtime, dir: n.dir}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
