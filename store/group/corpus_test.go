package group

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/message"
	"logdir/store/record"
)

// isOffsets says whether a file belongs to a __consumer_offsets log.
func isOffsets(name string) bool {
	return strings.Contains(name, "__consumer_offsets-") && strings.Contains(name, ".log")
}

// decoded is how Kafka's tool prints key and value of a record.
func decoded(r *record.Record) string {
	key, err := ParseKey(r.Key)
	if errors.Is(err, message.ErrUnknownType) {
		return fmt.Sprintf(" key: Unknown record type %d at offset %d, skipping.", key.Type, r.Offset)
	}
	if err != nil {
		return " key: " + err.Error()
	}
	text := append([]byte(" key: "), key.AppendJSON(nil)...)
	text = append(text, " payload: "...)
	if r.Value == nil {
		return string(append(text, "<DELETE>"...))
	}
	value, err := key.ParseValue(r.Value)
	if err != nil {
		return string(text) + err.Error()
	}
	return string(value.AppendJSON(text))
}

// compare holds the records of a log against Kafka's dump of it and returns how many lines
// it compared.
func compare(t *testing.T, where, log, dump string) (lines int) {
	t.Helper()
	printed := map[string]string{} // by "| offset: N "
	for line := range strings.Lines(dump) {
		head, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " headerKeys: []")
		if offset, _, isRecord := strings.Cut(head, " CreateTime"); ok && isRecord && strings.HasPrefix(offset, "| ") {
			printed[offset] = text
		}
	}
	reader := record.NewReader()
	for raw := []byte(log); len(raw) > 0; {
		size, _, damage := record.Sniff(raw)
		if damage != nil || size > int64(len(raw)) {
			break
		}
		b, damage := record.Parse(raw[:size])
		raw = raw[size:]
		if damage != nil || b.IsControl() {
			continue
		}
		for reader.Reset(&b); reader.Next(); {
			want, ok := printed[fmt.Sprintf("| offset: %d", reader.Record().Offset)]
			if !ok {
				continue
			}
			lines++
			if got := decoded(reader.Record()); got != want {
				t.Errorf("%s, offset %d:\n%s\nKafka:\n%s", where, reader.Record().Offset, got, want)
				return lines
			}
		}
	}
	return lines
}

// Keys and values of every __consumer_offsets log of the corpus print as Kafka's tool prints
// them.
func TestRecordsAreWhatKafkaDumps(t *testing.T) {
	lines := 0
	for _, pack := range fixtures.Packs(t) {
		var logs map[string][]byte
		for file, dump := range pack.Dumps(t, isOffsets) {
			file, isDump := strings.CutSuffix(file, ".dump.txt")
			if !isDump {
				continue
			}
			if logs == nil {
				logs = pack.Files(t, isOffsets)
			}
			lines += compare(t, pack.Name+"/"+file, string(logs[file]), string(dump))
		}
	}
	t.Logf("%d records compared", lines)
	if lines < 60_000 {
		t.Errorf("only %d records were compared", lines)
	}
}

// The log that Kafka's classes made for the purpose, an unknown type included.
func TestRecordsThatKafkaMade(t *testing.T) {
	dir := fixtures.Corpus(t, "kafka-made", "coordinator", "co")
	log, err := os.ReadFile(filepath.Join(dir, "00000000000000000000.log"))
	if err != nil {
		t.Fatal(err)
	}
	dump, err := os.ReadFile(filepath.Join(dir, "00000000000000000000.log.dump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := compare(t, "co", string(log), string(dump)); lines != 5 {
		t.Errorf("%d records, not 5", lines)
	}
}
