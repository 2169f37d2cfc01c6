package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures/recoverycorpus"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// testNow is the clock of the tests.
var testNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// logDirOf makes a log dir d with one damaged copy of foo-0 and what stands beside it.
func logDirOf(t *testing.T, corpus *recoverycorpus.Corpus, c recoverycorpus.Case) *memfs.FS {
	t.Helper()
	fsys := memfs.New()
	corpus.Write(t, fsys, "d/foo-0", c)
	if c.Clean {
		must(t, checkpoint.WriteCleanShutdown(fsys, "d", -1))
	}
	must(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.RecoveryPointFile, checkpoint.Offsets{{Topic: "foo", Offset: c.RecoveryPoint}}))
	if c.LogStart > 0 {
		must(t, checkpoint.WriteOffsets(fsys, "d/"+checkpoint.LogStartFile, checkpoint.Offsets{{Topic: "foo", Offset: c.LogStart}}))
	}
	return fsys
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// partitionOf reads what is known of d/foo-0.
func partitionOf(t testing.TB, fsys vfs.ReadFS) Partition {
	t.Helper()
	d, err := ReadLogDir(fsys, "d")
	must(t, err)
	return d.Partition(store.PartitionRef{TopicPartition: store.TopicPartition{Topic: "foo"}, Dir: "d/foo-0", Rel: "foo-0"})
}

func plan(t testing.TB, fsys vfs.ReadFS, o Options) *Plan {
	t.Helper()
	p, err := Make(t.Context(), fsys, partitionOf(t, fsys), o)
	must(t, err)
	return p
}

var quarantineOf = func(fsys vfs.FS) Quarantine { return Quarantine{FS: fsys, Dir: "d.quarantine", Root: "d"} }

// carryOut executes a plan with the checkpoints, and answers the run's id.
func carryOut(t testing.TB, fsys vfs.FS, p *Plan) string {
	t.Helper()
	id, err := execute(t, fsys, p)
	must(t, err)
	return id
}

func execute(t testing.TB, fsys vfs.FS, p *Plan) (string, error) {
	t.Helper()
	changes := slices.Clone(p.Changes)
	if len(p.Left) == 0 {
		points, err := p.Partition.LogDir.LowerPoints(fsys, map[store.TopicPartition]int64{p.Partition.TopicPartition: p.LogEnd})
		if err != nil {
			return "", err
		}
		changes = append(changes, points...)
	}
	return Job{Quarantine: quarantineOf(fsys), Command: "recover", Now: testNow, Changes: changes}.Execute(t.Context())
}

// photo is every file below a directory: size, checksum and modification time.
func photo(t testing.TB, fsys vfs.ReadFS, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(string)
	walk = func(dir string) {
		entries, err := fsys.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if e.IsDir() {
				walk(path)
				continue
			}
			data, err := vfs.ReadAll(fsys, path, 1<<30)
			must(t, err)
			info, err := fsys.Stat(path)
			must(t, err)
			out[path] = fmt.Sprintf("%d bytes %s %s", len(data), hash(data), info.ModTime().Format(time.RFC3339Nano))
		}
	}
	walk(dir)
	return out
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// undo takes the newest run back.
func undo(t testing.TB, fsys vfs.FS) {
	t.Helper()
	must(t, tryUndo(t, fsys))
}

func tryUndo(t testing.TB, fsys vfs.FS) error {
	t.Helper()
	q := quarantineOf(fsys)
	r, err := q.Run("")
	if err != nil {
		return err
	}
	u, err := q.PrepareUndo(t.Context(), r)
	if err != nil {
		return err
	}
	defer u.Close()
	return u.Apply(t.Context())
}

// TestCorpusKafka recovers 260 damaged directories as Apache Kafka 4.4 did, byte for byte;
// a second run finds nothing to do, and undo brings the damage back bit for bit.
func TestCorpusKafka(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	for _, c := range corpus.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			fsys := logDirOf(t, corpus, c)
			before := photo(t, fsys, "d")
			o := Options{Policy: Kafka, FromRecoveryPoint: true}
			p := plan(t, fsys, o)
			if !c.Outcome.Starts {
				checkRefused(t, p, c)
				return
			}
			if len(p.Left) > 0 {
				t.Fatalf("left: %v", p.Left)
			}
			if p.LogStart != c.Outcome.LogStart || p.LogEnd != c.Outcome.LogEnd {
				t.Errorf("log %d..%d, Kafka's %d..%d", p.LogStart, p.LogEnd, c.Outcome.LogStart, c.Outcome.LogEnd)
			}
			if (len(p.Rows) == 0) != p.Empty() {
				t.Errorf("%d rows, %d changes", len(p.Rows), len(p.Changes))
			}
			carryOut(t, fsys, p)
			if diff := cmp.Diff(c.Outcome.Files, filesOf(t, fsys)); diff != "" {
				t.Errorf("%s (-kafka +ours):\n%s", c.Kind, diff)
			}
			if diff := cmp.Diff(c.Outcome.Epochs, epochsOf(t, fsys)); diff != "" {
				t.Errorf("epochs (-kafka +ours):\n%s", diff)
			}
			if again := plan(t, fsys, o); !again.Empty() {
				t.Errorf("a second run has work to do: %v", again.Rows)
			}
			if p.Empty() {
				return
			}
			undo(t, fsys)
			if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
				t.Errorf("after undo (-before +after):\n%s", diff)
			}
		})
	}
}

// checkRefused: where the broker does not start, nothing is done, and the reason is Kafka's.
func checkRefused(t *testing.T, p *Plan, c recoverycorpus.Case) {
	t.Helper()
	if !p.Empty() || len(p.Left) != 1 {
		t.Fatalf("%d changes, left %v", len(p.Changes), p.Left)
	}
	for _, want := range []string{c.Outcome.Error, c.Outcome.Message} {
		if !strings.Contains(p.Left[0].Error(), want) {
			t.Errorf("%q does not tell %q", p.Left[0], want)
		}
	}
}

func filesOf(t *testing.T, fsys vfs.ReadFS) map[string]recoverycorpus.File {
	t.Helper()
	out := map[string]recoverycorpus.File{}
	entries, err := fsys.ReadDir("d/foo-0")
	must(t, err)
	for _, e := range entries {
		if recoverycorpus.Compared(e.Name()) {
			data, err := vfs.ReadAll(fsys, "d/foo-0/"+e.Name(), 1<<30)
			must(t, err)
			out[e.Name()] = recoverycorpus.File{Size: int64(len(data)), SHA256: hash(data)}
		}
	}
	return out
}

func epochsOf(t *testing.T, fsys vfs.ReadFS) (out [][2]int64) {
	t.Helper()
	epochs, err := checkpoint.ReadEpochs(fsys, "d/foo-0/"+checkpoint.EpochFile)
	must(t, err)
	for _, e := range epochs {
		out = append(out, [2]int64{int64(e.Epoch), e.StartOffset})
	}
	return out
}

// validBatches are the bytes of every frame of the undamaged logs that is still whole
// somewhere in the damaged ones, keyed by offset: counted by searching, not by our scanner.
func validBatches(t *testing.T, corpus *recoverycorpus.Corpus, fsys vfs.ReadFS) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	for name, base := range corpus.Base {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		data, err := vfs.ReadAll(fsys, "d/foo-0/"+name, 1<<30)
		if err != nil {
			continue // deleted
		}
		for s := segment.NewFrameScanner(strings.NewReader(string(base)), int64(len(base))); s.Next(); {
			if raw := string(s.Batch().Raw()); strings.Contains(string(data), raw) {
				out[s.Batch().BaseOffset()] = raw
			}
		}
	}
	return out
}

// keptAll makes sure that every valid batch is still there.
func keptAll(t *testing.T, fsys vfs.ReadFS, want map[int64]string) {
	t.Helper()
	var all strings.Builder
	entries, err := fsys.ReadDir("d/foo-0")
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".log") {
			data, err := vfs.ReadAll(fsys, "d/foo-0/"+e.Name(), 1<<30)
			must(t, err)
			all.Write(data)
		}
	}
	for offset, raw := range want {
		if !strings.Contains(all.String(), raw) {
			t.Errorf("batch %d is gone", offset)
		}
	}
}

// TestCorpusOwnPolicies repairs the same directories by our own policies: no valid batch is
// ever lost, what is left is said, a second run does nothing, and undo is exact.
func TestCorpusOwnPolicies(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	for _, o := range []Options{{Policy: Tail}, {Policy: Skip}, {Policy: Tail, Fix: true}, {Policy: Skip, Fix: true}} {
		for _, c := range corpus.Cases {
			t.Run(fmt.Sprintf("%s-%v-%s", o.Policy, o.Fix, c.ID), func(t *testing.T) {
				t.Parallel()
				fsys := logDirOf(t, corpus, c)
				before := photo(t, fsys, "d")
				valid := validBatches(t, corpus, fsys)
				p := plan(t, fsys, o)
				if p.Empty() {
					return
				}
				carryOut(t, fsys, p)
				keptAll(t, fsys, valid)
				if again := plan(t, fsys, o); !again.Empty() {
					t.Errorf("a second run has work to do: %v after %v", again.Rows, p.Rows)
				}
				if o.Policy == Skip && len(p.Left) == 0 {
					brokerIsContent(t, fsys)
				}
				undo(t, fsys)
				if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
					t.Errorf("after undo (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// brokerIsContent: a broker that looks at everything cuts nothing and starts.
func brokerIsContent(t *testing.T, fsys vfs.ReadFS) {
	t.Helper()
	p := plan(t, fsys, Options{Policy: Kafka})
	if len(p.Left) > 0 {
		t.Errorf("a broker would not start: %v", p.Left)
	}
	for _, r := range p.Rows {
		if r.LostBytes > 0 {
			t.Errorf("a broker would cut: %+v", r)
		}
	}
}

// TestCorpusFix puts back the original bytes wherever the damage was one bit, one length,
// one base offset, one leader epoch or one magic byte.
func TestCorpusFix(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	provable := map[string]bool{"flip-byte": true, "length": true, "base-offset": true, "magic": true, "leader-epoch": true}
	tried := 0
	for _, c := range corpus.Cases {
		if !provable[c.Kind] {
			continue
		}
		fsys := logDirOf(t, corpus, c)
		p := plan(t, fsys, Options{Policy: Tail, Fix: true})
		if !p.Empty() {
			carryOut(t, fsys, p)
		}
		tried++
		if !sameLogs(t, corpus, fsys) {
			t.Errorf("%s %s: not restored: rows %v left %v", c.ID, c.Kind, p.Rows, p.Left)
		}
	}
	if tried < 70 {
		t.Errorf("only %d cases", tried)
	}
}

func sameLogs(t *testing.T, corpus *recoverycorpus.Corpus, fsys vfs.ReadFS) bool {
	t.Helper()
	for name, base := range corpus.Base {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		data, err := vfs.ReadAll(fsys, "d/foo-0/"+name, 1<<30)
		if err != nil || string(data) != string(base) {
			return false
		}
	}
	return true
}
