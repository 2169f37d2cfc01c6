package client

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// interleaved is a log of producers 1, 2 and 3: d1 is a data batch of one record, a1 aborts and c1
// commits. The offset of each is its number.
const interleaved = "d1 d2 d1 a1 d1 d3 c2 c1 d2 d1 a2 c1"

// logOfBatches builds a log as interleaved has it.
func logOfBatches(t *testing.T, text string) (raw []byte) {
	t.Helper()
	for i, word := range strings.Fields(text) {
		m := record.NoProducer()
		m.BaseOffset, m.ProducerID, m.ProducerEpoch, m.Transactional = int64(i), int64(word[1]-'0'), 0, true
		var err error
		switch word[0] {
		case 'd':
			b := record.NewBuilder()
			b.Reset(m)
			b.Append(&record.Record{Offset: int64(i), Value: []byte(word)})
			raw, err = b.Build(raw)
		case 'a':
			raw, err = record.AppendEndTxnMarker(raw, m, record.EndTxnMarker{Type: record.Abort}, 0)
		case 'c':
			raw, err = record.AppendEndTxnMarker(raw, m, record.EndTxnMarker{Type: record.Commit}, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

// snapshotAt writes the state of the producers below offset at, as a broker would.
func snapshotAt(t *testing.T, fsys vfs.FS, raw []byte, at int64) {
	t.Helper()
	state := producer.NewState(0)
	for len(raw) > 0 {
		size, _, _ := record.Sniff(raw)
		b, damage := record.Parse(raw[:size])
		if damage != nil {
			t.Fatal(damage)
		}
		if b.BaseOffset() >= at {
			break
		}
		if _, err := state.Update(&b); err != nil {
			t.Fatal(err)
		}
		raw = raw[size:]
	}
	if err := state.Save(fsys, "t-0", at); err != nil {
		t.Fatal(err)
	}
}

// From wherever a fetch begins, and whatever snapshots there are, it reads the same.
func TestIsolationFromSnapshots(t *testing.T) {
	raw := logOfBatches(t, interleaved)
	const end = 12
	for snapshot := int64(0); snapshot <= end; snapshot++ {
		fsys := memfs.New()
		if err := fsys.MkdirAll("t-0"); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(fsys, filepath.Join("t-0", segment.FileName(0, segment.LogSuffix)), raw); err != nil {
			t.Fatal(err)
		}
		if snapshot > 0 {
			snapshotAt(t, fsys, raw, snapshot)
		}
		log, err := store.OpenReader(fsys, "t-0", store.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for mark := int64(0); mark <= end; mark++ {
			for from := int64(0); from <= mark; from++ {
				name := fmt.Sprintf("snapshot at %d, from %d to %d", snapshot, from, mark)
				wantOf(t, name, log, from, mark)
			}
		}
	}
}

// wantOf compares a fetch with what a reader of the whole text sees.
func wantOf(t *testing.T, name string, log *store.LogReader, from, mark int64) {
	t.Helper()
	isolation, err := ReadIsolation(log, from, mark)
	if err != nil {
		t.Fatal(err)
	}
	want, stable := visible(from, mark)
	if isolation.LastStable != stable {
		t.Errorf("%s: last stable offset %d, want %d", name, isolation.LastStable, stable)
	}
	got, _, err := read(Fetch{Log: log, From: from, To: min(mark, isolation.LastStable), Isolation: isolation})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// visible is what a read_committed consumer may see between two offsets, by looking at the text.
func visible(from, mark int64) (records []string, stable int64) {
	words := strings.Fields(interleaved)
	fate := make([]byte, len(words)) // of each record: how its transaction ended below mark
	stable = mark
	for i, word := range words[:mark] {
		for j := int64(i) + 1; word[0] == 'd' && j < mark && fate[i] == 0; j++ {
			if words[j][1] == word[1] && words[j][0] != 'd' {
				fate[i] = words[j][0]
			}
		}
		if word[0] == 'd' && fate[i] == 0 {
			stable = min(stable, int64(i))
		}
	}
	for i := from; i < stable; i++ {
		if fate[i] == 'c' {
			records = append(records, fmt.Sprintf("%d=%s", i, words[i]))
		}
	}
	return records, stable
}

// A transaction that began before the log start holds the last stable offset there, whether
// its first segment is still there or only the snapshot behind it.
func TestIsolationFromBeforeTheLogStart(t *testing.T) {
	raw := logOfBatches(t, "d2 d1 d3 c3 c2")
	size, _, _ := record.Sniff(raw)
	for _, c := range []struct {
		name  string
		base  int64
		log   []byte
		start int64
	}{
		{"in its segment", 0, raw, 2},
		{"in a snapshot", 2, raw[2*size:], 2},
	} {
		fsys := memfs.New()
		if err := fsys.MkdirAll("t-0"); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(fsys, filepath.Join("t-0", segment.FileName(c.base, segment.LogSuffix)), c.log); err != nil {
			t.Fatal(err)
		}
		if c.base > 0 {
			snapshotAt(t, fsys, raw, c.base)
		}
		log, err := store.OpenReader(fsys, "t-0", store.ReaderOptions{LogStart: c.start})
		if err != nil {
			t.Fatal(err)
		}
		i, err := ReadIsolation(log, c.start, 5)
		if err != nil {
			t.Fatal(err)
		}
		check(t, c.name, c.start, i.LastStable)
	}
}
