package vfs

import (
	"context"
	"errors"
	"io"
	"time"
)

// Polling a lock starts this often and slows down to the other: a lock is held for
// one append, and the kernel has no queue with a deadline for record locks.
const (
	lockPollFirst = 200 * time.Microsecond
	lockPollLast  = 10 * time.Millisecond
)

// LockWait takes a lock on the file name, waiting up to timeout for another process
// to let go. A timeout of 0 is one try. ErrLocked says the time is over.
func LockWait(ctx context.Context, fsys FS, name string, exclusive bool, timeout time.Duration) (io.Closer, error) {
	deadline := time.Now().Add(timeout)
	for pause := lockPollFirst; ; pause = min(2*pause, lockPollLast) {
		l, err := fsys.Lock(name, exclusive)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(pause, left)):
		}
	}
}
