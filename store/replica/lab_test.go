package replica_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/replica"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// tb is what a test and a property have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func now() time.Time { return epoch }

// lab is a cluster in memory whose clock stands still.
type lab struct {
	tb
	ctx context.Context
	fs  vfs.FS
	c   *cluster.Cluster
	now time.Time
}

// tp is the partition of every test.
var tp = store.TopicPartition{Topic: "t", Partition: 0}

// newLab makes brokers 1 to n and topic t, replicated to all of them.
func newLab(t tb, brokers int, configs ...string) *lab {
	return labOn(t, memfs.New(), brokers, configs...)
}

func labOn(t tb, fs vfs.FS, brokers int, configs ...string) *lab {
	t.Helper()
	l := &lab{tb: t, ctx: context.Background(), fs: fs, now: epoch}
	_, err := cluster.Init(l.ctx, fs, "data", cluster.NewCluster{BrokerIDs: cluster.BrokerRange(brokers), Now: l.now})
	l.must(err)
	l.open(nil)
	set, err := cluster.ParseConfigs(configs)
	l.must(err)
	_, err = l.c.CreateTopic(l.ctx, cluster.NewTopic{Name: tp.Topic, Partitions: 1, ReplicationFactor: brokers, Configs: set})
	l.must(err)
	return l
}

// open opens the cluster, as every command does.
func (l *lab) open(fail store.Failpoints) {
	l.Helper()
	c, err := cluster.Open(l.fs, "data", cluster.Options{Now: func() time.Time { return l.now }, Fail: fail})
	l.must(err)
	l.c = c
}

func (l *lab) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// refused requires an error of a class and a name.
func (l *lab) refused(err error, class store.Class, name string) {
	l.Helper()
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Class != class || e.Name != name {
		l.Fatalf("got %v, want %s", err, name)
	}
}

// frame is a batch of one record.
func frame(value string) []byte { return build(record.NoProducer(), value) }

// lead appends a batch for each value to the leader's log, as acks=1.
func (l *lab) lead(values ...string) {
	l.Helper()
	l.must(l.tryLead(values...))
}

func (l *lab) tryLead(values ...string) error {
	leader, epoch, err := l.c.Meta().LeaderOf(tp)
	if err != nil {
		return err
	}
	log, err := l.c.OpenReplica(l.ctx, tp, leader)
	if err != nil {
		return err
	}
	for _, v := range values {
		if _, err := log.Append(frame(v), epoch); err != nil {
			return errors.Join(err, log.Close())
		}
	}
	return log.Close()
}

// leadFrame appends a frame to the leader's log.
func (l *lab) leadFrame(raw []byte) {
	l.Helper()
	leader, epoch, err := l.c.Meta().LeaderOf(tp)
	l.must(err)
	log, err := l.c.OpenReplica(l.ctx, tp, leader)
	l.must(err)
	_, err = log.Append(raw, epoch)
	l.must(errors.Join(err, log.Close()))
}

// round runs one round and requires it to succeed.
func (l *lab) round(o replica.Options) []replica.Fetched {
	l.Helper()
	moved, err := l.tryRound(o)
	l.must(err)
	return moved
}

func (l *lab) tryRound(o replica.Options) ([]replica.Fetched, error) {
	f := replica.NewFetcher(l.c, o)
	moved, err := f.Fetch(l.ctx, tp)
	return moved, errors.Join(err, f.Close(l.ctx))
}

// log is what a replica holds: "offset/epoch value" of each record.
func (l *lab) log(broker int32) []string {
	l.Helper()
	r, err := l.c.LockedReader(tp, broker)
	l.must(err)
	cur := r.From(0)
	defer cur.Close()
	var got []string
	records := record.NewReader()
	for cur.Next() {
		if d := cur.Damage(); d != nil {
			l.Fatal(d)
		}
		for records.Reset(cur.Batch()); records.Next(); {
			got = append(got, fmt.Sprintf("%d/%d %s", records.Record().Offset, cur.Batch().LeaderEpoch(), records.Record().Value))
		}
		l.must(records.Err())
	}
	l.must(cur.Err())
	return got
}

// marks are the log end and the high watermark of a replica.
func (l *lab) marks(broker int32) (end, mark int64) {
	l.Helper()
	r, err := l.c.LockedReader(tp, broker)
	l.must(err)
	end, damage, err := r.End()
	if damage != nil {
		l.Fatal(damage)
	}
	l.must(err)
	mark, err = l.c.HighWatermark(tp, broker, end)
	l.must(err)
	return end, mark
}

func (l *lab) partition() *cluster.Partition {
	l.Helper()
	l.must(l.c.Reload())
	_, p, err := l.c.Meta().Partition(tp)
	l.must(err)
	return p
}

func (l *lab) epochs(broker int32) checkpoint.Epochs {
	l.Helper()
	h, err := checkpoint.ReadEpochs(l.fs, filepath.Join(l.c.ReplicaDir(tp, broker), checkpoint.EpochFile))
	l.must(err)
	return h
}

func (l *lab) stop(broker int32) { l.Helper(); l.must(replica.Stop(l.ctx, l.c, broker)) }
func (l *lab) crash(broker int32) {
	l.Helper()
	l.must(replica.Crash(l.ctx, l.c, broker, replica.CrashOptions{}))
}

func (l *lab) start(broker int32) replica.Started {
	l.Helper()
	s, err := replica.Start(l.ctx, l.c, broker, func(context.Context) (int, error) { return l.repair(broker) })
	l.must(err)
	return s
}

func (l *lab) promote(broker int32, v replica.Vote) replica.Election {
	l.Helper()
	e, err := replica.Promote(l.ctx, l.c, tp, broker, v)
	l.must(err)
	return e
}

// repair is the plainest recovery: it cuts at the first damage, drops what stands behind,
// and all derived files.
func (l *lab) repair(broker int32) (repaired int, err error) {
	l.Helper()
	dir := l.c.ReplicaDir(tp, broker)
	r, err := store.OpenReader(l.fs, dir, store.ReaderOptions{})
	l.must(err)
	cur := r.From(0)
	base, pos := int64(-1), int64(0)
	for cur.Next() {
		if cur.Damage() != nil {
			base, pos, repaired = cur.Segment(), cur.Pos(), 1
			break
		}
	}
	l.must(errors.Join(cur.Err(), cur.Close()))
	list, err := segment.List(l.fs, dir)
	l.must(err)
	for _, s := range list.Segments {
		drop := []string{s.Index, s.TimeIndex}
		if repaired > 0 {
			drop = append(drop, s.Snapshot)
		}
		if repaired > 0 && s.Base > base {
			drop = append(drop, s.Log)
		}
		for _, name := range drop {
			if name != "" {
				l.must(l.fs.Remove(filepath.Join(dir, name)))
			}
		}
		if s.Base == base {
			l.cut(filepath.Join(dir, s.Log), pos)
		}
	}
	return repaired, nil
}

func (l *lab) cut(name string, size int64) {
	l.Helper()
	f, err := l.fs.OpenRW(name)
	l.must(err)
	l.must(errors.Join(f.Truncate(size), f.Close()))
}

// testing's own types fit.
var _ tb = (*testing.T)(nil)

// build is a batch of the values.
func build(m record.Meta, values ...string) []byte {
	b := record.NewBuilder()
	b.Reset(m)
	for i, v := range values {
		b.Append(&record.Record{Offset: int64(i), Timestamp: epoch.UnixMilli(), Value: []byte(v)})
	}
	raw, err := b.Build(nil)
	if err != nil {
		return nil
	}
	return raw
}

func twoRecords(value string) []byte { return build(record.NoProducer(), value, value) }

// mkb1 is a frame of MiniKafka's.
func mkb1(value string) []byte {
	m := record.NoProducer()
	m.Format = record.MKB1
	return build(m, value)
}
