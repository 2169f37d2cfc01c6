package store_test

import (
	"fmt"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// dir is the partition directory of these tests.
const dir = "logs/t-0"

// moment is the timestamp of the first record of a frame: 2026-01-01.
const moment = 1767225600000

// frame is a batch of records with the values given, one millisecond apart.
func frame(t testing.TB, m record.Meta, values ...string) []byte {
	t.Helper()
	return frameAt(t, m, moment, values...)
}

// frameAt is frame with the timestamp of its first record.
func frameAt(t testing.TB, m record.Meta, first int64, values ...string) []byte {
	t.Helper()
	b := record.NewBuilder()
	b.Reset(m)
	for i, v := range values {
		b.Append(&record.Record{Offset: m.BaseOffset + int64(i), Timestamp: first + int64(i), Value: []byte(v)})
	}
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// plain is a batch without a producer.
func plain(t testing.TB, values ...string) []byte {
	t.Helper()
	return frame(t, record.NoProducer(), values...)
}

// sequenced is a batch of an idempotent producer.
func sequenced(t testing.TB, id int64, epoch, sequence int32, values ...string) []byte {
	t.Helper()
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = id, epoch, sequence
	return frame(t, m, values...)
}

// newDir is a file system with an empty partition directory.
func newDir(t testing.TB) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	if err := fs.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	return fs
}

// config rolls at so many bytes and indexes every batch but the first.
func config(segmentBytes int64) store.Config {
	return store.Config{
		SegmentBytes: segmentBytes, IndexInterval: 1,
		Now: func() time.Time { return time.UnixMilli(moment) },
	}
}

func openLog(t testing.TB, fs *memfs.FS, c store.Config) *store.Log {
	t.Helper()
	l, err := store.OpenLog(fs, dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func appendAll(t testing.TB, l *store.Log, frames ...[]byte) {
	t.Helper()
	for _, f := range frames {
		if _, err := l.Append(f, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// contents reads a log from an offset on as "offset=value" strings. Damage ends it.
func contents(t testing.TB, fs *memfs.FS, from int64) []string {
	t.Helper()
	got, err := readAll(fs, from)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func readAll(fs *memfs.FS, from int64) ([]string, error) {
	r, err := store.OpenReader(fs, dir, store.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	var out []string
	c := r.From(from)
	records := record.NewReader()
	for c.Next() && c.Damage() == nil {
		records.Reset(c.Batch())
		for records.Next() {
			if rec := records.Record(); rec.Offset >= from {
				out = append(out, fmt.Sprintf("%d=%s", rec.Offset, rec.Value))
			}
		}
		if err := records.Err(); err != nil {
			return out, err
		}
	}
	if err := c.Err(); err != nil {
		return out, err
	}
	return out, c.Close()
}
