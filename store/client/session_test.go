package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/record"
)

// fakeLeader keeps values in memory. It recognises a sequence it has seen, is full at
// capacity, and refuses what refuse says.
type fakeLeader struct {
	capacity int
	refuse   map[int]error // by partition
	commit   error         // what acks=all ends with, if not nil
	logs     map[int][]string
	seen     map[string]store.Appended
	calls    int // appends asked for
}

func newFakeLeader(capacity int) *fakeLeader {
	return &fakeLeader{capacity: capacity, logs: map[int][]string{}, seen: map[string]store.Appended{}}
}

func (l *fakeLeader) Append(_ context.Context, q Request, acks Acks) (Reply, error) {
	l.calls++
	var reply Reply
	if acks == AcksAll && l.commit != nil {
		reply.Committed = func(context.Context) error { return l.commit }
	}
	if err := l.refuse[q.Partition]; err != nil {
		return reply, err
	}
	for ; len(q.Batches) > 0; q = q.rest(1) {
		answer, err := l.appendOne(q)
		if err != nil {
			return reply, err
		}
		reply.Answers = append(reply.Answers, answer)
	}
	return reply, nil
}

func (l *fakeLeader) appendOne(q Request) (store.Appended, error) {
	batch, _ := record.View(q.first(1).Frames)
	at := fmt.Sprint(q.Partition, batch.ProducerID(), batch.BaseSequence())
	if known, ok := l.seen[at]; ok && batch.ProducerID() != record.NoProducerID {
		known.Duplicate = true
		return known, nil
	}
	log := l.logs[q.Partition]
	if len(log)+q.Batches[0].Records > l.capacity {
		return store.Appended{}, fmt.Errorf("log %d: %w", q.Partition, ErrFull)
	}
	r := record.NewReader()
	for r.Reset(&batch); r.Next(); {
		l.logs[q.Partition] = append(l.logs[q.Partition], string(r.Record().Value))
	}
	answer := store.Appended{
		BaseOffset: int64(len(log)), LastOffset: int64(len(l.logs[q.Partition]) - 1), Records: batch.Count(),
	}
	l.seen[at] = answer
	return answer, nil
}

// fakeQueue keeps the values of diverted batches.
type fakeQueue struct{ values []string }

func (d *fakeQueue) Divert(_ context.Context, partition int, frame []byte, retries int) error {
	batch, _ := record.View(frame)
	r := record.NewReader()
	for r.Reset(&batch); r.Next(); {
		d.values = append(d.values, fmt.Sprintf("%d:%s after %d", partition, r.Record().Value, retries))
	}
	return nil
}

// run sends one batch for each "partition:value" and returns the outcomes, such as
// "0:a acked 0..0".
func run(t *testing.T, leader Leader, o Sending, identity Identity, batches ...string) (outcomes []string, s *Session) {
	t.Helper()
	o.Topic = "t"
	s = NewSession(leader, o, func(r Result) error {
		outcomes = append(outcomes, fmt.Sprintf("%d %v %d..%d", r.Partition, r.Status, r.BaseOffset, r.LastOffset))
		return nil
	})
	a := NewAccumulator(Batching{Partitions: 3, Size: 1, Linger: -1, Identity: identity}, ignore)
	for _, b := range batches {
		if err := a.Append(int(b[0]-'0'), value(b[2:]), start); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(t.Context(), a.Take()); err != nil {
		t.Fatal(err)
	}
	return outcomes, s
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestOneAppendForAllBatchesOfAPartition(t *testing.T) {
	l := newFakeLeader(9)
	got, s := run(t, l, Sending{Acks: AcksLeader}, NoIdentity, "0:a", "1:x", "0:b")
	check(t, "outcomes", []string{"0 acked 0..0", "0 acked 1..1", "1 acked 0..0"}, got)
	if l.calls != 2 || s.Err() != nil {
		t.Errorf("%d appends, error %v; want 2 and none", l.calls, s.Err())
	}
}

func TestAcksNoneLearnsNoOffset(t *testing.T) {
	got, _ := run(t, newFakeLeader(9), Sending{Acks: AcksNone}, NoIdentity, "0:a")
	check(t, "outcomes", []string{"0 sent -1..-1"}, got)
}

func TestLostAcknowledgements(t *testing.T) {
	idempotent := Identity{ProducerID: 77}
	for _, c := range []struct {
		name     string
		identity Identity
		lose     int
		outcomes []string
		log      []string
		err      string
	}{
		{"plain: the retry is a second record", NoIdentity, 1, []string{"0 acked 1..1", "0 acked 2..2"}, []string{"a", "a", "b"}, ""},
		{"idempotent: the retry is recognised", idempotent, 1, []string{"0 duplicate 0..0", "0 acked 1..1"}, []string{"a", "b"}, ""},
		{"two lost, of one batch", idempotent, 2, []string{"0 duplicate 0..0", "0 acked 1..1"}, []string{"a", "b"}, ""},
		{
			"more lost than there are retries", idempotent, 3,
			[]string{"0 timed-out 0..0", "0 acked 1..1"},
			[]string{"a", "b"},
			"t:0: 1 record(s) are on the leader, and every acknowledgement was lost (REQUEST_TIMED_OUT)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newFakeLeader(9)
			got, s := run(t, l, Sending{Acks: AcksAll, Retries: 2, LoseAcks: c.lose, Sleep: noSleep}, c.identity, "0:a", "0:b")
			check(t, "outcomes", c.outcomes, got)
			check(t, "log", c.log, l.logs[0])
			checkError(t, c.err, s.Err())
		})
	}
}

func noSleep(time.Duration) {}

func checkError(t *testing.T, want string, err error) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	check(t, "error", want, got)
}

func TestFullPartition(t *testing.T) {
	t.Run("diverted as a unit after the retries, the rest goes on", func(t *testing.T) {
		l, queue, pauses := newFakeLeader(2), &fakeQueue{}, []time.Duration{}
		o := Sending{Acks: AcksLeader, Retries: 3, Backoff: time.Second, DeadLetters: queue}
		o.Sleep = func(d time.Duration) { pauses = append(pauses, d) }
		got, s := run(t, l, o, NoIdentity, "0:a", "0:b", "0:c", "1:x", "0:d")
		check(t, "outcomes", []string{"0 acked 0..0", "0 acked 1..1", "0 dlq -1..-1", "0 dlq -1..-1", "1 acked 0..0"}, got)
		check(t, "queue", []string{"0:c after 3", "0:d after 3"}, queue.values)
		check(t, "pauses", []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second, time.Second}, pauses)
		checkError(t, "t:0 is full: 2 record(s) went to the dead letter queue (POLICY_VIOLATION)", s.Err())
	})
	t.Run("without a queue the partition fails, the others go on", func(t *testing.T) {
		l := newFakeLeader(1)
		got, s := run(t, l, Sending{Acks: AcksLeader, Retries: 1, Sleep: noSleep}, NoIdentity, "0:a", "0:b", "0:c", "1:x")
		check(t, "outcomes", []string{"0 acked 0..0", "0 failed -1..-1", "0 failed -1..-1", "1 acked 0..0"}, got)
		checkError(t, "log 0: the partition is full", s.Err())
	})
	t.Run("room while waiting", func(t *testing.T) {
		l := newFakeLeader(1)
		o := Sending{Acks: AcksLeader, Retries: 3, Sleep: func(time.Duration) { l.capacity++ }}
		got, s := run(t, l, o, NoIdentity, "0:a", "0:b")
		check(t, "outcomes", []string{"0 acked 0..0", "0 acked 1..1"}, got)
		checkError(t, "", s.Err())
	})
}

// A diverted batch used no sequence of the log, so the leader must not see a gap. The
// batches move up, in this request and in later ones.
func TestDivertedBatchesLeaveNoGap(t *testing.T) {
	l := newFakeLeader(1)
	var sequences []int32
	o := Sending{Topic: "t", Acks: AcksAll, Sleep: noSleep, DeadLetters: &fakeQueue{}}
	s := NewSession(l, o, func(r Result) error {
		batch, bad := record.Parse(r.Frame)
		if bad != nil || !batch.CRCValid() {
			t.Errorf("frame after moving: %v, CRC valid %v", bad, batch.CRCValid())
		}
		if r.Status == Acked {
			sequences = append(sequences, batch.BaseSequence())
		} else {
			l.capacity = 9 // only the first does not fit
		}
		return nil
	})
	a := NewAccumulator(Batching{Partitions: 1, Size: 1, Linger: -1, Identity: Identity{ProducerID: 77}}, ignore)
	for _, values := range [][]string{{"a", "b", "c"}, {"d"}} {
		fill(t, a, 0, values...)
		if err := s.Send(t.Context(), a.Take()); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "sequences of a, c and d", []int32{0, 1, 2}, sequences)
}

func TestRefusalEndsOnePartitionOnly(t *testing.T) {
	l := newFakeLeader(9)
	l.refuse = map[int]error{1: store.Errorf(store.Refused, "LEADER_NOT_AVAILABLE", "t:1 has no leader")}
	got, s := run(t, l, Sending{Acks: AcksLeader, Retries: 3}, NoIdentity, "1:x", "1:y", "2:z")
	check(t, "outcomes", []string{"1 failed -1..-1", "1 failed -1..-1", "2 acked 0..0"}, got)
	checkError(t, "t:1 has no leader (LEADER_NOT_AVAILABLE)", s.Err())
	if l.calls != 2 {
		t.Errorf("%d appends, want 2: a partition that refused is not asked again", l.calls)
	}
}

func TestAcksAllTimesOut(t *testing.T) {
	l := newFakeLeader(9)
	l.commit = context.DeadlineExceeded
	got, s := run(t, l, Sending{Acks: AcksAll, RequestTimeout: time.Second}, NoIdentity, "0:a", "0:b")
	check(t, "outcomes", []string{"0 timed-out 0..0", "0 timed-out 1..1"}, got)
	checkError(t, "t:0: 2 record(s) are on the leader, and the in-sync replicas did not have them within 1s (REQUEST_TIMED_OUT)", s.Err())
}

func TestReportErrorEndsTheSession(t *testing.T) {
	closed := errors.New("closed pipe")
	l := newFakeLeader(9)
	s := NewSession(l, Sending{Acks: AcksLeader}, func(Result) error { return closed })
	a := NewAccumulator(plain(1, 1), ignore)
	fill(t, a, 0, "a")
	if err := s.Send(t.Context(), a.Take()); !errors.Is(err, closed) {
		t.Errorf("got %v, want %v", err, closed)
	}
}

func TestParseAcks(t *testing.T) {
	for in, want := range map[string]Acks{"0": AcksNone, "1": AcksLeader, "all": AcksAll, "-1": AcksAll} {
		if got, err := ParseAcks(in); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	if _, err := ParseAcks("2"); err == nil {
		t.Error("acks 2 was accepted")
	}
}
