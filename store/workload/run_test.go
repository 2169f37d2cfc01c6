package workload_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
	"logdir/store/workload"
)

const lockTimeout = 10 * time.Second

// newTopic makes a cluster of three brokers with the topic t.
func newTopic(t testing.TB, fs vfs.FS, dir string, topic cluster.NewTopic) *cluster.Cluster {
	t.Helper()
	_, err := cluster.Init(t.Context(), fs, dir, cluster.NewCluster{BrokerIDs: cluster.BrokerRange(3)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(fs, dir, cluster.Options{LockTimeout: lockTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	topic.Name, topic.ReplicationFactor = "t", max(1, topic.ReplicationFactor)
	if _, err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	return c
}

func inMemory(t testing.TB, topic cluster.NewTopic) *cluster.Cluster {
	return newTopic(t, memfs.New(), "data", topic)
}

func run(t testing.TB, c *cluster.Cluster, p workload.Plan) *workload.Outcome {
	t.Helper()
	o, err := workload.Run(t.Context(), c, &p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// plan is ten producers of a hundred records each, and ten consumers.
func plan() workload.Plan {
	return workload.Plan{
		Topic: "t", Producers: 10, Messages: 100, RecordSize: 100, Acks: client.AcksLeader,
		Groups: []workload.GroupPlan{{Name: "g", Consumers: 10}},
	}
}

// whole is what a group of so many consumers sees if all is well.
func whole(name string, active, standby int, records int64) workload.GroupOutcome {
	return workload.GroupOutcome{Name: name, Active: active, Standby: standby, Audited: workload.Audited{Records: records}}
}

// KafkaLite's main program: three partitions keep three of ten consumers busy.
func TestTenTenThree(t *testing.T) {
	o := run(t, inMemory(t, cluster.NewTopic{Partitions: 3}), plan())
	want := &workload.Outcome{
		Producers: 10, Made: 1000, Sent: workload.Sent{Written: 1000, Bytes: 100_000},
		Groups: []workload.GroupOutcome{whole("g", 3, 7, 1000)},
	}
	if diff := cmp.Diff(want, o, cmpopts.IgnoreFields(workload.Outcome{}, "Elapsed", "Latency")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !o.Intact() {
		t.Error("not intact")
	}
}

// Whatever the topic and the producers are like, every group sees every record once and in
// order.
func TestIntact(t *testing.T) {
	tests := []struct {
		name   string
		topic  cluster.NewTopic
		change func(*workload.Plan)
	}{
		{name: "one of everything", topic: cluster.NewTopic{Partitions: 1}, change: func(p *workload.Plan) {
			p.Producers, p.Messages, p.Groups[0].Consumers = 1, 1, 1
		}},
		{name: "no records", topic: cluster.NewTopic{Partitions: 2}, change: func(p *workload.Plan) { p.Messages = 0 }},
		{name: "keys", topic: cluster.NewTopic{Partitions: 5}, change: func(p *workload.Plan) { p.Keys = 7 }},
		{name: "a hot key", topic: cluster.NewTopic{Partitions: 5}, change: func(p *workload.Plan) { p.Keys = 1 }},
		{name: "acks 0", topic: cluster.NewTopic{Partitions: 3}, change: func(p *workload.Plan) { p.Acks = client.AcksNone }},
		{name: "acks all, replicated", topic: cluster.NewTopic{Partitions: 3, ReplicationFactor: 3}, change: func(p *workload.Plan) { p.Acks = client.AcksAll }},
		{name: "acks 1, replicated", topic: cluster.NewTopic{Partitions: 3, ReplicationFactor: 2}, change: func(*workload.Plan) {}},
		{name: "more partitions than writers", topic: cluster.NewTopic{Partitions: 30}, change: func(p *workload.Plan) { p.Keys = 100 }},
		{name: "many producers", topic: cluster.NewTopic{Partitions: 4}, change: func(p *workload.Plan) { p.Producers, p.Messages = 500, 10 }},
		{name: "a crowd that takes turns", topic: cluster.NewTopic{Partitions: 4}, change: func(p *workload.Plan) {
			p.Producers, p.Messages, p.RecordSize, p.Keys = 40, 100, 1000, 9
		}},
		{name: "a crowd that takes turns, without keys", topic: cluster.NewTopic{Partitions: 4}, change: func(p *workload.Plan) {
			p.Producers, p.Messages, p.RecordSize = 40, 100, 1000
		}},
		{name: "large records", topic: cluster.NewTopic{Partitions: 2}, change: func(p *workload.Plan) { p.Producers, p.Messages, p.RecordSize = 3, 5, 400_000 }},
		{name: "the smallest records", topic: cluster.NewTopic{Partitions: 2}, change: func(p *workload.Plan) { p.RecordSize = p.MinRecordSize() }},
		{name: "small segments", topic: cluster.NewTopic{Partitions: 2, Configs: map[string]string{cluster.SegmentBytes: "9000", cluster.IndexInterval: "100"}}, change: func(*workload.Plan) {}},
		{name: "round robin", topic: cluster.NewTopic{Partitions: 3, Configs: map[string]string{cluster.Unkeyed: "round-robin"}}, change: func(*workload.Plan) {}},
		{name: "MiniKafka's format", topic: cluster.NewTopic{Partitions: 3, Configs: map[string]string{cluster.Format: "mkb1"}}, change: func(*workload.Plan) {}},
		{name: "slow consumers", topic: cluster.NewTopic{Partitions: 3}, change: func(p *workload.Plan) { p.PollInterval = 20 * time.Millisecond }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := plan()
			tt.change(&p)
			p.Groups = append(p.Groups, workload.GroupPlan{Name: "alone", Consumers: 1})
			o := run(t, inMemory(t, tt.topic), p)
			if o.Sent.Written != p.Records() {
				t.Errorf("%d records written, want %d", o.Sent.Written, p.Records())
			}
			active := min(tt.topic.Partitions, p.Groups[0].Consumers)
			want := []workload.GroupOutcome{
				whole("g", active, p.Groups[0].Consumers-active, p.Records()),
				whole("alone", 1, 0, p.Records()),
			}
			if diff := cmp.Diff(want, o.Groups); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Runs on one topic do not take each other's records for their own, neither one behind the
// other nor at once.
func TestRunsBesideEachOther(t *testing.T) {
	c := inMemory(t, cluster.NewTopic{Partitions: 3})
	run(t, c, plan())
	outcomes := make(chan *workload.Outcome, 3)
	for n := range cap(outcomes) {
		go func() {
			p := plan()
			p.Groups[0].Name = fmt.Sprint("g", n)
			o, err := workload.Run(t.Context(), c, &p)
			if err != nil {
				t.Error(err)
			}
			outcomes <- o
		}()
	}
	for range cap(outcomes) {
		if o := <-outcomes; o == nil || !o.Intact() || o.Groups[0].Records != 1000 {
			t.Errorf("%+v", o)
		}
	}
}

// A standby takes over from a member that is taken out of the group: nothing is missed, and
// what was not committed is read again.
func TestStandbyTakesOver(t *testing.T) {
	c := inMemory(t, cluster.NewTopic{Partitions: 2})
	p := plan()
	p.Groups[0].Consumers, p.PollInterval = 3, time.Millisecond
	p.Messages = 20_000
	coordinator := group.NewCoordinator(c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, member := range []string{"simulate-1", "simulate-2", "simulate-1"} {
			time.Sleep(5 * time.Millisecond)
			_, err := coordinator.Leave(t.Context(), "g", member)
			if e, ok := errors.AsType[*store.Error](err); err != nil && (!ok || e.Class != store.NotFound) {
				t.Error(err)
			}
		}
	}()
	o := run(t, c, p)
	<-done
	if g := o.Groups[0]; g.Missing+g.OutOfOrder > 0 || g.Records-g.Duplicates != p.Records() {
		t.Errorf("%+v", g)
	}
}

// What a full partition does not take is in the dead letter queue, and nobody misses it.
func TestFullPartitions(t *testing.T) {
	c := inMemory(t, cluster.NewTopic{Partitions: 1, Configs: map[string]string{cluster.MaxRecords: "50"}})
	p := plan()
	p.Producers, p.RecordSize = 1, 1000
	o, err := workload.Run(t.Context(), c, &p)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Diverted {
		t.Errorf("got %v, want class Diverted", err)
	}
	if o.Sent.Written == 0 || o.Sent.Written > 50 || o.Sent.Written+o.Sent.Diverted != 100 || o.Sent.Failed > 0 {
		t.Errorf("%+v", o.Sent)
	}
	if g := o.Groups[0]; !o.Intact() || g.Records != o.Sent.Written {
		t.Errorf("%+v", g)
	}
}

// Where a partition has no leader its records go nowhere; the others go on.
func TestLeaderless(t *testing.T) {
	c := inMemory(t, cluster.NewTopic{Partitions: 3})
	err := c.Update(t.Context(), func(m *cluster.Meta) error {
		_, p, err := m.Partition(store.TopicPartition{Topic: "t", Partition: 1})
		p.Leader = nil
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := plan()
	p.Keys = 20
	o, err := workload.Run(t.Context(), c, &p)
	if err == nil || !strings.Contains(err.Error(), "LEADER_NOT_AVAILABLE") {
		t.Errorf("got %v, want LEADER_NOT_AVAILABLE", err)
	}
	if o.Sent.Failed == 0 || o.Sent.Written == 0 || o.Sent.Written+o.Sent.Failed != 1000 || !o.Intact() {
		t.Errorf("%+v", o)
	}
}

// Wherever the disk fails, the run ends with an error, and no goroutine waits for ever.
func TestFailingDisk(t *testing.T) {
	for after, failed := 0, true; failed; after += 7 {
		failed = failAfter(t, after)
	}
}

// failAfter lets all operations fail after some. It is false if there are no more than that.
func failAfter(t *testing.T, after int) (failed bool) {
	t.Helper()
	broken := errors.New("the disk is gone")
	var done, limit atomic.Int64
	limit.Store(math.MaxInt64)
	fs := faultfs.Wrap(memfs.New(), func(faultfs.Op) error {
		if done.Add(1) > limit.Load() {
			return broken
		}
		return nil
	})
	c := newTopic(t, fs, "data", cluster.NewTopic{Partitions: 2, ReplicationFactor: 2})
	limit.Store(done.Load() + int64(after))
	p := plan()
	p.Keys = 10
	o, err := workload.Run(t.Context(), c, &p)
	failed = done.Load() > limit.Load()
	if failed && (!errors.Is(err, broken) || o != nil && !o.Intact()) {
		t.Fatalf("after %d operations: got %v and %+v, want %v", after, err, o, broken)
	}
	return failed
}

// A group with members of its own is not taken over.
func TestGroupWithMembers(t *testing.T) {
	c := inMemory(t, cluster.NewTopic{Partitions: 2})
	coordinator := group.NewCoordinator(c)
	_, err := coordinator.Join(t.Context(), group.Join{Group: "g", Member: "somebody", Topics: []string{"t"}})
	if err != nil {
		t.Fatal(err)
	}
	p := plan()
	_, err = workload.Run(t.Context(), c, &p)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != "NON_EMPTY_GROUP" {
		t.Errorf("got %v, want NON_EMPTY_GROUP", err)
	}
}

// A run that is stopped before its first record has no outcome, and leaves no member behind.
func TestStopBeforeTheFirst(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := plan()
	c := inMemory(t, cluster.NewTopic{Partitions: 2})
	if o, err := workload.Run(ctx, c, &p); o != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", o, err)
	}
	groups, err := group.NewCoordinator(c).Groups()
	for _, g := range groups {
		if g.State() != group.Empty {
			t.Errorf("group %s has members", g.ID)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// A run that is stopped on the way knows how much was made, and all of that was read, at
// once, however long consumers rest between polls.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := plan()
	p.Producers, p.Messages, p.PollInterval = 3, 10_000_000, time.Hour
	time.AfterFunc(50*time.Millisecond, cancel)
	o, err := workload.Run(ctx, inMemory(t, cluster.NewTopic{Partitions: 2}), &p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Made >= p.Records() || o.Sent.Written != o.Made || !o.Intact() {
		t.Errorf("%+v", o)
	}
	for _, g := range o.Groups {
		if g.Records != o.Made {
			t.Errorf("%+v, made %d", g, o.Made)
		}
	}
}
