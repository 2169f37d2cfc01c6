package replica_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// powerCuts are what a power cut may leave of what was not synced. The second keeps all:
// only the process died.
func powerCuts() []memfs.CrashOptions {
	cuts := []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}}
	for seed := range uint64(3) {
		cuts = append(cuts, memfs.CrashOptions{Unsynced: 0.5, Seed: seed})
	}
	return cuts
}

// divergedLab is a cluster on a disk that has everything: broker 1 leads "a c d", broker 3
// has "a", and broker 2 "a b" from when it led.
func divergedLab(t *testing.T) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	l := labOn(t, fs, 3, cluster.SegmentBytes+"=200")
	l.lead("a")
	l.round(replica.Options{})
	l.stop(3)
	l.crash(1)
	l.promote(2, replica.Vote{})
	l.lead("b")
	l.crash(2)
	l.start(1)
	l.promote(1, replica.Vote{Unclean: true})
	l.lead("c", "d", "e")
	l.start(2)
	l.start(3)
	l.must(l.c.Close())
	return fs.CrashClone(memfs.CrashOptions{Unsynced: 1})
}

// command opens the cluster, does something, and closes it.
func command(t *testing.T, fs vfs.FS, do func(*lab) error) error {
	l := &lab{tb: t, ctx: t.Context(), fs: fs, now: epoch}
	c, err := cluster.Open(fs, "data", cluster.Options{Now: now})
	if err != nil {
		return err
	}
	l.c = c
	return errors.Join(do(l), c.Close())
}

// sweep cuts the power before every changing operation of do, in several ways, and hands
// what is left to check.
func sweep(t *testing.T, make func(*testing.T) *memfs.FS, do func(*lab) error, check func(l *lab, when string)) {
	t.Helper()
	total := faultfs.Wrap(make(t), nil)
	if err := command(t, total, do); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops()+1; n++ {
		fs := make(t)
		err := command(t, faultfs.Wrap(fs, faultfs.CrashAt(n)), do)
		if (err == nil) != (n > total.Ops()) {
			t.Fatalf("crash at operation %d of %d: %v", n, total.Ops(), err)
		}
		for _, cut := range powerCuts() {
			l := &lab{tb: t, ctx: t.Context(), fs: fs.CrashClone(cut), now: epoch}
			l.open(nil)
			check(l, fmt.Sprintf("crash at operation %d of %d, %+v", n, total.Ops(), cut))
			l.must(l.c.Close())
		}
	}
}

// TestCrashInARound: after a crash anywhere in a round in which one follower cuts and both
// copy, the brokers come up, two more rounds make all logs the same, and nothing that the
// leader had is lost.
func TestCrashInARound(t *testing.T) {
	round := func(l *lab) error {
		f := replica.NewFetcher(l.c, replica.Options{Sync: true})
		_, err := f.Fetch(l.ctx, tp)
		if err != nil {
			return err
		}
		return f.Close(l.ctx)
	}
	want := []string{"0/0 a", "1/2 c", "2/2 d", "3/2 e"}
	sweep(t, divergedLab, round, func(l *lab, when string) {
		_, mark := l.marks(1)
		if p := l.partition(); mark > 4 || len(p.ISR) > 1 && mark < 4 {
			t.Fatalf("%s: high watermark %d, ISR %v", when, mark, p.ISR)
		}
		for id := range int32(3) {
			l.restartDead(id + 1)
		}
		l.round(replica.Options{})
		l.round(replica.Options{})
		for id := range int32(3) {
			if got := l.log(id + 1); !slices.Equal(got, want) {
				t.Fatalf("%s: broker %d has %v", when, id+1, got)
			}
			l.wantMarks(id+1, 4, 4)
		}
		if p := l.partition(); len(p.ISR) != 3 {
			t.Fatalf("%s: ISR %v", when, p.ISR)
		}
	})
}

// restartDead brings up a broker whose machine lost its power: it does not know that it
// is down, so its logs are repaired where it stands.
func (l *lab) restartDead(id int32) {
	l.Helper()
	_, err := l.repair(id)
	l.must(err)
}

// TestCrashInAnElection: the partition has the old leader or the new one, and the epoch
// says which.
func TestCrashInAnElection(t *testing.T) {
	ready := func(t *testing.T) *memfs.FS {
		fs := memfs.New()
		l := labOn(t, fs, 2)
		l.lead("a")
		l.round(replica.Options{})
		l.must(l.c.Close())
		return fs.CrashClone(memfs.CrashOptions{Unsynced: 1})
	}
	elect := func(l *lab) error {
		_, err := replica.Promote(l.ctx, l.c, tp, 2, replica.Vote{})
		return err
	}
	sweep(t, ready, elect, func(l *lab, when string) {
		switch p := l.partition(); {
		case p.LeaderID() == 1 && p.LeaderEpoch == 0 && len(l.epochs(2)) == 1:
		case p.LeaderID() == 2 && p.LeaderEpoch == 1:
		default:
			t.Fatalf("%s: %+v, epochs %v", when, p, l.epochs(2))
		}
		l.lead("b")
		l.round(replica.Options{})
		if a, b := l.log(1), l.log(2); !slices.Equal(a, b) || len(a) != 2 {
			t.Fatalf("%s: %v and %v", when, a, b)
		}
	})
}

// TestCrashInAStop: without the mark the start repairs; with it everything is synced.
func TestCrashInAStop(t *testing.T) {
	ready := func(t *testing.T) *memfs.FS {
		fs := memfs.New()
		l := labOn(t, fs, 1)
		l.must(l.c.Close())
		return fs.CrashClone(memfs.CrashOptions{Unsynced: 1})
	}
	stop := func(l *lab) error {
		if err := l.tryLead("a", "b"); err != nil {
			return err
		}
		return replica.Stop(l.ctx, l.c, 1)
	}
	sweep(t, ready, stop, func(l *lab, when string) {
		clean := l.clean(1)
		if l.c.Meta().IsUp(1) {
			if clean {
				t.Fatalf("%s: clean and up", when)
			}
			l.restartDead(1)
		} else if s := l.start(1); s.Clean != clean {
			t.Fatalf("%s: clean %v, started %+v", when, clean, s)
		}
		if got := l.log(1); clean && len(got) != 2 || !slices.Equal(got, []string{"0/0 a", "1/0 b"}[:len(got)]) {
			t.Fatalf("%s: clean %v, %v", when, clean, got)
		}
		l.lead("more")
	})
}

// TestFaultInARound: each operation fails once; the error surfaces, and a retry works.
func TestFaultInARound(t *testing.T) {
	round := func(l *lab) error {
		_, err := l.tryRound(replica.Options{Sync: true})
		return err
	}
	total := faultfs.Wrap(divergedLab(t), nil)
	if err := command(t, total, round); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops(); n++ {
		fs := divergedLab(t)
		if err := command(t, faultfs.Wrap(fs, faultfs.FailAt(n)), round); !errors.Is(err, faultfs.ErrFault) {
			t.Fatalf("fault at operation %d: %v", n, err)
		}
		err := command(t, fs, func(l *lab) error {
			err := errors.Join(round(l), round(l))
			for id := range int32(3) {
				l.wantMarks(id+1, 4, 4)
			}
			return err
		})
		if err != nil {
			t.Fatalf("retry after a fault at operation %d: %v", n, err)
		}
	}
}

// dieAt is a failpoint that leaves the process alive.
type dieAt string

var errDied = errors.New("died")

func (d dieAt) Armed(name string) bool { return string(d) == name }

func (d dieAt) Failpoint(name string) error {
	if d.Armed(name) {
		return errDied
	}
	return nil
}

// TestFailpoint: the follower has the records, and nobody knows.
func TestFailpoint(t *testing.T) {
	l := newLab(t, 2)
	l.lead("a")
	l.must(l.c.Close())
	l.open(dieAt(store.FailReplicate))
	if _, err := l.tryRound(replica.Options{}); !errors.Is(err, errDied) {
		t.Fatal(err)
	}
	l.wantMarks(1, 1, 0)
	l.wantMarks(2, 1, 0)
}
