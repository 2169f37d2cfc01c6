package store

import (
	"errors"

	"logdir/store/vfs"
)

// Log is one replica of a partition, open for writing. Whoever holds one holds the
// partition's lock (see Locks) during every call; between calls the lock may be let go,
// and Refresh catches up with what others wrote meanwhile.
//
// It is not safe for use by several goroutines at once.
type Log struct {
	fs     vfs.FS
	dir    string
	config Config
}

var errNotYet = errors.New("not yet")

// OpenLog opens the partition directory dir. It reads the tail of the last segment, not
// the whole: from its last index entry on. A damaged tail is an *Error of class Damage
// that wraps the *corrupt.Error; nothing is repaired.
func OpenLog(fs vfs.FS, dir string, c Config) (*Log, error) {
	return &Log{fs: fs, dir: dir, config: c.withDefaults()}, errNotYet
}

// Start is the log start offset: the first that may be read.
func (l *Log) Start() int64 { return 0 }

// End is the log end offset: the next to be written.
func (l *Log) End() int64 { return 0 }

// Size is the bytes of all segments together.
func (l *Log) Size() int64 { return 0 }

// Epoch is the last leader epoch that the log knows, -1 if none.
func (l *Log) Epoch() int32 { return -1 }

// Appended is what became of one batch.
type Appended struct {
	BaseOffset, LastOffset int64
	Records                int32
	// Duplicate says that the batch stood there before (an exact retry of an idempotent
	// producer): the offsets are the old ones, and nothing was written.
	Duplicate bool
}

// Append takes whole frames, one behind the other, as a leader does: it gives them
// offsets and leaderEpoch (in place: neither is under the checksum), checks producer
// sequences, and writes all of them with one call per segment.
//
// The result has one entry per frame. With an error it has the entries of the frames
// before the first that was refused; those are in the log.
func (l *Log) Append(frames []byte, leaderEpoch int32) ([]Appended, error) { return nil, errNotYet }

// AppendReplica takes whole frames as a follower does, with the offsets and epochs that
// they carry. The first must not begin before End.
func (l *Log) AppendReplica(frames []byte) error { return errNotYet }

// AssignEpoch notes that a leader of this epoch begins at the log end.
func (l *Log) AssignEpoch(epoch int32) error { return errNotYet }

// Roll closes the active segment and begins a new one at the log end. An empty active
// segment is left alone, and the result is false.
func (l *Log) Roll() (bool, error) { return false, errNotYet }

// Flush syncs everything that was appended. All offsets below the result survive a
// power cut: it is the recovery point.
func (l *Log) Flush() (recoveryPoint int64, err error) { return 0, errNotYet }

// Refresh looks, at the start of each hold of the partition's lock, whether somebody
// else wrote since the last, and opens the log again if so.
func (l *Log) Refresh() error { return errNotYet }

// Close lets go of the files. It syncs nothing; see Flush.
func (l *Log) Close() error { return nil }

// CloseClean leaves the partition as a broker leaves it at a clean stop: index files of
// exact size with the last time entry, a producer snapshot at the log end, all synced.
func (l *Log) CloseClean() error { return errNotYet }
