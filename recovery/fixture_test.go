package recovery

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// fixtureF is the log of cases.md: ten batches of one record each, 72 bytes, offsets 0 to 9.
func fixtureF(t testing.TB) []byte {
	t.Helper()
	var log []byte
	for i := range int64(10) {
		log = appendBatch(t, log, i, record.NoProducer())
	}
	if got := hash(log); got != "659512c1b5d407da5c61dbc9494a148131dbe86287ea911f1e90347516a8d9c5" {
		t.Fatalf("fixture F has sha256 %s", got)
	}
	return log
}

// appendBatch appends the batch of record i.
func appendBatch(t testing.TB, log []byte, i int64, m record.Meta) []byte {
	t.Helper()
	m.BaseOffset, m.LeaderEpoch = i, 0
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{
		Offset: i, Timestamp: 1700000000000 + 1000*i,
		Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "v%d", i),
	})
	log, err := b.Build(log)
	must(t, err)
	return log
}

// appendMessage appends a v0 message with a null key.
func appendMessage(log []byte, offset int64, value []byte) []byte {
	body := []byte{0, 0, 0xff, 0xff, 0xff, 0xff} // magic, attributes, key length -1
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
	log = binary.BigEndian.AppendUint64(log, uint64(offset))
	log = binary.BigEndian.AppendUint32(log, uint32(4+len(body)))
	log = binary.BigEndian.AppendUint32(log, crc32.ChecksumIEEE(body))
	return append(log, body...)
}

// single makes a log dir d whose only partition foo-0 has one segment with these bytes.
func single(t testing.TB, log []byte) *memfs.FS {
	t.Helper()
	fsys := memfs.New()
	must(t, fsys.MkdirAll("d/foo-0"))
	put(t, fsys, "d/foo-0/00000000000000000000.log", log)
	must(t, fsys.SyncDir("."))
	must(t, fsys.SyncDir("d"))
	return fsys
}

func put(t testing.TB, fsys vfs.FS, name string, data []byte) {
	t.Helper()
	must(t, vfs.WriteAtomic(fsys, name, data))
}

// read returns a file's bytes.
func read(t testing.TB, fsys vfs.ReadFS, name string) []byte {
	t.Helper()
	data, err := vfs.ReadAll(fsys, name, 1<<30)
	must(t, err)
	return data
}
