package segment_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

const dir = "orders-0"

// newDir is an empty partition directory.
func newDir(t testing.TB) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	if err := fs.Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	return fs
}

func open(t testing.TB, fs vfs.FS, base int64, o segment.AppenderOptions) *segment.Appender {
	t.Helper()
	a, err := segment.OpenAppender(fs, dir, base, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustAppend(t testing.TB, a *segment.Appender, frames []byte) {
	t.Helper()
	if _, err := a.Append(frames); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents are all files of the partition directory, the log as its size and the indexes
// as hex.
func contents(t testing.TB, fs vfs.ReadFS) map[string]string {
	t.Helper()
	entries, err := fs.ReadDir(dir)
	must(t, err)
	out := map[string]string{}
	for _, e := range entries {
		data, err := vfs.ReadAll(fs, path.Join(dir, e.Name()), 64<<20)
		must(t, err)
		out[e.Name()] = hex.EncodeToString(data)
	}
	return out
}

func write(t testing.TB, fs vfs.FS, name string, data []byte) {
	t.Helper()
	f, err := fs.OpenCreate(path.Join(dir, name))
	must(t, err)
	must(t, f.Truncate(0))
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
}

// With an interval of 150 bytes every third batch of F is indexed, beginning with the one
// at byte 216, offset 3; the times are those of these batches, and of the last at the end.
const (
	logName   = "00000000000000000000.log"
	indexName = "00000000000000000000.index"
	timeName  = "00000000000000000000.timeindex"

	indexOfF = "00000003000000d8" + "00000006000001b0" + "0000000900000288"
	timesOfF = "0000018bcfe573b800000003" + "0000018bcfe57f7000000006" + "0000018bcfe58b2800000009"
)

func TestAppend(t *testing.T) {
	f := fixtureF(t)
	want := map[string]string{logName: hex.EncodeToString(f), indexName: indexOfF, timeName: timesOfF}
	for name, write := range map[string]func(*testing.T, vfs.FS){
		"in one go": func(t *testing.T, fs vfs.FS) {
			a := open(t, fs, 0, segment.AppenderOptions{Interval: 150})
			mustAppend(t, a, f)
			must(t, a.Finish())
			must(t, a.Close())
		},
		"batch by batch": func(t *testing.T, fs vfs.FS) {
			a := open(t, fs, 0, segment.AppenderOptions{Interval: 150})
			for i := range 10 {
				pos, err := a.Append(batch(f, i))
				if err != nil || pos != int64(i*batchSize) || a.NextOffset() != int64(i+1) || a.Size() != pos+batchSize {
					t.Fatalf("batch %d at %d, log end %d, size %d: %v", i, pos, a.NextOffset(), a.Size(), err)
				}
			}
			must(t, a.Finish())
			must(t, a.Close())
		},
		"opened for each batch": func(t *testing.T, fs vfs.FS) {
			for i := range 10 {
				a := open(t, fs, 0, segment.AppenderOptions{Interval: 150})
				mustAppend(t, a, batch(f, i))
				must(t, a.Close())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := newDir(t)
			write(t, fs)
			if d := cmp.Diff(want, contents(t, fs)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestAppenderKnowsTheSegment(t *testing.T) {
	fs := newDir(t)
	a := open(t, fs, 0, segment.AppenderOptions{Epoch: 2})
	if a.NextOffset() != 0 || a.Epoch() != 2 || a.MaxTimestamp() != -1 || a.FirstTimestamp() != -1 {
		t.Errorf("new: log end %d, epoch %d, timestamps %d %d", a.NextOffset(), a.Epoch(), a.FirstTimestamp(), a.MaxTimestamp())
	}
	f := fixtureF(t)
	mustAppend(t, a, join(inEpoch(batch(f, 0), 5), inEpoch(batch(f, 9), 6)))
	must(t, a.Close())
	for _, interval := range []int{50, 4096} { // the indexes say something, or nothing
		a = open(t, fs, 0, segment.AppenderOptions{Interval: interval})
		if a.NextOffset() != 10 || a.Epoch() != 6 || a.FirstTimestamp() != 1700000000000 || a.MaxTimestamp() != 1700000009000 {
			t.Errorf("log end %d, epoch %d, timestamps %d %d", a.NextOffset(), a.Epoch(), a.FirstTimestamp(), a.MaxTimestamp())
		}
		must(t, a.Close())
	}
}

func TestAppendRefuses(t *testing.T) {
	f := fixtureF(t)
	mkb1 := append([]byte("MKB1\x00\x00\x00\x28"), make([]byte, 44)...)
	for _, c := range []struct {
		name   string
		frames []byte
		want   string
	}{
		{"an offset that is there", batch(f, 4), "append of offset 4 below the log end 5"},
		{"offsets that fall", join(batch(f, 7), batch(f, 6)), "append of offset 6 below the log end 8"},
		{"an offset too far", at(batch(f, 5), 1<<31), "append of offset 2147483648 to the segment that begins at 0"},
		{"half a frame", batch(f, 5)[:50], "bad-length at byte 0: length 60, frame has 38 (CORRUPT_MESSAGE)"},
		{"a frame of another format", mkb1, "append of a frame with magic MKB1 to a segment of another format"},
	} {
		fs := newDir(t)
		a := open(t, fs, 0, segment.AppenderOptions{})
		mustAppend(t, a, f[:360])
		if _, err := a.Append(c.frames); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		mustAppend(t, a, batch(f, 5)) // and goes on
		must(t, a.Close())
	}
}

// What is opened in a state that does not allow an append stays as it is.
func TestOpenRefuses(t *testing.T) {
	f := fixtureF(t)
	index, _ := hex.DecodeString(indexOfF)
	for _, c := range []struct {
		name string
		log  []byte
		idx  []byte // nil: there is none
		kind corrupt.Kind
		pos  int64
	}{
		{"torn tail", f[:700], index[:8], corrupt.Torn, 648},
		{"torn tail, no index", f[:700], nil, corrupt.Torn, 648},
		{"damage at the last indexed batch", put(f, 650, "77"), index, corrupt.BadOffset, 648},
		{"index leads into a batch", f, put(index, 22, "0290"), corrupt.BadIndex, 16},
		{"index leads behind the end", f[:648], index, corrupt.BadIndex, 16},
	} {
		fs := newDir(t)
		write(t, fs, logName, c.log)
		if c.idx != nil {
			write(t, fs, indexName, c.idx)
			write(t, fs, timeName, nil)
		}
		before := contents(t, fs)
		_, err := segment.OpenAppender(fs, dir, 0, segment.AppenderOptions{Interval: 150})
		bad, ok := errors.AsType[*corrupt.Error](err)
		if !ok || bad.Kind != c.kind || bad.Pos != c.pos || !strings.HasPrefix(bad.Path, dir) {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(before, contents(t, fs)); d != "" {
			t.Errorf("%s: something changed\n%s", c.name, d)
		}
	}
}

// Preallocated index files of a killed broker are filled, and cut when the segment ends.
func TestOpenPaddedIndex(t *testing.T) {
	f := fixtureF(t)
	index, _ := hex.DecodeString(indexOfF)
	times, _ := hex.DecodeString(timesOfF)
	for _, n := range []int{0, 1, 2} {
		fs := newDir(t)
		write(t, fs, logName, f[:504])
		write(t, fs, indexName, join(index[:8*n], make([]byte, 4096)))
		write(t, fs, timeName, join(times[:12*n], make([]byte, 4092)))
		a := open(t, fs, 0, segment.AppenderOptions{Interval: 150})
		mustAppend(t, a, f[504:])
		must(t, a.Finish())
		must(t, a.Close())
		want := map[string]string{logName: hex.EncodeToString(f), indexName: indexOfF, timeName: timesOfF}
		if d := cmp.Diff(want, contents(t, fs)); d != "" {
			t.Errorf("%d entries: (-want +got)\n%s", n, d)
		}
	}
}

// If an index file is gone, both are made again from the log.
func TestOpenWithoutIndex(t *testing.T) {
	f := fixtureF(t)
	for _, gone := range []string{indexName, timeName} {
		fs := newDir(t)
		a := open(t, fs, 0, segment.AppenderOptions{Interval: 150})
		mustAppend(t, a, f)
		must(t, a.Close())
		must(t, fs.Remove(path.Join(dir, gone)))
		must(t, open(t, fs, 0, segment.AppenderOptions{Interval: 150}).Close())
		want := map[string]string{logName: hex.EncodeToString(f), indexName: indexOfF, timeName: timesOfF}
		if d := cmp.Diff(want, contents(t, fs)); d != "" {
			t.Errorf("without %s: (-want +got)\n%s", gone, d)
		}
	}
}

// An error at any operation is told, leaves whole batches only, and what was there before
// stays; opened again, the segment can be extended.
func TestAppendFaults(t *testing.T) {
	f := fixtureF(t)
	work := func(fs vfs.FS) error {
		a, err := segment.OpenAppender(fs, dir, 0, segment.AppenderOptions{Interval: 150})
		if err != nil {
			return err
		}
		for i := range 10 {
			if _, err := a.Append(batch(f, i)); err != nil {
				return errors.Join(err, a.Close())
			}
		}
		return errors.Join(a.Sync(), a.Finish(), a.Close())
	}
	clean := faultfs.Wrap(newDir(t), nil)
	must(t, work(clean))
	for n := 1; n <= clean.Ops(); n++ {
		inner := newDir(t)
		err := work(faultfs.Wrap(inner, faultfs.FailAt(n)))
		if err == nil {
			t.Errorf("operation %d failed, and nobody said so", n)
		}
		a := open(t, inner, 0, segment.AppenderOptions{Interval: 150})
		mustAppend(t, a, f[a.Size():])
		must(t, a.Finish())
		must(t, a.Close())
		want := map[string]string{logName: hex.EncodeToString(f), indexName: indexOfF, timeName: timesOfF}
		if d := cmp.Diff(want, contents(t, inner)); d != "" {
			t.Errorf("operation %d: (-want +got)\n%s", n, d)
		}
	}
}

// The failure point in the middle of a write leaves half of it.
func TestAppendMidWrite(t *testing.T) {
	f := fixtureF(t)
	fs := newDir(t)
	stop := errors.New("killed")
	a := open(t, fs, 0, segment.AppenderOptions{MidWrite: func() error { return stop }})
	if _, err := a.Append(batch(f, 0)); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if _, err := a.Append(batch(f, 0)); !errors.Is(err, stop) {
		t.Errorf("it goes on: %v", err)
	}
	if size, err := vfs.Size(fs, path.Join(dir, logName)); size != batchSize/2 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// Kafka's own segments, appended batch by batch, give Kafka's own index files.
func TestAppendAsKafka(t *testing.T) {
	files := map[string][]byte{}
	for name, data := range fixtures.Unpack(t, fixtures.Corpus(t, "kafka-recovery", "base.tar.gz")) {
		files[path.Base(name)] = data
	}
	for _, base := range []int64{0, 179, 342} {
		fs := newDir(t)
		log := files[segment.FileName(base, segment.LogSuffix)]
		a := open(t, fs, base, segment.AppenderOptions{})
		s := segment.NewScanner(bytes.NewReader(log), int64(len(log)), segment.Options{Base: base})
		for s.Next() {
			mustAppend(t, a, s.Batch().Raw())
		}
		must(t, a.Finish())
		must(t, a.Close())
		got := contents(t, fs)
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
			name := segment.FileName(base, suffix)
			if d := cmp.Diff(hex.EncodeToString(files[name]), got[name]); d != "" {
				t.Errorf("%s: (-want +got)\n%s", name, d)
			}
		}
	}
}

func TestAppendMKB1(t *testing.T) {
	fs := newDir(t)
	o := segment.AppenderOptions{MKB1: true, Interval: 100}
	b := record.NewBuilder()
	var frame []byte
	for i := range int64(4) {
		m := record.NoProducer()
		m.Format, m.BaseOffset, m.LeaderEpoch = record.MKB1, i, 0
		b.Reset(m)
		b.Append(&record.Record{Offset: i, Timestamp: 1700000000000, Value: []byte("v")})
		var err error
		frame, err = b.Build(frame[:0])
		must(t, err)
		a := open(t, fs, 0, o)
		mustAppend(t, a, frame)
		must(t, a.Close())
	}
	// Frames of 75 bytes: the first is indexed, and the third, at 150.
	want := "00000000" + "0000000000000000" + "00000002" + "0000000000000096"
	got := contents(t, fs)
	if d := cmp.Diff(want, got[indexName]); d != "" || len(got) != 2 {
		t.Errorf("%d files (-want +got)\n%s", len(got), d)
	}
}
