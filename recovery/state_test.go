package recovery

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// TestLeaderEpochs is D12 of cases.md: batches 5 to 9 were written by the leader of epoch 3,
// and the file that should say so is damaged in every way, or is right.
func TestLeaderEpochs(t *testing.T) {
	log := fixtureF(t)
	for i := 5; i < 10; i++ {
		record.SetLeaderEpoch(log[i*72:(i+1)*72], 3)
	}
	const want = "0\n2\n0 0\n3 5\n"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", want},
		{"bad number", "0\n1\n0 zero\n", want},
		{"says two, has one", "0\n2\n0 0\n", want},
		{"goes down and beyond the end", "0\n2\n5 0\n3 10\n", want},
		{"another epoch there", "0\n2\n0 0\n2 5\n", want},
		{"right", want, want},
		{"a new leader at the end", "0\n3\n0 0\n3 5\n4 10\n", "0\n3\n0 0\n3 5\n4 10\n"},
		{"an epoch without records", "0\n3\n0 0\n1 2\n3 5\n", want},
		{"begins at the log start", "0\n1\n3 7\n", "0\n1\n3 7\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := single(t, log)
			put(t, fsys, "d/foo-0/"+checkpoint.EpochFile, []byte(c.file))
			p := plan(t, fsys, Options{Policy: Tail})
			told := slices.ContainsFunc(p.Rows, func(r Row) bool { return r.Damage == corrupt.BadCheckpoint })
			if told != (c.file != c.want) {
				t.Errorf("told %v: %v", told, p.Rows)
			}
			carryOut(t, fsys, p)
			if got := string(read(t, fsys, "d/foo-0/"+checkpoint.EpochFile)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestEpochInAGap: compaction took every batch of epoch 3, which lay between two segments.
func TestEpochInAGap(t *testing.T) {
	f := fixtureF(t)
	fsys := single(t, f[:3*72])
	second := slices.Clone(f[7*72:])
	for i := range 3 {
		record.SetLeaderEpoch(second[i*72:], 5)
	}
	put(t, fsys, "d/foo-0/00000000000000000007.log", second)
	const file = "0\n3\n0 0\n3 4\n5 7\n"
	put(t, fsys, "d/foo-0/"+checkpoint.EpochFile, []byte(file))
	carryOut(t, fsys, plan(t, fsys, Options{Policy: Tail}))
	if got := string(read(t, fsys, "d/foo-0/"+checkpoint.EpochFile)); got != file {
		t.Errorf("%q, want %q", got, file)
	}
}

// TestIndexOfMessagesWithoutTime: v0 messages have no timestamps, so that a short log of them
// has two empty index files. These are made from the log as it is after the cut.
func TestIndexOfMessagesWithoutTime(t *testing.T) {
	var log []byte
	for i := range int64(12) {
		log = appendMessage(log, i, make([]byte, 500))
	}
	fsys := single(t, log)
	carryOut(t, fsys, plan(t, fsys, Options{Policy: Tail}))
	for i := 2; i < 7; i++ {
		log[i*len(log)/12+100] ^= 1
	}
	put(t, fsys, "d/foo-0/00000000000000000000.log", log)
	if len(read(t, fsys, "d/foo-0/00000000000000000000.index")) == 0 {
		t.Fatal("the log is too short to be indexed")
	}
	o := Options{Policy: Skip}
	carryOut(t, fsys, plan(t, fsys, o))
	if index := read(t, fsys, "d/foo-0/00000000000000000000.index"); len(index) > 0 {
		t.Errorf("index % x", index)
	}
	if again := plan(t, fsys, o); !again.Empty() {
		t.Errorf("a second run has work to do: %v", again.Rows)
	}
}

// TestTransactionIndexOfALogCutAtItsStart: what stands in the file is kept, because the log
// may no longer tell where a transaction began; what is missing is added.
func TestTransactionIndexOfALogCutAtItsStart(t *testing.T) {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional = 9, 0, true
	var log []byte
	for i := range int64(4) {
		m.BaseSequence = int32(i)
		log = appendBatch(t, log, 100+2*i, m)
		end := m
		end.BaseOffset, end.LeaderEpoch = 101+2*i, 0
		var err error
		log, err = record.AppendEndTxnMarker(log, end, record.EndTxnMarker{Type: record.Abort}, 1700000000000)
		must(t, err)
	}
	entry := func(first, last int64) index.AbortedTxn {
		return index.AbortedTxn{ProducerID: 9, FirstOffset: first, LastOffset: last, LastStableOffset: last + 1}
	}
	fsys := memfs.New()
	must(t, fsys.MkdirAll("d/foo-0"))
	put(t, fsys, "d/foo-0/00000000000000000100.log", log)
	file := index.AppendAbortedTxn(index.AppendAbortedTxn(nil, entry(90, 101)), entry(104, 105))
	put(t, fsys, "d/foo-0/00000000000000000100.txnindex", file)
	carryOut(t, fsys, plan(t, fsys, Options{Policy: Tail}))
	var want []byte
	for _, e := range []index.AbortedTxn{entry(90, 101), entry(102, 103), entry(104, 105), entry(106, 107)} {
		want = index.AppendAbortedTxn(want, e)
	}
	if diff := cmp.Diff(want, read(t, fsys, "d/foo-0/00000000000000000100.txnindex")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKeptBatchBeforeATornTail: a batch whose leader epoch alone is wrong is not cut with the
// torn one behind it.
func TestKeptBatchBeforeATornTail(t *testing.T) {
	log := fixtureF(t)
	for i := range 9 {
		record.SetLeaderEpoch(log[i*72:(i+1)*72], 3)
	}
	fsys := single(t, append(log, appendBatch(t, nil, 10, record.NoProducer())[:30]...))
	p := plan(t, fsys, Options{Policy: Tail})
	carryOut(t, fsys, p)
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); !bytes.Equal(got, log) {
		t.Errorf("%d bytes, want %d: rows %v", len(got), len(log), p.Rows)
	}
	if len(p.Left) != 1 || p.LogEnd != 10 {
		t.Errorf("log end %d, left %v", p.LogEnd, p.Left)
	}
}

// TestSwappedBatchesAreNoProof: each would fit with the other's offset, which would be a lie.
func TestSwappedBatchesAreNoProof(t *testing.T) {
	f := fixtureF(t)
	log := slices.Concat(f[:144], f[5*72:6*72], f[3*72:5*72], f[144:3*72], f[6*72:])
	fsys := single(t, log)
	p := plan(t, fsys, Options{Policy: Tail, Fix: true})
	carryOut(t, fsys, p)
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); !bytes.Equal(got, log) || len(p.Left) == 0 {
		t.Errorf("rows %v, left %v", p.Rows, p.Left)
	}
}

// TestRenamedLogIsNoProof: the batches are right, and the file has the wrong name.
func TestRenamedLogIsNoProof(t *testing.T) {
	log := fixtureF(t)
	fsys := memfs.New()
	must(t, fsys.MkdirAll("d/foo-0"))
	put(t, fsys, "d/foo-0/00000000000000000001.log", log)
	p := plan(t, fsys, Options{Policy: Tail, Fix: true})
	if len(p.Changes) > 0 || len(p.Left) == 0 {
		t.Errorf("rows %v, left %v", p.Rows, p.Left)
	}
}

// TestFormatOfALogWithoutItsFirstBatch: the format is that of the first good batch.
func TestFormatOfALogWithoutItsFirstBatch(t *testing.T) {
	m := record.NoProducer()
	m.Format = record.MKB1
	var log []byte
	for i := range int64(3) {
		log = appendBatch(t, log, i, m)
	}
	fsys := single(t, log)
	carryOut(t, fsys, plan(t, fsys, Options{Policy: Tail}))
	clear(log[:20])
	put(t, fsys, "d/foo-0/00000000000000000000.log", log)
	target := memfs.New()
	_, err := salvage(t, fsys, target)
	must(t, err)
	for _, dir := range []string{"d", "out/new"} {
		var where vfs.ReadFS = fsys
		if dir != "d" {
			where = target
		}
		index := read(t, where, dir+"/foo-0/00000000000000000000.index")
		if len(index)%12 != 0 {
			t.Errorf("%s: %d bytes of index are no entries of MKB1", dir, len(index))
		}
	}
}

// TestNeighboursPutBackInTurn: the first of two wrong epochs is only proved once the second
// is right.
func TestNeighboursPutBackInTurn(t *testing.T) {
	want := fixtureF(t)
	for i := range 10 {
		record.SetLeaderEpoch(want[i*72:(i+1)*72], 3)
	}
	log := slices.Clone(want)
	for _, i := range []int{4, 5} {
		record.SetLeaderEpoch(log[i*72:(i+1)*72], 0)
	}
	fsys := single(t, log)
	p := plan(t, fsys, Options{Policy: Tail, Fix: true})
	carryOut(t, fsys, p)
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); !bytes.Equal(got, want) || len(p.Left) > 0 {
		t.Errorf("rows %v, left %v", p.Rows, p.Left)
	}
}

// TestPoints: lines beyond the log end come down to it; those of others stay. Of a file that
// does not parse the legible lines are kept.
func TestPoints(t *testing.T) {
	fsys := single(t, fixtureF(t))
	for _, name := range pointFiles {
		must(t, checkpoint.WriteOffsets(fsys, "d/"+name, checkpoint.Offsets{{Topic: "bar", Offset: 99}, {Topic: "foo", Offset: 12}}))
	}
	must(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.HighWatermarkFile, checkpoint.Offsets{{Topic: "foo", Offset: 7}}))
	put(t, fsys, "d/"+checkpoint.CleanerFile, []byte("0\n7\nbar 0\x00\x00\nfoo 0 12\nfoo 0 3\nfo/o 0 1\nbar 1 5"))
	d, err := ReadLogDir(fsys, "d")
	must(t, err)
	changes, err := d.LowerPoints(fsys, map[store.TopicPartition]int64{{Topic: "foo"}: 10})
	must(t, err)
	if len(changes) != 3 {
		t.Fatalf("%d files change", len(changes))
	}
	_, err = Job{Quarantine: quarantineOf(fsys), Command: "recover", Now: testNow, Changes: changes}.Execute(t.Context())
	must(t, err)
	for name, want := range map[string]string{
		checkpoint.RecoveryPointFile: "0\n2\nbar 0 99\nfoo 0 10\n",
		checkpoint.LogStartFile:      "0\n2\nbar 0 99\nfoo 0 10\n",
		checkpoint.HighWatermarkFile: "0\n1\nfoo 0 7\n",
		checkpoint.CleanerFile:       "0\n2\nfoo 0 10\nbar 1 5\n",
	} {
		if got := string(read(t, fsys, "d/"+name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestIllegibleRecoveryPoints: of a file that does not parse a recovery point is kept only
// for a log that was found whole. A second run would trust the others.
func TestIllegibleRecoveryPoints(t *testing.T) {
	fsys := single(t, fixtureF(t))
	put(t, fsys, "d/"+checkpoint.RecoveryPointFile, []byte("0\n3\nbar 0 5\nfoo 0 8\njunk\n"))
	d, err := ReadLogDir(fsys, "d")
	must(t, err)
	changes, err := d.LowerPoints(fsys, map[store.TopicPartition]int64{{Topic: "foo"}: 10})
	must(t, err)
	_, err = Job{Quarantine: quarantineOf(fsys), Command: "recover", Now: testNow, Changes: changes}.Execute(t.Context())
	must(t, err)
	if got, want := string(read(t, fsys, "d/"+checkpoint.RecoveryPointFile)), "0\n1\nfoo 0 8\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNeverSynced: a bad-crc tail is cut only if the recovery point is known, does not
// cover it, and the directory was not closed cleanly.
func TestNeverSynced(t *testing.T) {
	log := fixtureF(t)
	log[719] ^= 1 // in the batch of offset 9
	for _, c := range []struct {
		name  string
		point int64
		clean bool
		cut   bool
	}{
		{"unknown", corrupt.Unknown, false, false},
		{"covers it", 10, false, false},
		{"ends in front of it", 9, false, true},
		{"closed cleanly", 9, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := single(t, log)
			if c.point != corrupt.Unknown {
				must(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.RecoveryPointFile, checkpoint.Offsets{{Topic: "foo", Offset: c.point}}))
			}
			if c.clean {
				must(t, checkpoint.WriteCleanShutdown(fsys, "d", -1))
			}
			p := plan(t, fsys, Options{Policy: Tail})
			if cut := p.Lost.Bytes == 72; cut != c.cut || cut == (len(p.Left) > 0) {
				t.Errorf("%d bytes lost, left %v", p.Lost.Bytes, p.Left)
			}
		})
	}
}

// TestSnapshots: one that is damaged is made anew where the log tells the state, one beyond
// the end goes.
func TestSnapshots(t *testing.T) {
	var log []byte
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch = 9, 1
	for i := range int64(4) {
		m.BaseSequence = int32(i)
		log = appendBatch(t, log, i, m)
	}
	fsys := single(t, log)
	put(t, fsys, "d/foo-0/"+producer.FileName(4), []byte("rotten"))
	put(t, fsys, "d/foo-0/"+producer.FileName(8), producer.AppendSnapshot(nil, nil))
	must(t, repair(t, fsys, Options{Policy: Tail}))
	entries, err := producer.ReadSnapshot(fsys, "d/foo-0/"+producer.FileName(4))
	must(t, err)
	if len(entries) != 1 || entries[0].ProducerID != 9 || entries[0].LastSequence != 3 || entries[0].LastOffset != 3 {
		t.Errorf("%+v", entries)
	}
	if offsets, err := producer.List(fsys, "d/foo-0"); err != nil || !slices.Equal(offsets, []int64{4}) {
		t.Errorf("snapshots %v, %v", offsets, err)
	}
	if p := plan(t, fsys, Options{Policy: Tail}); !p.Empty() {
		t.Errorf("a second run has work to do: %v", p.Rows)
	}
}
