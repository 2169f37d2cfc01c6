package cluster

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/record"
	"logdir/store/vfs"
)

// SideLog is a log that belongs to no broker: an internal topic of the coordinator, or the
// queue of dead letters of one partition. It stands in a folder beside the brokers that is
// a log dir of its own, and is made when it is first written.
type SideLog struct {
	cluster *Cluster
	folder  string
	tp      store.TopicPartition
}

// CoordinatorLog is a partition of an internal topic, in coordinator/.
func (c *Cluster) CoordinatorLog(tp store.TopicPartition) *SideLog {
	return &SideLog{cluster: c, folder: filepath.Join(c.path, CoordinatorDir), tp: tp}
}

// DeadLetterLog is the queue of one partition, in dlq/.
func (c *Cluster) DeadLetterLog(tp store.TopicPartition) *SideLog {
	return &SideLog{cluster: c, folder: filepath.Join(c.path, DLQDir), tp: tp}
}

// Folder is the log dir, Dir the partition directory in it.
func (s *SideLog) Folder() string { return s.folder }

// Dir is the partition directory.
func (s *SideLog) Dir() string { return filepath.Join(s.folder, s.tp.Dir()) }

// TopicPartition is what the log is called.
func (s *SideLog) TopicPartition() store.TopicPartition { return s.tp }

func (s *SideLog) isQueue() bool { return filepath.Base(s.folder) == DLQDir }

// Lock locks the log for one append.
func (s *SideLog) Lock(ctx context.Context) (io.Closer, error) {
	if s.isQueue() {
		return s.cluster.locks.DLQ(ctx, s.tp)
	}
	return s.cluster.locks.Coordinator(ctx, s.tp)
}

func (s *SideLog) held() bool {
	test := s.cluster.locks.PartitionHeld
	if s.isQueue() {
		test = s.cluster.locks.DLQHeld
	}
	held, err := test(s.tp)
	return err == nil && held
}

const (
	// segmentBytes is the size at which side logs roll: Kafka's offsets.topic.segment.bytes.
	segmentBytes = 100 << 20
	// DefaultCoordinatorBytes is how large the active segment of a log of the coordinator
	// becomes before it is compacted. Every command replays the log from its start, so it is
	// a fraction of segmentBytes, and still the history of some ten thousand commits.
	DefaultCoordinatorBytes = 2 << 20
)

// Open opens the log for writing and makes it if need be. The caller holds the lock.
func (s *SideLog) Open(ctx context.Context) (*store.Log, error) {
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	if err := s.cluster.hold(ctx, s.folder); err != nil {
		return nil, err
	}
	start, err := s.start()
	if err != nil {
		return nil, err
	}
	cleaned, err := s.Cleaned()
	if err != nil {
		return nil, err
	}
	o := s.cluster.o
	log, err := store.OpenLog(s.cluster.fs, s.Dir(), store.Config{
		TopicPartition: s.tp, DataDir: s.folder,
		Name:     filepath.Join(filepath.Base(s.folder), s.tp.Dir()),
		LogStart: start, RecoveryPoint: cleaned, Fsync: o.Fsync, Now: o.Now,
		SegmentBytes: segmentBytes, SegmentMs: math.MaxInt64, MaxMessageBytes: math.MaxInt32,
	})
	if err != nil {
		return nil, err
	}
	if log.End() == 0 {
		err = s.syncNames()
	}
	return log, err
}

// create makes the folders and files of the log. What an interrupted creation left is
// taken over, and what an interrupted removal left is dropped.
func (s *SideLog) create(ctx context.Context) error {
	fsys := s.cluster.fs
	there, err := vfs.Exists(fsys, filepath.Join(s.Dir(), checkpoint.PartitionMetadataFile))
	if there || err != nil {
		return err
	}
	if err := fsys.MkdirAll(s.folder); err != nil {
		return err
	}
	if err := s.dropLines(ctx); err != nil {
		return err
	}
	return store.CreatePartition(fsys, s.Dir(), s.topicID(), record.V2)
}

// topicID is that of the topic whose dead letters these are, or a new one.
func (s *SideLog) topicID() checkpoint.UUID {
	if t, err := s.cluster.Meta().Topic(s.tp.Topic); err == nil {
		if id, err := checkpoint.ParseUUID(t.ID); err == nil {
			return id
		}
	}
	return checkpoint.RandomUUID()
}

// syncNames makes the names on the way to the log durable. It is done until the log has
// its first batch: then a crash in between does no harm.
func (s *SideLog) syncNames() error {
	for _, dir := range []string{s.Dir(), s.folder, s.cluster.path} {
		if err := s.cluster.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Reader opens the log for reading; nil if it is not there yet.
func (s *SideLog) Reader() (*store.LogReader, error) {
	there, err := vfs.Exists(s.cluster.fs, s.Dir())
	if !there || err != nil {
		return nil, err
	}
	start, err := s.start()
	if err != nil {
		return nil, err
	}
	return store.OpenReader(s.cluster.fs, s.Dir(), store.ReaderOptions{LogStart: start, Writing: s.held})
}

// start is the checkpointed log start offset.
func (s *SideLog) start() (int64, error) { return s.checkpointed(checkpoint.LogStartFile) }

// SetStart moves the log start offset, as delete-records does.
func (s *SideLog) SetStart(ctx context.Context, offset int64) error {
	return s.edit(ctx, checkpoint.LogStartFile, s.set(offset))
}

// Cleaned is the offset up to which the log was compacted, and all that is left of it
// synced; 0 if it never was.
func (s *SideLog) Cleaned() (int64, error) { return s.checkpointed(checkpoint.CleanerFile) }

// SetCleaned notes how far a compaction came.
func (s *SideLog) SetCleaned(ctx context.Context, offset int64) error {
	return s.edit(ctx, checkpoint.CleanerFile, s.set(offset))
}

// Remove deletes the log. The caller holds the lock.
func (s *SideLog) Remove(ctx context.Context) error {
	fsys := s.cluster.fs
	doomed := filepath.Join(s.folder, doomedName(s.tp, checkpoint.RandomUUID()))
	if err := fsys.Rename(s.Dir(), doomed); err != nil {
		return err
	}
	if err := errors.Join(fsys.SyncDir(s.folder), s.dropLines(ctx), vfs.RemoveAll(fsys, doomed)); err != nil {
		return err
	}
	return fsys.SyncDir(s.folder)
}

// dropLines forgets what earlier logs of the same name had come to.
func (s *SideLog) dropLines(ctx context.Context) error {
	drop := func(lines *checkpoint.Offsets) bool { return lines.Delete(s.tp.Topic, s.tp.Partition) }
	return errors.Join(s.edit(ctx, checkpoint.LogStartFile, drop), s.edit(ctx, checkpoint.CleanerFile, drop))
}

// checkpointed is the log's line in a checkpoint file of the folder, 0 if it has none.
func (s *SideLog) checkpointed(file string) (int64, error) {
	lines, err := checkpoint.ReadOffsets(s.cluster.fs, filepath.Join(s.folder, file))
	if err != nil {
		return 0, err
	}
	offset, _ := lines.Get(s.tp.Topic, s.tp.Partition)
	return offset, nil
}

// set sets the log's line.
func (s *SideLog) set(offset int64) func(*checkpoint.Offsets) bool {
	return func(lines *checkpoint.Offsets) bool {
		lines.Set(s.tp.Topic, s.tp.Partition, offset)
		return true
	}
}

// edit changes a checkpoint file of the folder under its lock.
func (s *SideLog) edit(ctx context.Context, file string, edit func(*checkpoint.Offsets) (changed bool)) (err error) {
	lock, err := s.cluster.locks.Named(ctx, "checkpoints."+filepath.Base(s.folder))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	name := filepath.Join(s.folder, file)
	lines, err := checkpoint.ReadOffsets(s.cluster.fs, name)
	if err != nil {
		return err
	}
	if !edit(&lines) {
		return nil
	}
	lines.Sort()
	return checkpoint.WriteOffsets(s.cluster.fs, name, lines)
}

// Follow gives every batch from the offset next on to take, and returns the offset behind the
// last. A log that is not there yet has none; at damage it stops with an error.
func (s *SideLog) Follow(next int64, take func(*record.Batch)) (_ int64, err error) {
	log, err := s.Reader()
	if log == nil || err != nil {
		return next, err
	}
	cursor := log.From(next)
	defer func() { err = errors.Join(err, cursor.Close()) }()
	for cursor.Next() {
		if d := cursor.Damage(); d != nil {
			return next, store.DamageFound(d, s.TopicPartition()).
				WithHint("logdir recover --dry-run -d %s %s", s.Folder(), s.TopicPartition())
		}
		take(cursor.Batch())
		next = cursor.Batch().NextOffset()
	}
	return next, cursor.Err()
}
