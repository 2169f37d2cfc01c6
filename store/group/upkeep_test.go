package group

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// twins are two clusters that get the same commands. One compacts the coordinator's log at
// every opportunity, or every few, the other never.
type twins struct {
	small   *lab
	large   *lab
	lagging [2]*Coordinator // of a process that is seldom asked for anything
	done    [2]func() error
	open    map[int64]bool  // producers whose transaction is open
	epochs  map[int64]int32 // each transaction is one of a new run
}

// TestCompactionChangesNothing: whatever is done, both clusters give the same answers, and a
// member keeps the same positions.
func TestCompactionChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &twins{
			small: newLab(t, "orders=3", "other=2"), large: newLab(t, "orders=3", "other=2"),
			open: map[int64]bool{}, epochs: map[int64]int32{},
		}
		m.small.small, m.large.small = rapid.SampledFrom([]int64{1, 700}).Draw(t, "small"), 1<<30
		for i, l := range []*lab{m.small, m.large} {
			c := l.open(t)
			m.lagging[i] = NewCoordinator(c)
			m.done[i] = func() error { return errors.Join(m.lagging[i].Close(context.Background()), c.Close()) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"":              m.check,
			"join":          m.join,
			"join again":    m.join,
			"leave":         m.leave,
			"poll":          m.poll,
			"poll again":    m.poll,
			"commit":        m.commit,
			"reset":         m.reset,
			"delete":        m.delete,
			"send offsets":  m.sendOffsets,
			"end":           m.end,
			"a day goes by": m.wait,
		})
		for _, done := range m.done {
			if err := done(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// both runs one command on both clusters, now and then by a process that has lived for long,
// and compares what it answers.
func (m *twins) both(t *rapid.T, do func(*Coordinator) (string, error)) {
	t.Helper()
	old := rapid.IntRange(0, 3).Draw(t, "process") == 0
	var answers [2]string
	for i, l := range []*lab{m.small, m.large} {
		run := func(do func(*Coordinator) error) error { return l.run(t, do) }
		if old {
			run = func(do func(*Coordinator) error) error { return do(m.lagging[i]) }
		}
		err := run(func(co *Coordinator) (err error) {
			answers[i], err = do(co)
			return err
		})
		if err != nil {
			answers[i] = "error " + nameOf(t, err)
		}
	}
	if answers[0] != answers[1] {
		t.Fatalf("compacted %q\nnot       %q", answers[0], answers[1])
	}
}

func (m *twins) some(t *rapid.T) (group, member string) {
	return rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member")
}

func (m *twins) join(t *rapid.T) {
	group, member := m.some(t)
	topics := rapid.SampledFrom([][]string{{"orders"}, {"other"}, {"orders", "other"}}).Draw(t, "topics")
	m.both(t, func(co *Coordinator) (string, error) {
		return told(co.Join(context.Background(), join(group, member, topics...)))
	})
}

func told(v *View, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return believes(v), nil
}

func (m *twins) leave(t *rapid.T) {
	group, member := m.some(t)
	m.both(t, func(co *Coordinator) (string, error) {
		_, err := co.Leave(context.Background(), group, member)
		return "", err
	})
}

func (m *twins) poll(t *rapid.T) {
	group, member := m.some(t)
	records := rapid.Int64Range(0, 3).Draw(t, "records")
	m.both(t, func(co *Coordinator) (string, error) {
		v, err := co.Refresh(context.Background(), group, member)
		if err != nil {
			return "", err
		}
		before := believes(v)
		for i := range v.Positions {
			v.Positions[i].Offset += records
		}
		return before, co.Moved(context.Background(), v)
	})
}

func (m *twins) commit(t *rapid.T) {
	group, member := m.some(t)
	m.both(t, func(co *Coordinator) (string, error) {
		v, err := co.View(group, member)
		if err != nil {
			return "", err
		}
		done, err := co.Commit(context.Background(), group, member, v.Generation, v.Positions)
		return fmt.Sprint(done), err
	})
}

func (m *twins) reset(t *rapid.T) {
	group, _ := m.some(t)
	to := rapid.Int64Range(0, 9).Draw(t, "to")
	m.both(t, func(co *Coordinator) (string, error) {
		return "", co.ResetOffsets(context.Background(), group, false, func(*Group) ([]Position, error) {
			return []Position{{Topic: "orders", Offset: to, LeaderEpoch: -1}}, nil
		})
	})
}

// delete deletes a group, or only what it has committed in one topic.
func (m *twins) delete(t *rapid.T) {
	group, _ := m.some(t)
	whole := rapid.Bool().Draw(t, "whole")
	m.both(t, func(co *Coordinator) (string, error) {
		if whole {
			return "", co.Delete(context.Background(), group, false)
		}
		gone, err := co.DeleteOffsets(context.Background(), group, false, func(tp store.TopicPartition) bool { return tp.Topic == "orders" })
		return fmt.Sprint(gone), err
	})
}

func (m *twins) producer(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{7, 8}).Draw(t, "producer")
}

func (m *twins) sendOffsets(t *rapid.T) {
	group, _ := m.some(t)
	producer, to := m.producer(t), rapid.Int64Range(10, 19).Draw(t, "to")
	if !m.open[producer] {
		m.open[producer] = true
		m.epochs[producer]++
	}
	p := Pending{ProducerID: producer, Epoch: m.epochs[producer]}
	m.both(t, func(co *Coordinator) (string, error) {
		done, err := co.CommitPending(context.Background(), group, p, []Position{{Topic: "orders", Offset: to, LeaderEpoch: -1}})
		return fmt.Sprint(done), err
	})
}

// end writes the marker of a transaction, as the transaction coordinator does.
func (m *twins) end(t *rapid.T) {
	producer := m.producer(t)
	if !m.open[producer] {
		t.Skip("no transaction")
	}
	delete(m.open, producer)
	kind := rapid.SampledFrom([]record.ControlType{record.Commit, record.Abort}).Draw(t, "kind")
	m.both(t, func(co *Coordinator) (string, error) {
		meta := record.NoProducer()
		meta.ProducerID, meta.ProducerEpoch = producer, m.epochs[producer]
		frame, err := record.AppendEndTxnMarker(nil, meta, record.EndTxnMarker{Type: kind}, m.small.now.UnixMilli())
		if err != nil {
			return "", err
		}
		co.mu.Lock()
		defer co.mu.Unlock()
		co.frame = frame
		return "", co.append(context.Background())
	})
}

// wait lets time pass after which tombstones go. Who follows a log must look more often, as
// anybody who reads a compacted topic.
func (m *twins) wait(t *rapid.T) {
	for _, co := range m.lagging {
		if _, err := co.Groups(); err != nil {
			t.Fatal(err)
		}
	}
	m.small.now = m.small.now.Add(25 * time.Hour)
	m.large.now = m.small.now
}

// check compares what both logs come to, read from their starts.
func (m *twins) check(t *rapid.T) {
	small, large := summaryOf(m.small.groups(t)), summaryOf(m.large.groups(t))
	if small != large {
		t.Fatalf("compacted:\n%s\nnot:\n%s", small, large)
	}
}

// summaryOf tells all of a state, also since when members have what they have.
func summaryOf(s *State) string {
	var out strings.Builder
	for _, g := range s.Groups() {
		fmt.Fprintf(&out, "%s at %d %s, %v\n", g.ID, g.Generation(), g.State(), g.Offsets())
		for _, m := range g.Members() {
			fmt.Fprintf(&out, "  %s %v\n", m.ID, m.Assignment)
		}
		for _, tp := range slices.SortedFunc(maps.Keys(g.owners), store.TopicPartition.Compare) {
			fmt.Fprintf(&out, "  %s %s since %d\n", tp, g.owners[tp].member, g.owners[tp].generation)
		}
	}
	return out.String()
}

// TestCrashInCompaction: whenever the power goes while a commit compacts the log, what it
// says is what it said before or after the commit, and in the end nothing is left of it.
func TestCrashInCompaction(t *testing.T) {
	history := func(l *lab) {
		l.joins(t, join("g", "a", "orders"))
		for i := range 3 {
			l.moves(t, "g", "a", tp("orders", 0), int64(i))
			l.commits(t, "g", "a")
		}
		l.joins(t, join("g", "b", "orders"))
		l.polls(t, "g", "a")
	}
	compacted := func(l *lab) { // once before, so that segments are joined
		l.small = 1
		l.commits(t, "g", "a")
		l.small = 0
	}
	commit := func(co *Coordinator) error {
		_, err := co.Commit(context.Background(), "g", "a", 2, []Position{{Topic: "orders", Partition: 0, Offset: 9, LeaderEpoch: -1}})
		return err
	}
	t.Run("the first", func(t *testing.T) { crashSweep(t, 1, commit, history) })
	t.Run("another", func(t *testing.T) { crashSweep(t, 1, commit, history, compacted, history) })
}

// TestErrorInCompaction: a process in which an operation fails once goes on, and what it commits
// afterwards is what the log says.
func TestErrorInCompaction(t *testing.T) {
	start := settled(t, func(l *lab) {
		l.joins(t, join("g", "a", "orders"))
		l.small = 1
		for i := range 3 { // so that later there are segments to be joined
			l.moves(t, "g", "a", tp("orders", 0), int64(i))
			l.commits(t, "g", "a")
		}
	})
	commits := func(fs *faultfs.FS) (last int64) {
		last = -1
		_ = runOn(fs, 1, func(co *Coordinator) error { // after some errors nothing is done any more
			for i := range int64(8) {
				_, err := co.Commit(t.Context(), "g", "a", 1, []Position{{Topic: "orders", Partition: 0, Offset: i, LeaderEpoch: -1}})
				if err == nil {
					last = i
				}
			}
			return nil
		})
		return last
	}
	total := faultfs.Wrap(start.CrashClone(memfs.CrashOptions{Unsynced: 1}), nil)
	commits(total)
	for n := range total.Ops() {
		left := start.CrashClone(memfs.CrashOptions{Unsynced: 1})
		last := commits(faultfs.Wrap(left, faultfs.FailAt(n+1)))
		got, err := summary(left)
		if want := fmt.Sprintf(" orders:0@%d ", last); err != nil || last >= 0 && !strings.Contains(got, want) {
			t.Errorf("operation %d of %d failed: %q, %v, want%s", n+1, total.Ops(), got, err, want)
		}
	}
}

// TestNothingIsLeftOfCompaction: a compaction that died leaves files, and the next command
// clears them away.
func TestNothingIsLeftOfCompaction(t *testing.T) {
	l := newLab(t, "orders=2")
	l.joins(t, join("g", "a", "orders"))
	l.commits(t, "g", "a")
	l.commits(t, "g", "a")
	dir := filepath.Join(dataDir, cluster.CoordinatorDir, tp(Topic, 0).Dir())
	list, err := segment.List(l.fs, dir)
	if err != nil || len(list.Segments) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, name := range []string{"00000000000000000000.log.cleaned", "00000000000000000000.index.cleaned", "00000000000000000002.log.swap"} {
		if err := vfs.WriteAtomic(l.fs, filepath.Join(dir, name), []byte("unfinished")); err != nil {
			t.Fatal(err)
		}
	}
	want := summaryOf(l.groups(t))
	l.commits(t, "g", "a")
	if list, err = segment.List(l.fs, dir); err != nil || len(list.Leftovers) > 0 {
		t.Errorf("%v, %v", list.Leftovers, err)
	}
	equal(t, "groups", want, summaryOf(l.groups(t)))
}

// TestCompactionStaysSmall: a log of many commits stays as small as what it says.
func TestCompactionStaysSmall(t *testing.T) {
	l := newLab(t, "orders=2")
	l.small = 4096
	l.joins(t, join("g", "a", "orders"))
	l.must(t, func(co *Coordinator) error {
		for i := range int64(1000) {
			_, err := co.Commit(t.Context(), "g", "a", 1, []Position{{Topic: "orders", Partition: int32(i % 2), Offset: i, LeaderEpoch: -1}})
			if err != nil {
				return err
			}
		}
		size, err := co.log.Size()
		if limit := 2*l.small + 1024; size > limit {
			t.Errorf("%d bytes, want at most %d", size, limit)
		}
		return err
	})
	g, _ := l.groups(t).Group("g")
	if got := fmt.Sprint(g.Offsets()); got != "[{orders 0 998 -1} {orders 1 999 -1}]" {
		t.Error(got)
	}
}

// TestConcurrentCompaction: processes that commit for their groups, and each compact the log
// that they share, lose nothing; those that only look see nothing that was not so.
func TestConcurrentCompaction(t *testing.T) {
	const groups, commits = 4, 60
	l := &lab{fs: vfs.OS(), now: time.UnixMilli(1767225600000), small: 2048}
	data := filepath.Join(t.TempDir(), "d")
	inDir := func() *cluster.Cluster { return openAt(t, l, data) }
	if _, err := cluster.Init(t.Context(), l.fs, data, cluster.NewCluster{BrokerIDs: []int32{1}, Now: l.now}); err != nil {
		t.Fatal(err)
	}
	c := inDir()
	if _, err := c.CreateTopic(t.Context(), cluster.NewTopic{Name: "orders", Partitions: 1, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	readers.Go(func() { watch(t, inDir(), stop) })
	for n := range groups {
		writers.Go(func() { commitAll(t, inDir, fmt.Sprint("g", n), commits) })
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	c = inDir()
	all, err := NewCoordinator(c).Groups()
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		if o, _ := g.Offset(tp("orders", 0)); o.Offset != commits-1 {
			t.Errorf("%s is at %d", g.ID, o.Offset)
		}
	}
	if len(all) != groups {
		t.Errorf("%d groups", len(all))
	}
}

func openAt(t *testing.T, l *lab, data string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(l.fs, data, cluster.Options{Now: func() time.Time { return l.now }, LockTimeout: time.Minute, CoordinatorBytes: l.small})
	if err != nil {
		t.Error(err)
	}
	return c
}

// commitAll commits rising offsets, each in a process of its own.
func commitAll(t *testing.T, open func() *cluster.Cluster, group string, commits int) {
	for i := range int64(commits) {
		c := open()
		co := NewCoordinator(c)
		err := co.ResetOffsets(context.Background(), group, false, func(*Group) ([]Position, error) {
			return []Position{{Topic: "orders", Offset: i, LeaderEpoch: -1}}, nil
		})
		if err := errors.Join(err, co.Close(context.Background()), c.Close()); err != nil {
			t.Error(err)
			return
		}
	}
}

// watch follows the log: no group's offset falls, or is ever gone.
func watch(t *testing.T, c *cluster.Cluster, stop chan struct{}) {
	last := map[string]int64{}
	for {
		select {
		case <-stop:
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			return
		default:
		}
		all, err := NewCoordinator(c).Groups()
		if err != nil {
			t.Error(err)
		}
		now := map[string]int64{}
		for _, g := range all {
			o, _ := g.Offset(tp("orders", 0))
			now[g.ID] = o.Offset
		}
		for id, offset := range last {
			if at, ok := now[id]; !ok || at < offset {
				t.Errorf("%s was at %d, now at %d (%t)", id, offset, at, ok)
			}
		}
		last = now
	}
}
