package replica_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/replica"
	"logdir/store/segment"
	"logdir/store/vfs"
)

func (l *lab) clean(broker int32) bool {
	l.Helper()
	_, clean, err := checkpoint.ReadCleanShutdown(l.fs, l.c.BrokerDir(broker))
	l.must(err)
	return clean
}

// checkpoints are the lines of a broker's two marks: recovery point, high watermark.
func (l *lab) checkpoints(broker int32) [2]int64 {
	l.Helper()
	var out [2]int64
	for i, file := range []string{checkpoint.RecoveryPointFile, checkpoint.HighWatermarkFile} {
		offset, ok, err := l.c.Checkpointed(broker, file, tp)
		l.must(err)
		if out[i] = offset; !ok {
			out[i] = -1
		}
	}
	return out
}

// TestStop leaves a log dir as a broker leaves it.
func TestStop(t *testing.T) {
	l := newLab(t, 1)
	l.lead("a", "b")
	l.stop(1)
	if !l.clean(1) || l.checkpoints(1) != [2]int64{2, 2} {
		t.Errorf("clean %v, checkpoints %v", l.clean(1), l.checkpoints(1))
	}
	list, err := segment.List(l.fs, l.c.ReplicaDir(tp, 1))
	l.must(err)
	if len(list.Snapshots) != 1 || list.Snapshots[0].Base != 2 {
		t.Errorf("snapshots %+v", list.Snapshots)
	}
	p := l.partition()
	if p.Leader != nil || !slices.Equal(p.ISR, []int32{1}) || p.LeaderEpoch != 0 {
		t.Errorf("%+v", p)
	}
	l.refused(replica.Stop(l.ctx, l.c, 1), store.Refused, "BROKER_NOT_AVAILABLE")
	l.refused(replica.Stop(l.ctx, l.c, 7), store.NotFound, "BROKER_ID_NOT_REGISTERED")
}

// TestStopAndStart: the only member of the ISR leads again, in the next epoch.
func TestStopAndStart(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.stop(2)
	l.stop(1)
	if s := l.start(1); !s.Clean || s.Repaired != 0 {
		t.Errorf("%+v", s)
	}
	if l.clean(1) {
		t.Error("the mark of a clean stop stands while the broker is up")
	}
	p := l.partition()
	if p.LeaderID() != 1 || p.LeaderEpoch != 1 || !slices.Equal(p.ISR, []int32{1}) {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff(checkpoint.Epochs{{Epoch: 0}, {Epoch: 1, StartOffset: 1}}, l.epochs(1)); diff != "" {
		t.Error(diff)
	}
	l.start(2)
	if p := l.partition(); p.LeaderID() != 1 || p.InSync(2) {
		t.Errorf("%+v", p)
	}
	_, err := replica.Start(l.ctx, l.c, 2, nil)
	l.refused(err, store.Refused, "DUPLICATE_BROKER_REGISTRATION")
}

// TestStopWithDamage closes what can be closed, and does not call that clean.
func TestStopWithDamage(t *testing.T) {
	l := newLab(t, 1)
	l.lead("a")
	l.cut(l.logName(1), 30)
	l.refused(replica.Stop(l.ctx, l.c, 1), store.Damage, "CORRUPT_MESSAGE")
	if l.clean(1) {
		t.Error("clean")
	}
	if s := l.start(1); s.Clean || s.Repaired != 1 {
		t.Errorf("%+v", s)
	}
	l.wantMarks(1, 0, 0)
}

func (l *lab) logName(broker int32) string {
	return filepath.Join(l.c.ReplicaDir(tp, broker), segment.FileName(0, segment.LogSuffix))
}

// TestCrash loses leadership and nothing else.
func TestCrash(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	before := l.checkpoints(1)
	l.crash(1)
	p := l.partition()
	if p.Leader != nil || !slices.Equal(p.ISR, []int32{2}) || l.clean(1) || l.checkpoints(1) != before {
		t.Errorf("%+v, checkpoints %v, want %v", p, l.checkpoints(1), before)
	}
	if diff := cmp.Diff([]string{"0/0 a"}, l.log(1)); diff != "" {
		t.Error(diff)
	}
}

// TestPowerCut: what lies beyond the recovery point is gone; marks beyond the new end are
// lowered when the broker comes up, or later records would seem to be visible already.
func TestPowerCut(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a", "b", "c")
	l.round(replica.Options{}) // nothing synced
	l.round(replica.Options{})
	l.must(l.c.SetRecoveryPoints(l.ctx, 2, cluster.Points{tp: 1}))
	l.must(replica.Crash(l.ctx, l.c, 2, replica.CrashOptions{LoseUnflushed: true}))
	if diff := cmp.Diff([]string{"0/0 a"}, l.log(2)); diff != "" {
		t.Fatal(diff)
	}
	if l.checkpoints(2) != [2]int64{1, 3} {
		t.Errorf("a crash writes no checkpoint: %v", l.checkpoints(2))
	}
	l.start(2)
	if l.checkpoints(2) != [2]int64{1, 1} {
		t.Errorf("after the start: %v", l.checkpoints(2))
	}
	l.wantRound(replica.Options{}, "2: 1..3 cut - hw 3 isr [1 2]")
}

// TestTornBytes: what a power cut tears is the frame that is lost there, or one that
// nobody saw whole.
func TestTornBytes(t *testing.T) {
	size := len(frame("a"))
	for _, c := range []struct {
		name  string
		o     replica.CrashOptions
		size  int
		first []byte // of the torn bytes
	}{
		{"the lost frame", replica.CrashOptions{LoseUnflushed: true, TornBytes: 30}, 30, frame("a")[12:30]},
		{"longer than the lost frame", replica.CrashOptions{LoseUnflushed: true, TornBytes: size}, size, nil},
		{"behind the last frame", replica.CrashOptions{TornBytes: 5}, size + 5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, 1)
			l.lead("a")
			l.must(replica.Crash(l.ctx, l.c, 1, c.o))
			raw, err := vfs.ReadAll(l.fs, l.logName(1), 1<<20)
			l.must(err)
			if len(raw) != c.size {
				t.Fatalf("%d bytes, want %d", len(raw), c.size)
			}
			r, err := l.c.LockedReader(tp, 1)
			l.must(err)
			if _, damage, err := r.End(); damage == nil || damage.Kind != "torn" || err != nil {
				t.Errorf("%v, %v: want torn", damage, err)
			}
			if s := l.start(1); s.Clean || s.Repaired != 1 {
				t.Errorf("%+v", s)
			}
			l.lead("again")
		})
	}
}

// TestStartRefused: what cannot be repaired keeps a broker down.
func TestStartRefused(t *testing.T) {
	l := newLab(t, 1)
	l.crash(1)
	sorry := store.Errorf(store.Damage, "CORRUPT_MESSAGE", "closed and damaged")
	_, err := replica.Start(l.ctx, l.c, 1, func(context.Context) (int, error) { return 0, sorry })
	if !errors.Is(err, sorry) {
		t.Fatal(err)
	}
	l.must(l.c.Reload())
	if b, err := l.c.Meta().Broker(1); err != nil || b.State != cluster.Crashed {
		t.Errorf("%+v, %v", b, err)
	}
}

// TestRestart is noticed by nobody.
func TestRestart(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	before := *l.partition()
	l.must(replica.Restart(l.ctx, l.c, 1))
	if diff := cmp.Diff(before, *l.partition()); diff != "" {
		t.Error(diff)
	}
	if l.clean(1) || l.checkpoints(1)[0] != 1 {
		t.Errorf("clean %v, checkpoints %v", l.clean(1), l.checkpoints(1))
	}
	l.lead("b")
}

// TestLostFolder: a broker whose disk was replaced starts over as a follower, but does not
// lead what it has lost.
func TestLostFolder(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.round(replica.Options{})
	l.stop(2)
	l.must(vfs.RemoveAll(l.fs, l.c.ReplicaDir(tp, 2)))
	l.start(2)
	if l.checkpoints(2) != [2]int64{-1, -1} {
		t.Errorf("marks of a log that is gone: %v", l.checkpoints(2))
	}
	l.wantRound(replica.Options{}, "2: 0..1 cut - hw 1 isr [1 2]")
	l.stop(2)
	l.stop(1)
	l.must(vfs.RemoveAll(l.fs, l.c.ReplicaDir(tp, 1)))
	_, err := replica.Start(l.ctx, l.c, 1, nil)
	l.refused(err, store.Refused, "KAFKA_STORAGE_ERROR")
	l.start(2)
	l.promote(2, replica.Vote{Unclean: true})
	l.start(1)
	l.wantRound(replica.Options{}, "1: 0..1 cut - hw 1 isr [1 2]")
}

func TestPromoteRefuses(t *testing.T) {
	l := newLab(t, 3)
	l.lead("a")
	l.stop(3)
	l.stop(2)
	l.start(2)
	for _, c := range []struct {
		to    int32
		v     replica.Vote
		class store.Class
		name  string
	}{
		{7, replica.Vote{}, store.NotFound, "BROKER_ID_NOT_REGISTERED"},
		{3, replica.Vote{Unclean: true}, store.Refused, "BROKER_NOT_AVAILABLE"},
		{2, replica.Vote{}, store.Refused, "ELIGIBLE_LEADERS_NOT_AVAILABLE"},
	} {
		for _, dry := range []bool{true, false} {
			c.v.DryRun = dry
			_, err := replica.Promote(l.ctx, l.c, tp, c.to, c.v)
			l.refused(err, c.class, c.name)
		}
	}
	if _, err := replica.Promote(l.ctx, l.c, tp, 1, replica.Vote{}); !errors.Is(err, replica.ErrElectionNotNeeded) {
		t.Error(err)
	}
	_, err := replica.Promote(l.ctx, l.c, store.TopicPartition{Topic: "t", Partition: 1}, 1, replica.Vote{})
	l.refused(err, store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
}

// TestPromoteALiveLeaderAway: the epoch goes up, the old leader follows and cuts.
func TestPromoteALiveLeaderAway(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.round(replica.Options{})
	l.lead("unseen")
	try := l.promote(2, replica.Vote{DryRun: true})
	if p := l.partition(); p.LeaderID() != 1 || p.LeaderEpoch != 0 {
		t.Fatalf("a dry run elected: %+v", p)
	}
	e := l.promote(2, replica.Vote{})
	if diff := cmp.Diff(try, e); diff != "" {
		t.Error(diff)
	}
	want := replica.Election{TopicPartition: tp, From: 1, To: 2, LeaderEpoch: 1, LogEnd: 1, HighWatermark: 0, Clean: true}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(checkpoint.Epochs{{Epoch: 0}, {Epoch: 1, StartOffset: 1}}, l.epochs(2)); diff != "" {
		t.Error(diff)
	}
	l.wantRound(replica.Options{}, "1: 1..1 cut 1 hw 1 isr [1 2]")
	l.refused(l.appendAs(1, 0), store.Fenced, "FENCED_LEADER_EPOCH")
}

// appendAs appends to a replica as a leader of some epoch.
func (l *lab) appendAs(broker, epoch int32) error {
	log, err := l.c.OpenReplica(l.ctx, tp, broker)
	l.must(err)
	l.must(log.AssignEpoch(1))
	_, err = log.Append(frame("late"), epoch)
	return errors.Join(err, log.Close())
}

// TestCandidates: the first live member of the ISR in the order of assignment.
func TestCandidates(t *testing.T) {
	l := newLab(t, 3)
	l.crash(1)
	l.must(l.c.Reload())
	if all := replica.Leaderless(l.c.Meta()); len(all) != 1 || all[0] != tp {
		t.Errorf("%v", all)
	}
	if to, err := replica.Candidate(l.c.Meta(), tp, false); to != 2 || err != nil {
		t.Errorf("%d, %v", to, err)
	}
	l.crash(2)
	l.crash(3)
	l.start(1)
	_, err := replica.Candidate(l.c.Meta(), tp, false)
	l.refused(err, store.Refused, "ELIGIBLE_LEADERS_NOT_AVAILABLE")
	if to, err := replica.Candidate(l.c.Meta(), tp, true); to != 1 || err != nil {
		t.Errorf("%d, %v", to, err)
	}
}
