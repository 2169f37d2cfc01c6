package store_test

import (
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/record"
	"logdir/store/vfs"
)

// TestMKB1Log writes MiniKafka's format: its frame byte for byte, its index, and none of
// the files that MiniKafka does not have.
func TestMKB1Log(t *testing.T) {
	fs := newDir(t)
	c := config(200) // two frames of 86 bytes
	c.Format = record.MKB1
	l := openLog(t, fs, c)
	for range 3 {
		appendAll(t, l, aliceCreated(t))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"00000000000000000000.index 24", "00000000000000000000.log 172",
		"00000000000000000002.index 12", "00000000000000000002.log 86",
		"leader-epoch-checkpoint 8",
	}
	if diff := cmp.Diff(want, files(t, fs)); diff != "" {
		t.Error(diff)
	}
	log, err := vfs.ReadAll(fs, filepath.Join(dir, logName), 1000)
	if err != nil {
		t.Fatal(err)
	}
	frame := "4d4b42310000004a438c39c4" + // magic, length 74, crc
		"01" + "0000000000000000" + "00000000" + "ffffffffffffffff" + "ffffffff" + "ffffffff" + "00" + "00000000" + "0000" + "00000001" +
		"00000000" + "0000018bcfe56800" + "00000005" + "00000007" + "0000" + "616c696365" + "63726561746564"
	if got := hex.EncodeToString(log[:86]); got != frame {
		t.Errorf("first frame\n%s, want\n%s", got, frame)
	}
	if diff := cmp.Diff([]string{"1=created", "2=created"}, contents(t, fs, 1)); diff != "" {
		t.Error(diff)
	}
	offset, ts, ok, err := openReader(t, fs).OffsetForTime(1700000000000)
	if offset != 0 || ts != 1700000000000 || !ok || err != nil {
		t.Errorf("offset %d at %d, %v, %v", offset, ts, ok, err)
	}
}

// aliceCreated is the example of the format's description.
func aliceCreated(t *testing.T) []byte {
	t.Helper()
	m := record.NoProducer()
	m.Format = record.MKB1
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{Timestamp: 1700000000000, Key: []byte("alice"), Value: []byte("created")})
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestMKB1RemembersProducers by reading the log: there are no snapshots.
func TestMKB1RemembersProducers(t *testing.T) {
	fs := newDir(t)
	c := config(1 << 20)
	c.Format, c.DedupWindow = record.MKB1, 1
	send := func(sequence int32) store.Appended {
		m := record.NoProducer()
		m.Format, m.ProducerID, m.ProducerEpoch, m.BaseSequence = record.MKB1, 4, 0, sequence
		l := openLog(t, fs, c)
		done, err := l.Append(frame(t, m, "v"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.CloseClean(); err != nil {
			t.Fatal(err)
		}
		return done[0]
	}
	if first, retry := send(0), send(0); first.Duplicate || !retry.Duplicate || retry.BaseOffset != first.BaseOffset {
		t.Errorf("first %+v, retry %+v", first, retry)
	}
}

// TestFormatsDoNotMix in one topic.
func TestFormatsDoNotMix(t *testing.T) {
	fs := newDir(t)
	l := openLog(t, fs, config(1<<20))
	if _, err := l.Append(aliceCreated(t), 0); err == nil {
		t.Error("a topic of Kafka's format took a frame of MiniKafka's")
	}
}
