package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/store"
	"logdir/store/record"
	"logdir/store/vfs"
)

// hundred is a batch of a hundred records of 100 bytes.
func hundred(b *testing.B) []byte {
	values := make([]string, 100)
	for i := range values {
		values[i] = strings.Repeat("x", 100)
	}
	return plain(b, values...)
}

// diskLog is a log on a real disk.
func diskLog(b *testing.B, c store.Config) (*store.Log, string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "t-0")
	if err := os.Mkdir(path, 0o777); err != nil {
		b.Fatal(err)
	}
	l, err := store.OpenLog(vfs.OS(), path, c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l, path
}

// BenchmarkAppend100 appends batches of a hundred 100-byte records without a sync. The
// bytes are those of the log.
func BenchmarkAppend100(b *testing.B) {
	l, _ := diskLog(b, store.Config{SegmentBytes: 64 << 20, Fsync: store.FsyncNever})
	raw := hundred(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(raw, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareAppend100 is the limit: a checksum and a write for each of the same batches,
// into a file that grows as a segment does.
func BenchmarkBareAppend100(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	raw := hundred(b)
	batch, damage := record.Parse(raw)
	if damage != nil {
		b.Fatal(damage)
	}
	b.SetBytes(int64(len(raw)))
	for pos := int64(0); b.Loop(); pos += int64(len(raw)) {
		if pos > 64<<20 {
			pos = 0
			if err := f.Truncate(0); err != nil {
				b.Fatal(err)
			}
		}
		batch.ComputeCRC()
		if _, err := f.WriteAt(raw, pos); err != nil {
			b.Fatal(err)
		}
	}
}

// bigLog is a log of some 100 MiB in one segment.
func bigLog(b *testing.B) (path string, end int64) {
	l, path := diskLog(b, store.Config{Fsync: store.FsyncNever})
	run := slices.Repeat(hundred(b), 100)
	for range 100 {
		if _, err := l.Append(run, 0); err != nil {
			b.Fatal(err)
		}
	}
	return path, l.End()
}

// BenchmarkReopen opens a log of 100 MiB, appends one batch and closes it, as a shell
// does that runs a command per batch.
func BenchmarkReopen(b *testing.B) {
	path, _ := bigLog(b)
	raw := plain(b, "one record")
	b.ReportAllocs()
	for b.Loop() {
		l, err := store.OpenLog(vfs.OS(), path, store.Config{Fsync: store.FsyncNever})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Append(raw, 0); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLookup finds one offset in a log of 100 MiB: list, open, look up, close.
func BenchmarkLookup(b *testing.B) {
	path, end := bigLog(b)
	b.ReportAllocs()
	for offset := int64(0); b.Loop(); offset = (offset + 7919*100) % end {
		r, err := store.OpenReader(vfs.OS(), path, store.ReaderOptions{})
		if err != nil {
			b.Fatal(err)
		}
		c := r.From(offset)
		if !c.Next() || c.Damage() != nil || c.Batch().NextOffset() <= offset {
			b.Fatalf("offset %d not found: %v", offset, c.Err())
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
