package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// newCluster makes a cluster of so many brokers, in memory, with the topic t.
func newCluster(t fataler, brokers int, n cluster.NewTopic) *cluster.Cluster {
	t.Helper()
	ctx, fsys := context.Background(), memfs.New()
	_, err := cluster.Init(ctx, fsys, "d", cluster.NewCluster{BrokerIDs: cluster.BrokerRange(brokers), Now: start})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(fsys, "d", cluster.Options{Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	n.Name, n.Partitions, n.ReplicationFactor = "t", max(n.Partitions, 1), max(n.ReplicationFactor, 1)
	if _, err := c.CreateTopic(ctx, n); err != nil {
		t.Fatal(err)
	}
	return c
}

func openTopic(t fataler, c *cluster.Cluster, o TopicOptions) *Topic {
	t.Helper()
	topic, err := OpenTopic(c, "t", o)
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func outcomeText(r Result) string {
	return fmt.Sprintf("%v %d..%d", r.Status, r.BaseOffset, r.LastOffset)
}

// produce sends values to partition 0, a batch each, and returns the outcomes.
func produce(t fataler, topic *Topic, o Sending, identity Identity, values ...string) (outcomes []string, err error) {
	t.Helper()
	o.Topic, o.Sleep = "t", noSleep
	s := NewSession(topic, o, func(r Result) error {
		outcomes = append(outcomes, outcomeText(r))
		return nil
	})
	a := NewAccumulator(Batching{Partitions: 1, Size: 1, Linger: -1, Identity: identity}, ignore)
	for _, v := range values {
		if err := a.Append(0, value(v), start); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(context.Background(), a.Take()); err != nil {
		t.Fatal(err)
	}
	return outcomes, s.Err()
}

// fetch reads the values of a partition as "offset=value".
func fetch(t fataler, c *cluster.Cluster, partition int32, from int64) (values []string) {
	t.Helper()
	log, err := c.Reader(store.TopicPartition{Topic: "t", Partition: partition}, 1)
	if err != nil {
		t.Fatal(err)
	}
	end, _, err := log.End()
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewFetcher().Run(Fetch{Log: log, From: from, To: end}, func(_ *record.Batch, r *record.Record) error {
		values = append(values, fmt.Sprintf("%d=%s", r.Offset, r.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

var anyEpoch = TopicOptions{LeaderEpoch: AnyEpoch, Sync: true}

func TestTwoSessionsSeeEachOther(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{Configs: map[string]string{cluster.SegmentBytes: "150"}})
	one, two := openTopic(t, c, anyEpoch), openTopic(t, c, anyEpoch)
	for i, topic := range []*Topic{one, two, one, one, two} {
		got, err := produce(t, topic, Sending{Acks: AcksLeader}, NoIdentity, fmt.Sprint("v", i))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "outcome", []string{fmt.Sprintf("acked %d..%d", i, i)}, got)
	}
	check(t, "log", []string{"0=v0", "1=v1", "2=v2", "3=v3", "4=v4"}, fetch(t, c, 0, 0))
	for _, topic := range []*Topic{one, two} {
		if err := topic.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestManyPartitionsKeepFewLogsOpen(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{Partitions: cluster.MaxOpenLogs + 9})
	topic := openTopic(t, c, anyEpoch)
	for n := range cluster.MaxOpenLogs + 9 {
		a := NewAccumulator(plain(cluster.MaxOpenLogs+9, 1), ignore)
		fill(t, a, n, "v")
		for _, q := range a.Take() {
			if _, err := topic.Append(t.Context(), q, AcksLeader); err != nil {
				t.Fatal(err)
			}
		}
		if topic.logs.Len() > cluster.MaxOpenLogs {
			t.Fatalf("%d logs are open", topic.logs.Len())
		}
	}
	if err := topic.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, "the first one", []string{"0=v"}, fetch(t, c, 0, 0))
}

func TestLeaderEpochs(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{})
	err := c.Update(t.Context(), func(m *cluster.Meta) error { m.Topics[0].Partitions[0].LeaderEpoch = 5; return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		epoch int32
		class store.Class
		name  string
	}{
		{4, store.Fenced, "FENCED_LEADER_EPOCH"},
		{6, store.Refused, "UNKNOWN_LEADER_EPOCH"},
	} {
		_, err := produce(t, openTopic(t, c, TopicOptions{LeaderEpoch: x.epoch}), Sending{Acks: AcksLeader}, NoIdentity, "a")
		checkStoreError(t, err, x.class, x.name)
	}
	got, err := produce(t, openTopic(t, c, TopicOptions{LeaderEpoch: 5}), Sending{Acks: AcksLeader}, NoIdentity, "a")
	check(t, "outcome", []string{"acked 0..0"}, got)
	checkError(t, "", err)
}

// checkStoreError looks at the first of the joined errors.
func checkStoreError(t *testing.T, err error, class store.Class, name string) {
	t.Helper()
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Class != class || e.Name != name {
		t.Errorf("got %v, want class %d and %s", err, class, name)
	}
}

func TestTooFewInSyncReplicas(t *testing.T) {
	c := newCluster(t, 2, cluster.NewTopic{ReplicationFactor: 2, Configs: map[string]string{cluster.MinInSync: "2"}})
	err := c.Update(t.Context(), func(m *cluster.Meta) error { m.Topics[0].Partitions[0].LeaveISR(2); return nil })
	if err != nil {
		t.Fatal(err)
	}
	topic := openTopic(t, c, anyEpoch)
	_, err = produce(t, topic, Sending{Acks: AcksAll}, NoIdentity, "a")
	checkStoreError(t, err, store.Refused, "NOT_ENOUGH_REPLICAS")
	check(t, "log", []string(nil), fetch(t, c, 0, 0))
	got, err := produce(t, topic, Sending{Acks: AcksLeader}, NoIdentity, "b")
	check(t, "acks 1 does not ask", []string{"acked 0..0"}, got)
	checkError(t, "", err)
}

func TestNobodyReplicates(t *testing.T) {
	c := newCluster(t, 2, cluster.NewTopic{ReplicationFactor: 2})
	topic := openTopic(t, c, anyEpoch)
	got, err := produce(t, topic, Sending{Acks: AcksAll, RequestTimeout: time.Millisecond}, NoIdentity, "a")
	check(t, "outcome", []string{"timed-out 0..0"}, got)
	checkStoreError(t, err, store.NotAcked, "REQUEST_TIMED_OUT")
}

// followers copy nothing, but leave the ISR or say that they are there.
type leavers struct{ c *cluster.Cluster }

func (l leavers) Round(ctx context.Context, _ store.TopicPartition) error {
	return l.c.Update(ctx, func(m *cluster.Meta) error { m.Topics[0].Partitions[0].LeaveISR(2); return nil })
}

func TestTooFewAreLeftAfterTheAppend(t *testing.T) {
	c := newCluster(t, 2, cluster.NewTopic{ReplicationFactor: 2, Configs: map[string]string{cluster.MinInSync: "2"}})
	topic := openTopic(t, c, TopicOptions{LeaderEpoch: AnyEpoch, Followers: leavers{c}})
	got, err := produce(t, topic, Sending{Acks: AcksAll, RequestTimeout: time.Minute}, NoIdentity, "a")
	check(t, "outcome", []string{"timed-out 0..0"}, got)
	checkStoreError(t, err, store.NotAcked, "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
}

// A retry of what is in the log needs no room, however full the partition is.
func TestRetryIntoAFullPartition(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{Configs: map[string]string{cluster.MaxRecords: "1"}})
	topic := openTopic(t, c, anyEpoch)
	o := Sending{Acks: AcksAll, Retries: 1, LoseAcks: 1}
	got, err := produce(t, topic, o, Identity{ProducerID: 77}, "a", "b")
	check(t, "outcomes", []string{"duplicate 0..0", "failed -1..-1"}, got)
	checkStoreError(t, err, store.Refused, "POLICY_VIOLATION")
	if !errors.Is(err, ErrFull) {
		t.Errorf("%v does not wrap ErrFull", err)
	}
}

func TestIdentities(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{})
	ids, ctx := NewIdentities(c), t.Context()
	var got []Identity
	for _, take := range []func() (Identity, error){
		func() (Identity, error) { return ids.New(ctx) },
		func() (Identity, error) { return ids.Named(ctx, "tx") },
		func() (Identity, error) { return ids.New(ctx) },
		func() (Identity, error) { return ids.Named(ctx, "tx") },
		func() (Identity, error) { return ids.Named(ctx, "other") },
	} {
		id, err := take()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	want := []Identity{{ProducerID: 1000}, {ProducerID: 1001}, {ProducerID: 1002}, {ProducerID: 1001, Epoch: 1}, {ProducerID: 1003}}
	check(t, "identities", want, got)
}

func TestEpochsThatRunOut(t *testing.T) {
	c := newCluster(t, 1, cluster.NewTopic{})
	writeFile(t, c, "d/clients/producers.json", `{"version":1,"next_producer_id":1005,"transactional":{"tx":{"producer_id":1001,"epoch":32767}}}`)
	id, err := NewIdentities(c).Named(t.Context(), "tx")
	if want := (Identity{ProducerID: 1005}); id != want || err != nil {
		t.Errorf("got %+v, %v, want a new producer id, epoch 0", id, err)
	}
}

func TestDamagedIdentities(t *testing.T) {
	for _, content := range []string{"", "{", `{"version":2,"next_producer_id":1000}`, `{"version":1,"next_producer_id":-1}`} {
		c := newCluster(t, 1, cluster.NewTopic{})
		writeFile(t, c, "d/clients/producers.json", content)
		_, err := NewIdentities(c).New(t.Context())
		if bad, ok := errors.AsType[*corrupt.Error](err); !ok || bad.Kind != corrupt.BadMetadata {
			t.Errorf("%q: got %v, want bad-metadata", content, err)
		}
	}
}

func writeFile(t *testing.T, c *cluster.Cluster, name, content string) {
	t.Helper()
	if err := c.FS().MkdirAll("d/clients"); err != nil {
		t.Fatal(err)
	}
	f, err := c.FS().OpenCreate(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(content), 0); err != nil {
		t.Fatal(err)
	}
}

// Whatever the batching, the codec and the segment size: what was acknowledged is what a
// fetch from any offset reads, in order.
func TestFetchReadsWhatWasAcknowledged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segmentBytes := rapid.IntRange(400, 3000).Draw(t, "segment.bytes")
		c := newCluster(t, 1, cluster.NewTopic{Configs: map[string]string{
			cluster.SegmentBytes: fmt.Sprint(segmentBytes), cluster.IndexInterval: "100",
		}})
		topic := openTopic(t, c, anyEpoch)
		s := NewSession(topic, Sending{Topic: "t", Acks: AcksLeader}, func(Result) error { return nil })
		a := NewAccumulator(plain(1, rapid.IntRange(1, 300).Draw(t, "batch size")), ignore)
		var want []string
		for i := range rapid.IntRange(1, 40).Draw(t, "records") {
			v := fmt.Sprint(i, strings.Repeat("x", rapid.IntRange(0, 50).Draw(t, "length")))
			want = append(want, fmt.Sprintf("%d=%s", i, v))
			if err := a.Append(0, value(v), start); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "send") == 0 {
				send(t, s, a)
			}
		}
		if err := a.CloseAll(); err != nil {
			t.Fatal(err)
		}
		send(t, s, a)
		from := rapid.IntRange(0, len(want)).Draw(t, "from")
		if diff := cmp.Diff(want[from:], append([]string{}, fetch(t, c, 0, int64(from))...)); diff != "" {
			t.Fatalf("from %d (-want +got):\n%s", from, diff)
		}
	})
}

func send(t *rapid.T, s *Session, a *Accumulator) {
	requests := a.Take()
	if err := errors.Join(s.Send(context.Background(), requests), s.Err()); err != nil {
		t.Fatal(err)
	}
	a.Recycle(requests)
}
