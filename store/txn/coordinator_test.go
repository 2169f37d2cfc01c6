package txn_test

import (
	"fmt"
	"testing"

	"logdir/store/txn"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// want requires a reader to see something.
func (l *lab) want(t *testing.T, what, want string) {
	t.Helper()
	if got := l.visible(t); got != want {
		t.Errorf("%s: a reader sees %q, want %q", what, got, want)
	}
}

func begun(t *testing.T, l *lab, id string) txn.Transaction {
	t.Helper()
	x, err := l.begin(id)
	must(t, err)
	return x
}

func TestCommitIsSeenAtOnceEverywhere(t *testing.T) {
	l := newLab(t)
	x := begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 0, "a", "b"))
	must(t, l.produce("x", txn.AnyEpoch, 1, "c"))
	must(t, l.produce("x", txn.AnyEpoch, 0, "d")) // sequence 2 of another command
	must(t, l.sendOffset("x", txn.AnyEpoch, 5))
	must(t, l.sendOffset("x", txn.AnyEpoch, 6))
	l.want(t, "open", "0: | 1: | g -")
	done, err := l.end("x", int32(x.Epoch), true)
	must(t, err)
	if done.State != txn.CompleteCommit || len(done.Partitions) != 0 || done.ProducerID != x.ProducerID {
		t.Errorf("%+v", done)
	}
	l.want(t, "committed", "0: a b d | 1: c | g 6")
	// Asked again, it is what it is.
	_, err = l.end("x", txn.AnyEpoch, true)
	must(t, err)
	_, err = l.end("x", txn.AnyEpoch, false)
	named(t, err, "INVALID_TXN_STATE")
	named(t, l.produce("x", txn.AnyEpoch, 0, "e"), "INVALID_TXN_STATE")
}

func TestAbortIsNeverSeen(t *testing.T) {
	l := newLab(t)
	begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 0, "a"))
	must(t, l.sendOffset("x", txn.AnyEpoch, 5))
	_, err := l.end("x", txn.AnyEpoch, false)
	must(t, err)
	l.want(t, "aborted", "0: | 1: | g -")
	if there, err := vfs.Exists(l.fs, "d/broker-1/t-0/00000000000000000000.txnindex"); !there || err != nil {
		t.Errorf("transaction index: %t, %v", there, err)
	}
	// A partition without records of the transaction needs no marker.
	if n := l.markers(t, "d/broker-1/t-1"); n != 0 {
		t.Errorf("%d markers in the other partition", n)
	}
}

func TestNewRunFencesTheOld(t *testing.T) {
	l := newLab(t)
	old := begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 0, "zombie"))
	next := begun(t, l, "x")
	if next.ProducerID != old.ProducerID || next.Epoch != old.Epoch+1 {
		t.Errorf("old %+v, next %+v", old, next)
	}
	named(t, l.produce("x", int32(old.Epoch), 0, "zombie"), "INVALID_PRODUCER_EPOCH")
	named(t, l.sendOffset("x", int32(old.Epoch), 1), "INVALID_PRODUCER_EPOCH")
	_, err := l.end("x", int32(old.Epoch), true)
	named(t, err, "INVALID_PRODUCER_EPOCH")
	must(t, l.produce("x", int32(next.Epoch), 0, "a"))
	_, err = l.end("x", int32(next.Epoch), true)
	must(t, err)
	l.want(t, "after both", "0: a | 1: | g -")
}

func TestTimeout(t *testing.T) {
	l := newLab(t)
	x := begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 0, "late"))
	l.now += int64(minute)
	if ended, err := l.finish(); len(ended) != 0 || err != nil {
		t.Errorf("at the timeout: %v, %v", ended, err)
	}
	l.now++
	ended, err := l.finish()
	must(t, err)
	if len(ended) != 1 || !ended[0].TimedOut || ended[0].State != txn.CompleteAbort || ended[0].Epoch != x.Epoch+1 {
		t.Fatalf("behind it: %+v", ended)
	}
	_, err = l.end("x", int32(x.Epoch), true)
	named(t, err, "INVALID_PRODUCER_EPOCH")
	next := begun(t, l, "x")
	if next.Epoch <= ended[0].Epoch {
		t.Errorf("the next run has epoch %d, the fence was %d", next.Epoch, ended[0].Epoch)
	}
	must(t, l.produce("x", txn.AnyEpoch, 0, "a"))
	_, err = l.end("x", txn.AnyEpoch, true)
	must(t, err)
	l.want(t, "in the end", "0: a | 1: | g -")
}

func TestUnknownID(t *testing.T) {
	l := newLab(t)
	begun(t, l, "mover")
	_, err := l.end("movr", txn.AnyEpoch, true)
	named(t, err, "TRANSACTIONAL_ID_NOT_FOUND")
	_, err = l.begin("")
	named(t, err, "INVALID_REQUEST")
}

// TestRecordRoundTrip: what is written is what is read, all fields.
func TestRecordRoundTrip(t *testing.T) {
	l := newLab(t)
	x := begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 1, "a"))
	must(t, l.produce("x", txn.AnyEpoch, 0, "a"))
	must(t, l.sendOffset("x", txn.AnyEpoch, 5))
	got := transactionsOf(t, l)
	want := "x 1000 0 60000 Ongoing [__consumer_offsets:0 t:0 t:1] +0 +0"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q (began %+v)", got, want, x)
	}
}

func transactionsOf(t *testing.T, l *lab) (out []string) {
	t.Helper()
	log, err := l.open(t).CoordinatorLog(stateLog).Reader()
	must(t, err)
	known := txn.NewTransactions()
	_, err = known.ReadLog(log)
	must(t, err)
	for _, x := range known.All() {
		out = append(out, fmt.Sprintf("%s %d %d %d %s %v +%d +%d", x.ID, x.ProducerID, x.Epoch, x.TimeoutMs, x.State, x.Partitions, x.Updated-moment, x.Started-moment))
	}
	return out
}

// TestCrashInCommit cuts the power at every operation of a commit. What the next command finds
// is open still, or is committed once it goes on: in all partitions and with the offset,
// with one marker each. So it is where each step compacts the coordinator's logs.
func TestCrashInCommit(t *testing.T) {
	t.Run("as it is", func(t *testing.T) { crashInCommit(t, 0, 1) })
	t.Run("compacting", func(t *testing.T) { crashInCommit(t, 1, 3) })
}

// crashInCommit tries every step-th operation.
func crashInCommit(t *testing.T, small int64, step int) {
	base := newLab(t)
	base.small = small
	begun(t, base, "x")
	must(t, base.produce("x", txn.AnyEpoch, 0, "a"))
	must(t, base.produce("x", txn.AnyEpoch, 1, "b"))
	must(t, base.sendOffset("x", txn.AnyEpoch, 5))
	fresh := func() *memfs.FS { return base.fs.(*memfs.FS).CrashClone(memfs.CrashOptions{Unsynced: 1}) }
	const none, all = "0: | 1: | g -", "0: a | 1: b | g 5"
	commit := func(fs vfs.FS) error {
		_, err := (&lab{fs: fs, now: moment, small: small}).end("x", txn.AnyEpoch, true)
		return err
	}
	whole := faultfs.Wrap(fresh(), nil)
	must(t, commit(whole))
	decided := 0
	for n := 1; n <= whole.Ops(); n += step {
		mem := fresh()
		if err := commit(faultfs.Wrap(mem, faultfs.CrashAt(n))); err == nil {
			t.Fatalf("crash at operation %d: no error", n)
		}
		for _, cut := range []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}, {Unsynced: 0.5, Seed: 1}, {Unsynced: 0.5, Seed: 2}} {
			when := fmt.Sprintf("crash at operation %d, %+v", n, cut)
			l := &lab{fs: mem.CrashClone(cut), now: moment, small: small}
			if repaired := l.cutTails(t); repaired {
				when += ", torn tail cut"
			}
			ended, err := l.finish()
			must(t, err)
			want := none
			if state := transactionsOf(t, l)[0]; len(ended) > 0 || contains(state, "CompleteCommit") {
				want = all
				decided++
			}
			if got := l.visible(t); got != want {
				t.Fatalf("%s: finished %d; a reader sees %q, want %q", when, len(ended), got, want)
			}
			// Whoever asks again gets the commit, and no second marker.
			_, err = l.end("x", txn.AnyEpoch, true)
			must(t, err)
			if got := l.visible(t); got != all {
				t.Fatalf("%s: committed again, a reader sees %q", when, got)
			}
			for _, dir := range []string{"d/broker-1/t-0", "d/broker-1/t-1", "d/coordinator/__consumer_offsets-0"} {
				if m := l.markers(t, dir); m != 1 {
					t.Fatalf("%s: %d markers in %s", when, m, dir)
				}
			}
		}
	}
	if decided == 0 {
		t.Error("no crash came after the decision")
	}
}

// TestFailpoints: a commit that dies behind its decision, or behind each marker, goes on there.
func TestFailpoints(t *testing.T) {
	l := newLab(t)
	begun(t, l, "x")
	must(t, l.produce("x", txn.AnyEpoch, 0, "a"))
	must(t, l.produce("x", txn.AnyEpoch, 1, "b"))
	must(t, l.sendOffset("x", txn.AnyEpoch, 5))
	for _, step := range []struct{ armed, want string }{
		{"txn.after-prepare", "0: | 1: | g -"},
		{"txn.after-marker", "0: a | 1: | g -"},
	} {
		l.armed = step.armed
		if _, err := l.end("x", txn.AnyEpoch, true); err == nil {
			t.Fatalf("%s did not fire", step.armed)
		}
		l.want(t, step.armed, step.want)
	}
	l.armed = ""
	ended, err := l.finish()
	must(t, err)
	if len(ended) != 1 || ended[0].TimedOut || ended[0].State != txn.CompleteCommit {
		t.Errorf("%+v", ended)
	}
	l.want(t, "finished", "0: a | 1: b | g 5")
}
