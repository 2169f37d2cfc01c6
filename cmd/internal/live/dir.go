package live

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
)

// importKey in meta.properties tells a directory that an import made from a broker's own:
// only into the former may another import go on. Brokers ignore it.
const importKey = "logdir.import"

// FromFile stands for the cluster's id in a directory that was imported from a file.
const FromFile = "file"

// DirOptions say how the log directory of an import is made.
type DirOptions struct {
	// Source is the id of the cluster that is imported from, or FromFile.
	Source string
	// SegmentBytes is Kafka's segment.bytes; 0 means its default.
	SegmentBytes int64
	// LockTimeout is how long to wait for another import into the same directory.
	LockTimeout time.Duration
	Now         func() time.Time
}

// Dir is the log directory that an import fills: a new one, or one that an import left
// unfinished. Each of its partitions is for one goroutine at a time.
type Dir struct {
	fs   vfs.FS
	path string
	o    DirOptions
	lock io.Closer

	mu                    sync.Mutex         // for what follows
	points, marks, starts checkpoint.Offsets // the checkpoints, as they will be
	ids                   map[string]checkpoint.UUID
}

// OpenDir makes the directory, or finds one that an import from the same source left.
func OpenDir(ctx context.Context, fsys vfs.FS, path string, o DirOptions) (*Dir, error) {
	d := &Dir{fs: fsys, path: path, o: o, ids: map[string]checkpoint.UUID{}}
	if err := d.claim(); err != nil {
		return nil, err
	}
	var err error
	if d.lock, err = store.LockBroker(ctx, fsys, path, true, o.LockTimeout); err != nil {
		return nil, err
	}
	for name, lines := range d.checkpoints() {
		if *lines, err = checkpoint.ReadOffsets(fsys, d.join(name)); err != nil {
			return nil, errors.Join(err, d.lock.Close())
		}
	}
	return d, nil
}

func (d *Dir) join(name string) string { return filepath.Join(d.path, name) }

func (d *Dir) checkpoints() map[string]*checkpoint.Offsets {
	return map[string]*checkpoint.Offsets{
		checkpoint.RecoveryPointFile: &d.points,
		checkpoint.HighWatermarkFile: &d.marks,
		checkpoint.LogStartFile:      &d.starts,
	}
}

// claim writes meta.properties into an empty directory, or finds that an import did.
func (d *Dir) claim() error {
	meta, err := checkpoint.ReadMetaProperties(d.fs, d.join(checkpoint.MetaPropertiesFile))
	if err == nil {
		return d.recognise(meta)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.fs.MkdirAll(d.path); err != nil {
		return err
	}
	names, err := d.fs.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range names {
		switch e.Name() {
		case store.BrokerLockFile, checkpoint.MetaPropertiesFile + checkpoint.TempSuffix: // an import got no further
		default:
			return d.refuse("it holds %s", e.Name())
		}
	}
	return checkpoint.WriteMetaProperties(d.fs, d.join(checkpoint.MetaPropertiesFile), d.newMeta(), d.o.Now())
}

func (d *Dir) newMeta() checkpoint.MetaProperties {
	m := checkpoint.MetaProperties{Version: 1, ClusterID: d.o.Source}
	if d.o.Source == FromFile {
		m.ClusterID = checkpoint.RandomUUID().String()
	}
	m.Properties.Set(importKey, d.o.Source)
	return m
}

func (d *Dir) recognise(meta checkpoint.MetaProperties) error {
	source, ours := meta.Properties.Get(importKey)
	switch {
	case !ours:
		return d.refuse("a broker owns it")
	case source != d.o.Source:
		return store.Errorf(store.Refused, "INCONSISTENT_CLUSTER_ID", "%s was imported from %s, not from %s", d.path, source, d.o.Source).
			WithHint("name a directory that is not there")
	}
	return nil
}

func (d *Dir) refuse(format string, args ...any) error {
	e := store.Errorf(store.Refused, "", format, args...)
	e.Msg = d.path + " is not what an import left: " + e.Msg
	return e.WithHint("name a directory that is not there")
}

// Close writes the checkpoints of what is finished.
func (d *Dir) Close() error {
	var errs []error
	for name, lines := range d.checkpoints() {
		lines.Sort()
		errs = append(errs, checkpoint.WriteOffsets(d.fs, d.join(name), *lines))
	}
	errs = append(errs, d.fs.SyncDir(d.path), d.lock.Close())
	return errors.Join(errs...)
}

// Partition is one partition that is being filled.
type Partition struct {
	store.TopicPartition
	dir *Dir
	log *store.Log
	// Batches and Bytes count what was appended.
	Batches, Bytes int64
	fresh          bool // nothing was there when it was opened
}

// Open opens a partition where an earlier import left it, or makes it. Of a topic whose id
// is not known, as in a file, the zero UUID makes one up.
func (d *Dir) Open(tp store.TopicPartition, id checkpoint.UUID) (*Partition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := d.join(tp.Dir())
	if err := d.makeDir(path, tp.Topic, id); err != nil {
		return nil, err
	}
	c := store.Config{
		TopicPartition: tp, SegmentBytes: d.o.SegmentBytes, SegmentMs: math.MaxInt64,
		MaxMessageBytes: math.MaxInt32, Now: d.o.Now, DataDir: d.path,
	}
	c.LogStart, _ = d.starts.Get(tp.Topic, tp.Partition)
	c.RecoveryPoint, _ = d.points.Get(tp.Topic, tp.Partition)
	log, err := store.OpenLog(d.fs, path, c)
	if bad, torn := errors.AsType[*corrupt.Error](err); torn {
		if err = d.cutTail(bad); err == nil {
			log, err = store.OpenLog(d.fs, path, c)
		}
	}
	if err != nil {
		return nil, err
	}
	p := &Partition{TopicPartition: tp, dir: d, log: log}
	p.fresh = p.Empty()
	return p, nil
}

// makeDir makes a partition's directory, or compares the topic's id: a topic that was
// deleted and made again has other records at the same offsets.
func (d *Dir) makeDir(path, topic string, id checkpoint.UUID) error {
	meta, err := checkpoint.ReadPartitionMetadata(d.fs, filepath.Join(path, checkpoint.PartitionMetadataFile))
	switch {
	case err == nil && id != checkpoint.ZeroUUID && meta.TopicID != id:
		return store.Errorf(store.Refused, "INCONSISTENT_TOPIC_ID", "topic %s has id %s now, the import has %s: it was made anew", topic, id, meta.TopicID).
			WithHint("import into another directory")
	case err == nil:
		d.ids[topic] = meta.TopicID
		return nil
	case !errors.Is(err, fs.ErrNotExist) && !isDamage(err):
		return err
	}
	// There is no such directory, or a killed import was about to make it.
	if id == checkpoint.ZeroUUID {
		id = d.inventID(topic)
	}
	if err := store.CreatePartition(d.fs, path, id, record.V2); err != nil {
		return err
	}
	return d.fs.SyncDir(d.path)
}

func isDamage(err error) bool {
	_, bad := errors.AsType[*corrupt.Error](err)
	return bad
}

// inventID gives all partitions of a topic the same id.
func (d *Dir) inventID(topic string) checkpoint.UUID {
	if _, ok := d.ids[topic]; !ok {
		d.ids[topic] = checkpoint.RandomUUID()
	}
	return d.ids[topic]
}

// cutTail takes away what a killed import wrote of a last append, or an index that leads
// nowhere. The source still has it.
func (d *Dir) cutTail(bad *corrupt.Error) error {
	if bad.Kind == corrupt.BadIndex {
		return d.fs.Remove(bad.Path)
	}
	f, err := d.fs.OpenRW(bad.Path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(bad.Pos), f.Sync(), f.Close())
}

// End is the log end offset: where to go on.
func (p *Partition) End() int64 { return p.log.End() }

// Start is the log start offset.
func (p *Partition) Start() int64 { return p.log.Start() }

// Empty says that nothing was imported yet.
func (p *Partition) Empty() bool {
	size, err := p.log.Size()
	return err == nil && size == 0
}

// BeginAt makes an empty partition begin, and end, at offset.
func (p *Partition) BeginAt(offset int64) error {
	if p.log.End() == offset && p.log.Start() == offset {
		return nil
	}
	return p.log.RestartAt(offset)
}

// Append adds whole batches with the offsets and epochs that they carry.
func (p *Partition) Append(frames []byte) error {
	if len(frames) == 0 {
		return nil
	}
	if err := p.log.AppendReplica(frames); err != nil {
		return err
	}
	p.Bytes += int64(len(frames))
	for len(frames) > 0 {
		size, _, ok := record.Peek(frames)
		if !ok {
			return corrupt.Newf(corrupt.BadLength, 0, int64(len(frames)), "in what was appended")
		}
		p.Batches, frames = p.Batches+1, frames[size:]
	}
	return nil
}

// Close leaves the partition as a clean stop of a broker does, and notes it for the
// checkpoints; start is the log start offset, if that lies inside the first batch.
func (p *Partition) Close(start int64) error {
	end, err := p.log.CloseClean()
	if err != nil {
		return errors.Join(err, p.log.Close())
	}
	d := p.dir
	d.mu.Lock()
	defer d.mu.Unlock()
	d.points.Set(p.Topic, p.Partition, end)
	d.marks.Set(p.Topic, p.Partition, end)
	if start > p.log.FirstBase() {
		d.starts.Set(p.Topic, p.Partition, min(start, end))
	}
	return nil
}
