package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// powerCuts are what a power cut may leave of what was not synced.
func powerCuts() []memfs.CrashOptions {
	cuts := []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}}
	for seed := range uint64(3) {
		cuts = append(cuts, memfs.CrashOptions{Unsynced: 0.5, Seed: seed})
	}
	return cuts
}

// history is what a workload did before it stopped.
type history struct {
	sent   []string // offset=value, in the order sent
	synced int      // of them, how many were promised to survive
}

// value number i; they differ in length so that batches do.
func value(i int) string { return fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", i%5*7)) }

// produce runs commands of three batches each on a log with small segments, rolls now and
// then, and stops at the first error.
func produce(t *testing.T, fs vfs.FS, fsync store.Fsync, h *history) error {
	c := config(400)
	c.Fsync = fsync
	for command := range 5 {
		l, err := store.OpenLog(fs, dir, c)
		if err != nil {
			return err
		}
		err = h.command(t, l, command)
		if cerr := l.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *history) command(t *testing.T, l *store.Log, command int) error {
	for range 3 {
		n := len(h.sent)
		raw := sequenced(t, 7, 0, int32(n), value(n), value(n+1))
		h.sent = append(h.sent, fmt.Sprintf("%d=%s", n, value(n)), fmt.Sprintf("%d=%s", n+1, value(n+1)))
		if _, err := l.Append(raw, 0); err != nil {
			return err
		}
		h.synced += boolInt(l.Config().Fsync == store.FsyncAlways) * 2
	}
	if command == 2 {
		if _, err := l.Roll(); err != nil {
			return err
		}
	}
	if l.Config().Fsync == store.FsyncNever {
		return nil
	}
	if _, err := l.Flush(); err != nil {
		return err
	}
	h.synced = len(h.sent)
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCrashAtEveryOperation cuts the power before every changing operation, in several
// ways, and holds what is left to the promises: everything that was synced is there, byte
// for byte; nothing that was never sent; no gap before the first damage; and after a cut
// there, as recover makes it, more can be appended.
func TestCrashAtEveryOperation(t *testing.T) {
	for _, fsync := range []store.Fsync{store.FsyncAlways, store.FsyncClose, store.FsyncNever} {
		t.Run(fsync.String(), func(t *testing.T) {
			total := faultfs.Wrap(durableDir(t), nil)
			if err := produce(t, total, fsync, &history{}); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= total.Ops()+1; n++ {
				mem := durableDir(t)
				var h history
				err := produce(t, faultfs.Wrap(mem, faultfs.CrashAt(n)), fsync, &h)
				if (err == nil) != (n > total.Ops()) {
					t.Fatalf("crash at operation %d: %v", n, err)
				}
				for _, cut := range powerCuts() {
					when := fmt.Sprintf("crash at operation %d, %+v", n, cut)
					clone := mem.CrashClone(cut)
					if fsync != store.FsyncNever {
						tailOnly(t, clone, when)
					}
					h.check(t, clone, when)
				}
			}
		})
	}
}

// tailOnly requires that what is lost is lost at the end of the last segment: a segment
// is synced before the next one is made.
func tailOnly(t *testing.T, fs *memfs.FS, when string) {
	t.Helper()
	c := openReader(t, fs).From(0)
	defer c.Close()
	next := int64(0)
	for c.Next() && c.Damage() == nil {
		if b := c.Batch(); b.BaseOffset() != next {
			t.Fatalf("%s: a gap from %d to %d", when, next, b.BaseOffset())
		}
		next = c.Batch().NextOffset()
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	if bases := openReader(t, fs).Segments(); len(bases) > 0 && next < bases[len(bases)-1] {
		t.Fatalf("%s: the log ends at %d, before its last segment %d", when, next, bases[len(bases)-1])
	}
}

// TestFlushCoversOtherCommands: a command that syncs promises all that lies below its
// recovery point, also what commands before it wrote without syncing.
func TestFlushCoversOtherCommands(t *testing.T) {
	fs := durableDir(t)
	c := config(250)
	c.Fsync = store.FsyncNever
	l := openLog(t, fs, c)
	for i := range 10 {
		appendAll(t, l, plain(t, fmt.Sprintf("value-%d", i)))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c.Fsync = store.FsyncClose
	k := openLog(t, fs, c)
	appendAll(t, k, plain(t, "value-10"))
	point, err := k.Flush()
	if err != nil || point != 11 {
		t.Fatalf("recovery point %d, %v", point, err)
	}
	if got := contents(t, fs.CrashClone(memfs.CrashOptions{}), 0); len(got) != 11 {
		t.Errorf("%d records survive of 11", len(got))
	}
}

// durableDir is an empty partition directory that survives.
func durableDir(t testing.TB) *memfs.FS {
	t.Helper()
	fs := newDir(t)
	for _, d := range []string{".", "logs", dir} {
		if err := fs.SyncDir(d); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

func (h *history) check(t *testing.T, fs *memfs.FS, when string) {
	t.Helper()
	cutAtDamage(t, fs)
	got := contents(t, fs, 0)
	if len(got) < h.synced {
		t.Fatalf("%s: %d records are left of %d that were synced", when, len(got), h.synced)
	}
	for i, g := range got {
		if i >= len(h.sent) || g != h.sent[i] {
			t.Fatalf("%s: record %d is %q, never sent", when, i, g)
		}
	}
	l, err := store.OpenLog(fs, dir, config(400))
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if _, err := l.Append(plain(t, "more"), 0); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if again := contents(t, fs, int64(len(got))); len(again) != 1 {
		t.Fatalf("%s: appended one, read %v", when, again)
	}
}

// cutAtDamage is the plainest recovery: cut at the first damage or gap, drop what stands
// behind, and the indexes, which are derived.
func cutAtDamage(t *testing.T, fs *memfs.FS) {
	t.Helper()
	base, pos, hurt := firstDamage(t, fs)
	list, err := segment.List(fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Orphans {
		remove(t, fs, o.Name)
	}
	for _, s := range list.Segments {
		drop := []string{s.Index, s.TimeIndex}
		if hurt && s.Base > base {
			drop = append(drop, s.Log)
		}
		if hurt {
			drop = append(drop, s.Snapshot)
		}
		for _, name := range drop {
			remove(t, fs, name)
		}
		if hurt && s.Base == base {
			f, err := fs.OpenRW(filepath.Join(dir, s.Log))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(pos), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func remove(t *testing.T, fs *memfs.FS, name string) {
	t.Helper()
	if name == "" {
		return
	}
	if err := fs.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// firstDamage is the segment and the byte of the first damage or gap.
func firstDamage(t *testing.T, fs *memfs.FS) (base, pos int64, hurt bool) {
	t.Helper()
	c := openReader(t, fs).From(0)
	defer c.Close()
	next := int64(0)
	for c.Next() {
		if c.Damage() != nil || c.Batch().BaseOffset() != next {
			return c.Segment(), c.Pos(), true
		}
		next = c.Batch().NextOffset()
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return 0, 0, false
}

// TestCrashInsideTruncate cuts the power at every operation of a cut from twelve batches
// to four: what is left ends somewhere between, at a batch, and can be cut again to the
// same bytes.
func TestCrashInsideTruncate(t *testing.T) {
	truncate := func(fs vfs.FS, to int64) error {
		l, err := store.OpenLog(fs, dir, config(250))
		if err != nil {
			return err
		}
		plan, err := l.PlanTruncate(min(to, l.End()), false)
		if err != nil {
			return err
		}
		return errors.Join(l.Truncate(plan), l.Close())
	}
	total := faultfs.Wrap(durableTwelve(t), nil)
	if err := truncate(total, 4); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= total.Ops(); n++ {
		mem := durableTwelve(t)
		if err := truncate(faultfs.Wrap(mem, faultfs.CrashAt(n)), 4); err == nil {
			t.Fatalf("crash at operation %d went unnoticed", n)
		}
		for _, cut := range powerCuts() {
			clone := mem.CrashClone(cut)
			if got := len(contents(t, clone, 0)); got < 4 || got > 12 {
				t.Fatalf("crash at operation %d, %+v: %d records are left", n, cut, got)
			}
			if err := truncate(clone, 4); err != nil {
				t.Fatalf("crash at operation %d, %+v: cut again: %v", n, cut, err)
			}
			want, got := written(t, 4), snapshotOf(t, clone)
			for _, name := range []string{logName, "00000000000000000003.log", "00000000000000000003.index", "leader-epoch-checkpoint"} {
				if want[name] != got[name] {
					t.Fatalf("crash at operation %d, %+v: %s is %x, want %x", n, cut, name, got[name], want[name])
				}
			}
		}
	}
}

// durableTwelve is the log of twelve batches, all of it synced.
func durableTwelve(t *testing.T) *memfs.FS {
	t.Helper()
	fs, l := twelve(t)
	if _, err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{".", "logs", dir} {
		if err := fs.SyncDir(d); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// TestFaultAtEveryOperation fails one operation after the other: the error surfaces, what
// was acknowledged is there, what was not is there whole or not at all, and a retry works.
func TestFaultAtEveryOperation(t *testing.T) {
	for _, fsync := range []store.Fsync{store.FsyncAlways, store.FsyncClose} {
		total := faultfs.Wrap(durableDir(t), nil)
		if err := produce(t, total, fsync, &history{}); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= total.Ops(); n++ {
			mem := durableDir(t)
			var h history
			err := produce(t, faultfs.Wrap(mem, faultfs.FailAt(n)), fsync, &h)
			if !errors.Is(err, faultfs.ErrFault) {
				t.Fatalf("fsync %s: operation %d failed, reported %v", fsync, n, err)
			}
			h.check(t, mem, fmt.Sprintf("fsync %s, fault at operation %d", fsync, n))
		}
	}
}

// TestShortWriteIsTakenBack: a disk that is full after half a batch leaves no half batch,
// and the log goes on when there is room again.
func TestShortWriteIsTakenBack(t *testing.T) {
	mem := newDir(t)
	full := false
	fs := faultfs.Wrap(mem, func(op faultfs.Op) error {
		if full && op.Kind == faultfs.Write {
			return faultfs.ShortWrite{N: op.Size / 2, Err: faultfs.ErrFault}
		}
		return nil
	})
	l, err := store.OpenLog(fs, dir, config(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, plain(t, "a"))
	full = true
	if _, err := l.Append(plain(t, "b"), 0); !errors.Is(err, faultfs.ErrFault) {
		t.Fatalf("got %v", err)
	}
	if l.End() != 1 {
		t.Errorf("log end %d after the failure", l.End())
	}
	full = false
	appendAll(t, l, plain(t, "c"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, mem, 0); strings.Join(got, " ") != "0=a 1=c" {
		t.Errorf("got %v", got)
	}
}

// failpoints is armed at one point, where it does not end the process.
type failpoints string

var errDied = errors.New("died")

func (f failpoints) Armed(name string) bool { return name == string(f) }

func (f failpoints) Failpoint(name string) error {
	if f.Armed(name) {
		return errDied
	}
	return nil
}

func TestFailpoints(t *testing.T) {
	for point, want := range map[string]struct {
		size int64 // of the log, of one batch of 70 bytes before
		end  int64
		torn bool
	}{
		store.FailMidWrite:   {70 + 35, 1, true},
		store.FailAfterWrite: {140, 2, false},
	} {
		t.Run(point, func(t *testing.T) {
			fs := newDir(t)
			l := openLog(t, fs, config(1<<20))
			appendAll(t, l, plain(t, "v0"))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			c := config(1 << 20)
			c.Fail = failpoints(point)
			k := openLog(t, fs, c)
			if got, err := k.Append(plain(t, "v1"), 0); !errors.Is(err, errDied) || len(got) != 0 {
				t.Fatalf("got %v, %v", got, err)
			}
			if _, err := k.Append(plain(t, "v2"), 0); !errors.Is(err, errDied) {
				t.Errorf("went on after its death: %v", err)
			}
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			size, err := vfs.Size(fs, filepath.Join(dir, logName))
			if err != nil || size != want.size {
				t.Errorf("log of %d bytes, %v, want %d", size, err, want.size)
			}
			end, damage, err := openReader(t, fs).End()
			if err != nil || end != want.end || (damage != nil) != want.torn {
				t.Errorf("end %d, %v, %v", end, damage, err)
			}
		})
	}
}

// TestBadSectorsAreNoDamage: what cannot be read is not known to be wrong.
func TestBadSectorsAreNoDamage(t *testing.T) {
	fs := faultfs.Wrap(durableTwelve(t), nil)
	log := filepath.Join(dir, "00000000000000000009.log")
	fs.BadSectors(log, 200, 210)
	r, err := store.OpenReader(fs, dir, store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := r.From(6)
	n := 0
	for ; c.Next(); n++ {
		if c.Damage() != nil {
			t.Fatalf("called damage: %v", c.Damage())
		}
	}
	if !errors.Is(c.Err(), syscall.EIO) || n < 3 {
		t.Errorf("%d batches, then %v", n, c.Err())
	}
	if _, err := store.OpenLog(fs, dir, config(250)); !errors.Is(err, syscall.EIO) || isDamage(err) {
		t.Errorf("opened for writing: %v", err)
	}
}

func isDamage(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && e.Class == store.Damage
}

// TestEpochThatWasNotWritten is tried again: it must stand in the file before the first
// batch of it stands in the log.
func TestEpochThatWasNotWritten(t *testing.T) {
	mem := newDir(t)
	full := false
	fs := faultfs.Wrap(mem, func(op faultfs.Op) error {
		if full {
			return faultfs.ErrFault
		}
		return nil
	})
	l, err := store.OpenLog(fs, dir, config(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	full = true
	if _, err := l.Append(plain(t, "a"), 4); !errors.Is(err, faultfs.ErrFault) {
		t.Fatalf("got %v", err)
	}
	full = false
	if _, err := l.Append(plain(t, "a"), 4); err != nil {
		t.Fatal(err)
	}
	epochs, err := checkpoint.ReadEpochs(mem, filepath.Join(dir, checkpoint.EpochFile))
	if err != nil || len(epochs) != 1 || epochs[0] != (checkpoint.EpochEntry{Epoch: 4}) {
		t.Errorf("epochs %v, %v", epochs, err)
	}
}
