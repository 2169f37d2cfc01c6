package inspect

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// verify lists the logs of t-0 and verifies them.
func verify(t *testing.T, fsys vfs.ReadFS, o VerifyOptions) []Verified {
	t.Helper()
	logs, err := ListLogs(fsys, "t-0", "t-0")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(Verify(t.Context(), fsys, logs, o))
}

// indexed are the files of a segment at offset 0 with right indexes.
func indexed(t *testing.T, log []byte) map[string][]byte {
	t.Helper()
	b := index.NewBuilder(0, index.DefaultInterval)
	for pos := 0; pos < len(log); {
		batch, size, _ := record.ViewHeader(log[pos:])
		whole, _ := record.View(log[pos : pos+int(size)])
		if err := b.Add(index.SpanOf(&whole, int64(pos))); err != nil {
			t.Fatal(err, batch)
		}
		pos += int(size)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		logName:                                  log,
		withSuffix(logName, segment.IndexSuffix): b.Index(),
		withSuffix(logName, segment.TimeIndexSuffix): b.TimeIndex(),
	}
}

func TestVerifyCountsAndFindsNothing(t *testing.T) {
	got := verify(t, fsWith(t, indexed(t, logOf(t, 100, 100))), VerifyOptions{Deep: true})
	if len(got) != 1 || got[0].Batches != 100 || got[0].Records != 1000 || len(got[0].Damage) > 0 || !got[0].Healthy() {
		t.Errorf("%+v", got)
	}
}

func TestVerifyIndexes(t *testing.T) {
	indexName, timeName := withSuffix(logName, segment.IndexSuffix), withSuffix(logName, segment.TimeIndexSuffix)
	tests := []struct {
		name    string
		edit    func(files map[string][]byte)
		kind    corrupt.Kind
		path    string
		healthy bool
	}{
		{"an index entry leads between two batches", func(f map[string][]byte) { f[indexName][7]++ }, corrupt.BadIndex, indexName, false},
		{"a timestamp that no batch has", func(f map[string][]byte) { f[timeName][7]++ }, corrupt.BadIndex, timeName, false},
		{"no index", func(f map[string][]byte) { delete(f, indexName) }, corrupt.MissingIndex, indexName, true},
		{"no time index", func(f map[string][]byte) { delete(f, timeName) }, corrupt.MissingIndex, timeName, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := indexed(t, logOf(t, 100, 100))
			tt.edit(files)
			fsys := fsWith(t, files)
			got := verify(t, fsys, VerifyOptions{Deep: true})[0]
			if len(got.Damage) != 1 || got.Damage[0].Kind != tt.kind || got.Damage[0].Path != tt.path || got.Healthy() != tt.healthy {
				t.Errorf("damage %v, healthy %v", got.Damage, got.Healthy())
			}
			if shallow := verify(t, fsys, VerifyOptions{})[0]; len(shallow.Damage) > 0 {
				t.Errorf("without Deep: %v", shallow.Damage)
			}
		})
	}
}

// An index entry that leads into a damaged part of the log is not judged.
func TestVerifyDoesNotBlameTheIndexForTheLog(t *testing.T) {
	files := indexed(t, logOf(t, 100, 100))
	entry := index.NewOffsetIndex(sliceReader(files[withSuffix(logName, segment.IndexSuffix)]), 8, 0)
	first, err := entry.At(0)
	if err != nil {
		t.Fatal(err)
	}
	files[logName][first.Pos+70] ^= 1
	got := verify(t, fsWith(t, files), VerifyOptions{Deep: true})[0]
	if len(got.Damage) != 1 || got.Damage[0].Kind != corrupt.BadCRC {
		t.Errorf("damage %v", got.Damage)
	}
}

type sliceReader []byte

func (s sliceReader) ReadAt(p []byte, pos int64) (int, error) { return copy(p, s[pos:]), nil }

// A file that grows while it is read is in use: what looked torn was being written.
func TestVerifyAGrowingFile(t *testing.T) {
	log := logOf(t, 3, 100)
	inner := fsWith(t, map[string][]byte{logName: log[:len(log)-10]})
	got := verify(t, &growing{FS: inner, tail: log[len(log)-10:]}, VerifyOptions{})[0]
	if !got.InUse || !got.Healthy() || got.Batches != 2 {
		t.Errorf("in use %v, damage %v, batches %d", got.InUse, got.Damage, got.Batches)
	}
}

// growing appends the tail to a file at the first read of it.
type growing struct {
	*memfs.FS
	tail []byte
}

func (g *growing) Open(name string) (vfs.ReadFile, error) {
	f, err := g.FS.OpenRW(name)
	return &growingFile{File: f, tail: g.tail}, err
}

type growingFile struct {
	vfs.File
	tail []byte
}

func (g *growingFile) ReadAt(p []byte, pos int64) (int, error) {
	info, err := g.Stat()
	if err != nil {
		return 0, err
	}
	n, err := g.File.ReadAt(p, pos)
	if _, grow := g.WriteAt(g.tail, info.Size()); grow != nil {
		return 0, grow
	}
	g.tail = nil
	return n, err
}

// An error of the disk is not damage.
func TestVerifyBadSectors(t *testing.T) {
	fsys := faultfs.Wrap(fsWith(t, map[string][]byte{logName: logOf(t, 3000, 100)}), nil)
	fsys.BadSectors(logName, 2<<20, 2<<20+512)
	got := verify(t, fsys, VerifyOptions{})[0]
	bad, ok := errors.AsType[*segment.ReadError](got.Err)
	if !ok || !errors.Is(got.Err, syscall.EIO) || len(got.Damage) > 0 || got.Healthy() {
		t.Errorf("err %v, damage %v", got.Err, got.Damage)
	}
	if ok && (bad.Pos > 2<<20 || bad.Pos+bad.Size <= 2<<20) {
		t.Errorf("the error names %d..%d", bad.Pos, bad.Pos+bad.Size)
	}
}

// Batches that an interrupted cleaning left in the segment before are good; one that is
// out of place for another reason is not.
func TestVerifyAfterAnInterruptedCleaning(t *testing.T) {
	later := filepath.Join("t-0", segment.FileName(50, segment.LogSuffix))
	original := slices.Concat(batchOf(t, 50, 10, 5), batchOf(t, 60, 10, 5), batchOf(t, 70, 10, 5))
	cleaned := slices.Concat(batchOf(t, 20, 10, 5), batchOf(t, 60, 10, 5))

	got := verify(t, fsWith(t, map[string][]byte{logName: cleaned, later: original}), VerifyOptions{})
	if !got[0].Healthy() || got[0].Copies != 1 || got[0].Batches != 2 || got[0].Records != 20 {
		t.Errorf("%+v", got[0])
	}
	stranger := slices.Concat(batchOf(t, 20, 10, 5), batchOf(t, 63, 4, 9))
	got = verify(t, fsWith(t, map[string][]byte{logName: stranger, later: original}), VerifyOptions{})
	if got[0].Healthy() || got[0].Damage[0].Kind != corrupt.BadOffset || got[0].Batches != 1 {
		t.Errorf("%+v", got[0])
	}
}

func TestRefOfKnowsTheNextSegment(t *testing.T) {
	files := map[string][]byte{}
	for _, base := range []int64{0, 50, 90} {
		files[filepath.Join("t-0", segment.FileName(base, segment.LogSuffix))] = nil
	}
	fsys := fsWith(t, files)
	for path, want := range map[string][2]int64{
		"t-0/00000000000000000000.log": {0, 50},
		"t-0/00000000000000000050.log": {50, 90},
		"t-0/00000000000000000090.log": {90, 0},
		"elsewhere/copy.log":           {0, 0},
	} {
		if ref := RefOf(fsys, path, path); ref.Base != want[0] || ref.Limit != want[1] {
			t.Errorf("%s: base %d, limit %d, want %v", path, ref.Base, ref.Limit, want)
		}
	}
}

func TestVerifyTellsItsProgress(t *testing.T) {
	log := logOf(t, 100, 100)
	total := int64(0)
	logs, err := ListLogs(fsWith(t, map[string][]byte{logName: log}), "t-0", "t-0")
	if err != nil {
		t.Fatal(err)
	}
	fsys := fsWith(t, map[string][]byte{logName: log})
	for range Verify(t.Context(), fsys, logs, VerifyOptions{Progress: func(n int64) { total += n }}) {
	}
	if total != int64(len(log)) {
		t.Errorf("%d bytes were told of %d", total, len(log))
	}
}

func TestSegmentsListing(t *testing.T) {
	files := indexed(t, logOf(t, 100, 100))
	second := filepath.Join("t-0", segment.FileName(1000, segment.LogSuffix))
	files[second] = slices.Concat(batchOf(t, 1000, 10, 5), batchOf(t, 1010, 3, 5))
	// A broker that was killed leaves the index at its full size.
	files[withSuffix(logName, segment.IndexSuffix)] = append(files[withSuffix(logName, segment.IndexSuffix)], make([]byte, 8000)...)
	dirs := []PartitionDir{{"t-0", "t-0"}, {"nowhere", "nowhere"}}
	got := slices.Collect(Segments(t.Context(), fsWith(t, files), dirs))

	a, b := got[0].Segments[0], got[0].Segments[1]
	if a.Active || a.NextOffset != 1000 || a.Batches != 100 || a.Size != int64(len(files[logName])) || a.IndexEntries < 10 || a.IndexEntries > 100 {
		t.Errorf("first %+v", a)
	}
	if !b.Active || b.NextOffset != 1013 || b.Batches != 2 || b.IndexEntries != Missing || len(b.Damage) > 0 {
		t.Errorf("second %+v", b)
	}
	if got[1].Err == nil || !strings.Contains(got[1].Err.Error(), "nowhere") {
		t.Errorf("a directory that is not there: %+v", got[1])
	}
}
