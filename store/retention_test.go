package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

const hour = 3600 * 1000

// aged makes a log of segments with two batches of one record each, 138 bytes together.
// ages are hours before the moment, one for each segment, the oldest first.
func aged(t testing.TB, fs *memfs.FS, ages ...int64) {
	t.Helper()
	l := openLog(t, fs, config(150))
	for _, age := range ages {
		appendAll(t, l, frameAt(t, record.NoProducer(), moment-age*hour, "a"), frameAt(t, record.NoProducer(), moment-age*hour, "b"))
		if _, err := l.Roll(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// expired writes a plan as "0 4 (retention.ms) -> 6".
func expired(p store.Expiry) string {
	var out []string
	for i, s := range p.Segments {
		if i == 0 || s.Reason != p.Segments[i-1].Reason {
			out = append(out, fmt.Sprintf("(%s)", s.Reason))
		}
		out = append(out, fmt.Sprint(s.Base))
	}
	if p.Roll {
		out = append(out, "roll")
	}
	return strings.Join(append(out, "->", fmt.Sprint(p.Start)), " ")
}

func TestRetentionRules(t *testing.T) {
	const all = 1 << 40
	for _, c := range []struct {
		name     string
		ages     []int64 // of the closed segments; the active one is empty
		logStart int64
		r        store.Retention
		want     string
	}{
		{"nothing is asked", []int64{9, 8, 7}, 0, store.Retention{Bytes: -1, Ms: -1, HighWatermark: all}, "-> 0"},
		{"below the log start, which lies in the second", []int64{9, 8, 7}, 3, store.LogStartOnly(all), "(log start) 0 -> 2"},
		{"the log start is a base offset", []int64{9, 8, 7}, 4, store.LogStartOnly(all), "(log start) 0 2 -> 4"},
		{"below the log end the active segment stays", []int64{9, 8}, 4, store.LogStartOnly(all), "(log start) 0 2 -> 4"},
		{"exactly retention.bytes are left", []int64{9, 8, 7}, 0, store.Retention{Bytes: 276, Ms: -1, HighWatermark: all}, "(retention.bytes) 0 -> 2"},
		{"one byte fewer would be left", []int64{9, 8, 7}, 0, store.Retention{Bytes: 277, Ms: -1, HighWatermark: all}, "-> 0"},
		{"nothing may be left", []int64{9, 8, 7}, 0, store.Retention{Bytes: 0, Ms: -1, HighWatermark: all}, "(retention.bytes) 0 2 4 -> 6"},
		{"older than eight hours", []int64{9, 8, 7}, 0, store.Retention{Bytes: -1, Ms: 8*hour - 1, HighWatermark: all}, "(retention.ms) 0 2 -> 4"},
		{"exactly retention.ms old is not older", []int64{9, 8, 7}, 0, store.Retention{Bytes: -1, Ms: 8 * hour, HighWatermark: all}, "(retention.ms) 0 -> 2"},
		{"a record dated ahead keeps all behind it", []int64{9, -5, 7}, 0, store.Retention{Bytes: -1, Ms: hour, HighWatermark: all}, "(retention.ms) 0 -> 2"},
		{"never past the high watermark", []int64{9, 8, 7}, 0, store.Retention{Bytes: 0, Ms: 0, HighWatermark: 3}, "(retention.bytes) 0 -> 2"},
		{"log start, then bytes of what is left, then age", []int64{9, 8, 7, 6, 1}, 2, store.Retention{Bytes: 414, Ms: 5 * hour, HighWatermark: all}, "(log start) 0 (retention.bytes) 2 (retention.ms) 4 6 -> 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := newDir(t)
			aged(t, fs, c.ages...)
			c.r.Now = moment
			r, err := store.OpenReader(fs, dir, store.ReaderOptions{LogStart: c.logStart})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := r.PlanRetention(c.r)
			if err != nil {
				t.Fatal(err)
			}
			if got := expired(plan); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestRetentionOfTheActiveSegment: it can go too; the log then begins, empty, where it ended.
func TestRetentionOfTheActiveSegment(t *testing.T) {
	fs := newDir(t)
	aged(t, fs, 9)
	l := openLog(t, fs, config(150))
	appendAll(t, l, frameAt(t, record.NoProducer(), moment-8*hour, "c"))
	plan, err := l.PlanRetention(store.Retention{Bytes: -1, Ms: hour, Now: moment, HighWatermark: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := expired(plan); got != "(retention.ms) 0 2 roll -> 3" {
		t.Fatalf("plan %s", got)
	}
	if err := l.Expire(plan); err != nil {
		t.Fatal(err)
	}
	if l.Start() != 3 || l.End() != 3 {
		t.Errorf("the log goes from %d to %d, want 3 to 3", l.Start(), l.End())
	}
	appendAll(t, l, plain(t, "d"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"3=d"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
	if epochs, err := checkpoint.ReadEpochs(fs, dir+"/"+checkpoint.EpochFile); err != nil || len(epochs) != 1 || epochs[0].StartOffset != 3 {
		t.Errorf("epochs %v, %v: want one that begins at 3", epochs, err)
	}
}

// TestRetentionByModificationTime: without entries in the time index the file's date tells.
func TestRetentionByModificationTime(t *testing.T) {
	fs := newDir(t)
	aged(t, fs, 0, 0)
	for base, age := range map[int64]time.Duration{0: 3 * time.Hour, 2: time.Hour} {
		if err := fs.Remove(dir + "/" + segment.FileName(base, segment.TimeIndexSuffix)); err != nil {
			t.Fatal(err)
		}
		if err := fs.Chtimes(dir+"/"+segment.FileName(base, segment.LogSuffix), time.UnixMilli(moment).Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := openReader(t, fs).PlanRetention(store.Retention{Bytes: -1, Ms: 2 * hour, Now: moment, HighWatermark: 99})
	if err != nil {
		t.Fatal(err)
	}
	if got := expired(plan); got != "(retention.ms) 0 -> 2" {
		t.Errorf("plan %s", got)
	}
}

// TestRetentionCrash cuts the power at every operation of a pass: the log begins somewhere
// before its new start, has no hole, and the next pass ends where this one would have.
func TestRetentionCrash(t *testing.T) {
	pass := func(fs *faultfs.FS) error {
		l, err := store.OpenLog(fs, dir, config(150))
		if err != nil {
			return err
		}
		plan, err := l.PlanRetention(store.Retention{Bytes: -1, Ms: hour, Now: moment, HighWatermark: 9})
		if err != nil {
			return err
		}
		if err := l.Expire(plan); err != nil {
			return err
		}
		return l.Close()
	}
	make := func() *memfs.FS {
		fs := durableDir(t)
		aged(t, fs, 9, 8, 7)
		l := openLog(t, fs, config(150))
		appendAll(t, l, frameAt(t, record.NoProducer(), moment-6*hour, "y"), frameAt(t, record.NoProducer(), moment-6*hour, "z"))
		if _, err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return fs
	}
	whole := faultfs.Wrap(make(), nil)
	if err := pass(whole); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= whole.Ops(); n++ {
		for _, cut := range powerCuts() {
			when := fmt.Sprintf("crash at operation %d, %+v", n, cut)
			mem := make()
			if err := pass(faultfs.Wrap(mem, faultfs.CrashAt(n))); err == nil {
				t.Fatalf("%s: no error", when)
			}
			clone := mem.CrashClone(cut)
			bases := openReader(t, clone).Segments()
			for i := range bases[1:] {
				if bases[i+1] != bases[i]+2 {
					t.Fatalf("%s: segments %v have a hole", when, bases)
				}
			}
			if err := pass(faultfs.Wrap(clone, nil)); err != nil {
				t.Fatalf("%s: the next pass: %v", when, err)
			}
			if bases := openReader(t, clone).Segments(); len(bases) != 1 || bases[0] != 8 {
				t.Fatalf("%s: segments %v after the next pass", when, bases)
			}
			if end, damage, err := openReader(t, clone).End(); end != 8 || damage != nil || err != nil {
				t.Fatalf("%s: the log ends at %d, %v, %v", when, end, damage, err)
			}
		}
	}
}

// TestReadingWhileSegmentsGo: a reader that listed segments which retention takes away says
// that the offset is gone; one whose next segment was joined to another reads on.
func TestReadingWhileSegmentsGo(t *testing.T) {
	fs := newDir(t)
	aged(t, fs, 9, 8, 7)
	r := openReader(t, fs)
	for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
		if err := fs.Remove(dir + "/" + segment.FileName(0, suffix)); err != nil {
			t.Fatal(err)
		}
	}
	c := r.From(0)
	defer c.Close()
	if c.Next() {
		t.Fatal("read a batch of a segment that is gone")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "offset 0 was deleted meanwhile, the log starts at 2 now") {
		t.Errorf("error %v", err)
	}
}
