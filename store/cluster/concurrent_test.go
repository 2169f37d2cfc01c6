package cluster_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/vfs"
)

const (
	writers = 6
	each    = 50 // appends of a writer
)

// TestManyWritersOnePartition: writers with nothing in common but the files, each holding
// the lock for one append, and readers beside them that hold none. Every record gets an
// offset of its own, each writer's come in order, and no reader ever meets damage.
func TestManyWritersOnePartition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if _, err := cluster.Init(t.Context(), vfs.OS(), path, cluster.NewCluster{BrokerIDs: []int32{1}, Now: now}); err != nil {
		t.Fatal(err)
	}
	setup := openAt(t, path)
	create(t, setup, "hot", 1, 1, "segment.bytes=2000")

	var wait sync.WaitGroup
	var done atomic.Bool
	for w := range writers {
		wait.Go(func() {
			if err := write(t, openAt(t, path), w); err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				if _, err := readHot(setup); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	done.Store(true)
	readers.Wait()
	checkHot(t, setup)
}

func openAt(t *testing.T, path string) *cluster.Cluster {
	t.Helper()
	o := options()
	o.LockTimeout, o.Fsync = time.Minute, store.FsyncNever
	c, err := cluster.Open(vfs.OS(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var hot = store.TopicPartition{Topic: "hot"}

// write appends records "w<writer> <n>", one at a time.
func write(t *testing.T, c *cluster.Cluster, w int) error {
	var log *store.Log
	for i := range each {
		lock, err := c.Locks().Partition(t.Context(), hot)
		if err != nil {
			return err
		}
		if log == nil {
			log, err = c.OpenReplica(t.Context(), hot, 1)
		} else {
			err = log.Refresh()
		}
		if err == nil {
			_, err = log.Append(one(t, fmt.Sprintf("w%d %d", w, i)), 0)
		}
		if err := errors.Join(err, lock.Close()); err != nil {
			return err
		}
	}
	return log.Close()
}

func one(t *testing.T, value string) []byte {
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	b.Append(&record.Record{Timestamp: now.UnixMilli(), Value: []byte(value)})
	raw, err := b.Build(nil)
	if err != nil {
		t.Error(err)
	}
	return raw
}

// readHot reads all there is, and requires offsets without gap.
func readHot(c *cluster.Cluster) (values []string, err error) {
	r, err := c.Reader(hot, 1)
	if err != nil {
		return nil, err
	}
	cursor := r.From(0)
	defer func() { err = errors.Join(err, cursor.Close()) }()
	records := record.NewReader()
	for cursor.Next() {
		if d := cursor.Damage(); d != nil {
			return values, d
		}
		records.Reset(cursor.Batch())
		for records.Next() {
			if got := records.Record().Offset; got != int64(len(values)) {
				return values, fmt.Errorf("offset %d where %d should be", got, len(values))
			}
			values = append(values, string(records.Record().Value))
		}
	}
	return values, cursor.Err()
}

func checkHot(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	values, err := readHot(c)
	if err != nil || len(values) != writers*each {
		t.Fatalf("%d records, %v, want %d", len(values), err, writers*each)
	}
	var next [writers]int
	for _, v := range values {
		var w, n int
		if _, err := fmt.Sscanf(v, "w%d %d", &w, &n); err != nil || n != next[w] {
			t.Fatalf("record %q, but number %d of writer %d was due", v, next[w], w)
		}
		next[w]++
	}
}
