//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes directory entries durable. Some file systems refuse fsync on a
// directory with EINVAL because they have nothing to do.
func syncDir(d *os.File) error {
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func freeSpace(name string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(name, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", name, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func takeLock(f *os.File, exclusive bool) error {
	l := wholeFile(unix.F_RDLCK)
	if exclusive {
		l = wholeFile(unix.F_WRLCK)
	}
	err := unix.FcntlFlock(f.Fd(), cmdSetLock, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	return err
}

// testLock asks for a shared lock, which works on a read-only descriptor and is
// refused only while somebody holds an exclusive one.
func testLock(f *os.File) (bool, error) {
	l := wholeFile(unix.F_RDLCK)
	if err := unix.FcntlFlock(f.Fd(), cmdGetLock, &l); err != nil {
		return false, fmt.Errorf("test the lock of %s: %w", f.Name(), err)
	}
	return l.Type != unix.F_UNLCK, nil
}

// wholeFile is a lock from byte 0 without an end, as FileChannel.tryLock takes it.
func wholeFile(kind int16) unix.Flock_t {
	return unix.Flock_t{Type: kind, Whence: io.SeekStart}
}
