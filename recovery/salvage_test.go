package recovery

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures/recoverycorpus"
	"logdir/store/checkpoint"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// salvage copies d/foo-0 of source into the log directory out/new of target.
func salvage(t testing.TB, source vfs.ReadFS, target vfs.FS) (Salvaged, error) {
	t.Helper()
	if err := target.MkdirAll("out"); err != nil {
		return Salvaged{}, err
	}
	if err := target.SyncDir("."); err != nil {
		return Salvaged{}, err
	}
	var out Salvaged
	s := Salvage{Source: source, Target: target, To: "out/new", Report: "out/" + SalvageReport, IndexInterval: 4096}
	err := s.Run(t.Context(), []Partition{partitionOf(t, source)}, func(one Salvaged) error {
		out = one
		return nil
	})
	return out, err
}

// TestCorpusSalvage gets every valid batch out of the damaged directories, into one that a
// broker loads without a cut and that needs no repair.
func TestCorpusSalvage(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	for _, c := range corpus.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			fsys := logDirOf(t, corpus, c)
			before := photo(t, fsys, "d")
			_, err := salvage(t, fsys, fsys)
			must(t, err)
			if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
				t.Errorf("the source was changed:\n%s", diff)
			}
			moved := memfs.New()
			must(t, moved.MkdirAll("d/foo-0"))
			for path := range photo(t, fsys, "out/new") {
				put(t, moved, "d"+strings.TrimPrefix(path, "out/new"), read(t, fsys, path))
			}
			keptAll(t, moved, validBatches(t, corpus, fsys))
			brokerIsContent(t, moved)
			if p := plan(t, moved, Options{Policy: Tail, Deep: true}); !p.Empty() || len(p.Left) > 0 {
				t.Errorf("needs repair: %v, left %v", p.Rows, p.Left)
			}
		})
	}
}

// TestSalvagePastBadSectors: blocks that the disk does not give cost the batches in them and
// no other.
func TestSalvagePastBadSectors(t *testing.T) {
	source := faultfs.Wrap(single(t, fixtureF(t)), nil)
	source.BadSectors("d/foo-0/00000000000000000000.log", 300, 310)
	target := memfs.New()
	out, err := salvage(t, source, target)
	must(t, err)
	want := append(append([]byte(nil), fixtureF(t)[:288]...), fixtureF(t)[720:]...)
	got := read(t, target, "out/new/foo-0/00000000000000000000.log")
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d: the rest of the sector is gone with it", len(got), len(want))
	}
	if out.LogEnd != 4 || out.Records != 4 || out.LostRanges() == 0 {
		t.Errorf("log end %d, %d records, left out %+v", out.LogEnd, out.Records, out.Left)
	}
	if report := string(read(t, target, "out/"+SalvageReport)); !strings.Contains(report, `"kind":"unreadable"`) {
		t.Errorf("report %s", report)
	}
}

// TestCrashInSalvage: there is no new directory, or a whole one; the same command finishes,
// and the source is never touched.
func TestCrashInSalvage(t *testing.T) {
	source := middleStory(t)
	must(t, checkpoint.WriteOffsets(source, "d/"+checkpoint.HighWatermarkFile, checkpoint.Offsets{{Topic: "foo", Offset: 7}}))
	whole := memfs.New()
	_, err := salvage(t, source, whole)
	must(t, err)
	want := photoless(t, whole)
	empty := func(testing.TB) *memfs.FS { return memfs.New() }
	eachCrash(t, empty, func(fsys vfs.FS) error { _, err := salvage(t, source, fsys); return err }, func(t *testing.T, fsys *memfs.FS) {
		if there, err := vfs.Exists(fsys, "out/new"); err != nil || there && !cmp.Equal(want, photoless(t, fsys)) {
			t.Errorf("half a directory, %v", err)
		} else if there {
			return
		}
		_, err := salvage(t, source, fsys)
		must(t, err)
		if diff := cmp.Diff(want, photoless(t, fsys)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestSalvageRefusesAFullTarget.
func TestSalvageRefusesAFullTarget(t *testing.T) {
	fsys := single(t, fixtureF(t))
	must(t, fsys.MkdirAll("out/new/x"))
	if _, err := salvage(t, fsys, fsys); err == nil || errors.Is(err, faultfs.ErrFault) {
		t.Errorf("error %v", err)
	}
}

// photoless is the content of every file of the new directory.
func photoless(t testing.TB, fsys vfs.ReadFS) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path := range photo(t, fsys, "out/new") {
		out[path] = hash(read(t, fsys, path))
	}
	return out
}

// TestSalvageAfterAnInterruptedCleaning: what the first segment holds of the later ones is
// written once, where it belongs, also if it stands nowhere else.
func TestSalvageAfterAnInterruptedCleaning(t *testing.T) {
	f := fixtureF(t)
	pick := func(offsets ...int) (log []byte) {
		for _, o := range offsets {
			log = append(log, f[o*72:(o+1)*72]...)
		}
		return log
	}
	source := single(t, pick(0, 3, 4, 6, 8))
	put(t, source, "d/foo-0/00000000000000000002.log", pick(2, 3, 5))
	put(t, source, "d/foo-0/00000000000000000007.log", pick(7))
	target := memfs.New()
	out, err := salvage(t, source, target)
	must(t, err)
	for name, want := range map[string][]byte{
		"00000000000000000000.log": pick(0), "00000000000000000002.log": pick(2, 3, 4, 5, 6), "00000000000000000007.log": pick(7, 8),
	} {
		if got := read(t, target, "out/new/foo-0/"+name); !bytes.Equal(got, want) {
			t.Errorf("%s has %d bytes, want %d", name, len(got), len(want))
		}
	}
	if out.Records != 8 || out.LogEnd != 9 || out.LostRanges() != 0 || out.LostBytes != 0 {
		t.Errorf("%+v", out)
	}
}
