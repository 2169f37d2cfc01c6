package startup

import (
	"path/filepath"
	"slices"
	"testing"

	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// data is a batch of two records at base, in a transaction of producer 7.
func data(t *testing.T, base int64) []byte {
	t.Helper()
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch, meta.ProducerID, meta.ProducerEpoch, meta.BaseSequence, meta.Transactional = base, 0, 7, 0, 0, true
	b := record.NewBuilder()
	b.Reset(meta)
	for i := range int64(2) {
		b.Append(&record.Record{Offset: base + i, Timestamp: 1700000000000, Value: []byte("value")})
	}
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// marker ends it, at base.
func marker(t *testing.T, base int64) []byte {
	t.Helper()
	meta := record.NoProducer()
	meta.BaseOffset, meta.LeaderEpoch, meta.ProducerID, meta.ProducerEpoch = base, 0, 7, 0
	raw, err := record.AppendEndTxnMarker(nil, meta, record.EndTxnMarker{Type: record.Commit}, 1700000000000)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// set changes one byte of a batch.
func set(raw []byte, pos int, b byte) []byte {
	raw[pos] = b
	return raw
}

// Starts after a clean stop that real brokers of 4.4 were seen to stop at, each beside one
// that they go through. No checksum is looked at on the way.
func TestCleanStart(t *testing.T) {
	const magic, codec, length = 16, 17, 11
	open := producer.Entry{ProducerID: 7, LastOffset: 1, TxnFirstOffset: 1}
	zeros := make([]byte, 40)
	for _, c := range []struct {
		name      string
		logs      map[int64][]byte
		at        int64 // offset of the snapshot
		producers []producer.Entry
		class     string
	}{
		{"whole", map[int64][]byte{0: slices.Concat(data(t, 0), data(t, 2), marker(t, 4))}, 1, nil, ""},
		{
			"magic 1, a codec in the byte behind, nothing compressed",
			map[int64][]byte{0: slices.Concat(data(t, 0), set(set(data(t, 2), magic, 1), codec, 1))},
			1, nil, "InvalidRecordException",
		},
		{
			"magic 1, no codec in the byte behind",
			map[int64][]byte{0: slices.Concat(data(t, 0), set(set(data(t, 2), magic, 1), codec, 8))},
			1, nil, "",
		},
		{
			"a marker whose batch is 20 bytes too long",
			map[int64][]byte{0: slices.Concat(data(t, 0), set(marker(t, 2), length, 66+20), zeros[:20])},
			1, nil, "InvalidRecordException",
		},
		{
			"an open transaction that begins before zeros",
			map[int64][]byte{0: slices.Concat(data(t, 0), zeros), 10: data(t, 10)},
			10,
			[]producer.Entry{open},
			"CorruptRecordException",
		},
		{
			"zeros, and no transaction is open",
			map[int64][]byte{0: slices.Concat(data(t, 0), zeros), 10: nil},
			10, nil, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string][]byte{fileName(c.at, snapSuffix): producer.AppendSnapshot(nil, c.producers)}
			for base, log := range c.logs {
				files[fileName(base, logSuffix)] = log
				files[fileName(base, indexSuffix)], files[fileName(base, timeSuffix)] = nil, nil
			}
			out, err := Load(write(t, files), "t-0", Options{Clean: true, IndexInterval: 4096})
			if err != nil {
				t.Fatal(err)
			}
			class := ""
			if out.Failure != nil {
				class = out.Failure.Class
			}
			if class != c.class {
				t.Errorf("failure %v, want %q", out.Failure, c.class)
			}
		})
	}
}

func write(t *testing.T, files map[string][]byte) *memfs.FS {
	t.Helper()
	fsys := memfs.New()
	if err := fsys.MkdirAll("t-0"); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := vfs.WriteAtomic(fsys, filepath.Join("t-0", name), data); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// TestUnknownTxnVersion: a transaction index that is not of version 0 ends the start; one
// with an offset below the base is made anew.
func TestUnknownTxnVersion(t *testing.T) {
	for version, class := range map[byte]string{0: "", 1: kafkaException} {
		entry := make([]byte, index.TxnEntrySize)
		entry[1] = version
		files := logs(map[int64][]byte{100: logOf(t, 100)})
		files[fileName(100, txnSuffix)] = entry
		out, err := Load(write(t, files), "t-0", Options{Clean: true, IndexInterval: 4096})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case (class == "") != (out.Failure == nil) || class != "" && out.Failure.Class != class:
			t.Errorf("version %d: failure %v, want %q", version, out.Failure, class)
		case class == "" && out.Files[fileName(100, txnSuffix)].Size != 0:
			t.Errorf("version %d: the index is kept", version)
		}
	}
}

// TestTrim: a clean stop trims the index files of the last segment only, to whole entries.
func TestTrim(t *testing.T) {
	files := logs(map[int64][]byte{100: logOf(t, 100), 200: logOf(t, 200)})
	for _, base := range []int64{100, 200} {
		files[fileName(base, indexSuffix)], files[fileName(base, timeSuffix)] = make([]byte, 13), make([]byte, 13)
	}
	out, err := Load(write(t, files), "t-0", Options{Clean: true, IndexInterval: 4096})
	if err != nil || out.Failure != nil {
		t.Fatal(err, out.Failure)
	}
	for name, want := range map[string]int64{
		fileName(100, indexSuffix): 13, fileName(100, timeSuffix): 13,
		fileName(200, indexSuffix): 8, fileName(200, timeSuffix): 12,
	} {
		if got := out.Files[name].Size; got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
}

// TestCompleteTwice: a transaction that ends in a replay, and begins again at the same
// offset before the replay is over, is not open behind it.
func TestCompleteTwice(t *testing.T) {
	m := &producerManager{open: map[int64]int64{77: 7}, ended: map[int64]bool{}, replaying: true}
	m.completed = []int64{77}
	m.open[77] = 7
	if err := m.endReplay(); err != nil {
		t.Fatal(err)
	}
	if err := m.complete(77); !is(err, illegalArgument) {
		t.Errorf("error %v", err)
	}
}
