package inspect

import (
	"io"

	"logdir/store/vfs"
)

// state dumps the small files: producer snapshots, transaction indexes, checkpoints.
func (d *Dumper) state(f *DumpFile, src vfs.ReadFile, size int64) error { return nil }

// nextBatch finds the first good batch behind a position, or end.
func nextBatch(src io.ReaderAt, after, end int64) int64 { return end }
