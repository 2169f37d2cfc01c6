package recovery

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// story is a damaged directory and the command that repairs it.
type story struct {
	name string
	make func(testing.TB) *memfs.FS
	o    Options
}

// stories are damaged in every way that leads to another kind of change.
func stories() []story {
	return []story{
		{"torn tail, checkpoints beyond it", tornStory, Options{Policy: Tail}},
		{"two later segments behind a cut", cutStory, Options{Policy: Kafka}},
		{"a cut in a segment without index", unindexedStory, Options{Policy: Kafka}},
		{"a batch taken out of the middle", middleStory, Options{Policy: Skip}},
		{"a flipped bit put back", middleStory, Options{Policy: Tail, Fix: true}},
		{"leftovers and bad state files", leftoverStory, Options{Policy: Tail}},
		{"a swap to be finished", swapStory, Options{Policy: Kafka}},
		{"a segment to be split", splitStory, Options{Policy: Kafka}},
		{"a segment without index to be split", unindexedSplitStory, Options{Policy: Kafka}},
		{"a segment to be split, whose name goes", renamedSplitStory, Options{Policy: Kafka}},
		{"a part takes the name of another segment", overwritingStory, Options{Policy: Kafka}},
	}
}

func tornStory(t testing.TB) *memfs.FS {
	fsys := single(t, append(fixtureF(t), appendBatch(t, nil, 10, record.NoProducer())[:30]...))
	put(t, fsys, "d/foo-0/"+checkpoint.EpochFile, []byte("0\n2\n0 0\n7 12\n"))
	for _, name := range pointFiles {
		must(t, checkpoint.WriteOffsets(fsys, "d/"+name, checkpoint.Offsets{{Topic: "bar", Offset: 5}, {Topic: "foo", Offset: 12}}))
	}
	must(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.LogStartFile, checkpoint.Offsets{{Topic: "foo", Offset: 2}}))
	return fsys
}

func cutStory(t testing.TB) *memfs.FS {
	f := fixtureF(t)
	first := append([]byte(nil), f[:288]...)
	first[200] ^= 1
	fsys := single(t, first)
	put(t, fsys, "d/foo-0/00000000000000000004.log", f[288:432])
	put(t, fsys, "d/foo-0/00000000000000000006.log", f[432:])
	for _, base := range []int64{0, 4, 6} {
		put(t, fsys, "d/foo-0/"+segment.FileName(base, segment.IndexSuffix), nil)
		put(t, fsys, "d/foo-0/"+segment.FileName(base, segment.TimeIndexSuffix), nil)
	}
	return fsys
}

func unindexedStory(t testing.TB) *memfs.FS {
	fsys := cutStory(t)
	for _, name := range []string{"00000000000000000000.index", "00000000000000000006.index"} {
		must(t, fsys.Remove("d/foo-0/"+name))
	}
	must(t, fsys.SyncDir("d/foo-0"))
	return fsys
}

func middleStory(t testing.TB) *memfs.FS {
	f := fixtureF(t)
	f[357] ^= 1
	return single(t, f)
}

func leftoverStory(t testing.TB) *memfs.FS {
	fsys := single(t, fixtureF(t))
	put(t, fsys, "d/foo-0/00000000000000000000.log.cleaned", []byte("half"))
	put(t, fsys, "d/foo-0/00000000000000000007.index", []byte("orphan"))
	put(t, fsys, "d/foo-0/00000000000000000010.snapshot", []byte("bad"))
	put(t, fsys, "d/foo-0/"+checkpoint.EpochFile, []byte("0\n1\n0 zero\n"))
	return fsys
}

func swapStory(t testing.TB) *memfs.FS {
	f := fixtureF(t)
	fsys := single(t, f)
	put(t, fsys, "d/foo-0/00000000000000000000.log.swap", append(append([]byte(nil), f[:72]...), f[144:]...))
	put(t, fsys, "d/foo-0/00000000000000000000.index.swap", nil)
	put(t, fsys, "d/foo-0/00000000000000000000.timeindex.swap", nil)
	return fsys
}

// farOffset fits no base below 3e9.
const farOffset = 6_000_000_000

// segmentOf puts a segment of ten-record logs' batches at other offsets, with empty indexes.
func segmentOf(t testing.TB, fsys *memfs.FS, base int64, offsets ...int64) {
	t.Helper()
	var log []byte
	for _, o := range offsets {
		log = appendBatch(t, log, o, record.NoProducer())
	}
	put(t, fsys, "d/foo-0/"+segment.FileName(base, segment.LogSuffix), log)
	put(t, fsys, "d/foo-0/"+segment.FileName(base, segment.IndexSuffix), nil)
	put(t, fsys, "d/foo-0/"+segment.FileName(base, segment.TimeIndexSuffix), nil)
}

func splitStory(t testing.TB) *memfs.FS {
	fsys := single(t, fixtureF(t))
	segmentOf(t, fsys, 10, 10, 11, farOffset, 13, 14, farOffset+5)
	segmentOf(t, fsys, 16, 16, 17)
	return fsys
}

func unindexedSplitStory(t testing.TB) *memfs.FS {
	fsys := splitStory(t)
	must(t, fsys.Remove("d/foo-0/"+segment.FileName(10, segment.IndexSuffix)))
	must(t, fsys.SyncDir("d/foo-0"))
	return fsys
}

func renamedSplitStory(t testing.TB) *memfs.FS {
	fsys := single(t, fixtureF(t))
	segmentOf(t, fsys, 10, farOffset, farOffset+1)
	put(t, fsys, "d/foo-0/"+producer.FileName(10), producer.AppendSnapshot(nil, nil))
	return fsys
}

func overwritingStory(t testing.TB) *memfs.FS {
	fsys := single(t, fixtureF(t))
	segmentOf(t, fsys, 10, 10, farOffset, 16, farOffset+5)
	segmentOf(t, fsys, 16, 16, 17, 18)
	return fsys
}

// repair runs the command: plan, execute, and where files had to be moved first, once more.
func repair(t testing.TB, fsys vfs.FS, o Options) error {
	for range 3 {
		d, err := ReadLogDir(fsys, "d")
		if err != nil {
			return err
		}
		ref := store.PartitionRef{TopicPartition: store.TopicPartition{Topic: "foo"}, Dir: "d/foo-0", Rel: "foo-0"}
		p, err := Make(t.Context(), fsys, d.Partition(ref), o)
		if err != nil {
			return err
		}
		if len(p.First) == 0 {
			_, err = execute(t, fsys, p)
			return err
		}
		job := Job{Quarantine: quarantineOf(fsys), Command: "recover", Now: testNow, Changes: p.First}
		if _, err := job.Execute(t.Context()); err != nil {
			return err
		}
	}
	return errors.New("no end of it")
}

// undoAll takes back every run, newest first.
func undoAll(t testing.TB, fsys vfs.FS) error {
	for {
		err := tryUndo(t, fsys)
		if e, ok := errors.AsType[*store.Error](err); ok && e.Class == store.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// contents is photo without modification times.
func contents(t testing.TB, fsys vfs.ReadFS) map[string]string {
	out := map[string]string{}
	for path := range photo(t, fsys, "d") {
		out[path] = hash(read(t, fsys, path))
	}
	return out
}

// eachCrash runs do with a crash at every changing operation, and hands on what the next
// boot finds, with none, all and some of what was not synced.
func eachCrash(t *testing.T, make func(testing.TB) *memfs.FS, do func(vfs.FS) error, then func(t *testing.T, fsys *memfs.FS)) {
	t.Helper()
	whole := faultfs.Wrap(make(t), nil)
	must(t, do(whole))
	for n := 1; n <= whole.Ops(); n++ {
		for _, o := range []memfs.CrashOptions{{Unsynced: 0}, {Unsynced: 1}, {Unsynced: 0.5, Seed: 1}, {Unsynced: 0.5, Seed: 2}} {
			fsys := make(t)
			err := do(faultfs.Wrap(fsys, faultfs.CrashAt(n)))
			if !errors.Is(err, faultfs.ErrCrashed) {
				t.Fatalf("operation %d: error %v", n, err)
			}
			t.Run(fmt.Sprintf("op %d unsynced %v seed %d", n, o.Unsynced, o.Seed), func(t *testing.T) {
				then(t, fsys.CrashClone(o))
			})
		}
	}
}

// TestCrashInRecover: whatever a crash leaves, the same command finishes it to the same
// bytes, finds nothing more to do, and undo leads back to the damaged directory.
func TestCrashInRecover(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			old := contents(t, s.make(t))
			repaired := s.make(t)
			must(t, repair(t, repaired, s.o))
			want := contents(t, repaired)
			if cmp.Equal(old, want) {
				t.Fatal("there is nothing to repair")
			}
			eachCrash(t, s.make, func(fsys vfs.FS) error { return repair(t, fsys, s.o) }, func(t *testing.T, fsys *memfs.FS) {
				undone := fsys.CrashClone(memfs.CrashOptions{Unsynced: 1})
				must(t, undoAll(t, undone))
				if diff := cmp.Diff(old, contents(t, undone)); diff != "" {
					t.Errorf("undo right after the crash (-old +undone):\n%s", diff)
				}
				must(t, repair(t, fsys, s.o))
				if diff := cmp.Diff(want, contents(t, fsys)); diff != "" {
					t.Errorf("repaired after the crash (-want +got):\n%s", diff)
				}
				must(t, undoAll(t, fsys))
				if diff := cmp.Diff(old, contents(t, fsys)); diff != "" {
					t.Errorf("undone after all (-old +undone):\n%s", diff)
				}
			})
		})
	}
}

// TestCrashInUndo: an interrupted undo is finished by the same command.
func TestCrashInUndo(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			old := photo(t, s.make(t), "d")
			repaired := func(t testing.TB) *memfs.FS {
				fsys := s.make(t)
				must(t, repair(t, fsys, s.o))
				return fsys
			}
			eachCrash(t, repaired, func(fsys vfs.FS) error { return undoAll(t, fsys) }, func(t *testing.T, fsys *memfs.FS) {
				must(t, undoAll(t, fsys))
				if diff := cmp.Diff(old, photo(t, fsys, "d")); diff != "" {
					t.Errorf("-old +undone:\n%s", diff)
				}
			})
		})
	}
}

// TestErrorInRecover: an error at any operation is reported, and the same command finishes.
func TestErrorInRecover(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			old := contents(t, s.make(t))
			done := faultfs.Wrap(s.make(t), nil)
			must(t, repair(t, done, s.o))
			want := contents(t, done)
			for n := 1; n <= done.Ops(); n++ {
				fsys := s.make(t)
				if err := repair(t, faultfs.Wrap(fsys, faultfs.FailAt(n)), s.o); !errors.Is(err, faultfs.ErrFault) {
					t.Errorf("operation %d: error %v", n, err)
				}
				must(t, repair(t, fsys, s.o))
				if diff := cmp.Diff(want, contents(t, fsys)); diff != "" {
					t.Errorf("operation %d (-want +got):\n%s", n, diff)
				}
				must(t, undoAll(t, fsys))
				if diff := cmp.Diff(old, contents(t, fsys)); diff != "" {
					t.Errorf("operation %d, undone (-old +undone):\n%s", n, diff)
				}
			}
		})
	}
}
