package vfs

import "golang.org/x/sys/unix"

// Open file description locks belong to the open handle, so that closing another
// handle on the same file does not drop them, and two handles of one process exclude
// each other. They conflict with the record locks that a JVM takes; flock(2) does not.
const (
	cmdSetLock = unix.F_OFD_SETLK
	cmdGetLock = unix.F_OFD_GETLK
)
