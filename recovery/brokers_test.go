package recovery

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs/memfs"
)

// notKafkas are packs of Redpanda's, whose logs are another format.
var notKafkas = map[string]bool{"k048": true, "k052": true, "k061": true}

// TestRealBrokersNeedNoRepair: in the data directories of a hundred real brokers nothing is
// cut, nothing is refused, and no index that is there is called wrong.
func TestRealBrokersNeedNoRepair(t *testing.T) {
	packs, err := filepath.Glob(filepath.Join(fixtures.Corpus(t, "kafka"), "k*.tar.gz"))
	must(t, err)
	for _, pack := range packs {
		name, isPack := strings.CutSuffix(filepath.Base(pack), ".tar.gz")
		if !isPack || strings.Contains(name, ".") || notKafkas[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys, dirs := unpack(t, pack)
			for dir := range dirs {
				checkHealthy(t, fsys, dir)
			}
		})
	}
}

func checkHealthy(t *testing.T, fsys *memfs.FS, dir string) {
	t.Helper()
	name, ok := segment.ParsePartitionDir(path.Base(dir))
	if !ok {
		return
	}
	d, err := ReadLogDir(fsys, path.Dir(dir))
	must(t, err)
	p, err := Make(t.Context(), fsys, d.Partition(store.PartitionRef{
		TopicPartition: store.TopicPartition{Topic: name.Topic, Partition: name.Partition}, Dir: dir, Rel: dir,
	}), Options{Policy: Tail})
	must(t, err)
	if len(p.Left) > 0 || p.Lost.Bytes > 0 {
		t.Errorf("%s: left %v, %d bytes would be cut", dir, p.Left, p.Lost.Bytes)
	}
	for _, r := range p.Rows {
		if r.Damage == corrupt.BadIndex || r.Damage == corrupt.BadTxnIndex || r.Damage == corrupt.BadSnapshot {
			t.Errorf("%s: %s: %s", dir, r.Damage, r.Action)
		}
	}
}

// unpack reads a pack into memory, and tells which directories hold a log.
func unpack(t *testing.T, pack string) (*memfs.FS, map[string]bool) {
	t.Helper()
	f, err := os.Open(pack)
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	fsys, dirs := memfs.New(), map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return fsys, dirs
		}
		must(t, err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		must(t, err)
		name := path.Clean(h.Name)
		must(t, fsys.MkdirAll(path.Dir(name)))
		put(t, fsys, name, data)
		if strings.HasSuffix(name, segment.LogSuffix) {
			dirs[path.Dir(name)] = true
		}
	}
}
