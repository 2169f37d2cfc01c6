package txn_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/txn"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

const (
	moment  int64 = 1767225600000 // 2026-01-01
	dataDir       = "d"
	minute  int32 = 60000
)

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// lab is a cluster of one broker in memory, with a topic t of two partitions and a clock that
// only the test moves.
type lab struct {
	fs    vfs.FS
	now   int64
	armed string // the failpoint that fires
	small int64  // the size from which on the coordinator's logs are compacted; 0 for the default
}

var errFailpoint = errors.New("the failpoint fired")

func (l *lab) Armed(name string) bool { return name == l.armed }
func (l *lab) Failpoint(name string) error {
	if name == l.armed {
		return errFailpoint
	}
	return nil
}

func newLab(t fataler) *lab {
	t.Helper()
	l := &lab{fs: memfs.New(), now: moment}
	ctx := context.Background()
	if _, err := cluster.Init(ctx, l.fs, dataDir, cluster.NewCluster{BrokerIDs: []int32{1}, Now: time.UnixMilli(moment)}); err != nil {
		t.Fatal(err)
	}
	c := l.open(t)
	if _, err := c.CreateTopic(ctx, cluster.NewTopic{Name: "t", Partitions: 2, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) open(t fataler) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(l.fs, dataDir, cluster.Options{Now: func() time.Time { return time.UnixMilli(l.now) }, Fail: l, CoordinatorBytes: l.small})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run is one command: a coordinator for as long as do takes.
func (l *lab) run(do func(*cluster.Cluster, *txn.Coordinator) error) error {
	c, err := cluster.Open(l.fs, dataDir, cluster.Options{Now: func() time.Time { return time.UnixMilli(l.now) }, Fail: l, CoordinatorBytes: l.small})
	if err != nil {
		return err
	}
	co := txn.NewCoordinator(c)
	err = do(c, co)
	return errors.Join(err, co.Close(context.Background()), c.Close())
}

func (l *lab) begin(id string) (t txn.Transaction, err error) {
	err = l.run(func(_ *cluster.Cluster, co *txn.Coordinator) error {
		t, err = co.Begin(context.Background(), id, minute)
		return err
	})
	return t, err
}

func (l *lab) end(id string, epoch int32, commit bool) (t txn.Transaction, err error) {
	err = l.run(func(_ *cluster.Cluster, co *txn.Coordinator) error {
		t, err = co.End(context.Background(), id, epoch, commit)
		return err
	})
	return t, err
}

// finish goes on with what was decided.
func (l *lab) finish() (ended []txn.Finished, err error) {
	err = l.run(func(_ *cluster.Cluster, co *txn.Coordinator) error {
		done, left, err := co.Finish(context.Background())
		ended = done
		if err == nil && len(left) > 0 {
			err = left[0].Err
		}
		return err
	})
	return ended, err
}

// produce writes one batch of values to a partition of t, as a run of the id.
func (l *lab) produce(id string, epoch int32, partition int, values ...string) error {
	return l.run(func(c *cluster.Cluster, co *txn.Coordinator) error {
		ctx := context.Background()
		s, err := co.Open(ctx, id, epoch)
		if err != nil {
			return err
		}
		topic, err := client.OpenTopic(c, "t", client.TopicOptions{LeaderEpoch: client.AnyEpoch, Sync: true})
		if err != nil {
			return err
		}
		sequences, err := s.Sequences(ctx, "t", 2)
		if err != nil {
			return err
		}
		q, err := request(s.Identity(), sequences[partition], partition, values)
		if err != nil {
			return err
		}
		_, err = s.Leader("t", topic).Append(ctx, q, client.AcksAll)
		return errors.Join(err, topic.Close(ctx))
	})
}

func request(i client.Identity, sequence int32, partition int, values []string) (client.Request, error) {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseSequence, m.Transactional = i.ProducerID, i.Epoch, sequence, i.Transactional
	b := record.NewBuilder()
	b.Reset(m)
	for n, v := range values {
		b.Append(&record.Record{Offset: int64(n), Timestamp: moment, Value: []byte(v)})
	}
	frame, err := b.Build(nil)
	return client.Request{Partition: partition, Frames: frame, Batches: []client.Batch{{Size: len(frame), Records: len(values)}}}, err
}

// sendOffset makes an offset of group g in partition 0 of t part of the transaction.
func (l *lab) sendOffset(id string, epoch int32, offset int64) error {
	return l.run(func(c *cluster.Cluster, co *txn.Coordinator) error {
		ctx := context.Background()
		s, err := co.Open(ctx, id, epoch)
		if err != nil {
			return err
		}
		groups := group.NewCoordinator(c)
		_, err = s.SendOffsets(ctx, groups, "g", group.Pending{}, []group.Position{{Topic: "t", Offset: offset, LeaderEpoch: -1}})
		return errors.Join(err, groups.Close(ctx))
	})
}

// visible is what a read_committed reader sees: the values of both partitions and the
// committed offset of g, as "0: a b | 1: c | g 5".
func (l *lab) visible(t fataler) string {
	t.Helper()
	c := l.open(t)
	defer c.Close()
	var out strings.Builder
	for p := range int32(2) {
		fmt.Fprintf(&out, "%d:%s | ", p, l.committed(t, c, p))
	}
	g, ok := l.groups(t, c).Group("g")
	if !ok {
		return out.String() + "g -"
	}
	if o, ok := g.Offset(store.TopicPartition{Topic: "t"}); ok {
		return out.String() + fmt.Sprintf("g %d", o.Offset)
	}
	return out.String() + "g -"
}

func (l *lab) committed(t fataler, c *cluster.Cluster, partition int32) (out string) {
	t.Helper()
	log, err := c.Reader(store.TopicPartition{Topic: "t", Partition: partition}, 1)
	if err != nil {
		t.Fatal(err)
	}
	end, damage, err := log.End()
	if err != nil || damage != nil {
		t.Fatalf("partition %d: %v, %v", partition, damage, err)
	}
	isolation, err := client.ReadIsolation(log, 0, end)
	if err != nil {
		t.Fatal(err)
	}
	q := client.Fetch{Log: log, To: isolation.LastStable, Isolation: isolation}
	_, err = client.NewFetcher().Run(q, func(_ *record.Batch, r *record.Record) error {
		out += " " + string(r.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (l *lab) groups(t fataler, c *cluster.Cluster) *group.State {
	t.Helper()
	s := group.NewState()
	log, err := c.CoordinatorLog(store.TopicPartition{Topic: group.Topic}).Reader()
	if err != nil {
		t.Fatal(err)
	}
	if log != nil {
		if _, err := s.ReadLog(log); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// markers counts the markers in a partition.
func (l *lab) markers(t fataler, dir string) (n int) {
	t.Helper()
	log, err := store.OpenReader(l.fs, dir, store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := log.From(0)
	defer c.Close()
	for c.Next() {
		if c.Damage() == nil && c.Batch().IsControl() {
			n++
		}
	}
	return n
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// named requires an error with Kafka's name.
func named(t fataler, err error, name string) {
	t.Helper()
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Name != name {
		t.Fatalf("error %v, want %s", err, name)
	}
}

var stateLog = store.TopicPartition{Topic: txn.Topic}

// cutTails cuts torn batches off the ends of all logs, as recover does after a power cut, and
// drops the indexes, which are derived: a cut may have kept an entry and lost its batch.
func (l *lab) cutTails(t fataler) (repaired bool) {
	t.Helper()
	for _, dir := range []string{"d/broker-1/t-0", "d/broker-1/t-1", "d/coordinator/__consumer_offsets-0", "d/coordinator/__transaction_state-0"} {
		r, err := store.OpenReader(l.fs, dir, store.ReaderOptions{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // made with the first offset
		}
		if err != nil {
			t.Fatal(err)
		}
		_, damage, err := r.End()
		if err != nil {
			t.Fatal(err)
		}
		l.dropIndexes(t, dir)
		if damage == nil {
			continue
		}
		f, err := l.fs.OpenRW(damage.Path)
		if err != nil {
			t.Fatal(err)
		}
		must(t, errors.Join(f.Truncate(damage.Pos), f.Sync(), f.Close()))
		repaired = true
	}
	return repaired
}

func (l *lab) dropIndexes(t fataler, dir string) {
	t.Helper()
	list, err := segment.List(l.fs, dir)
	must(t, err)
	for _, s := range list.Segments {
		for _, name := range []string{s.Index, s.TimeIndex} {
			if name != "" {
				must(t, l.fs.Remove(filepath.Join(dir, name)))
			}
		}
	}
}

func contains(s, part string) bool { return strings.Contains(s, part) }
