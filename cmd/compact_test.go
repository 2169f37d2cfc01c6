package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// memShell runs commands on a cluster in memory.
type memShell struct {
	t  testing.TB
	fs vfs.FS
}

// run runs one command line on input, and returns its exit code and both streams.
func (s memShell) run(in, line string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	env := &Env{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, FS: s.fs,
		Now:     func() time.Time { return time.UnixMilli(1767225600000) },
		Getenv:  func(string) (string, bool) { return "", false },
		Environ: func() []string { return nil },
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	code = Main(append(strings.Fields(line), "-d", "/d"), env)
	return code, stdout.String(), stderr.String()
}

// must runs a command that succeeds.
func (s memShell) must(in, line string) string {
	s.t.Helper()
	code, out, errs := s.run(in, line)
	if code != 0 {
		s.t.Fatalf("%s: exit %d: %s", line, code, errs)
	}
	return out
}

// dirty is a cluster with a compacted topic of several closed segments: keys written again
// and again, a tombstone, a record without a key, an aborted transaction.
func dirty(t testing.TB) *memfs.FS {
	mem := memfs.New()
	s := memShell{t, mem}
	s.must("", "init")
	s.must("", "topic create t -c segment.bytes=400 -c index.interval.bytes=1")
	for i := range 4 {
		s.must(fmt.Sprintf("a:%d\nb:%d\nc%d:%d\n", i, i, i, i), "produce t -K : --batch-size 1 --fsync always")
	}
	s.must("b:\n", "produce t -K : -Z --fsync always")
	s.must("nobody's\n", "produce t --fsync always") // a compacted topic would refuse it
	s.must("", "topic alter t -c cleanup.policy=compact")
	s.must("", "txn begin x")
	s.must("a:never\n", "txn produce x t -K :")
	s.must("", "txn abort x")
	s.must("", "roll t")
	s.must("a:last\n", "produce t -K : --fsync always")
	return mem
}

const (
	compactedRecords = "2 c0=0|5 c1=1|8 c2=2|9 a=3|11 c3=3|12 b=|16 a=last|"
	allRecords       = "0 a=0|1 b=0|2 c0=0|3 a=1|4 b=1|5 c1=1|6 a=2|7 b=2|8 c2=2|9 a=3|10 b=3|11 c3=3|12 b=|13 =nobody's|16 a=last|"
)

const readAll = `fetch t --isolation-level read_committed -f %o\x20%k=%v|`

// TestCompactCrash cuts the power at every operation of a compaction. Whatever is left, a
// reader sees all records or the compacted ones, never some in between; undo leads back to
// the files of before, a broker's way of finishing leads to healthy ones.
func TestCompactCrash(t *testing.T) {
	before := dirty(t)
	fresh := func() *memfs.FS { return before.CrashClone(memfs.CrashOptions{Unsynced: 1}) }
	whole := faultfs.Wrap(fresh(), nil)
	memShell{t, whole}.must("", "compact t")
	if got := (memShell{t, whole}).must("", readAll); got != compactedRecords {
		t.Fatalf("compacted: %s", got)
	}
	for n := 1; n <= whole.Ops(); n++ {
		mem := fresh()
		if code, _, _ := (memShell{t, faultfs.Wrap(mem, faultfs.CrashAt(n))}).run("", "compact t"); code == 0 {
			t.Fatalf("crash at operation %d: exit 0", n)
		}
		for _, cut := range []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}, {Unsynced: 0.5, Seed: 1}} {
			when := fmt.Sprintf("crash at operation %d, %+v", n, cut)
			afterCompactCrash(t, when, before, func() *memfs.FS { return mem.CrashClone(cut) })
		}
	}
}

func afterCompactCrash(t *testing.T, when string, before *memfs.FS, boot func() *memfs.FS) {
	t.Helper()
	if got := (memShell{t, boot()}).must("", readAll); got != allRecords && got != compactedRecords {
		t.Fatalf("%s: a reader sees %s", when, got)
	}
	for _, way := range []string{"undo", "recover --policy kafka", "recover"} {
		s := memShell{t, boot()}
		code, _, errs := s.run("", way)
		if way == "undo" && code == exitNotFound { // nothing was changed
			continue
		}
		if code != 0 {
			t.Fatalf("%s: %s: exit %d: %s", when, way, code, errs)
		}
		got := s.must("", readAll)
		if got != allRecords && (got != compactedRecords || way == "undo") {
			t.Fatalf("%s: after %s a reader sees %s", when, way, got)
		}
		if way == "undo" {
			sameLogs(t, when, before, s.fs)
		}
		if way == "recover" {
			continue
		}
		if code, out, errs := s.run("", "check"); code != 0 {
			t.Fatalf("%s: check after %s: exit %d: %s%s", when, way, code, out, errs)
		}
		s.must("", "compact t")
		if got := s.must("", readAll); got != compactedRecords {
			t.Fatalf("%s: compacted after %s: %s", when, way, got)
		}
	}
}

// sameLogs requires the segments of two file systems to be the same bytes with the same dates.
func sameLogs(t *testing.T, when string, want, got vfs.ReadFS) {
	t.Helper()
	entries, err := want.ReadDir("/d/broker-1/t-0")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := "/d/broker-1/t-0/" + e.Name()
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		a, erra := vfs.ReadAll(want, name, 1<<20)
		b, errb := vfs.ReadAll(got, name, 1<<20)
		if err := errors.Join(erra, errb); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("%s: %s is not as it was", when, name)
		}
	}
}
