package startup

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures/recoverycorpus"
	"logdir/store/vfs/memfs"
)

// TestCorpus foretells what Apache Kafka 4.4 did with 260 damaged partition directories.
func TestCorpus(t *testing.T) {
	corpus := recoverycorpus.Load(t)
	for _, c := range corpus.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			fsys := memfs.New()
			corpus.Write(t, fsys, "d/foo-0", c)
			out, err := Load(fsys, "d/foo-0", Options{
				Clean: c.Clean, RecoveryPoint: c.RecoveryPoint, LogStart: c.LogStart, IndexInterval: 4096,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Outcome, outcomeOf(t, fsys, out)); diff != "" {
				t.Errorf("%s, clean %v, recovery point %d (-kafka +ours):\n%s", c.Kind, c.Clean, c.RecoveryPoint, diff)
			}
		})
	}
}

// outcomeOf puts our forecast in the form of the corpus.
func outcomeOf(t *testing.T, fsys *memfs.FS, out *Outcome) recoverycorpus.Outcome {
	t.Helper()
	if out.Failure != nil {
		return recoverycorpus.Outcome{Error: out.Failure.Class, Message: out.Failure.Message}
	}
	o := recoverycorpus.Outcome{
		Starts: true, LogStart: out.LogStart, LogEnd: out.LogEnd, RecoveryPoint: out.RecoveryPoint,
		Files: map[string]recoverycorpus.File{},
	}
	for _, e := range out.Epochs {
		o.Epochs = append(o.Epochs, [2]int64{int64(e.Epoch), e.StartOffset})
	}
	d := &directory{fs: fsys, path: "d/foo-0", files: out.Files}
	for _, name := range d.names() {
		switch {
		case strings.HasSuffix(name, snapSuffix):
			o.Snapshots = append(o.Snapshots, name)
		case recoverycorpus.Compared(name):
			data, err := d.read(name, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(data)
			o.Files[name] = recoverycorpus.File{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
		}
	}
	return o
}
