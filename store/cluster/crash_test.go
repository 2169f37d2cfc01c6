package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// powerCuts are what a power cut may leave of what was not synced.
func powerCuts() []memfs.CrashOptions {
	cuts := []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}}
	for seed := range uint64(4) {
		cuts = append(cuts, memfs.CrashOptions{Unsynced: 0.5, Seed: seed})
	}
	return cuts
}

// durable is a cluster of two brokers with the topic keep, all of it on the disk.
func durable(t *testing.T) *memfs.FS {
	t.Helper()
	fs, c := newCluster(t, 2)
	create(t, c, "keep", 1, 2)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return fs.CrashClone(memfs.CrashOptions{Unsynced: 1})
}

// run is one command on the cluster.
func run(fs vfs.FS, do func(*cluster.Cluster) error) error {
	c, err := cluster.Open(fs, "data", options())
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// sweep cuts the power at every operation of do and hands what is left to check, with
// whether do had returned.
func sweep(t *testing.T, do func(*cluster.Cluster) error, check func(fs *memfs.FS, done bool) error) {
	t.Helper()
	total := faultfs.Wrap(durable(t), nil)
	if err := run(total, do); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops()+1; n++ {
		fs := durable(t)
		err := run(faultfs.Wrap(fs, faultfs.CrashAt(n)), do)
		for _, cut := range powerCuts() {
			if cerr := check(fs.CrashClone(cut), err == nil); cerr != nil {
				t.Fatalf("crash at operation %d of %d, %+v: %v", n, total.Ops(), cut, cerr)
			}
		}
	}
}

// consistent requires that every replica that the metadata names can be opened, and
// returns the topics and the orphans.
func consistent(fs *memfs.FS) (topics []string, orphans int, err error) {
	v, err := cluster.OpenView(fs, "data")
	if err != nil {
		return nil, 0, err
	}
	for _, topic := range v.Meta.Topics {
		for n, p := range topic.Partitions {
			for _, broker := range p.Replicas {
				target := fmt.Sprintf("%s:%d@%d", topic.Name, n, broker)
				refs, err := v.Resolve([]string{target}, true)
				if err != nil {
					return nil, 0, err
				}
				if _, err := v.Offsets(refs[0]); err != nil {
					return nil, 0, err
				}
				if err := whole(fs, refs[0].Dir, topic.ID); err != nil {
					return nil, 0, err
				}
			}
		}
	}
	left, err := v.Orphans()
	return v.Meta.TopicNames(), len(left), err
}

// whole requires a partition directory to hold what creation lays down.
func whole(fs *memfs.FS, dir, topicID string) error {
	list, err := segment.List(fs, dir)
	if err != nil {
		return err
	}
	if len(list.Segments) != 1 || list.Segments[0].Index == "" || list.Segments[0].TimeIndex == "" {
		return fmt.Errorf("%s holds %+v", dir, list)
	}
	meta, err := checkpoint.ReadPartitionMetadata(fs, filepath.Join(dir, checkpoint.PartitionMetadataFile))
	if err == nil && meta.TopicID.String() != topicID {
		err = fmt.Errorf("%s belongs to topic id %s, not %s", dir, meta.TopicID, topicID)
	}
	return err
}

func newTopic(name string) func(*cluster.Cluster) error {
	return func(c *cluster.Cluster) error {
		_, err := c.CreateTopic(context.Background(), cluster.NewTopic{Name: name, Partitions: 2, ReplicationFactor: 2})
		return err
	}
}

// TestCrashInsideCreate: the topic is there whole, or not at all; what is left of it is
// found, and taken over by the next creation.
func TestCrashInsideCreate(t *testing.T) {
	sweep(t, newTopic("late"), func(fs *memfs.FS, done bool) error {
		topics, orphans, err := consistent(fs)
		if err != nil {
			return err
		}
		there := len(topics) == 2
		if done && !there || there && orphans > 0 {
			return fmt.Errorf("topics %v, %d orphans, returned %v", topics, orphans, done)
		}
		if there {
			return nil
		}
		if err := run(fs, newTopic("late")); err != nil {
			return err
		}
		topics, orphans, err = consistent(fs)
		if err == nil && (len(topics) != 2 || orphans != 0) {
			err = fmt.Errorf("created again: topics %v, %d orphans", topics, orphans)
		}
		return err
	})
}

func TestCrashInsideGrow(t *testing.T) {
	grow := func(c *cluster.Cluster) error {
		_, err := c.AlterTopic(context.Background(), "keep", cluster.Change{Partitions: 3})
		return err
	}
	sweep(t, grow, func(fs *memfs.FS, done bool) error {
		if _, _, err := consistent(fs); err != nil {
			return err
		}
		meta, err := cluster.ReadMeta(fs, "data")
		if err != nil {
			return err
		}
		if n := len(meta.Topics[0].Partitions); n == 3 {
			return nil
		} else if n != 1 || done {
			return fmt.Errorf("%d partitions, returned %v", n, done)
		}
		return run(fs, grow)
	})
}

// TestCrashInsideDelete: the topic is there whole, or it is gone and can be made anew
// once the deletion is finished.
func TestCrashInsideDelete(t *testing.T) {
	drop := func(c *cluster.Cluster) error { return c.DeleteTopic(context.Background(), "keep") }
	sweep(t, drop, func(fs *memfs.FS, done bool) error {
		topics, orphans, err := consistent(fs)
		if err != nil {
			return err
		}
		if len(topics) == 1 && !done {
			return nil
		}
		if done && (len(topics) > 0 || orphans > 0) {
			return fmt.Errorf("returned, but topics %v, %d orphans", topics, orphans)
		}
		if orphans > 0 {
			if err := run(fs, drop); err != nil {
				return err
			}
		}
		return run(fs, newTopic("keep"))
	})
}

// TestCrashInsideInit: a cluster, or a place where init can be run again.
func TestCrashInsideInit(t *testing.T) {
	start := func(fs vfs.FS) error {
		_, err := cluster.Init(t.Context(), fs, "data", cluster.NewCluster{BrokerIDs: cluster.BrokerRange(2), Now: now})
		return err
	}
	total := faultfs.Wrap(memfs.New(), nil)
	if err := start(total); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops()+1; n++ {
		fs := memfs.New()
		err := start(faultfs.Wrap(fs, faultfs.CrashAt(n)))
		for _, cut := range powerCuts() {
			left := fs.CrashClone(cut)
			_, _, broken := consistent(left)
			if broken == nil {
				continue
			}
			if err == nil {
				t.Fatalf("%+v: init returned, but: %v", cut, broken)
			}
			if err := start(left); err != nil {
				t.Fatalf("crash at operation %d, %+v: init again: %v", n, cut, err)
			}
		}
	}
}

// TestFaultInsideCreate: each failing operation surfaces, and a second try works.
func TestFaultInsideCreate(t *testing.T) {
	total := faultfs.Wrap(durable(t), nil)
	if err := run(total, newTopic("late")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops(); n++ {
		fs := durable(t)
		if err := run(faultfs.Wrap(fs, faultfs.FailAt(n)), newTopic("late")); !errors.Is(err, faultfs.ErrFault) {
			t.Fatalf("operation %d failed, reported %v", n, err)
		}
		err := run(fs, newTopic("late"))
		if e, ok := errors.AsType[*store.Error](err); ok && e.Name == "TOPIC_ALREADY_EXISTS" {
			continue // the failure came after the publication
		}
		if err != nil {
			t.Fatalf("after a fault at operation %d: %v", n, err)
		}
	}
}

// TestOrphanWithRecords is not taken over: it may be all that is left of something.
func TestOrphanWithRecords(t *testing.T) {
	fs, c := newCluster(t, 2)
	create(t, c, "t", 1, 1)
	put(t, c, store.TopicPartition{Topic: "t"}, 1, "a")
	err := c.Update(t.Context(), func(m *cluster.Meta) error {
		m.Topics = nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = newTopic("t")(c)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Refused || !strings.Contains(e.Hint, "topic delete") {
		t.Errorf("%v", err)
	}
	if err := c.DeleteTopic(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if _, orphans, err := consistent(fs); orphans != 0 || err != nil {
		t.Errorf("%d orphans, %v", orphans, err)
	}
}
