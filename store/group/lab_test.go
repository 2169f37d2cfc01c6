package group

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// lab is a cluster in memory, with a clock that only the test moves.
type lab struct {
	fs  vfs.FS
	now time.Time
	// armed is the failpoint that fires.
	armed string
	// small is the size from which on the coordinator's log is compacted; 0 for the default.
	small int64
}

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

const dataDir = "d"

// newLab makes a cluster of one broker with topics of so many partitions: "orders=2".
func newLab(t fataler, topics ...string) *lab {
	t.Helper()
	l := &lab{fs: memfs.New(), now: time.UnixMilli(1767225600000)}
	ctx := context.Background()
	if _, err := cluster.Init(ctx, l.fs, dataDir, cluster.NewCluster{BrokerIDs: []int32{1}, Now: l.now}); err != nil {
		t.Fatal(err)
	}
	c := l.open(t)
	for _, topic := range topics {
		name, count, _ := strings.Cut(topic, "=")
		n := cluster.NewTopic{Name: name, ReplicationFactor: 1}
		fmt.Sscan(count, &n.Partitions)
		if _, err := c.CreateTopic(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) open(t fataler) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(l.fs, dataDir, cluster.Options{Now: func() time.Time { return l.now }, Fail: l, LockTimeout: time.Minute, CoordinatorBytes: l.small})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var errFailpoint = errors.New("the failpoint fired")

func (l *lab) Armed(name string) bool { return name == l.armed }
func (l *lab) Failpoint(name string) error {
	if l.Armed(name) {
		return errFailpoint
	}
	return nil
}

// run is one command, as a process of its own would do it.
func (l *lab) run(t fataler, do func(*Coordinator) error) error {
	t.Helper()
	c := l.open(t)
	co := NewCoordinator(c)
	err := do(co)
	return errors.Join(err, co.Close(context.Background()), c.Close())
}

func (l *lab) must(t fataler, do func(*Coordinator) error) {
	t.Helper()
	if err := l.run(t, do); err != nil {
		t.Fatal(err)
	}
}

// append puts n records into a partition.
func (l *lab) append(t fataler, tp store.TopicPartition, n int) {
	t.Helper()
	c := l.open(t)
	log, err := c.OpenReplica(context.Background(), tp, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	for i := range n {
		b.Append(&record.Record{Offset: int64(i), Value: []byte("v")})
	}
	frame, err := b.Build(nil)
	if err == nil {
		_, err = log.Append(frame, 0)
	}
	if err := errors.Join(err, log.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func join(group, member string, topics ...string) Join {
	return Join{Group: group, Member: member, Topics: topics, SessionTimeout: DefaultSessionTimeout, Reset: Earliest}
}

func tp(topic string, partition int32) store.TopicPartition {
	return store.TopicPartition{Topic: topic, Partition: partition}
}

// believes writes a view as "generation 2: orders:0@5 orders:1@0".
func believes(v *View) string {
	var s strings.Builder
	fmt.Fprintf(&s, "generation %d:", v.Generation)
	for _, p := range v.Positions {
		fmt.Fprintf(&s, " %s@%d", p.TopicPartition(), p.Offset)
	}
	return s.String()
}

// joins makes a member and tells what it believes then.
func (l *lab) joins(t fataler, j Join) string {
	t.Helper()
	var v *View
	l.must(t, func(co *Coordinator) (err error) {
		v, err = co.Join(context.Background(), j)
		return err
	})
	return believes(v)
}

// polls refreshes a member's view and tells it.
func (l *lab) polls(t fataler, group, member string) string {
	t.Helper()
	var v *View
	l.must(t, func(co *Coordinator) (err error) {
		v, err = co.Refresh(context.Background(), group, member)
		return err
	})
	return believes(v)
}

// moves sets a member's position.
func (l *lab) moves(t fataler, group, member string, tp store.TopicPartition, offset int64) {
	t.Helper()
	l.must(t, func(co *Coordinator) error {
		v, err := co.View(group, member)
		if err != nil {
			return err
		}
		v.Position(tp).Offset = offset
		return co.Moved(context.Background(), v)
	})
}

// commits commits what a member believes; the error is told by Kafka's name.
func (l *lab) commits(t fataler, group, member string) string {
	t.Helper()
	var done []OffsetCommit
	err := l.run(t, func(co *Coordinator) error {
		v, err := co.View(group, member)
		if err != nil {
			return err
		}
		done, err = co.Commit(context.Background(), group, member, v.Generation, v.Positions)
		return err
	})
	if err != nil {
		return nameOf(t, err)
	}
	var list []string
	for _, c := range done {
		list = append(list, fmt.Sprintf("%s:%d@%d", c.Topic, c.Partition, c.Offset))
	}
	return strings.Join(list, " ")
}

// nameOf is Kafka's name of an error, which it must have.
func nameOf(t fataler, err error) string {
	t.Helper()
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Name == "" {
		t.Fatalf("an error without Kafka's name: %v", err)
	}
	return e.Name
}

// groups replays the log from its start, as another process would.
func (l *lab) groups(t fataler) *State {
	t.Helper()
	s := NewState()
	c := l.open(t)
	log, err := c.CoordinatorLog(tp(Topic, 0)).Reader()
	if err != nil {
		t.Fatal(err)
	}
	if log != nil {
		damage, err := s.ReadLog(log)
		if err != nil || len(damage) > 0 {
			t.Fatalf("%v %v", damage, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func equal(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}
