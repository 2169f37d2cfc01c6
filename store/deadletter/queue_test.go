package deadletter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/compress"
	"logdir/store/deadletter"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

var now = time.UnixMilli(1767225600000)

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// newCluster is a cluster in memory with the topic t of two partitions.
func newCluster(t fataler, configs map[string]string) *memfs.FS {
	t.Helper()
	fs, ctx := memfs.New(), context.Background()
	if _, err := cluster.Init(ctx, fs, "d", cluster.NewCluster{BrokerIDs: []int32{1}, Now: now}); err != nil {
		t.Fatal(err)
	}
	err := on(fs, func(c *cluster.Cluster) error {
		_, err := c.CreateTopic(ctx, cluster.NewTopic{Name: "t", Partitions: 2, ReplicationFactor: 1, Configs: configs})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// on runs one command.
func on(fs vfs.FS, do func(*cluster.Cluster) error) error {
	c, err := cluster.Open(fs, "d", cluster.Options{Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// batch is a frame of records with the values given, each with a key and a header.
func batch(t fataler, m record.Meta, values ...string) []byte {
	t.Helper()
	b := record.NewBuilder()
	b.Reset(m)
	for i, v := range values {
		b.Append(&record.Record{
			Offset: int64(i), Timestamp: now.UnixMilli() + int64(i), Key: []byte("k" + v), Value: []byte(v),
			Headers: []record.Header{{Key: []byte("own"), Value: nil}},
		})
	}
	frame, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// divert diverts batches of partition 0 in one session.
func divert(fs vfs.FS, frames ...[]byte) error {
	return on(fs, func(c *cluster.Cluster) error {
		q := deadletter.Open(c, "t")
		var err error
		for _, f := range frames {
			if err == nil {
				err = q.Divert(context.Background(), 0, f, 3)
			}
		}
		return errors.Join(err, q.Close(context.Background()))
	})
}

// text writes a batch as "2: k=v@0 own,logdir.dlq.reason=partition-full ...".
func text(b *record.Batch) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d %s %v:", b.Count(), b.Codec(), b.ProducerID())
	r := record.NewReader()
	for r.Reset(b); r.Next(); {
		fmt.Fprintf(&s, " %s=%s@%d", r.Record().Key, r.Record().Value, r.Record().Timestamp-now.UnixMilli())
		for _, h := range r.Record().Headers {
			fmt.Fprintf(&s, " %s=%s", h.Key, h.Value)
		}
	}
	return s.String()
}

// queued lists the batches of a log from an offset on.
func queued(t fataler, log *store.LogReader, from int64) (list []string) {
	t.Helper()
	if log == nil {
		return nil
	}
	c := log.From(from)
	for c.Next() {
		if c.Damage() != nil {
			t.Fatal(c.Damage())
		}
		list = append(list, text(c.Batch()))
	}
	if err := errors.Join(c.Err(), c.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}

// pending lists the batches of the queue of partition 0 that are pending.
func pending(t fataler, fs vfs.FS) (list []string) {
	t.Helper()
	err := on(fs, func(c *cluster.Cluster) error {
		log, err := deadletter.Open(c, "t").Reader(0)
		if log != nil && err == nil {
			list = queued(t, log, log.Start())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A batch stays one, keeps its codec and its own headers, and loses its producer.
func TestDivertAsUnit(t *testing.T) {
	fs := newCluster(t, nil)
	m := record.NoProducer()
	m.Codec, m.ProducerID, m.ProducerEpoch, m.BaseSequence = compress.LZ4, 1000, 2, 7
	if err := divert(fs, batch(t, m, "a", "b"), batch(t, record.NoProducer(), "c")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 lz4 -1: ka=a@0 own= logdir.dlq.reason=partition-full logdir.dlq.retries=3 kb=b@1 own= logdir.dlq.reason=partition-full logdir.dlq.retries=3",
		"1 none -1: kc=c@0 own= logdir.dlq.reason=partition-full logdir.dlq.retries=3",
	}
	if diff := cmp.Diff(want, pending(t, fs)); diff != "" {
		t.Error(diff)
	}
}

func TestDivertRecord(t *testing.T) {
	fs := newCluster(t, nil)
	err := on(fs, func(c *cluster.Cluster) error {
		q := deadletter.Open(c, "t")
		why := deadletter.Cause{Reason: deadletter.HandlerFailed, Retries: 2, Group: "mail"}
		err := q.DivertRecord(t.Context(), 0, &record.Record{Offset: 99, Timestamp: now.UnixMilli(), Value: []byte("v")}, why)
		return errors.Join(err, q.Close(t.Context()))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 none -1: =v@0 logdir.dlq.reason=handler-failed logdir.dlq.retries=2 logdir.dlq.group=mail"}
	if diff := cmp.Diff(want, pending(t, fs)); diff != "" {
		t.Error(diff)
	}
}

// retry delivers the queue of partition 0; take says how many batches of each run are
// taken.
func retry(fs vfs.FS, take func(deadletter.Run) (int, error)) (records int, err error) {
	err = on(fs, func(c *cluster.Cluster) error {
		var err error
		records, err = deadletter.Open(c, "t").Retry(context.Background(), 0, record.V2,
			func(_ context.Context, run deadletter.Run) (int, error) { return take(run) })
		return err
	})
	return records, err
}

var errNoRoom = errors.New("no room")

// What is taken is pending no more; the first that is not, and all behind it, are.
func TestRetryStopsAtTheFirstFailure(t *testing.T) {
	fs := newCluster(t, nil)
	if err := divert(fs, batch(t, record.NoProducer(), "a", "b"), batch(t, record.NoProducer(), "c"), batch(t, record.NoProducer(), "d")); err != nil {
		t.Fatal(err)
	}
	records, err := retry(fs, func(deadletter.Run) (int, error) { return 2, errNoRoom })
	if records != 3 || !errors.Is(err, errNoRoom) {
		t.Errorf("%d records, %v", records, err)
	}
	if left := pending(t, fs); len(left) != 1 || !strings.HasPrefix(left[0], "1 none -1: kd=d") {
		t.Errorf("pending %q", left)
	}
	var status []deadletter.Status
	if err := on(fs, func(c *cluster.Cluster) (err error) { status, err = deadletter.List(c); return err }); err != nil {
		t.Fatal(err)
	}
	want := []deadletter.Status{{TopicPartition: store.TopicPartition{Topic: "t"}, Records: 4, Pending: 1}}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
	if records, err := retry(fs, func(deadletter.Run) (int, error) { return 1, nil }); records != 1 || err != nil {
		t.Errorf("the rest: %d records, %v", records, err)
	}
	called := false
	if records, err := retry(fs, func(deadletter.Run) (int, error) { called = true; return 0, nil }); records != 0 || err != nil || called {
		t.Errorf("nothing is pending: %d records, called %v, %v", records, called, err)
	}
}

// What is delivered is what was diverted, whatever it was.
func TestRetryRestoresEveryRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := newCluster(t, nil)
		var frames [][]byte
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			m := record.NoProducer()
			m.Codec = compress.Codec(rapid.IntRange(0, 4).Draw(t, "codec"))
			values := rapid.SliceOfN(rapid.StringN(0, 20, -1), 1, 5).Draw(t, "values")
			frames = append(frames, batch(t, m, values...))
		}
		if err := divert(fs, frames...); err != nil {
			t.Fatal(err)
		}
		var got []byte
		_, err := retry(fs, func(run deadletter.Run) (int, error) {
			got = append(got, run.Frames...)
			return len(run.Batches), nil
		})
		if want := bytes.Join(frames, nil); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("delivered %x, want %x, %v", got, want, err)
		}
	})
}

func TestPurge(t *testing.T) {
	fs := newCluster(t, nil)
	if err := divert(fs, batch(t, record.NoProducer(), "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := retry(fs, func(deadletter.Run) (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if err := on(fs, func(c *cluster.Cluster) error { return deadletter.Open(c, "t").Purge(t.Context(), 0) }); err != nil {
		t.Fatal(err)
	}
	if err := divert(fs, batch(t, record.NoProducer(), "new")); err != nil {
		t.Fatal(err)
	}
	if left := pending(t, fs); len(left) != 1 || !strings.Contains(left[0], "knew=new") {
		t.Errorf("behind a purge begins an empty queue, not %q", left)
	}
}

// retryAll is dlq retry.
func retryAll(fs vfs.FS) error {
	return on(fs, func(c *cluster.Cluster) error {
		topic, err := client.OpenTopic(c, "t", client.TopicOptions{LeaderEpoch: client.AnyEpoch, Sync: true})
		if err != nil {
			return err
		}
		deliver := func(ctx context.Context, run deadletter.Run) (int, error) {
			q := client.Request{Frames: run.Frames}
			for _, b := range run.Batches {
				q.Batches = append(q.Batches, client.Batch(b))
			}
			reply, err := topic.Append(ctx, q, client.AcksLeader)
			if unsynced := topic.Close(ctx); unsynced != nil {
				return 0, unsynced
			}
			return len(reply.Answers), err
		}
		_, err = deadletter.Open(c, "t").Retry(context.Background(), 0, record.V2, deliver)
		return err
	})
}

// values lists the values that stand in the partition or are pending.
func values(t *testing.T, fs vfs.FS) map[string]int {
	t.Helper()
	seen := map[string]int{}
	count := func(list []string) {
		for _, b := range list {
			for _, v := range []string{"a", "b", "c"} {
				seen[v] += strings.Count(b, " k"+v+"=")
			}
		}
	}
	err := on(fs, func(c *cluster.Cluster) error {
		log, err := c.Reader(store.TopicPartition{Topic: "t"}, 1)
		if err == nil {
			count(queued(t, log, 0))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count(pending(t, fs))
	return seen
}

// TestPowerCutInsideRetry: whenever the power goes, no record is lost: it is pending or in the
// partition, or both, if the note of the delivery was not written.
func TestPowerCutInsideRetry(t *testing.T) {
	start := newCluster(t, nil)
	if err := divert(start, batch(t, record.NoProducer(), "a", "b"), batch(t, record.NoProducer(), "c")); err != nil {
		t.Fatal(err)
	}
	clone := func() *memfs.FS { return start.CrashClone(memfs.CrashOptions{Unsynced: 1}) }
	total := faultfs.Wrap(clone(), nil)
	if err := retryAll(total); err != nil {
		t.Fatal(err)
	}
	twice := 0
	for n := 1; n <= total.Ops()+1; n++ {
		fs := clone()
		err := retryAll(faultfs.Wrap(fs, faultfs.CrashAt(n)))
		for _, unsynced := range []float64{0, 1} {
			got := values(t, fs.CrashClone(memfs.CrashOptions{Unsynced: unsynced}))
			for _, v := range []string{"a", "b", "c"} {
				if got[v] < 1 || got[v] > 2 || err == nil && got[v] != 1 {
					t.Fatalf("crash at operation %d of %d, %v kept: %s stands %d times, %v", n, total.Ops(), unsynced, v, got[v], err)
				}
			}
			if got["a"] == 2 {
				twice++
			}
		}
	}
	if twice == 0 {
		t.Error("no crash fell between the delivery and the note of it: the test tests nothing")
	}
}

// TestPowerCutInsideDivert: what was answered is there.
func TestPowerCutInsideDivert(t *testing.T) {
	start := newCluster(t, nil)
	clone := func() *memfs.FS { return start.CrashClone(memfs.CrashOptions{Unsynced: 1}) }
	frame := batch(t, record.NoProducer(), "a")
	total := faultfs.Wrap(clone(), nil)
	if err := divert(total, frame); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops()+1; n++ {
		fs := clone()
		err := divert(faultfs.Wrap(fs, faultfs.CrashAt(n)), frame)
		for _, unsynced := range []float64{0, 1} {
			left := fs.CrashClone(memfs.CrashOptions{Unsynced: unsynced})
			if err == nil && len(pending(t, left)) != 1 {
				t.Fatalf("crash at operation %d of %d, %v kept: the dead letter is gone", n, total.Ops(), unsynced)
			}
			if again := divert(left, frame); again != nil && !isDamage(again) {
				t.Fatalf("crash at operation %d of %d, %v kept: %v", n, total.Ops(), unsynced, again)
			}
		}
	}
}

// isDamage tells a torn tail, which recover cuts.
func isDamage(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && e.Class == store.Damage
}
