package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"logdir/store/vfs"
)

// BrokerLockFile is the file that a broker holds an exclusive record lock on while it
// owns a log directory. A file without a lock on it means nothing.
const BrokerLockFile = ".lock"

// Locks hands out the locks of a cluster, one file each in its locks folder. Whoever
// needs several takes them in this order, and never waits for anything else while
// holding one: transactional id, partition, DLQ partition, group, a log of the coordinator, metadata,
// checkpoints.
//
// They are record locks (see vfs.FS.Lock), so a killed process leaves none behind, and
// two goroutines of one process exclude each other like two processes.
type Locks struct {
	fs      vfs.FS
	dir     string
	timeout time.Duration

	mu     sync.Mutex
	queues map[string]chan struct{} // by file, full while one of us holds or awaits it
}

// NewLocks returns the locks whose files stand in dir. A lock that is not had within
// timeout is an error of class Busy; 0 means one try.
func NewLocks(fs vfs.FS, dir string, timeout time.Duration) *Locks {
	return &Locks{fs: fs, dir: dir, timeout: timeout, queues: map[string]chan struct{}{}}
}

// Partition locks all replicas of one partition for the length of one append.
func (l *Locks) Partition(ctx context.Context, tp TopicPartition) (io.Closer, error) {
	return l.take(ctx, PartitionLockName(tp), tp.String())
}

// PartitionLockName is the file that locks a partition: a reader asks whether it is held.
func PartitionLockName(tp TopicPartition) string { return lockFileName("partition." + tp.Dir()) }

// PartitionHeld tells whether somebody else holds the partition's lock just now.
func (l *Locks) PartitionHeld(tp TopicPartition) (bool, error) {
	return l.fs.Locked(filepath.Join(l.dir, PartitionLockName(tp)))
}

// DLQ locks the dead letter queue of one partition.
func (l *Locks) DLQ(ctx context.Context, tp TopicPartition) (io.Closer, error) {
	return l.take(ctx, dlqLockName(tp), "dead letter queue of "+tp.String())
}

// DLQHeld tells whether somebody else holds the lock of the queue just now.
func (l *Locks) DLQHeld(tp TopicPartition) (bool, error) {
	return l.fs.Locked(filepath.Join(l.dir, dlqLockName(tp)))
}

func dlqLockName(tp TopicPartition) string { return lockFileName("dlq." + tp.Dir()) }

// maxFileName is how long a file's name can be, in bytes, on every file system that matters.
const maxFileName = 255

// lockFileName is name, or where that is too long its beginning and a hash of the whole: a
// topic's name may be as long as a folder's, and leaves no room for a word before it.
func lockFileName(name string) string {
	if len(name) <= maxFileName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	tail := "." + hex.EncodeToString(sum[:16])
	return name[:maxFileName-len(tail)] + tail
}

// Transaction locks one transactional id.
func (l *Locks) Transaction(ctx context.Context, id string) (io.Closer, error) {
	return l.take(ctx, "transaction."+url.PathEscape(id), "transactional id "+id)
}

// Group locks one consumer group.
func (l *Locks) Group(ctx context.Context, group string) (io.Closer, error) {
	return l.take(ctx, "group."+url.PathEscape(group), "group "+group)
}

// Coordinator locks a log of the coordinator, which all groups share, for the length of one
// append. It is the lock of a partition, but nobody takes another one behind it than that of
// the folder's checkpoints.
func (l *Locks) Coordinator(ctx context.Context, tp TopicPartition) (io.Closer, error) {
	return l.Partition(ctx, tp)
}

// Metadata locks cluster.json.
func (l *Locks) Metadata(ctx context.Context) (io.Closer, error) {
	return l.take(ctx, "metadata", "the cluster's metadata")
}

// Checkpoints locks the checkpoint files of one broker.
func (l *Locks) Checkpoints(ctx context.Context, broker int32) (io.Closer, error) {
	id := strconv.Itoa(int(broker))
	return l.take(ctx, "broker."+id, "the checkpoints of broker "+id)
}

// Named locks something that has no method of its own: a name of letters and dots.
func (l *Locks) Named(ctx context.Context, name string) (io.Closer, error) {
	return l.take(ctx, name, name)
}

// take waits first in a queue of this Locks, then for other processes: record locks can
// only be polled, which a thousand goroutines should not do.
func (l *Locks) take(ctx context.Context, file, what string) (io.Closer, error) {
	file = lockFileName(file)
	deadline := time.Now().Add(l.timeout)
	queue := l.queue(file)
	err := l.await(ctx, queue)
	if err == nil {
		var held io.Closer
		held, err = l.lockFile(ctx, file, max(0, time.Until(deadline)))
		if err == nil {
			return &heldLock{file: held, queue: queue}, nil
		}
		<-queue
	}
	if errors.Is(err, vfs.ErrLocked) {
		return nil, Errorf(Busy, "", "%s: %w (waited %s)", what, err, l.timeout).
			WithHint("try again, or wait longer with --lock-timeout")
	}
	return nil, err
}

// lockFile takes the lock of a file, and makes the folder if somebody tidied it away.
func (l *Locks) lockFile(ctx context.Context, file string, timeout time.Duration) (io.Closer, error) {
	name := filepath.Join(l.dir, file)
	held, err := vfs.LockWait(ctx, l.fs, name, true, timeout)
	if !isNotExist(err) {
		return held, err
	}
	if err := l.fs.MkdirAll(l.dir); err != nil {
		return nil, err
	}
	return vfs.LockWait(ctx, l.fs, name, true, timeout)
}

func (l *Locks) queue(file string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queues[file] == nil {
		l.queues[file] = make(chan struct{}, 1)
	}
	return l.queues[file]
}

// await enters the queue, at once or within the timeout.
func (l *Locks) await(ctx context.Context, queue chan struct{}) error {
	select {
	case queue <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	select {
	case queue <- struct{}{}:
		return nil
	case <-timer.C:
		return vfs.ErrLocked
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heldLock is a lock that is held. Letting go wakes the next in the queue.
type heldLock struct {
	file  io.Closer
	queue chan struct{}
}

// Close lets go. A second call does nothing.
func (h *heldLock) Close() error {
	if h.queue == nil {
		return nil
	}
	err := h.file.Close()
	<-h.queue
	h.queue = nil
	return err
}

// LockBroker takes the lock of a log directory as a broker would, shared where several
// commands may write at once (a cluster of ours), exclusive on a bare log directory.
// While it is held no broker can start there; if one runs, the error is of class Busy.
func LockBroker(ctx context.Context, fs vfs.FS, logDir string, exclusive bool, timeout time.Duration) (io.Closer, error) {
	held, err := vfs.LockWait(ctx, fs, filepath.Join(logDir, BrokerLockFile), exclusive, timeout)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, Errorf(Busy, "", "%s: %w: a broker runs on it, or another command writes", logDir, err).
			WithHint("stop the broker first")
	}
	return held, err
}

// BrokerRuns tells, without taking a lock, whether a broker or a writing command has
// the log directory to itself.
func BrokerRuns(fs vfs.ReadFS, logDir string) (bool, error) {
	return fs.Locked(filepath.Join(logDir, BrokerLockFile))
}
