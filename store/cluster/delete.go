package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/vfs"
)

// Deletable counts the partitions that DeleteTopic would remove: those of the topic, or
// of the folders that an interrupted deletion or creation left of one.
func (c *Cluster) Deletable(name string) (partitions int, err error) {
	t, unknown := c.Meta().Topic(name)
	if unknown == nil {
		return len(t.Partitions), nil
	}
	refs, err := c.foldersOf(name)
	if err == nil && len(refs) == 0 {
		err = unknown
	}
	return countPartitions(refs), err
}

// DeleteTopic takes a topic out of the metadata, then removes its folders. A topic of
// which only folders are left is finished off.
func (c *Cluster) DeleteTopic(ctx context.Context, name string) error {
	refs, err := c.foldersOf(name)
	if err != nil {
		return err
	}
	err = c.Update(ctx, func(m *Meta) error {
		if _, err := m.Topic(name); err != nil && len(refs) == 0 {
			return err
		}
		m.drop(name)
		return nil
	})
	if err != nil {
		return err
	}
	return c.removeFolders(ctx, refs)
}

func countPartitions(refs []store.PartitionRef) int {
	seen := map[int32]bool{}
	for _, r := range refs {
		seen[r.Partition] = true
	}
	return len(seen)
}

// foldersOf lists the partition folders of a topic on all brokers.
func (c *Cluster) foldersOf(topic string) ([]store.PartitionRef, error) {
	d, err := store.Detect(c.fs, c.path)
	if err != nil {
		return nil, err
	}
	refs, err := d.AllPartitions()
	return slices.DeleteFunc(refs, func(r store.PartitionRef) bool { return r.Topic != topic || r.PutAside() }), err
}

// removeFolders renames each folder to Kafka's -delete form under its partition's lock,
// so that whoever appends just now is waited for, and then removes them all.
func (c *Cluster) removeFolders(ctx context.Context, refs []store.PartitionRef) error {
	gone := map[int32]map[store.TopicPartition]bool{}
	for _, ref := range refs {
		if err := c.Hold(ctx, ref.Broker); err != nil {
			return err
		}
		if err := c.removeFolder(ctx, ref); err != nil {
			return fmt.Errorf("%s on broker %d: %w", ref.TopicPartition, ref.Broker, err)
		}
		if gone[ref.Broker] == nil {
			gone[ref.Broker] = map[store.TopicPartition]bool{}
		}
		gone[ref.Broker][ref.TopicPartition] = true
	}
	for _, broker := range slices.Sorted(maps.Keys(gone)) {
		err := errors.Join(c.fs.SyncDir(c.BrokerDir(broker)), c.DropCheckpoints(ctx, broker, gone[broker]))
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) removeFolder(ctx context.Context, ref store.PartitionRef) (err error) {
	lock, err := c.locks.Partition(ctx, ref.TopicPartition)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	doomed := filepath.Join(filepath.Dir(ref.Dir), doomedName(ref.TopicPartition, checkpoint.RandomUUID()))
	if err := c.fs.Rename(ref.Dir, doomed); err != nil {
		return err
	}
	return vfs.RemoveAll(c.fs, doomed)
}

// maxName is the longest directory entry.
const maxName = 255

// doomedName is Kafka's name of a folder that is being deleted: T-P.U-delete, with the
// topic cut short if the whole would be too long for a directory entry.
func doomedName(tp store.TopicPartition, id checkpoint.UUID) string {
	end := "-" + strconv.Itoa(int(tp.Partition)) + "." + fmt.Sprintf("%x", id[:]) + "-delete"
	topic := tp.Topic[:min(len(tp.Topic), maxName-len(end))]
	return topic + end
}
