package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store/compress"
)

// TestFormatsOfKafka: one log for each format and codec, written by Kafka's own classes,
// reads as Kafka's dump tool shows it.
func TestFormatsOfKafka(t *testing.T) {
	logs := globbed(t, fixtures.Corpus(t, "kafka-made", "formats"), "*/*.log")
	if len(logs) != 13 {
		t.Errorf("%d logs, want 13", len(logs))
	}
	for _, name := range logs {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			raw := readFile(t, name)
			compareDump(t, raw, string(readFile(t, name+".dump.txt")))
			if n := len(records(t, raw)); n != 3 {
				t.Errorf("%d records, want 3", n)
			}
		})
	}
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// TestLegacyBrokers: logs of brokers 0.8 to 0.10 read as Kafka's dump tool shows them,
// down to the checksum of every inner message.
func TestLegacyBrokers(t *testing.T) {
	for _, pack := range fixtures.Packs(t) {
		if !slices.Contains([]string{"k002", "k005", "k088"}, pack.Name) {
			continue
		}
		dumps, compared := pack.Dumps(t, nil), 0
		for name, raw := range pack.Files(t, isLog) {
			if dump, ok := dumps[name+".dump.txt"]; ok {
				compareDump(t, raw, string(dump))
				compared++
			}
		}
		if compared == 0 {
			t.Errorf("%s: nothing to compare", pack.Name)
		}
	}
}

// TestLZ4IsKafkasToTheByte: records that Kafka packed with lz4 come out the same when
// they are unpacked and packed again.
func TestLZ4IsKafkasToTheByte(t *testing.T) {
	e, d, seen := compress.NewEncoder(), compress.NewDecoder(), 0
	for _, raw := range fixtures.UnpackOnly(t, fixtures.Corpus(t, "kafka-recovery", "base.tar.gz"), isLog) {
		for _, b := range frames(t, raw) {
			if b.Codec() != compress.LZ4 {
				continue
			}
			seen++
			stored := b.Raw()[b.recordsStart():]
			plain, err := d.Decode(nil, stored, compress.LZ4, compress.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := e.Encode(nil, plain, compress.LZ4)
			if err != nil || !bytes.Equal(again, stored) {
				t.Errorf("batch %d: %v, %d bytes of Kafka, %d of ours", b.BaseOffset(), err, len(stored), len(again))
			}
		}
	}
	if seen == 0 {
		t.Error("no lz4 batch")
	}
}

// compareDump holds the log to the output of Kafka's dump tool, but for its first two
// lines, which name the file.
func compareDump(t *testing.T, raw []byte, dump string) {
	t.Helper()
	lines := strings.SplitAfter(dump, "\n")
	var got strings.Builder
	pos := 0
	for _, b := range frames(t, raw) {
		writeDump(&got, t, &b, pos)
		pos += b.Size()
	}
	if diff := cmp.Diff(strings.Join(lines[2:], ""), got.String()); diff != "" {
		t.Errorf("(-Kafka +ours):\n%s", diff)
	}
}

func writeDump(w io.Writer, t *testing.T, b *Batch, pos int) {
	if b.Format() == V2 {
		fmt.Fprintf(w, "baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d"+
			" producerId: %d producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %v isControl: %v"+
			" deleteHorizonMs: OptionalLong.empty position: %d",
			b.BaseOffset(), b.LastOffset(), b.Count(), b.BaseSequence(), b.LastSequence(),
			b.ProducerID(), b.ProducerEpoch(), b.LeaderEpoch(), b.IsTransactional(), b.IsControl(), pos)
	} else {
		fmt.Fprintf(w, "offset: %d position: %d", b.LastOffset(), pos)
	}
	fmt.Fprintf(w, " %s: %d size: %d magic: %s compresscodec: %s crc: %d isvalid: %v\n",
		b.TimestampType(), b.MaxTimestamp(), b.Size(), b.Format(), b.Codec(), b.StoredCRC(), b.CRCValid())
	r := NewReader()
	for r.Reset(b); r.Next(); {
		writeDumpRecord(w, b, r.Record())
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
}

func writeDumpRecord(w io.Writer, b *Batch, r *Record) {
	fmt.Fprintf(w, "| offset: %d %s: %d keySize: %d valueSize: %d",
		r.Offset, r.TimestampType, r.Timestamp, int32(mkb1Length(r.Key)), int32(mkb1Length(r.Value)))
	if b.Format() == V2 {
		fmt.Fprintf(w, " sequence: %d headerKeys: []", r.Sequence)
	} else {
		fmt.Fprintf(w, " isValid: %v crc: %d", r.CRCValid, r.CRC)
	}
	if r.Key != nil {
		fmt.Fprintf(w, " key: %s", r.Key)
	}
	if r.Value != nil {
		fmt.Fprintf(w, " payload: %s", r.Value)
	}
	fmt.Fprintln(w)
}

// mkb1Expected is a line of expected.jsonl, which MiniKafka itself wrote.
type mkb1Expected struct {
	Kind            string         `json:"kind"`
	Topic           string         `json:"topic"`
	Partition       int            `json:"partition"`
	BaseOffset      int64          `json:"base_offset"`
	LastOffset      int64          `json:"last_offset"`
	LeaderEpoch     int32          `json:"leader_epoch"`
	ProducerID      int64          `json:"producer_id"`
	ProducerEpoch   int32          `json:"producer_epoch"`
	BaseSequence    int32          `json:"base_sequence"`
	TransactionalID *string        `json:"transactional_id"`
	Control         *string        `json:"control"`
	Records         []mkb1RecordIs `json:"records"`
}

type mkb1RecordIs struct {
	Offset    int64        `json:"offset"`
	Timestamp int64        `json:"timestamp"`
	Key       *string      `json:"key"`
	Value     *string      `json:"value"`
	Headers   [][2]*string `json:"headers"`
}

// TestMiniKafka: every frame that MiniKafka wrote reads as it says itself, and is written
// again to the same bytes.
func TestMiniKafka(t *testing.T) {
	dirs := globbed(t, fixtures.Corpus(t, "minikafka"), "*/expected.jsonl")
	if len(dirs) != 6 {
		t.Errorf("%d directories, want 6", len(dirs))
	}
	for _, expected := range dirs {
		dir := filepath.Dir(expected)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := readExpected(t, expected)
			got := map[string]mkb1Expected{}
			for _, name := range globbed(t, dir, "data/broker-*/*/*.log") {
				partition := filepath.Base(filepath.Dir(name))
				for _, b := range frames(t, readFile(t, name)) {
					rewrite(t, &b)
					got[fmt.Sprintf("%s at %d", partition, b.BaseOffset())] = describe(t, partition, &b)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-MiniKafka +ours):\n%s", diff)
			}
		})
	}
}

func readExpected(t *testing.T, name string) map[string]mkb1Expected {
	batches := map[string]mkb1Expected{}
	for line := range strings.Lines(string(readFile(t, name))) {
		var e mkb1Expected
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "batch" {
			batches[fmt.Sprintf("%s-%d at %d", e.Topic, e.Partition, e.BaseOffset)] = e
		}
	}
	return batches
}

// describe is the frame as MiniKafka's own words for it.
func describe(t *testing.T, partition string, b *Batch) mkb1Expected {
	e := mkb1Expected{
		Kind: "batch", BaseOffset: b.BaseOffset(), LastOffset: b.LastOffset(), LeaderEpoch: b.LeaderEpoch(),
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		Records: []mkb1RecordIs{},
	}
	dash := strings.LastIndexByte(partition, '-')
	e.Topic = partition[:dash]
	fmt.Sscan(partition[dash+1:], &e.Partition)
	if id := b.Meta().TransactionalID; id != "" {
		e.TransactionalID = &id
	}
	if marker, ok := b.Marker(); ok {
		e.Control = new(strings.ToLower(marker.String()))
	}
	r := NewReader()
	for r.Reset(b); r.Next(); {
		e.Records = append(e.Records, describeRecord(r.Record()))
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	return e
}

func describeRecord(r *Record) mkb1RecordIs {
	is := mkb1RecordIs{
		Offset: r.Offset, Timestamp: r.Timestamp,
		Key: base64OrNull(r.Key), Value: base64OrNull(r.Value), Headers: [][2]*string{},
	}
	for _, h := range r.Headers {
		is.Headers = append(is.Headers, [2]*string{new(string(h.Key)), base64OrNull(h.Value)})
	}
	return is
}

func base64OrNull(b []byte) *string {
	if b == nil {
		return nil
	}
	return new(base64.StdEncoding.EncodeToString(b))
}

// rewrite builds the frame anew from what was read of it.
func rewrite(t *testing.T, b *Batch) {
	t.Helper()
	builder, r := NewBuilder(), NewReader()
	builder.Reset(b.Meta())
	for r.Reset(b); r.Next(); {
		builder.Append(r.Record())
	}
	again, err := builder.Build(nil)
	if err != nil || !bytes.Equal(again, b.Raw()) {
		t.Errorf("frame at %d: %v\nread    %x\nwritten %x", b.BaseOffset(), err, b.Raw(), again)
	}
}

// frames cuts a log into its frames, all of which must be sound.
func frames(t *testing.T, log []byte) []Batch {
	t.Helper()
	var all []Batch
	for len(log) > 0 {
		size, _, bad := Sniff(log)
		if bad != nil || size > int64(len(log)) {
			t.Fatalf("%v: frame of %d bytes, have %d", bad, size, len(log))
		}
		b, bad := Parse(log[:size])
		if bad != nil || !b.CRCValid() {
			t.Fatalf("%v: crc valid: %v", bad, b.CRCValid())
		}
		all = append(all, b)
		log = log[size:]
	}
	return all
}

// records are the rows of all records of a log.
func records(t *testing.T, log []byte) []string {
	t.Helper()
	var rows []string
	for _, b := range frames(t, log) {
		rows = append(rows, rowsRead(t, &b)...)
	}
	return rows
}

func globbed(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
