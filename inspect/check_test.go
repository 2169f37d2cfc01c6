package inspect

import (
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/group"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs/faultfs"
)

var checkTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkDirs checks log directories of one broker each, all with broker id 1.
func checkDirs(t *testing.T, files map[string][]byte, dirs ...string) *CheckReport {
	t.Helper()
	fsys := fsWith(t, files)
	var scope CheckScope
	for _, dir := range dirs {
		d, err := store.Detect(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		refs, err := d.AllPartitions()
		if err != nil {
			t.Fatal(err)
		}
		for i := range refs {
			refs[i].Broker, refs[i].Rel = 1, filepath.Join(dir, refs[i].Rel)
		}
		scope.Partitions = append(scope.Partitions, refs...)
		scope.LogDirs = append(scope.LogDirs, CheckDir{Path: dir, Name: dir, Whole: true})
	}
	r := Check(t.Context(), fsys, scope, CheckOptions{Now: checkTime})
	if len(r.Err) > 0 {
		t.Fatal(r.Err)
	}
	return r
}

// found are the findings as "severity kind where: detail", but for missing indexes.
func found(r *CheckReport) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Kind != corrupt.MissingIndex {
			out = append(out, f.Severity.String()+" "+string(f.Kind)+" "+f.Where()+": "+f.Detail)
		}
	}
	return out
}

func requireFound(t *testing.T, r *CheckReport, verdict string, want ...string) {
	t.Helper()
	if got := found(r); !slices.Equal(got, want) {
		t.Errorf("found\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if r.Verdict() != verdict {
		t.Errorf("verdict %q, want %q", r.Verdict(), verdict)
	}
}

func logPath(dir, partition string, base int64) string {
	return filepath.Join(dir, partition, segment.FileName(base, segment.LogSuffix))
}

// broker is a log directory with one healthy partition of 30 records.
func broker(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"d/meta.properties":    []byte("version=1\nnode.id=1\ncluster.id=c\n"),
		logPath("d", "t-0", 0): logOf(t, 3, 10),
	}
}

func TestCheckCheckpoints(t *testing.T) {
	files := broker(t)
	requireFound(t, checkDirs(t, files, "d"), "healthy")

	files["d/recovery-point-offset-checkpoint"] = []byte("0\n1\nt 0 31\n")
	files["d/replication-offset-checkpoint"] = []byte("0\n2\nt 0 30\ngone 0 7\n")
	files["d/log-start-offset-checkpoint"] = []byte("0\n1\nt 0 31\n")
	files["d/cleaner-offset-checkpoint"] = []byte("0\n1\nt 0\n")
	requireFound(t, checkDirs(t, files, "d"), "repairable without loss, but records are missing that once were there",
		"damage bad-checkpoint d/cleaner-offset-checkpoint at 4: line 3: 2 fields in \"t 0\", not topic, partition and offset",
		"damage start-beyond-end d/log-start-offset-checkpoint: t:0: log start 31, the log ends at 30: a broker would wipe it",
		"warning beyond-end d/recovery-point-offset-checkpoint: t:0: 31, the log ends at 30",
		"info unknown-line d/replication-offset-checkpoint: lines of partitions that are not here")
}

// logOf writes epoch 0. A log start that moved up takes the entries below it along.
func TestCheckEpochs(t *testing.T) {
	for file, want := range map[string][]string{
		"0\n1\n0 0\n":       nil,
		"0\n1\n0 25\n":      nil,
		"0\n2\n0 0\n1 30\n": nil,
		"0\n1\n3 25\n":      {"warning epoch-mismatch d/t-0/leader-epoch-checkpoint: epoch 0 at offset 25, the file says 3"},
		"0\n0\n":            {"warning epoch-mismatch d/t-0/leader-epoch-checkpoint: epoch 0 at offset 0, the file says nothing"},
	} {
		files := broker(t)
		files["d/t-0/leader-epoch-checkpoint"] = []byte(file)
		requireFound(t, checkDirs(t, files, "d"), "healthy", want...)
	}
}

// TestCheckEpochOverSegments: leader epochs do not fall from one segment to the next.
func TestCheckEpochOverSegments(t *testing.T) {
	files := broker(t)
	first := files[logPath("d", "t-0", 0)]
	for pos := 0; pos < len(first); pos += len(first) / 3 {
		record.SetLeaderEpoch(first[pos:], 5)
	}
	files[logPath("d", "t-0", 30)] = batchOf(t, 30, 10, 10)
	requireFound(t, checkDirs(t, files, "d"), "repairable without loss",
		"damage bad-offset d/t-0/00000000000000000030.log at 0: leader epoch 0 falls, was 5, 0 records")
}

func TestCheckCountsWhatIsLost(t *testing.T) {
	files := broker(t)
	log := files[logPath("d", "t-0", 0)]
	log[len(log)/2] ^= 1
	log[len(log)-1] ^= 1
	r := checkDirs(t, files, "d")
	if r.LostBatches != 2 || r.LostRecords != 20 || r.Batches != 1 || r.Records != 10 {
		t.Errorf("%+v", r)
	}
	if want := "damaged: 20 records in 2 batches are unreadable"; r.Verdict() != want {
		t.Errorf("verdict %q, want %q", r.Verdict(), want)
	}
}

// TestCheckTheEndOfAClosedSegment: offsets go on in the next segment, so what a torn end
// should hold was whole once, and recover does not cut it.
func TestCheckTheEndOfAClosedSegment(t *testing.T) {
	log := logOf(t, 3, 10)
	size := len(log)
	for _, c := range []struct {
		name    string
		first   []byte
		verdict string
		next    string
		want    string
	}{
		{
			"torn", log[:size-7], "damaged: 10 records in 1 batches are unreadable", "logdir recover --fix --dry-run t:0",
			"damage torn d/t-0/00000000000000000000.log at 462: have 224 of 231 bytes, and the next segment begins at 30: 10 records",
		},
		{
			"zeros", append(slices.Clone(log[:size/3]), make([]byte, 50)...), "damaged: 20 records in 1 batches are unreadable", "logdir recover --fix --dry-run t:0",
			"damage zeros d/t-0/00000000000000000000.log at 231: 50 zero bytes to the end of the file, and the next segment begins at 30: 20 records",
		},
		{
			"zeros behind all", append(slices.Clone(log), make([]byte, 50)...), "repairable without loss", "logdir recover --fix --dry-run t:0",
			"damage zeros d/t-0/00000000000000000000.log at 693: 50 zero bytes to the end of the file, 0 records",
		},
	} {
		files := broker(t)
		files[logPath("d", "t-0", 0)] = c.first
		files[logPath("d", "t-0", 30)] = batchOf(t, 30, 10, 10)
		r := checkDirs(t, files, "d")
		t.Run(c.name, func(t *testing.T) { requireFound(t, r, c.verdict, c.want) })
		if next := r.Findings[0].Next; next != c.next {
			t.Errorf("%s: next is %q, want %q", c.name, next, c.next)
		}
	}
}

// TestCheckWithoutALog: where no log is left there is nothing that recover would do.
func TestCheckWithoutALog(t *testing.T) {
	files := broker(t)
	delete(files, logPath("d", "t-0", 0))
	files[withSuffix(logPath("d", "t-0", 0), segment.IndexSuffix)] = nil
	files["d/recovery-point-offset-checkpoint"] = []byte("0\n1\nt 0 30\n")
	r := checkDirs(t, files, "d")
	requireFound(t, r, "healthy, but records are missing that once were there",
		"warning beyond-end d/recovery-point-offset-checkpoint: t:0: 30, the log ends at 0",
		"warning orphan-index d/t-0/00000000000000000000.index: there is no log of that offset")
	for _, f := range r.Findings {
		if f.Next != "" {
			t.Errorf("%s: next is %q", f.Kind, f.Next)
		}
	}
}

// TestCheckAMissingLog: the index of a log that is gone or emptied remembers it, unless
// retention took the log away in front.
func TestCheckAMissingLog(t *testing.T) {
	entries := unhex(t, "0000000900000000")
	files := broker(t)
	files[logPath("d", "t-0", 30)] = batchOf(t, 30, 10, 10)
	files[withSuffix(logPath("d", "t-0", 0), segment.IndexSuffix)] = nil
	files[withSuffix(logPath("d", "t-0", 20), segment.IndexSuffix)] = entries
	requireFound(t, checkDirs(t, files, "d"), "healthy, but records are missing that once were there",
		"warning missing-log d/t-0/00000000000000000020.index: its log is gone, which held offset 29")

	delete(files, withSuffix(logPath("d", "t-0", 20), segment.IndexSuffix))
	files[logPath("d", "t-0", 40)] = nil
	requireFound(t, checkDirs(t, files, "d"), "healthy")
	files[withSuffix(logPath("d", "t-0", 40), segment.IndexSuffix)] = entries
	requireFound(t, checkDirs(t, files, "d"), "repairable without loss, but records are missing that once were there",
		"damage bad-index d/t-0/00000000000000000040.index at 0: entry 0: byte 0 lies behind the last batch, which ends at 0",
		"warning missing-log d/t-0/00000000000000000040.log: it is empty, but its index has entries")

	delete(files, logPath("d", "t-0", 0))
	delete(files, logPath("d", "t-0", 40))
	delete(files, withSuffix(logPath("d", "t-0", 40), segment.IndexSuffix))
	files[withSuffix(logPath("d", "t-0", 0), segment.IndexSuffix)] = entries
	requireFound(t, checkDirs(t, files, "d"), "healthy",
		"warning orphan-index d/t-0/00000000000000000000.index: there is no log of that offset")
}

func TestCheckTwoDirectories(t *testing.T) {
	files := broker(t)
	maps.Copy(files, map[string][]byte{
		"e/meta.properties":        []byte("version=1\nnode.id=1\ncluster.id=other\n"),
		logPath("e", "t-0", 0):     logOf(t, 1, 10),
		"d/t-0/partition.metadata": []byte("version: 0\ntopic_id: EAAAAAAAAAAAAAAAAAAwOQ"),
		"e/t-0/partition.metadata": []byte("version: 0\ntopic_id: EAAAAAAAAAAAAAAAAAAwOg"),
	})
	requireFound(t, checkDirs(t, files, "d", "e"), "healthy",
		`warning cluster-ids e/meta.properties: cluster "other", d/meta.properties says "c"`,
		"warning topic-ids e/t-0/partition.metadata: topic id EAAAAAAAAAAAAAAAAAAwOg, d/t-0 has EAAAAAAAAAAAAAAAAAAwOQ",
		"warning two-places e/t-0: t:0 stands in d/t-0 too")
}

func TestCheckFutureTimestamps(t *testing.T) {
	files := broker(t)
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch = 30, 0
	b := record.NewBuilder()
	b.Reset(meta)
	b.Append(&record.Record{Offset: 30, Timestamp: 1700000000000000}) // microseconds
	log, err := b.Build(files[logPath("d", "t-0", 0)])
	if err != nil {
		t.Fatal(err)
	}
	files[logPath("d", "t-0", 0)] = log
	requireFound(t, checkDirs(t, files, "d"), "healthy",
		"warning future d/t-0: timestamp 1700000000000000 is more than a year ahead")
}

// Identical findings are one row, and damage never is.
func TestGroupFindings(t *testing.T) {
	var all []Finding
	for _, path := range []string{"a", "b", "c", "d"} {
		all = append(all,
			Finding{Severity: Info, Error: at(PaddedIndex, path, "preallocated")},
			Finding{Severity: Damage, Error: at(corrupt.Torn, path, "have 30 of 136 bytes")})
	}
	all = append(all, Finding{Severity: Info, Error: at(Foreign, "x", "one")}, Finding{Severity: Info, Error: at(Foreign, "y", "one")})
	var got []string
	for _, f := range groupFindings(all) {
		got = append(got, f.Severity.String()+" "+f.Where())
	}
	want := []string{"damage a", "damage b", "damage c", "damage d", "info x,y", "info (4 places, the first a)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// txnLog is data of producer 1000, its ABORT at offset 2, data, its COMMIT at offset 4.
const txnLog = "000000000000000000000043000000000226f4963f0010000000010000018bcfe568000000018bcfe5680100000000000003e800000000000000000002100000000261023100100002020262023200" +
	"000000000000000200000042000000000210bdf1020030000000000000018bcfe568050000018bcfe5680500000000000003e80000ffffffff000000012000000008000000000c00000000000500" +
	"00000000000000030000003900000000022f79198a0010000000000000018bcfe5680a0000018bcfe5680a00000000000003e8000000000002000000010e00000002630100" +
	"0000000000000004000000420000000002d48c09b60030000000000000018bcfe5680f0000018bcfe5680f00000000000003e80000ffffffff000000012000000008000000010c00000000000500"

func TestCheckTransactionIndex(t *testing.T) {
	files := map[string][]byte{"d/meta.properties": broker(t)["d/meta.properties"], logPath("d", "t-0", 0): unhex(t, txnLog)}
	requireFound(t, checkDirs(t, files, "d"), "repairable without loss",
		"damage bad-txnindex d/t-0/00000000000000000000.txnindex: producer 1000 aborted offsets 0..2: not in the index")

	entry := unhex(t, "000000000000000003e8000000000000000000000000000000020000000000000003")
	files[withSuffix(logPath("d", "t-0", 0), segment.TxnIndexSuffix)] = entry
	requireFound(t, checkDirs(t, files, "d"), "healthy")
	entry[1] = 1
	requireFound(t, checkDirs(t, files, "d"), "repairable without loss",
		"damage bad-txnindex d/t-0/00000000000000000000.txnindex at 0: version 1")
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// commitRecord is a commit as __consumer_offsets holds it.
func commitRecord(t *testing.T, c group.OffsetCommit, offset int64) *record.Record {
	t.Helper()
	c.LeaderEpoch, c.ExpireTimestamp = -1, -1
	key, err := c.AppendKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	value, err := c.AppendValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &record.Record{Offset: offset, Timestamp: 1000, Key: key, Value: value}
}

// A group whose committed offset lies outside the log is named; a tombstone takes a
// commit back.
func TestCheckCommittedOffsets(t *testing.T) {
	files := broker(t)
	meta := record.NoProducer()
	b := record.NewBuilder()
	b.Reset(meta)
	var gone []byte // the key of a commit that a tombstone takes back
	for i, c := range []group.OffsetCommit{
		{Group: "gone", Topic: "t", Offset: 99},
		{Group: "good", Topic: "t", Offset: 30},
		{Group: "ahead", Topic: "t", Offset: 31},
		{Group: "elsewhere", Topic: "u", Offset: 99},
	} {
		r := commitRecord(t, c, int64(i))
		b.Append(r)
		if i == 0 {
			gone = r.Key
		}
	}
	b.Append(&record.Record{Offset: 10, Timestamp: 1000, Key: gone})
	log, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	files[logPath("d", "__consumer_offsets-7", 0)] = log
	r := checkDirs(t, files, "d")
	got := slices.DeleteFunc(found(r), func(s string) bool { return !strings.Contains(s, "committed-offset") })
	if want := []string{"warning committed-offset t-0: group ahead is at 31, the log holds 0..30"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCheckUnreadableLog: of a log that the disk does not give nothing is known, so no
// checkpoint and no committed offset is held against it.
func TestCheckUnreadableLog(t *testing.T) {
	files := broker(t)
	for _, name := range []string{"recovery-point-offset-checkpoint", "replication-offset-checkpoint", "log-start-offset-checkpoint"} {
		files["d/"+name] = []byte("0\n1\nt 0 30\n")
	}
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	b.Append(commitRecord(t, group.OffsetCommit{Group: "g", Topic: "t", Offset: 30}, 0))
	log, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	files[logPath("d", "__consumer_offsets-0", 0)] = log
	requireFound(t, checkDirs(t, files, "d"), "healthy")

	fsys := faultfs.Wrap(fsWith(t, files), nil)
	fsys.BadSectors(logPath("d", "t-0", 0), 0, 512)
	d, err := store.Detect(fsys, "d")
	if err != nil {
		t.Fatal(err)
	}
	scope := CheckScope{LogDirs: []CheckDir{{Path: "d", Name: "d", Whole: true}}}
	if scope.Partitions, err = d.AllPartitions(); err != nil {
		t.Fatal(err)
	}
	r := Check(t.Context(), fsys, scope, CheckOptions{Now: checkTime})
	if got := found(r); len(got) > 0 || len(r.Err) != 1 || !errors.Is(r.Err[0], syscall.EIO) {
		t.Errorf("found %v, errors %v", got, r.Err)
	}
}
