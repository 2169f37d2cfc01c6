package inspect

import (
	"bytes"
	"path/filepath"
	"testing"

	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// batchOf builds a batch of n records from offset base on, each with a value of size bytes.
func batchOf(t testing.TB, base int64, n, size int) []byte {
	t.Helper()
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch = base, 0
	b := record.NewBuilder()
	b.Reset(meta)
	for i := range int64(n) {
		b.Append(&record.Record{Offset: base + i, Timestamp: 1000 + base + i, Value: bytes.Repeat([]byte{'v'}, size)})
	}
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// logOf builds count batches of ten records.
func logOf(t testing.TB, count, size int) []byte {
	var log []byte
	for i := range int64(count) {
		log = append(log, batchOf(t, 10*i, 10, size)...)
	}
	return log
}

// logName is the file that the tests here write.
var logName = filepath.Join("t-0", segment.FileName(0, segment.LogSuffix))

func fsWith(t testing.TB, files map[string][]byte) *memfs.FS {
	t.Helper()
	fsys := memfs.New()
	for name, data := range files {
		if err := fsys.MkdirAll(filepath.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(fsys, name, data); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}
