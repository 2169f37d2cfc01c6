package memfs

import (
	"io"
	"path/filepath"
	"sync"

	"logdir/store/vfs"
)

// lockState counts the handles that hold a file's lock.
type lockState struct {
	shared    int
	exclusive bool
}

// Lock implements vfs.FS: handles exclude each other as open file description locks do.
func (m *FS) Lock(name string, exclusive bool) (io.Closer, error) {
	f, err := m.create(name, false)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := filepath.Clean(name)
	held := m.locks[key]
	if held == nil {
		held = &lockState{}
		m.locks[key] = held
	}
	if held.exclusive || exclusive && held.shared > 0 {
		return nil, vfs.ErrLocked
	}
	if exclusive {
		held.exclusive = true
	} else {
		held.shared++
	}
	return &lock{fs: m, held: held, exclusive: exclusive}, nil
}

// Locked implements vfs.ReadFS.
func (m *FS) Locked(name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.locks[filepath.Clean(name)]
	return held != nil && held.exclusive, nil
}

type lock struct {
	fs        *FS
	held      *lockState
	exclusive bool
	once      sync.Once
}

func (l *lock) Close() error {
	l.once.Do(func() {
		l.fs.mu.Lock()
		defer l.fs.mu.Unlock()
		if l.exclusive {
			l.held.exclusive = false
		} else {
			l.held.shared--
		}
	})
	return nil
}
