package recovery

import (
	"path"
	"testing"

	"logdir/fixtures"
	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs/memfs"
)

// TestRealBrokersNeedNoRepair: in the data directories of a hundred real brokers nothing is
// cut, nothing is refused or put back, and no index that is there is called wrong.
func TestRealBrokersNeedNoRepair(t *testing.T) {
	for _, pack := range fixtures.KafkaPacks(t) {
		t.Run(pack.Name, func(t *testing.T) {
			t.Parallel()
			fsys := pack.FS(t)
			for _, dir := range fixtures.PartitionDirs(t, fsys) {
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
	partition := d.Partition(store.PartitionRef{
		TopicPartition: store.TopicPartition{Topic: name.Topic, Partition: name.Partition}, Dir: dir, Rel: dir,
	})
	fixed, err := Make(t.Context(), fsys, partition, Options{Policy: Skip, Fix: true})
	must(t, err)
	if fixed.ChangesLog() {
		t.Errorf("%s: --fix --policy skip would change the log: %s", dir, fixed.Rows[0].Action)
	}
	p, err := Make(t.Context(), fsys, partition, Options{Policy: Tail})
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
