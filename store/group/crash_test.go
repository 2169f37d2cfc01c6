package group

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"logdir/store/cluster"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// settled is a cluster on the disk in which a and b read orders.
func settled(t *testing.T, before ...func(*lab)) *memfs.FS {
	t.Helper()
	l := newLab(t, "orders=2")
	for _, do := range before {
		do(l)
	}
	return l.fs.(*memfs.FS).CrashClone(memfs.CrashOptions{Unsynced: 1})
}

// runOn is one command on a file system, with a coordinator that compacts its log as soon as
// it has so many bytes; 0 for the default.
func runOn(fs vfs.FS, small int64, do func(*Coordinator) error) error {
	c, err := cluster.Open(fs, dataDir, cluster.Options{
		Now: func() time.Time { return time.UnixMilli(1767225600000) }, CoordinatorBytes: small,
	})
	if err != nil {
		return err
	}
	co := NewCoordinator(c)
	err = do(co)
	return errors.Join(err, co.Close(context.Background()), c.Close())
}

// summary is all that the coordinator's log says, and what is wrong with it.
func summary(fs *memfs.FS) (string, error) {
	var text strings.Builder
	err := runOn(fs, 0, func(co *Coordinator) error {
		groups, err := co.Groups()
		for _, g := range groups {
			fmt.Fprintf(&text, "%s at %d:", g.ID, g.Generation())
			for _, m := range g.Members() {
				fmt.Fprintf(&text, " %s=%v", m.ID, m.Assignment)
			}
			for _, c := range g.Offsets() {
				fmt.Fprintf(&text, " %s:%d@%d", c.Topic, c.Partition, c.Offset)
			}
		}
		return err
	})
	return text.String(), err
}

// powerCuts are what a power cut may leave of what was not synced.
func powerCuts() []memfs.CrashOptions {
	cuts := []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}}
	for seed := range uint64(4) {
		cuts = append(cuts, memfs.CrashOptions{Unsynced: 0.5, Seed: seed})
	}
	return cuts
}

// TestCrashAtEveryOperation: whenever the power goes, what the log says is what it said
// before the command or what it says after it, never a part; what was answered holds; a torn
// batch at the end is told as one; and where there is none, the command can be given again.
func TestCrashAtEveryOperation(t *testing.T) {
	joined := func(l *lab) { l.joins(t, join("g", "a", "orders")); l.joins(t, join("g", "b", "orders")) }
	read := func(l *lab) { l.polls(t, "g", "a"); l.moves(t, "g", "a", tp("orders", 0), 7) }
	ctx := t.Context()
	for _, c := range []struct {
		name   string
		before []func(*lab)
		do     func(*Coordinator) error
	}{
		{"the first join", nil, func(co *Coordinator) error { _, err := co.Join(ctx, join("g", "a", "orders")); return err }},
		{"another join", []func(*lab){joined}, func(co *Coordinator) error { _, err := co.Join(ctx, join("g", "c", "orders")); return err }},
		{"poll", []func(*lab){joined}, func(co *Coordinator) error { _, err := co.Refresh(ctx, "g", "a"); return err }},
		{"commit", []func(*lab){joined, read}, func(co *Coordinator) error {
			_, err := co.Commit(ctx, "g", "a", 2, []Position{{Topic: "orders", Partition: 0, Offset: 7, LeaderEpoch: -1}})
			return err
		}},
		{"leave", []func(*lab){joined}, func(co *Coordinator) error {
			groups, err := co.Groups()
			if err != nil || len(groups[0].Members()) == 1 { // it has left already
				return err
			}
			_, err = co.Leave(ctx, "g", "b")
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) { crashSweep(t, 0, c.do, c.before...) })
	}
}

func crashSweep(t *testing.T, small int64, do func(*Coordinator) error, before ...func(*lab)) {
	start := settled(t, before...)
	clone := func() *memfs.FS { return start.CrashClone(memfs.CrashOptions{Unsynced: 1}) }
	was, err := summary(clone())
	if err != nil {
		t.Fatal(err)
	}
	total := faultfs.Wrap(clone(), nil)
	if err := runOn(total, small, do); err != nil {
		t.Fatal(err)
	}
	after := clone()
	if err := runOn(after, small, do); err != nil {
		t.Fatal(err)
	}
	is, err := summary(after)
	if err != nil {
		t.Fatal(err)
	}
	torn := 0
	for n := 1; n <= total.Ops()+1; n++ {
		fs := clone()
		answered := runOn(faultfs.Wrap(fs, faultfs.CrashAt(n)), small, do) == nil
		for _, cut := range powerCuts() {
			left := fs.CrashClone(cut)
			got, err := summary(left)
			switch {
			case err != nil && !answered && nameOf(t, err) == "CORRUPT_MESSAGE":
				torn++
				continue
			case err != nil, got != is && (answered || got != was):
				t.Fatalf("crash at operation %d of %d, %+v: %q, %v\nwas %q\nis  %q", n, total.Ops(), cut, got, err, was, is)
			}
			if err := runOn(left, small, do); err != nil {
				t.Fatalf("again after operation %d, %+v: %v", n, cut, err)
			}
			if got, err := summary(left); got != is || err != nil {
				t.Fatalf("again after operation %d, %+v: %q, %v, want %q", n, cut, got, err, is)
			}
		}
	}
	t.Logf("%d operations, %d torn tails", total.Ops(), torn)
}
