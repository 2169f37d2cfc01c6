package cluster

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"logdir/store"
	"logdir/store/vfs"
)

// Options say how a cluster is opened.
type Options struct {
	// LockTimeout is how long to wait for another process; 0 is one try.
	LockTimeout time.Duration
	// Now is the clock.
	Now func() time.Time
	// Log is the structured log.
	Log *slog.Logger
	// Fsync is handed to the logs that are opened.
	Fsync store.Fsync
	// Fail decides about failpoints.
	Fail store.Failpoints
	// CoordinatorBytes takes the place of DefaultCoordinatorBytes, unless 0.
	CoordinatorBytes int64
}

// Cluster is a data directory of ours, open for writing. It may be used by several
// goroutines; the logs that it opens may not.
//
// Metadata is read without a lock and replaced as a whole under one. What is decided
// about a partition (its leader, its ISR) is changed only by who holds that partition's
// lock, so that an append can rely on what it read after taking it.
type Cluster struct {
	fs    vfs.FS
	path  string
	o     Options
	locks *store.Locks

	mu   sync.Mutex
	meta *Meta
	info fs.FileInfo          // of the cluster.json that meta was read from
	held map[string]io.Closer // .lock files, by log dir
}

// Open opens the cluster at path. A bare log directory is refused with the way out.
func Open(fsys vfs.FS, path string, o Options) (*Cluster, error) {
	there, err := exists(fsys, path)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, noCluster(fsys, path)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.CoordinatorBytes == 0 {
		o.CoordinatorBytes = DefaultCoordinatorBytes
	}
	c := &Cluster{
		fs: fsys, path: path, o: o, held: map[string]io.Closer{},
		locks: store.NewLocks(fsys, filepath.Join(path, LocksDir), o.LockTimeout),
	}
	return c, c.Reload()
}

// noCluster says what stands there instead.
func noCluster(fsys vfs.ReadFS, path string) error {
	d, err := store.Detect(fsys, path)
	if err != nil {
		return err
	}
	if d.Kind == store.KindMiniKafka {
		return store.Errorf(store.Refused, "", "this is MiniKafka's directory: logdir reads and repairs it, but does not change its topics")
	}
	return store.Errorf(store.Refused, "", "this is a bare Kafka log directory: logdir reads and repairs it, but does not produce into it").
		WithHint("logdir init --import %s", path)
}

// Path is the data directory.
func (c *Cluster) Path() string { return c.path }

// FS is the file system it stands on.
func (c *Cluster) FS() vfs.FS { return c.fs }

// Locks are the locks of the cluster.
func (c *Cluster) Locks() *store.Locks { return c.locks }

// Now is the time by the cluster's clock.
func (c *Cluster) Now() time.Time { return c.o.Now() }

// CoordinatorBytes is how large the active segment of a log of the coordinator becomes
// before it is compacted.
func (c *Cluster) CoordinatorBytes() int64 { return c.o.CoordinatorBytes }

// Info writes a line to the structured log, from one of the components: group,
// dlq and so on.
func (c *Cluster) Info(component, what string, attrs ...slog.Attr) {
	if !c.o.Log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	all := append([]slog.Attr{slog.String("component", component)}, attrs...)
	c.o.Log.LogAttrs(context.Background(), slog.LevelInfo, what, all...)
}

// Failpoint dies at name if that is armed.
func (c *Cluster) Failpoint(name string) error {
	if c.o.Fail == nil {
		return nil
	}
	return c.o.Fail.Failpoint(name)
}

// Meta is the metadata as last read. It is shared: look, do not change.
func (c *Cluster) Meta() *Meta {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.meta
}

// Reload reads the metadata again if the file was replaced since.
func (c *Cluster) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := c.fs.Stat(filepath.Join(c.path, store.ClusterFile))
	if err != nil {
		return err
	}
	if c.info != nil && sameFile(c.info, info) {
		return nil
	}
	meta, err := ReadMeta(c.fs, c.path)
	if err != nil {
		return err
	}
	c.meta, c.info = meta, info
	return nil
}

// sameFile tells that nobody replaced the file: a replacement is another inode.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Update changes the metadata: change works on a fresh copy, under the metadata lock,
// and what it leaves is published in one step. With an error nothing is.
func (c *Cluster) Update(ctx context.Context, change func(*Meta) error) (err error) {
	lock, err := c.locks.Metadata(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	meta, err := ReadMeta(c.fs, c.path)
	if err != nil {
		return err
	}
	if err := change(meta); err != nil {
		return err
	}
	if err := WriteMeta(c.fs, c.path, meta); err != nil {
		return err
	}
	return c.Reload()
}

// Close lets go of the broker locks.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for dir, l := range c.held {
		err = errors.Join(err, l.Close())
		delete(c.held, dir)
	}
	return err
}

// The folders of a cluster beside its brokers.
const (
	LocksDir       = "locks"       // one lock file per partition, group and so on
	CoordinatorDir = "coordinator" // a log dir with the internal topics
	ClientsDir     = "clients"     // what a real client keeps in memory
	DLQDir         = "dlq"         // a log dir with diverted records
	QuarantineDir  = "quarantine"  // what recover and truncate took out
)

// BrokerDir is the log dir of a broker.
func (c *Cluster) BrokerDir(broker int32) string { return store.BrokerDir(c.path, broker) }

// ReplicaDir is the partition directory of one replica.
func (c *Cluster) ReplicaDir(tp store.TopicPartition, broker int32) string {
	return filepath.Join(c.BrokerDir(broker), tp.Dir())
}

// LeaderOf is the broker that leads a partition, and its epoch; LEADER_NOT_AVAILABLE
// if none does or it is down.
func (m *Meta) LeaderOf(tp store.TopicPartition) (broker, epoch int32, err error) {
	_, p, err := m.Partition(tp)
	if err != nil {
		return store.NoBroker, 0, err
	}
	leader := p.LeaderID()
	if leader == store.NoBroker || !m.IsUp(leader) {
		return store.NoBroker, p.LeaderEpoch, store.Errorf(store.Refused, "LEADER_NOT_AVAILABLE", "%s has no leader", tp).
			WithHint("logdir promote %s --to BROKER, or start a broker", tp)
	}
	return leader, p.LeaderEpoch, nil
}
