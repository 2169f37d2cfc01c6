package producer

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/index"
	"logdir/store/record"
)

// dump is a snapshot as Kafka's own tool prints it.
func dump(name string, entries []Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Dumping %s\n", name)
	for _, e := range entries {
		fmt.Fprintf(&b, "producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s lastTimestamp: %d",
			e.ProducerID, e.ProducerEpoch, e.CoordinatorEpoch, optional(e.TxnFirstOffset), e.Timestamp)
		if e.LastOffset >= 0 {
			fmt.Fprintf(&b, " firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d",
				e.FirstSequence(), e.LastSequence, e.LastOffset, e.OffsetDelta, e.Timestamp)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func optional(offset int64) string {
	if offset < 0 {
		return "OptionalLong.empty"
	}
	return fmt.Sprintf("OptionalLong[%d]", offset)
}

// Every snapshot of the corpus holds what Kafka's tool says it holds, and is written again
// byte for byte: the order of its entries is kept.
func TestSnapshotsAreWhatKafkaDumps(t *testing.T) {
	count, producers := 0, 0
	isSnapshot := func(name string) bool { return strings.Contains(name, Suffix) }
	for _, pack := range fixtures.KafkaPacks(t) {
		files := pack.Files(t, isSnapshot)
		for name, want := range pack.Dumps(t, isSnapshot) {
			name, isDump := strings.CutSuffix(name, ".dump.txt")
			if !isDump {
				continue
			}
			count++
			entries, err := ParseSnapshot(files[name])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			producers += len(entries)
			if got := dump(name, entries); got != string(want) {
				t.Errorf("%s: %s\nKafka: %s", name, got, want)
			}
			if again := AppendSnapshot(nil, entries); !bytes.Equal(again, files[name]) {
				t.Errorf("%s: read %x, written %x", name, files[name], again)
			}
		}
	}
	if count != 504 || producers == 0 {
		t.Errorf("%d snapshots of %d producers, not 504", count, producers)
	}
}

// logOf reads the batches of a partition's segments in order, as far as they are whole.
func logOf(t testing.TB, dir string, files map[string][]byte, yield func(*record.Batch)) {
	t.Helper()
	var names []string
	for name := range files {
		if path.Dir(name) == dir && strings.HasSuffix(name, ".log") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for log := files[name]; len(log) > 0; {
			size, _, damage := record.Sniff(log)
			if damage != nil || size > int64(len(log)) {
				break
			}
			b, damage := record.Parse(log[:size])
			if damage != nil {
				break
			}
			yield(&b)
			log = log[size:]
		}
	}
}

// What is fed from a log is what the broker that wrote it knew: every producer that stands in a
// snapshot stands in the state at that offset, with the same values. (The log may know more:
// brokers forget producers after a while.)
func TestStateIsWhatBrokersKnew(t *testing.T) {
	producers := 0
	for _, pack := range fixtures.KafkaPacks(t) {
		files := pack.Files(t, func(name string) bool {
			return strings.HasSuffix(name, ".log") || strings.HasSuffix(name, Suffix)
		})
		for name, data := range files {
			if offset, ok := ParseFileName(path.Base(name)); ok {
				producers += compareWithLog(t, pack.Name+"/"+name, path.Dir(name), offset, data, files)
			}
		}
	}
	t.Logf("%d producers compared", producers)
	if producers < 50 {
		t.Errorf("only %d producers could be compared", producers)
	}
}

func compareWithLog(t *testing.T, where, dir string, offset int64, snapshot []byte, files map[string][]byte) (compared int) {
	entries, err := ParseSnapshot(snapshot)
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
	s := NewState(0)
	logOf(t, dir, files, func(b *record.Batch) {
		if b.NextOffset() > offset {
			return
		}
		if _, err := s.Update(b); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	})
	known := s.Entries()
	for _, want := range entries {
		at := slices.IndexFunc(known, func(e Entry) bool { return e.ProducerID == want.ProducerID })
		if at < 0 {
			continue // its batches are gone from the log
		}
		compared++
		if known[at] != want {
			t.Errorf("%s: fed %+v, the broker knew %+v", where, known[at], want)
		}
	}
	return compared
}

// The partition with an aborted and a committed transaction that Kafka's classes made.
func TestTransactionsThatKafkaMade(t *testing.T) {
	dir := fixtures.Corpus(t, "kafka-made", "txn-0")
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	s, txns := NewState(0), []byte(nil)
	logOf(t, ".", map[string][]byte{"0.log": read("00000000000000000000.log")}, func(b *record.Batch) {
		ended, err := s.Update(b)
		if err != nil {
			t.Fatal(err)
		}
		if ended != nil && ended.Aborted {
			txns = index.AppendAbortedTxn(txns, ended.AbortedTxn)
		}
	})
	if want := read("00000000000000000000.txnindex"); !bytes.Equal(txns, want) {
		t.Errorf("transaction index %x, Kafka wrote %x", txns, want)
	}
	if got, want := AppendSnapshot(nil, s.Entries()), read("00000000000000000005.snapshot"); !bytes.Equal(got, want) {
		t.Errorf("snapshot %x, Kafka wrote %x", got, want)
	}
	if got, want := dump("txn-0/00000000000000000005.snapshot", s.Entries()), read("00000000000000000005.snapshot.dump.txt"); got != string(want) {
		t.Errorf("dump %s, Kafka's %s", got, want)
	}
}
