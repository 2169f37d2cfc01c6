//go:build unix && !linux

package vfs

import "golang.org/x/sys/unix"

// Record locks of the process: two handles of one process do not exclude each other.
const (
	cmdSetLock = unix.F_SETLK
	cmdGetLock = unix.F_GETLK
)
