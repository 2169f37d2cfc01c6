package cluster_test

import (
	"errors"
	"io/fs"
	"testing"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// listings counts how often a directory is listed.
type listings struct {
	vfs.ReadFS
	n int
}

func (l *listings) ReadDir(name string) ([]fs.DirEntry, error) {
	l.n++
	return l.ReadFS.ReadDir(name)
}

// TestLeadingListsOnce: a member of a group asks for each of its partitions, which may be
// thousands in folders of thousands.
func TestLeadingListsOnce(t *testing.T) {
	mem, c := newCluster(t, 2)
	create(t, c, "orders", 8, 2)
	counted := &listings{ReadFS: mem}
	v, err := cluster.OpenView(counted, c.Path())
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for p := range int32(8) {
		ref, err := v.Leading(store.TopicPartition{Topic: "orders", Partition: p})
		if err != nil || ref.Partition != p || ref.Broker != p%2+1 {
			t.Errorf("%+v, %v, want partition %d on broker %d", ref, err, p, p%2+1)
		}
		if p == 0 {
			first = counted.n
		}
	}
	if counted.n != first {
		t.Errorf("%d listings for 8 partitions, %d for one", counted.n, first)
	}
	_, err = v.Leading(store.TopicPartition{Topic: "orders", Partition: 8})
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.NotFound {
		t.Errorf("a partition that is not there: %v", err)
	}
}
