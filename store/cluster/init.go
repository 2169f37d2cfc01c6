package cluster

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/vfs"
)

// NewCluster says what cluster is to be made.
type NewCluster struct {
	BrokerIDs     []int32
	Configs       map[string]string // defaults of every topic
	AutoReplicate bool
	// Now dates the meta.properties.
	Now time.Time
	// LockTimeout is how long to wait for another process that makes the same cluster.
	LockTimeout time.Duration
}

// BrokerRange is the ids 1 to n.
func BrokerRange(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i + 1)
	}
	return ids
}

// NewMeta is the metadata of a cluster of n brokers before anything is in it, for trying
// out what would become of a topic.
func NewMeta(n int) *Meta {
	m, err := NewCluster{BrokerIDs: BrokerRange(n)}.meta()
	if err != nil {
		return &Meta{Version: Version}
	}
	return m
}

// Init makes a cluster in a directory that is missing or empty: the brokers' folders
// first, synced, cluster.json last. What an interrupted Init left is taken over.
func Init(ctx context.Context, fsys vfs.FS, path string, n NewCluster) (*Meta, error) {
	return n.make(ctx, fsys, path, func(m *Meta) error {
		return layDownBrokers(fsys, path, m, n.Now)
	})
}

// make checks the place, has the folders laid down under the metadata lock, and
// publishes.
func (n NewCluster) make(ctx context.Context, fsys vfs.FS, path string, layDown func(*Meta) error) (m *Meta, err error) {
	if m, err = n.meta(); err != nil {
		return nil, err
	}
	if err := refuseOccupied(fsys, path); err != nil {
		return nil, err
	}
	locks := filepath.Join(path, LocksDir)
	if err := fsys.MkdirAll(locks); err != nil {
		return nil, err
	}
	lock, err := store.NewLocks(fsys, locks, n.LockTimeout).Metadata(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := refuseOccupied(fsys, path); err != nil {
		return nil, err
	}
	if err := layDown(m); err != nil {
		return nil, err
	}
	return m, publish(fsys, path, m)
}

// publish makes cluster.json the last thing to appear, and the directory itself durable.
func publish(fsys vfs.FS, path string, m *Meta) error {
	if err := fsys.SyncDir(path); err != nil {
		return err
	}
	if err := WriteMeta(fsys, path, m); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func (n NewCluster) meta() (*Meta, error) {
	m := &Meta{Version: Version, ClusterID: checkpoint.RandomUUID().String(), AutoReplicate: n.AutoReplicate, Configs: n.Configs}
	ids := slices.Clone(n.BrokerIDs)
	slices.Sort(ids)
	if len(ids) == 0 || ids[0] < 0 {
		return nil, store.Errorf(store.Usage, "INVALID_REQUEST", "a cluster needs brokers with ids from 0 on")
	}
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			return nil, store.Errorf(store.Usage, "DUPLICATE_BROKER_REGISTRATION", "broker %d stands twice", id)
		}
		m.Brokers = append(m.Brokers, Broker{ID: id, State: Up})
	}
	return m, nil
}

// refuseOccupied holds the directory to be missing, empty, or what an interrupted Init
// leaves: brokers' folders with nothing but meta.properties in them, and a lock.
func refuseOccupied(fsys vfs.ReadFS, path string) error {
	names, err := fsys.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range names {
		if e.Name() == store.ClusterFile {
			return store.Errorf(store.Refused, "", "%s is a cluster already", path).WithHint("logdir info -d %s", path)
		}
	}
	for _, e := range names {
		left, err := leftByInit(fsys, path, e)
		if err != nil {
			return err
		}
		if !left {
			return store.Errorf(store.Refused, "", "%s is not empty: it holds %s", path, e.Name()).
				WithHint("name a new directory with -d DIR; logdir init --import %s copies a broker's log dir", path)
		}
	}
	return nil
}

func leftByInit(fsys vfs.ReadFS, path string, e fs.DirEntry) (bool, error) {
	if e.Name() == store.ClusterFile+vfs.TempSuffix {
		return true, nil
	}
	if e.Name() == LocksDir {
		return true, nil
	}
	if !e.IsDir() || !strings.HasPrefix(e.Name(), "broker-") {
		return false, nil
	}
	names, err := fsys.ReadDir(filepath.Join(path, e.Name()))
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), checkpoint.MetaPropertiesFile)
	}), nil
}

func layDownBrokers(fsys vfs.FS, path string, m *Meta, now time.Time) error {
	for _, b := range m.Brokers {
		directoryID := checkpoint.RandomUUID()
		props := checkpoint.MetaProperties{Version: 1, NodeID: b.ID, ClusterID: m.ClusterID, DirectoryID: &directoryID}
		if err := layDownBroker(fsys, store.BrokerDir(path, b.ID), props, now); err != nil {
			return err
		}
	}
	return nil
}

// layDownBroker makes one log dir, as Kafka's storage tool formats it.
func layDownBroker(fsys vfs.FS, dir string, props checkpoint.MetaProperties, now time.Time) error {
	if err := fsys.MkdirAll(dir); err != nil {
		return err
	}
	return checkpoint.WriteMetaProperties(fsys, filepath.Join(dir, checkpoint.MetaPropertiesFile), props, now)
}
