package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// files lists the partition directory as "name size".
func files(t *testing.T, fs *memfs.FS) []string {
	t.Helper()
	entries, err := fs.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %d", e.Name(), info.Size()))
	}
	return out
}

func TestAppendGivesOffsetsAndEpoch(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	two := append(plain(t, "a", "b"), plain(t, "c")...)
	got, err := l.Append(two, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Appended{{BaseOffset: 0, LastOffset: 1, Records: 2}, {BaseOffset: 2, LastOffset: 2, Records: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if l.End() != 3 || l.Start() != 0 || l.Epoch() != 3 {
		t.Errorf("start %d end %d epoch %d, want 0 3 3", l.Start(), l.End(), l.Epoch())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0=a", "1=b", "2=c"}, contents(t, fs, 0)); diff != "" {
		t.Error(diff)
	}
	epochs, err := vfs.ReadAll(fs, filepath.Join(dir, checkpoint.EpochFile), 100)
	if err != nil || string(epochs) != "0\n1\n3 0\n" {
		t.Errorf("leader-epoch-checkpoint %q, %v", epochs, err)
	}
}

// TestRollBySize is experiment 05: batches of 75 bytes, segments of 250.
func TestRollBySize(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(250))
	for i := range 7 {
		appendAll(t, l, plain(t, fmt.Sprintf("value-%d", i)))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"00000000000000000000.index 16", "00000000000000000000.log 225", "00000000000000000000.timeindex 12",
		"00000000000000000003.index 16", "00000000000000000003.log 225", "00000000000000000003.snapshot 10", "00000000000000000003.timeindex 12",
		"00000000000000000006.index 0", "00000000000000000006.log 75", "00000000000000000006.snapshot 10", "00000000000000000006.timeindex 0",
		"leader-epoch-checkpoint 8",
	}
	if diff := cmp.Diff(want, files(t, fs)); diff != "" {
		t.Error(diff)
	}
}

// TestOneCallManySegments gives all seven batches in one call: the same files.
func TestOneCallManySegments(t *testing.T) {
	one, many := newDir(t), newDir(t)
	var all []byte
	l := openLog(t, many, config(250))
	for i := range 7 {
		f := plain(t, fmt.Sprintf("value-%d", i))
		all = append(all, f...)
		appendAll(t, l, f)
	}
	k := openLog(t, one, config(250))
	appendAll(t, k, all)
	if err := errors.Join(l.Close(), k.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(snapshotOf(t, many), snapshotOf(t, one)); diff != "" {
		t.Error(diff)
	}
}

// snapshotOf is every file of the partition with its bytes.
func snapshotOf(t testing.TB, fs *memfs.FS) map[string]string {
	t.Helper()
	entries, err := fs.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		data, err := vfs.ReadAll(fs, filepath.Join(dir, e.Name()), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// TestReopenWritesTheSameBytes: a shell that runs a command per batch leaves the files of
// one long run.
func TestReopenWritesTheSameBytes(t *testing.T) {
	once, often := newDir(t), newDir(t)
	l := openLog(t, once, config(700))
	for i := range 40 {
		f := plain(t, fmt.Sprintf("value-%d", i))
		appendAll(t, l, f)
		k := openLog(t, often, config(700))
		appendAll(t, k, f)
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(snapshotOf(t, once), snapshotOf(t, often)); diff != "" {
		t.Error(diff)
	}
}

func TestRollByTime(t *testing.T) {
	fs := newDir(t)
	c := config(1 << 20)
	c.SegmentMs = 1000
	l := openLog(t, fs, c)
	meta := record.NoProducer()
	appendAll(t, l,
		frameAt(t, meta, moment, "a"), frameAt(t, meta, moment+1000, "b"), // 1000 ms: not more than segment.ms
		frameAt(t, meta, moment+1001, "c"), // more
		frameAt(t, meta, moment-5000, "d")) // an old one never rolls
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := store.OpenReader(fs, dir, store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 2}, r.Segments()); diff != "" {
		t.Error(diff)
	}
}

func TestRollOnCommand(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	for _, want := range []bool{false, true, false} {
		rolled, err := l.Roll()
		if err != nil || rolled != want {
			t.Fatalf("Roll() = %v, %v, want %v", rolled, err, want)
		}
		if !rolled && l.End() == 0 {
			appendAll(t, l, plain(t, "a"))
		}
	}
	if l.End() != 1 {
		t.Errorf("log end %d, want 1", l.End())
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   store.Config
		frame []byte
		epoch int32
		class store.Class
		kafka string
	}{
		{"more than max.message.bytes", store.Config{MaxMessageBytes: 70}, plain(t, "0123456789"), 2, store.Refused, "MESSAGE_TOO_LARGE"},
		{"more than a segment", store.Config{SegmentBytes: 70}, plain(t, "0123456789"), 2, store.Refused, "RECORD_LIST_TOO_LARGE"},
		{"an epoch that is over", store.Config{}, plain(t, "a"), 1, store.Fenced, "FENCED_LEADER_EPOCH"},
		{"half a frame", store.Config{}, plain(t, "a")[:50], 2, store.Damage, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := newDir(t)
			l := openLog(t, fs, store.Config{})
			if err := l.AssignEpoch(2); err != nil {
				t.Fatal(err)
			}
			appendEpoch(t, l, 2, plain(t, "first"))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			before := snapshotOf(t, fs)
			k := openLog(t, fs, c.cfg)
			_, err := k.Append(c.frame, c.epoch)
			e, ok := errors.AsType[*store.Error](err)
			if !ok || e.Class != c.class || e.Name != c.kafka {
				t.Errorf("got %v, want %s", err, c.kafka)
			}
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, snapshotOf(t, fs)); diff != "" {
				t.Errorf("a refused append changed the files: %s", diff)
			}
		})
	}
}

func appendEpoch(t *testing.T, l *store.Log, epoch int32, frames ...[]byte) {
	t.Helper()
	for _, f := range frames {
		if _, err := l.Append(f, epoch); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedTailIsRefused is the heart of experiment 06.
func TestDamagedTailIsRefused(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, plain(t, "v0"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "00000000000000000000.log")
	next := plain(t, "v1")
	record.SetBaseOffset(next, 1)
	tear(t, fs, log, next[:30])
	before := snapshotOf(t, fs)

	_, err := store.OpenLog(fs, dir, config(1<<20))
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Class != store.Damage {
		t.Fatalf("got %v, want damage", err)
	}
	for _, part := range []string{"damage found", "torn at byte 70", "(CORRUPT_MESSAGE)"} {
		if strings.Count(e.Error(), part) != 1 {
			t.Errorf("%q: want %q once", e, part)
		}
	}
	if want := "logdir recover --dry-run t:0"; e.Hint != want {
		t.Errorf("hint %q, want %q", e.Hint, want)
	}
	if bad, ok := errors.AsType[*corrupt.Error](err); !ok || bad.Kind != corrupt.Torn || bad.Pos != 70 || bad.Path != log {
		t.Errorf("damage %+v", bad)
	}
	if diff := cmp.Diff(before, snapshotOf(t, fs)); diff != "" {
		t.Errorf("opening changed the files: %s", diff)
	}
}

// tear adds bytes at the end of a file.
func tear(t *testing.T, fs *memfs.FS, name string, tail []byte) {
	t.Helper()
	f, err := fs.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(tail, info.Size()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestRefreshSeesOtherWriters(t *testing.T) {
	fs := newDir(t)
	mine, theirs := openLog(t, fs, config(250)), openLog(t, fs, config(250))
	for i := range 10 { // rolls on the way
		writer, reader := mine, theirs
		if i%2 == 1 {
			writer, reader = theirs, mine
		}
		if err := writer.Refresh(); err != nil {
			t.Fatal(err)
		}
		appendAll(t, writer, plain(t, fmt.Sprintf("value-%d", i)))
		if err := reader.Refresh(); err != nil {
			t.Fatal(err)
		}
		if reader.End() != int64(i+1) {
			t.Fatalf("after %d appends the other sees the end at %d", i+1, reader.End())
		}
	}
	if _, err := mine.Roll(); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Refresh(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, theirs, plain(t, "value-10"))
	if got := contents(t, fs, 10); len(got) != 1 || got[0] != "10=value-10" {
		t.Errorf("after a roll by the other: %v", got)
	}
}

func TestFollowerTakesWhatTheLeaderHas(t *testing.T) {
	leader, follower := newDir(t), newDir(t)
	l, f := openLog(t, leader, config(250)), openLog(t, follower, config(250))
	for i := range 7 {
		raw := plain(t, fmt.Sprintf("value-%d", i))
		appendEpoch(t, l, int32(i/3), raw)
		if err := f.AppendReplica(raw); err != nil { // Append has placed it
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(snapshotOf(t, leader), snapshotOf(t, follower)); diff != "" {
		t.Error(diff)
	}
}

func TestFollowerRefuses(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	appendAll(t, l, plain(t, "a", "b"))
	if err := l.AppendReplica(plain(t, "again")); err == nil {
		t.Error("took a batch at offset 0 although the log ends at 2")
	}
	m := record.NoProducer()
	m.BaseOffset, m.LeaderEpoch = 2, 0
	bad := frame(t, m, "flipped")
	bad[len(bad)-2] ^= 1
	err := l.AppendReplica(bad)
	if d, ok := errors.AsType[*corrupt.Error](err); !ok || d.Kind != corrupt.BadCRC || !d.HasCRC {
		t.Errorf("took a batch with a wrong checksum: %v", err)
	}
	if l.End() != 2 {
		t.Errorf("log end %d, want 2", l.End())
	}
}

// TestFollowerStartsHigher: a leader whose log begins at 50 makes the follower's empty
// segment move there.
func TestFollowerStartsHigher(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	m := record.NoProducer()
	m.BaseOffset, m.LeaderEpoch = 50, 0
	if err := l.AppendReplica(frame(t, m, "a")); err != nil {
		t.Fatal(err)
	}
	if l.Start() != 50 || l.End() != 51 {
		t.Errorf("start %d end %d, want 50 51", l.Start(), l.End())
	}
	for _, f := range files(t, fs) {
		if strings.HasPrefix(f, "00000000000000000000.") {
			t.Errorf("left behind: %s", f)
		}
	}
}
