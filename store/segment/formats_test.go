package segment_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/record"
	"logdir/store/segment"
)

// mkb1Batch is a frame of MiniKafka with one record: 80 bytes for values of one letter.
func mkb1Batch(t testing.TB, offset int64, value string) []byte {
	t.Helper()
	m := record.NoProducer()
	m.Format, m.BaseOffset, m.LeaderEpoch = record.MKB1, offset, 0
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{Offset: offset, Timestamp: 1700000000000, Key: []byte("alice"), Value: []byte(value)})
	frame, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// message is a v0 (magic 0) or v1 (magic 1) message with a value: 28 or 36 bytes for "v1".
func message(offset int64, magic byte, value string) []byte {
	be := binary.BigEndian
	body := []byte{magic, 0}
	if magic == 1 {
		body = be.AppendUint64(body, 1700000000000)
	}
	body = be.AppendUint32(body, 1<<32-1) // null key
	body = append(be.AppendUint32(body, uint32(len(value))), value...)
	out := be.AppendUint64(nil, uint64(offset))
	out = be.AppendUint32(out, uint32(4+len(body)))
	out = be.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, body...)
}

// The frames of older brokers and of MiniKafka are scanned by the same loop.
func TestScanOtherFormats(t *testing.T) {
	m := join(mkb1Batch(t, 0, "a"), mkb1Batch(t, 1, "b"), mkb1Batch(t, 2, "c"), mkb1Batch(t, 3, "d"))
	v0 := join(message(0, 0, "v0"), message(1, 0, "v1"), message(2, 0, "v2"), message(3, 0, "v3"))
	v1 := join(message(0, 1, "v0"), message(1, 1, "v1"), message(2, 1, "v2"), message(3, 1, "v3"))
	runScanCases(t, []scanCase{
		{"MKB1", m, segment.Options{Deep: true}, lines("good 0..3 at 0")},
		{"MKB1, wrong checksum", put(m, 159, "ff"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-crc at 80 size 80 offsets 1..1 next 2 at 160: stored bc9cce51 computed 322221a8",
			"good 2..3 at 160")},
		{"MKB1, wrong length", put(m, 84, "00ffffff"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-length at 80 size 80 offsets 1..1 next 2 at 160: length 16777215, but 68 makes the stored checksum match",
			"good 2..3 at 160")},
		{"MKB1, wrong magic", put(m, 80, "4e"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-magic at 80 size 80 offsets 1..1 next 2 at 160: magic \"NKB1\", but MKB1 makes the stored checksum match",
			"good 2..3 at 160")},
		// What follows the claimed end looks like a header as far as it goes; but a good
		// message reaches across that end.
		{"v0, three bytes gone", join(message(0, 0, "v0"), message(1, 0, "0123456789")[:33], message(2, 0, string(make([]byte, 20)))), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-length at 28 size 33 next 2 at 61: length 24 (no batch)",
			"good 2..2 at 61")},
		{"MKB1, torn", cut(m, 300), segment.Options{}, lines(
			"good 0..2 at 0",
			"torn at 240 size 60: have 60 of 80 bytes (no batch)")},
		{"MKB1, torn in the length", cut(m, 246), segment.Options{}, lines(
			"good 0..2 at 0",
			"torn at 240 size 6: have 6 bytes, need unknown (no batch)")},
		{"MKB1, torn in the magic", cut(m, 242), segment.Options{}, lines(
			"good 0..2 at 0",
			"torn at 240 size 2: have 2 bytes, need unknown (no batch)")},
		{"MKB1, not torn", put(cut(m, 242), 240, "4d4e"), segment.Options{}, lines(
			"good 0..2 at 0",
			"garbage at 240 size 2: 2 bytes not the beginning of a batch (no batch)")},
		{"MKB1, torn behind the length", cut(m, 250), segment.Options{}, lines(
			"good 0..2 at 0",
			"torn at 240 size 10: have 10 of 80 bytes (no batch)")},
		{"v0", v0, segment.Options{Deep: true}, lines("good 0..3 at 0")},
		{"v1", v1, segment.Options{Deep: true}, lines("good 0..3 at 0")},
		{"v0, wrong checksum", put(v0, 55, "00"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-crc at 28 size 28 offsets 1..1 next 2 at 56: stored 4c9f5bc2 computed 1d415bf8",
			"good 2..3 at 56")},
		{"v0, wrong length", put(v0, 36, "00ffffff"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-length at 28 size 28 offsets 1..1 next 2 at 56: length 16777215, but 16 makes the stored checksum match",
			"good 2..3 at 56")},
		{"v0, wrong length at the end", put(v0, 92, "00000020"), segment.Options{}, lines(
			"good 0..2 at 0",
			"bad-length at 84 size 28 offsets 3..3: length 32, but 16 makes the stored checksum match")},
		{"v1, wrong magic", put(v1, 36+16, "02"), segment.Options{}, lines(
			"good 0..0 at 0",
			"bad-magic at 36 size 36 offsets 1..1 next 2 at 72: magic 2, but 1 makes the stored checksum match",
			"good 2..3 at 72")},
		{"v1, torn", cut(v1, 130), segment.Options{}, lines(
			"good 0..2 at 0",
			"torn at 108 size 22 offsets 3..-1: have 22 of 36 bytes (no batch)")},
		{"all of Kafka's in one file", join(v0[:56], message(2, 1, "v2"), appendBatch(t, nil, 3, 0)), segment.Options{Deep: true}, lines(
			"good 0..3 at 0")},
	})
}

// Whatever real brokers and MiniKafka left on disk is clean, down to each record.
func TestScanCorpus(t *testing.T) {
	logs := 0
	for _, pack := range fixtures.KafkaPacks(t) {
		for name, data := range pack.Files(t, nil) {
			base, suffix, ok := segment.ParseName(path.Base(name))
			if ok && suffix == segment.LogSuffix {
				requireClean(t, pack.Name+": "+name, data, base)
				logs++
			}
		}
	}
	if logs < 1000 {
		t.Errorf("%d logs, want more", logs)
	}
}

func TestScanMiniKafka(t *testing.T) {
	logs := 0
	err := filepath.Walk(fixtures.Corpus(t, "minikafka"), func(name string, _ os.FileInfo, err error) error {
		base, suffix, ok := segment.ParseName(filepath.Base(name))
		if err != nil || !ok || suffix != segment.LogSuffix {
			return err
		}
		data, err := os.ReadFile(name)
		requireClean(t, name, data, base)
		logs++
		return err
	})
	if err != nil || logs == 0 {
		t.Errorf("%d logs, %v", logs, err)
	}
}

func requireClean(t *testing.T, name string, data []byte, base int64) {
	t.Helper()
	s := &tiles
	s.Reset(bytes.NewReader(data), int64(len(data)), segment.Options{Base: base, Deep: true})
	for s.Next() {
		if s.Damage() != nil {
			t.Errorf("%s: %v", name, s.Damage())
			return
		}
	}
	if s.Err() != nil {
		t.Errorf("%s: %v", name, s.Err())
	}
}

// Apache Kafka's log, damaged in 260 ways: every batch whose bytes are untouched stays good,
// and nothing else is.
func TestScanKafkaRecovery(t *testing.T) {
	base := map[string][]byte{}
	for name, data := range fixtures.Unpack(t, fixtures.Corpus(t, "kafka-recovery", "base.tar.gz")) {
		base[path.Base(name)] = data
	}
	damaged := 0
	for _, c := range readCases(t) {
		for name, edits := range c.edits {
			offset, suffix, _ := segment.ParseName(name)
			if suffix != segment.LogSuffix {
				continue
			}
			data := bytes.Clone(base[name])
			for _, e := range edits {
				data = e.apply(data)
			}
			if data != nil {
				damaged++
				requireUntouchedGood(t, c.id+" "+name, offset, base[name], data)
			}
		}
	}
	if damaged < 200 {
		t.Errorf("%d damaged logs, want more", damaged)
	}
}

// requireUntouchedGood: the good frames of data are those of base that are there unchanged.
func requireUntouchedGood(t *testing.T, name string, offset int64, base, data []byte) {
	t.Helper()
	good := map[int64]bool{}
	s := segment.NewScanner(bytes.NewReader(data), int64(len(data)), segment.Options{Base: offset, Deep: true})
	for s.Next() {
		if s.Damage() == nil {
			good[s.Pos()] = true
		}
	}
	s = segment.NewScanner(bytes.NewReader(base), int64(len(base)), segment.Options{Base: offset})
	for s.Next() {
		pos, end := s.Pos(), s.Pos()+s.Size()
		untouched := end <= int64(len(data)) && bytes.Equal(base[pos:end], data[pos:end])
		if good[pos] != untouched {
			t.Errorf("%s: batch at %d: untouched %t, good %t", name, pos, untouched, good[pos])
		}
		delete(good, pos)
	}
	if len(good) != 0 {
		t.Errorf("%s: good frames at %v that were never there", name, good)
	}
}

// recoveryCase is a line of cases.jsonl: what is done to a copy of the partition.
type recoveryCase struct {
	id    string
	edits map[string][]edit
}

// edit changes one file.
type edit struct {
	op        string
	pos, size int
	bytes     []byte
}

// apply gives the file after the edit; nil is a file that is not there.
func (e edit) apply(f []byte) []byte {
	switch {
	case f == nil:
		return nil
	case e.op == "write":
		copy(f[min(e.pos, len(f)):], e.bytes)
	case e.op == "append":
		f = append(f, e.bytes...)
	case e.op == "truncate":
		f = f[:min(e.size, len(f))]
	case e.op == "delete":
		f = nil
	}
	return f
}

func readCases(t *testing.T) []recoveryCase {
	t.Helper()
	f, err := os.Open(fixtures.Corpus(t, "kafka-recovery", "cases.jsonl"))
	must(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must(t, err)
	var cases []recoveryCase
	for line := range strings.Lines(string(data)) {
		cases = append(cases, parseCase(t, line))
	}
	return cases
}

func parseCase(t *testing.T, line string) recoveryCase {
	t.Helper()
	var raw struct {
		ID    string
		Edits []struct {
			File, Op, Hex string
			Pos, Size     int
		}
	}
	must(t, json.Unmarshal([]byte(line), &raw))
	c := recoveryCase{raw.ID, map[string][]edit{}}
	for _, e := range raw.Edits {
		b, err := hex.DecodeString(e.Hex)
		must(t, err)
		c.edits[e.File] = append(c.edits[e.File], edit{e.Op, e.Pos, e.Size, b})
	}
	return c
}
