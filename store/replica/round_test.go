package replica_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/replica"
	"logdir/store/segment"
)

// line is a row of replicate, for tests to read.
func line(f replica.Fetched) string {
	cut := "-"
	if f.TruncatedTo != replica.NotTruncated {
		cut = fmt.Sprint(f.TruncatedTo)
	}
	return fmt.Sprintf("%d: %d..%d cut %s hw %d isr %v", f.Follower, f.From, f.To, cut, f.HighWatermark, f.ISR)
}

func lines(all []replica.Fetched) string {
	text := make([]string, len(all))
	for i, f := range all {
		text[i] = line(f)
	}
	return strings.Join(text, "; ")
}

func (l *lab) wantRound(o replica.Options, want string) {
	l.Helper()
	if diff := cmp.Diff(want, lines(l.round(o))); diff != "" {
		l.Fatalf("round (-want +got):\n%s", diff)
	}
}

func (l *lab) wantMarks(broker int32, end, mark int64) {
	l.Helper()
	if e, m := l.marks(broker); e != end || m != mark {
		l.Fatalf("broker %d: log end %d, high watermark %d; want %d and %d", broker, e, m, end, mark)
	}
}

// TestRound: the leader's high watermark moves in the round, a follower's one round later.
func TestRound(t *testing.T) {
	l := newLab(t, 3)
	l.lead("a", "b")
	l.wantMarks(1, 2, 0)
	l.wantRound(replica.Options{Only: []int32{2}}, "2: 0..2 cut - hw 0 isr [1 2 3]")
	l.wantRound(replica.Options{Except: []int32{2}}, "3: 0..2 cut - hw 2 isr [1 2 3]")
	l.wantMarks(1, 2, 2)
	l.wantMarks(2, 2, 0)
	l.wantRound(replica.Options{}, "2: 2..2 cut - hw 2 isr [1 2 3]; 3: 2..2 cut - hw 2 isr [1 2 3]")
	l.wantMarks(3, 2, 2)
	if diff := cmp.Diff(l.log(1), l.log(3)); diff != "" {
		t.Error(diff)
	}
}

// TestRoundMaxBytes: whole batches up to the limit, and one however large it is.
func TestRoundMaxBytes(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b", "c", "d")
	size := len(frame("a"))
	l.wantRound(replica.Options{MaxBytes: 1}, "2: 0..1 cut - hw 1 isr [1 2]")
	l.wantRound(replica.Options{MaxBytes: 2*size + 1}, "2: 1..3 cut - hw 3 isr [1 2]")
	l.wantRound(replica.Options{MaxBytes: size}, "2: 3..4 cut - hw 4 isr [1 2]")
}

// TestDryRun says what the round does then, and leaves every byte alone.
func TestDryRun(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.crash(2)
	l.lead("b")
	l.crash(1)
	l.start(2)
	l.promote(2, replica.Vote{Unclean: true})
	l.lead("c", "d")
	l.start(1)
	before := l.log(1)
	want := "1: 1..3 cut 1 hw 3 isr [1 2]"
	l.wantRound(replica.Options{DryRun: true}, want)
	if diff := cmp.Diff(before, l.log(1)); diff != "" {
		t.Fatal(diff)
	}
	l.wantRound(replica.Options{}, want)
	if diff := cmp.Diff([]string{"0/0 a", "1/1 c", "2/1 d"}, l.log(1)); diff != "" {
		t.Error(diff)
	}
}

// TestRejoin: a broker that comes back is in sync once it has all that is visible, and not
// before.
func TestRejoin(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.stop(2)
	l.lead("b", "c")
	l.wantMarks(1, 3, 3) // alone, the leader's log end is visible
	l.start(2)
	l.wantRound(replica.Options{MaxBytes: 1}, "2: 1..2 cut - hw 3 isr [1]")
	l.wantRound(replica.Options{MaxBytes: 1}, "2: 2..3 cut - hw 3 isr [1 2]")
	l.lead("d")
	l.wantMarks(1, 4, 3) // the checkpoint was written when the ISR grew
}

// TestLagRecords: who is too far behind leaves the ISR, and the high
// watermark no longer waits for it.
func TestLagRecords(t *testing.T) {
	l := newLab(t, 3, cluster.ReplicaLagRecords+"=1")
	l.lead("a", "b")
	l.wantRound(replica.Options{Only: []int32{2}}, "2: 0..2 cut - hw 2 isr [1 2]")
	l.wantRound(replica.Options{Only: []int32{3}, MaxBytes: 1}, "3: 0..1 cut - hw 2 isr [1 2]")
	l.wantRound(replica.Options{}, "2: 2..2 cut - hw 2 isr [1 2 3]; 3: 1..2 cut - hw 2 isr [1 2 3]")
	l.lead("c")
	l.wantRound(replica.Options{Only: []int32{2}}, "2: 2..3 cut - hw 2 isr [1 2 3]") // one behind is allowed
}

func TestLagTime(t *testing.T) {
	l := newLab(t, 2, cluster.ReplicaLagTime+"=1000")
	l.lead("a")
	l.wantRound(replica.Options{}, "2: 0..1 cut - hw 1 isr [1 2]")
	l.lead("b")
	nobody := replica.Options{Except: []int32{2}}
	l.now = l.now.Add(time.Second)
	l.wantRound(nobody, "")
	if isr := l.partition().ISR; len(isr) != 2 {
		t.Fatalf("out of sync after 1000 ms: %v", isr)
	}
	l.now = l.now.Add(time.Millisecond)
	l.wantRound(nobody, "")
	if isr := l.partition().ISR; !slices.Equal(isr, []int32{1}) {
		t.Fatalf("still in sync: %v", isr)
	}
	l.wantMarks(1, 2, 2)
	l.wantRound(replica.Options{}, "2: 1..2 cut - hw 2 isr [1 2]")
}

// TestTruncationByMark is the rule of before KIP-101: a follower of a new leader cuts at
// its own high watermark, whatever the leader has.
func TestTruncationByMark(t *testing.T) {
	l := newLab(t, 3, cluster.Truncation+"=hw")
	l.lead("a")
	l.wantRound(replica.Options{}, "2: 0..1 cut - hw 1 isr [1 2 3]; 3: 0..1 cut - hw 1 isr [1 2 3]")
	l.lead("b")
	l.wantRound(replica.Options{}, "2: 1..2 cut - hw 2 isr [1 2 3]; 3: 1..2 cut - hw 2 isr [1 2 3]")
	l.crash(1)
	l.promote(2, replica.Vote{})
	l.wantRound(replica.Options{}, "3: 1..2 cut 1 hw 2 isr [2 3]") // and has it again at once
	l.wantRound(replica.Options{}, "3: 2..2 cut - hw 2 isr [2 3]") // only once
	l.must(replica.Restart(l.ctx, l.c, 3))
	l.wantMarks(3, 2, 2)
}

// TestRestartLosesTheLastRound is experiment 13 without a shell.
func TestRestartLosesTheLastRound(t *testing.T) {
	for rule, end := range map[string]int64{"hw": 1, "epoch": 2} {
		l := newLab(t, 2, cluster.Truncation+"="+rule)
		for _, v := range []string{"m1", "m2"} {
			l.lead(v)
			l.round(replica.Options{})
		}
		l.must(replica.Restart(l.ctx, l.c, 2))
		l.crash(1)
		if e := l.promote(2, replica.Vote{}); e.LogEnd != end || e.HighWatermark != end {
			t.Errorf("%s: %+v", rule, e)
		}
	}
}

// TestFollowerStartsOver: the leader deleted what a follower lacks.
func TestFollowerStartsOver(t *testing.T) {
	l := newLab(t, 2, cluster.SegmentBytes+"=200")
	l.lead("a")
	l.round(replica.Options{})
	l.stop(2)
	l.lead("b", "c")
	l.leadFrame(twoRecords("d")) // offsets 3 and 4
	l.lead("e")
	l.dropSegments(1, 2)
	l.must(l.c.SetLogStarts(l.ctx, 1, cluster.Points{tp: 4})) // inside a batch
	l.start(2)
	l.wantRound(replica.Options{MaxBytes: 1}, "2: 3..5 cut 3 hw 6 isr [1]")
	l.wantRound(replica.Options{}, "2: 5..6 cut - hw 6 isr [1 2]")
	if diff := cmp.Diff([]string{"3/0 d", "4/0 d", "5/0 e"}, l.log(2)); diff != "" {
		t.Error(diff)
	}
	r, err := l.c.LockedReader(tp, 2)
	l.must(err)
	if r.Start() != 4 {
		t.Errorf("log start %d, the leader's is 4", r.Start())
	}
	l.lead("g")
	l.wantRound(replica.Options{}, "2: 6..7 cut - hw 7 isr [1 2]")
}

// dropSegments removes the segments below base, as retention does.
func (l *lab) dropSegments(broker int32, base int64) {
	l.Helper()
	dir := l.c.ReplicaDir(tp, broker)
	list, err := segment.List(l.fs, dir)
	l.must(err)
	dropped := false
	for _, s := range list.Segments {
		for _, name := range []string{s.Log, s.Index, s.TimeIndex, s.Snapshot} {
			if s.Base < base && name != "" {
				dropped = true
				l.must(l.fs.Remove(dir + "/" + name))
			}
		}
	}
	if !dropped {
		l.Fatalf("no segment below %d: %+v", base, list.Segments)
	}
}

// TestLeaderDamaged: nobody copies from a log whose end is damaged; up to damage in the
// middle all is copied, and the error says where it is.
func TestLeaderDamaged(t *testing.T) {
	l := newLab(t, 2, cluster.IndexInterval+"=1")
	l.lead("a", "b", "c")
	name := l.c.ReplicaDir(tp, 1) + "/" + segment.FileName(0, segment.LogSuffix)
	size := int64(len(frame("a")))
	f, err := l.fs.OpenRW(name)
	l.must(err)
	defer f.Close()
	_, err = f.WriteAt([]byte("?"), 2*size-1)
	l.must(err)
	moved, err := l.tryRound(replica.Options{})
	l.refused(err, store.Damage, "CORRUPT_MESSAGE")
	if got := lines(moved); got != "2: 0..1 cut - hw 1 isr [1 2]" {
		t.Errorf("moved %s", got)
	}
	l.must(f.Truncate(2*size + 30))
	moved, err = l.tryRound(replica.Options{})
	l.refused(err, store.Damage, "CORRUPT_MESSAGE")
	if len(moved) > 0 {
		t.Errorf("moved %s", lines(moved))
	}
}

// TestFollowerInsideABatch: two logs that epochs call the same and that are not.
func TestFollowerInsideABatch(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	log, err := l.c.OpenReplica(l.ctx, tp, 2)
	l.must(err)
	_, err = log.Append(frame("x"), 0)
	l.must(err)
	l.must(log.Close())
	other, err := l.c.OpenReplica(l.ctx, tp, 1)
	l.must(err)
	plan, err := other.PlanTruncate(0, false)
	l.must(err)
	l.must(other.Truncate(plan))
	_, err = other.Append(twoRecords("y"), 0)
	l.must(err)
	l.must(other.Close())
	_, err = l.tryRound(replica.Options{})
	l.refused(err, store.Damage, "")
}

// TestStartInsideABatch: the leader of an unclean election starts inside a batch, at the
// offset at which the log of the old leader happens to end. They have nothing in common.
func TestStartInsideABatch(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.crash(1)
	l.promote(2, replica.Vote{Unclean: true})
	l.leadFrame(twoRecords("b"))
	l.must(l.c.SetLogStarts(l.ctx, 2, cluster.Points{tp: 1}))
	l.start(1)
	l.wantRound(replica.Options{}, "1: 0..2 cut 0 hw 2 isr [1 2]")
	if diff := cmp.Diff(l.log(2), l.log(1)); diff != "" {
		t.Error(diff)
	}
}

// TestEmptyInsideABatch: all records of the old leader were deleted, so that it has no epoch to
// ask for, and the new one, of an unclean election, begins with a batch across its end.
func TestEmptyInsideABatch(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.must(l.c.SetLogStarts(l.ctx, 1, cluster.Points{tp: 1}))
	l.must(l.c.SetHighWatermarks(l.ctx, 1, cluster.Points{tp: 1}))
	old, err := l.c.OpenReplica(l.ctx, tp, 1)
	l.must(err)
	l.must(errors.Join(old.RestartAt(1), old.Close())) // as retention leaves it
	l.crash(1)
	l.promote(2, replica.Vote{Unclean: true})
	l.leadFrame(twoRecords("b"))
	l.start(1)
	l.wantRound(replica.Options{}, "1: 0..2 cut - hw 2 isr [1 2]")
	if diff := cmp.Diff(l.log(2), l.log(1)); diff != "" {
		t.Error(diff)
	}
}

// TestStartAboveTheEnd: records were deleted on the old leader. The new one, of an unclean
// election, does not even reach that far: no log start may stay above a log's end.
func TestStartAboveTheEnd(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b", "c")
	l.must(l.c.SetLogStarts(l.ctx, 1, cluster.Points{tp: 2}))
	l.crash(1)
	l.promote(2, replica.Vote{Unclean: true})
	l.lead("x")
	l.start(1)
	l.wantRound(replica.Options{}, "1: 0..1 cut 0 hw 1 isr [1 2]")
	if start, _, err := l.c.Checkpointed(1, checkpoint.LogStartFile, tp); err != nil || start > 0 {
		t.Errorf("log start %d, %v", start, err)
	}
}

// TestMarkBelowTheStart: a follower that has heard of deleted records, but not yet that they
// were replicated, is elected. Its high watermark is its log start, as in Kafka.
func TestMarkBelowTheStart(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b")
	l.round(replica.Options{})
	_, err := l.c.DeleteRecords(l.ctx, tp, 2)
	l.must(err)
	l.must(l.c.SetHighWatermarks(l.ctx, 2, cluster.Points{tp: 0}))
	l.must(l.c.SetLogStarts(l.ctx, 2, cluster.Points{tp: 2}))
	l.promote(2, replica.Vote{})
	if mark, err := l.c.HighWatermark(tp, 2, 2); err != nil || mark != 2 {
		t.Errorf("high watermark %d, %v; the log starts at 2", mark, err)
	}
}

// TestCutBelowTheStart: the cut falls inside a batch of the follower's, which goes whole. The
// log then ends below the leader's start.
func TestCutBelowTheStart(t *testing.T) {
	l := newLab(t, 2)
	l.leadFrame(twoRecords("a"))
	l.crash(1)
	l.promote(2, replica.Vote{Unclean: true})
	l.lead("b")
	l.must(l.c.SetLogStarts(l.ctx, 2, cluster.Points{tp: 1}))
	l.start(1)
	l.round(replica.Options{})
	l.wantMarks(1, 1, 1)
	l.lead("c")
	l.round(replica.Options{})
	if diff := cmp.Diff([]string{"1/1 c"}, l.log(1)[len(l.log(1))-1:]); diff != "" {
		t.Error(diff)
	}
}

// TestCutAtTheStart: of the follower's log only deleted records are left, from an epoch that
// the leader never had. They go too.
func TestCutAtTheStart(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b")
	l.crash(1)
	l.promote(2, replica.Vote{Unclean: true})
	l.lead("x", "y")
	_, err := l.c.DeleteRecords(l.ctx, tp, 1)
	l.must(err)
	l.crash(2)
	l.start(1)
	l.promote(1, replica.Vote{Unclean: true})
	l.start(2)
	l.wantRound(replica.Options{}, "2: 0..2 cut 0 hw 2 isr [1 2]")
	if diff := cmp.Diff(l.log(1), l.log(2)); diff != "" {
		t.Error(diff)
	}
}

func TestRoundWithoutLeader(t *testing.T) {
	l := newLab(t, 2)
	l.stop(2)
	l.crash(1)
	_, err := l.tryRound(replica.Options{})
	l.refused(err, store.Refused, "LEADER_NOT_AVAILABLE")
}

// TestMKB1: MiniKafka's frames carry epochs too.
func TestMKB1(t *testing.T) {
	l := newLab(t, 2, cluster.Format+"=mkb1")
	l.leadFrame(mkb1("a"))
	l.wantRound(replica.Options{}, "2: 0..1 cut - hw 1 isr [1 2]")
	l.leadFrame(mkb1("lost"))
	l.crash(1)
	l.promote(2, replica.Vote{})
	l.leadFrame(mkb1("b"))
	l.start(1)
	l.wantRound(replica.Options{}, "1: 1..2 cut 1 hw 2 isr [1 2]")
	if diff := cmp.Diff([]string{"0/0 a", "1/1 b"}, l.log(1)); diff != "" {
		t.Error(diff)
	}
}

// TestStaleFollowerDoesNotCount: a replica that has not fetched since an election holds
// records of the old leader, as many as the new one has. They are not the same records.
func TestStaleFollowerDoesNotCount(t *testing.T) {
	l := newLab(t, 3)
	l.lead("old")
	l.promote(2, replica.Vote{})
	l.lead("new")
	l.wantRound(replica.Options{Except: []int32{1}}, "3: 0..1 cut - hw 0 isr [1 2 3]")
	l.wantRound(replica.Options{}, "1: 0..1 cut 0 hw 1 isr [1 2 3]; 3: 1..1 cut - hw 1 isr [1 2 3]")
}

// TestUnusedEpoch: a broker led and wrote nothing. What it then copies is of an earlier
// epoch, and must not be cut for that again.
func TestUnusedEpoch(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b")
	l.round(replica.Options{MaxBytes: 1})
	l.promote(2, replica.Vote{})
	l.promote(1, replica.Vote{})
	l.wantRound(replica.Options{}, "2: 1..2 cut - hw 2 isr [1 2]")
	l.wantRound(replica.Options{}, "2: 2..2 cut - hw 2 isr [1 2]")
}
