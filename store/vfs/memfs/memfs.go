// Package memfs is a file system in memory that remembers what would survive a power
// cut. Bytes survive once their file was synced, names once their directory was:
//
//	        write, truncate            create, rename, remove, mkdir
//	             |                                |
//	live bytes --+-- Sync --> durable     live names --+-- SyncDir --> durable
//	             |                                |
//	             +------- CrashClone -------------+
//	                durable + some of the rest
//
// CrashClone gives the file system as the next boot would find it: what is durable,
// and of what is not, none, all, or a seeded random part. Bytes are lost or kept by
// blocks, names by whole operations (a rename is never half done, as in a journaling
// file system), each independently of the others.
package memfs

import (
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"logdir/store/vfs"
)

// node is a file or a directory. Open handles keep it alive without a name.
type node struct {
	dir     bool
	mtime   time.Time
	live    []byte // file content as readers see it
	durable []byte // file content at the last Sync

	children map[string]*node // directory: names as readers see them
	kept     map[string]*node // directory: names at the last SyncDir
}

// nameOp is a change of names that is not yet durable.
type nameOp struct {
	from, to *node // directories; from is nil but for a rename or a removal
	oldName  string
	newName  string
	child    *node
}

// FS is the file system. The zero value is not usable; see New.
type FS struct {
	mu      sync.Mutex
	root    *node
	pending []nameOp
	locks   map[string]*lockState
	clock   time.Time
	free    int64
}

var _ vfs.FS = (*FS)(nil)

// clockStep parts the modification times of two operations.
const clockStep = time.Millisecond

// New returns an empty file system, whose clock starts on 2026-01-01 and moves by a
// millisecond with each change.
func New() *FS {
	m := &FS{
		locks: map[string]*lockState{},
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		free:  math.MaxInt64,
	}
	m.root = m.newDir()
	return m
}

// SetFree sets what FreeSpace answers, in bytes. Writing is not held to it.
func (m *FS) SetFree(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free = bytes
}

// Clock is the time of the latest change.
func (m *FS) Clock() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

func (m *FS) newDir() *node {
	return &node{dir: true, mtime: m.tick(), children: map[string]*node{}, kept: map[string]*node{}}
}

func (m *FS) tick() time.Time {
	m.clock = m.clock.Add(clockStep)
	return m.clock
}

// split cuts a name into path elements; "." and "/" are the root.
func split(name string) []string {
	var parts []string
	for p := filepath.ToSlash(filepath.Clean(name)); p != "." && p != "/"; p = filepath.ToSlash(filepath.Dir(p)) {
		parts = append(parts, filepath.Base(p))
	}
	slices.Reverse(parts)
	return parts
}

func (m *FS) lookup(name string) (*node, error) {
	n := m.root
	for _, part := range split(name) {
		if !n.dir {
			return nil, fs.ErrNotExist
		}
		child, ok := n.children[part]
		if !ok {
			return nil, fs.ErrNotExist
		}
		n = child
	}
	return n, nil
}

// parent returns the directory that holds name, and the last element of name.
func (m *FS) parent(name string) (*node, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", fs.ErrInvalid
	}
	dir, err := m.lookup(filepath.Dir(filepath.Clean(name)))
	if err != nil {
		return nil, "", err
	}
	if !dir.dir {
		return nil, "", fs.ErrNotExist
	}
	return dir, parts[len(parts)-1], nil
}

func fail(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// Open implements vfs.ReadFS.
func (m *FS) Open(name string) (vfs.ReadFile, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenRW implements vfs.FS.
func (m *FS) OpenRW(name string) (vfs.File, error) {
	f, err := m.open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (m *FS) open(name string) (*file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err != nil {
		return nil, fail("open", name, err)
	}
	return &file{fs: m, node: n, name: name}, nil
}

// OpenCreate implements vfs.FS.
func (m *FS) OpenCreate(name string) (vfs.File, error) { return m.create(name, false) }

// Create implements vfs.FS.
func (m *FS) Create(name string) (vfs.File, error) { return m.create(name, true) }

func (m *FS) create(name string, mustBeNew bool) (vfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent(name)
	if err != nil {
		return nil, fail("create", name, err)
	}
	n, there := dir.children[base]
	switch {
	case there && (mustBeNew || n.dir):
		return nil, fail("create", name, fs.ErrExist)
	case !there:
		n = &node{mtime: m.tick()}
		m.change(nameOp{to: dir, newName: base, child: n})
	}
	return &file{fs: m, node: n, name: name}, nil
}

// change applies a name operation to what readers see and remembers it as not durable.
func (m *FS) change(op nameOp) {
	op.apply(func(d *node) map[string]*node { return d.children })
	m.pending = append(m.pending, op)
	for _, d := range []*node{op.from, op.to} {
		if d != nil {
			d.mtime = m.tick()
		}
	}
}

func (o nameOp) apply(names func(*node) map[string]*node) {
	if o.from != nil {
		delete(names(o.from), o.oldName)
	}
	if o.to != nil {
		names(o.to)[o.newName] = o.child
	}
}

// Mkdir implements vfs.FS.
func (m *FS) Mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent(name)
	if err != nil {
		return fail("mkdir", name, err)
	}
	if _, there := dir.children[base]; there {
		return fail("mkdir", name, fs.ErrExist)
	}
	m.change(nameOp{to: dir, newName: base, child: m.newDir()})
	return nil
}

// MkdirAll implements vfs.FS.
func (m *FS) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := m.root
	for _, part := range split(name) {
		child, there := dir.children[part]
		if !there {
			child = m.newDir()
			m.change(nameOp{to: dir, newName: part, child: child})
		}
		if !child.dir {
			return fail("mkdir", name, fs.ErrExist)
		}
		dir = child
	}
	return nil
}

// Rename implements vfs.FS.
func (m *FS) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, oldBase, err := m.parent(oldname)
	if err != nil {
		return fail("rename", oldname, err)
	}
	child, there := from.children[oldBase]
	if !there {
		return fail("rename", oldname, fs.ErrNotExist)
	}
	to, newBase, err := m.parent(newname)
	if err != nil {
		return fail("rename", newname, err)
	}
	if over, there := to.children[newBase]; there && (over.dir || child.dir) {
		return fail("rename", newname, fs.ErrExist)
	}
	if from == to && oldBase == newBase {
		return nil
	}
	m.change(nameOp{from: from, oldName: oldBase, to: to, newName: newBase, child: child})
	return nil
}

// Remove implements vfs.FS.
func (m *FS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parent(name)
	if err != nil {
		return fail("remove", name, err)
	}
	child, there := dir.children[base]
	if !there {
		return fail("remove", name, fs.ErrNotExist)
	}
	if len(child.children) > 0 {
		return fail("remove", name, fmt.Errorf("directory not empty"))
	}
	m.change(nameOp{from: dir, oldName: base})
	return nil
}

// SyncDir implements vfs.FS. A rename between two directories is durable once either
// of them is synced.
func (m *FS) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, err := m.lookup(name)
	if err != nil {
		return fail("sync", name, err)
	}
	m.pending = slices.DeleteFunc(m.pending, func(op nameOp) bool {
		if op.from != dir && op.to != dir {
			return false
		}
		op.apply(func(d *node) map[string]*node { return d.kept })
		return true
	})
	return nil
}

// Chtimes implements vfs.FS.
func (m *FS) Chtimes(name string, mtime time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err != nil {
		return fail("chtimes", name, err)
	}
	n.mtime = mtime
	return nil
}

// FreeSpace implements vfs.FS.
func (m *FS) FreeSpace(string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free, nil
}

// Stat implements vfs.ReadFS.
func (m *FS) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err != nil {
		return nil, fail("stat", name, err)
	}
	return n.info(filepath.Base(name)), nil
}

// ReadDir implements vfs.ReadFS.
func (m *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err != nil {
		return nil, fail("open", name, err)
	}
	if !n.dir {
		return nil, fail("readdir", name, fmt.Errorf("not a directory"))
	}
	entries := make([]fs.DirEntry, 0, len(n.children))
	for base, child := range n.children {
		entries = append(entries, fs.FileInfoToDirEntry(child.info(base)))
	}
	slices.SortFunc(entries, byName)
	return entries, nil
}

func byName(a, b fs.DirEntry) int {
	if a.Name() < b.Name() {
		return -1
	}
	return 1
}
