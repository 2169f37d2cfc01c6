package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Log is one replica of a partition, open for writing. Whoever holds one holds the
// partition's lock (see Locks) during every call; between calls the lock may be let go,
// and Refresh catches up with what others wrote meanwhile.
//
// It is not safe for use by several goroutines at once. After an error of a writing
// method the files are as they were before, as far as that can be done, and the next
// call opens them again.
type Log struct {
	fs     vfs.FS
	dir    string
	config Config

	bases     []int64           // of the segments, ascending, never empty once open
	leftovers bool              // of a compaction stood there when the log was opened
	active    *segment.Appender // of the last of them; nil after an error and once closed
	end, size int64             // log end and bytes of the active segment when it was let go
	seen      fs.FileInfo       // of its log, when this Log last looked or wrote
	epochs    checkpoint.Epochs
	producers *producer.State // nil until somebody needs it

	staleEpochs bool  // the file has epochs that begin beyond the end
	replayed    int64 // bytes that were read to bring producers up to the log end
	dead        error // why nothing is done any more: a failpoint fired, or a sync failed
	crashed     bool  // a failpoint fired: nothing may be tidied up
}

// OpenLog opens the partition directory dir. It reads the tail of the last segment, not
// the whole: from its last index entry on. A damaged tail is an *Error of class Damage
// that wraps the *corrupt.Error; nothing is repaired.
func OpenLog(fs vfs.FS, dir string, c Config) (*Log, error) {
	l := &Log{fs: fs, dir: dir, config: c.withDefaults()}
	if l.config.Topic == "" {
		l.config.TopicPartition = PathRef(dir, dir, "").TopicPartition
	}
	return l, l.open()
}

// open reads everything about the log that is kept in memory.
func (l *Log) open() error {
	list, err := segment.List(l.fs, l.dir)
	if err != nil {
		return err
	}
	l.leftovers = len(list.Leftovers) > 0
	l.bases = basesOf(list, l.bases[:0])
	if len(l.bases) == 0 {
		l.bases = append(l.bases, l.config.LogStart)
	}
	if l.epochs, err = checkpoint.ReadEpochs(l.fs, l.path(checkpoint.EpochFile)); err != nil {
		return l.damaged(err)
	}
	l.producers, l.replayed = nil, 0
	if err := l.openActive(); err != nil {
		return err
	}
	// A crash inside a truncation may leave epochs that begin beyond the end.
	l.staleEpochs = l.epochs.TruncateFromEnd(l.End() + 1)
	return nil
}

// openActive opens the last segment.
func (l *Log) openActive() error {
	base := l.bases[len(l.bases)-1]
	active, err := segment.OpenAppender(l.fs, l.dir, base, segment.AppenderOptions{
		Interval: l.config.IndexInterval,
		MKB1:     l.config.Format == record.MKB1,
		LogEnd:   base,
		MidWrite: l.midWrite(),
	})
	if err != nil {
		return l.damaged(err)
	}
	l.active = active
	return l.look()
}

// midWrite is set only while its failpoint is armed, since it splits each write in two.
func (l *Log) midWrite() func() error {
	if !l.config.Fail.Armed(FailMidWrite) {
		return nil
	}
	return func() error { return l.failpoint(FailMidWrite) }
}

// failpoint dies at name if that is armed. Where the process lives on nonetheless, the
// log is dead: it must not tidy up what a crash would leave.
func (l *Log) failpoint(name string) error {
	err := l.config.Fail.Failpoint(name)
	if err != nil {
		l.dead, l.crashed = err, true
	}
	return err
}

// damaged turns damage into an answer with the next command; other errors pass.
func (l *Log) damaged(err error) error {
	bad, ok := errors.AsType[*corrupt.Error](err)
	if !ok {
		return err
	}
	if l.config.Name != "" && filepath.Dir(bad.Path) == filepath.Clean(l.dir) {
		bad.Path = filepath.Join(l.config.Name, filepath.Base(bad.Path))
	}
	e := DamageFound(bad, l.config.TopicPartition)
	if l.config.DataDir != "" && l.config.DataDir != "." {
		return e.WithHint("logdir recover --dry-run -d %s %s", l.config.DataDir, l.config.TopicPartition)
	}
	return e
}

// DamageFound is the refusal to write behind damage in a partition.
func DamageFound(bad *corrupt.Error, tp TopicPartition) *Error {
	e := Errorf(Damage, bad.Kind.KafkaName(), "damage found: %w", bad)
	e.Msg = strings.TrimSuffix(e.Msg, " ("+e.Name+")")
	return e.WithHint("logdir recover --dry-run %s", tp)
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

func (l *Log) activeName(suffix string) string {
	return l.path(segment.FileName(l.active.Base(), suffix))
}

// look notes how the active log stands, for Refresh.
func (l *Log) look() (err error) {
	l.seen, err = l.active.Stat()
	return err
}

// Dir is the partition directory.
func (l *Log) Dir() string { return l.dir }

// Config is how the log is written, defaults filled in.
func (l *Log) Config() Config { return l.config }

// Start is the log start offset: the first that may be read.
func (l *Log) Start() int64 { return max(l.config.LogStart, l.bases[0]) }

// FirstBase is the base offset of the first segment.
func (l *Log) FirstBase() int64 { return l.bases[0] }

// End is the log end offset: the next to be written. After an error it is the last one
// known.
func (l *Log) End() int64 {
	if l.active == nil {
		return l.end
	}
	return l.active.NextOffset()
}

// Epoch is the last leader epoch that the log knows, -1 if none.
func (l *Log) Epoch() int32 {
	last, _ := l.epochs.Latest()
	return last.Epoch
}

// Epochs is the history of leader epochs. It is shared: look, do not change.
func (l *Log) Epochs() checkpoint.Epochs { return l.epochs }

// ActiveSize is the bytes of the active segment.
func (l *Log) ActiveSize() int64 {
	if l.active == nil {
		return l.size
	}
	return l.active.Size()
}

// Size is the bytes of all segments together.
func (l *Log) Size() (int64, error) {
	total := l.ActiveSize()
	for _, base := range l.bases[:len(l.bases)-1] {
		size, err := vfs.Size(l.fs, l.path(segment.FileName(base, segment.LogSuffix)))
		if isNotExist(err) { // joined to the one before by a compaction, or deleted
			continue
		}
		if err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}

// Refresh looks, at the start of each hold of the partition's lock, whether somebody
// else wrote since the last, and opens the log again if so.
func (l *Log) Refresh() error {
	if l.dead != nil {
		return l.dead
	}
	if l.active == nil {
		return l.open()
	}
	same, err := l.undisturbed()
	if err != nil || same {
		return err
	}
	if err := l.let(); err != nil {
		return err
	}
	return l.open()
}

// undisturbed tells that the active segment is as this Log left it and still the last.
// Another writer that rolls it, rolls at our log end unless it appended before.
func (l *Log) undisturbed() (bool, error) {
	now, err := l.fs.Stat(l.activeName(segment.LogSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if now.Size() != l.seen.Size() || !now.ModTime().Equal(l.seen.ModTime()) {
		return false, nil
	}
	if l.active.Size() == 0 {
		return true, nil
	}
	rolled, err := vfs.Exists(l.fs, l.path(segment.FileName(l.End(), segment.LogSuffix)))
	return !rolled, err
}

// ready makes sure that the log is open and alive.
func (l *Log) ready() error {
	if l.dead != nil {
		return l.dead
	}
	if l.active != nil {
		return nil
	}
	return l.open()
}

// let closes the active segment, which the next call opens again.
func (l *Log) let() error {
	active := l.active
	if active == nil {
		return nil
	}
	l.end, l.size, l.active = active.NextOffset(), active.Size(), nil
	if l.crashed {
		return nil
	}
	return active.Close()
}

// fail lets go of everything after an error: what is in memory may no longer be true.
func (l *Log) fail(err error) error {
	l.producers = nil
	return errors.Join(l.damaged(err), l.let())
}
