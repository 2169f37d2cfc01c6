package cmd

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/fixtures"
	"logdir/store/vfs"
)

// miniBatch is one batch as MiniKafka's expected.jsonl tells it, and what is asked of
// dump-segment --json.
type miniBatch struct {
	BaseOffset      int64   `json:"base_offset"`
	LastOffset      int64   `json:"last_offset"`
	LeaderEpoch     int32   `json:"leader_epoch"`
	ProducerID      int64   `json:"producer_id"`
	ProducerEpoch   int32   `json:"producer_epoch"`
	BaseSequence    int32   `json:"base_sequence"`
	TransactionalID *string `json:"transactional_id"`
	Control         *string `json:"control"`
	Records         []miniRecord
}

// miniRecord has its bytes in base64.
type miniRecord struct {
	Offset, Timestamp int64
	Key, Value        *string
	Headers           [][2]*string
}

// TestDumpMiniKafka holds the JSON of MiniKafka's own logs to what MiniKafka read there.
func TestDumpMiniKafka(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures.Corpus(t, "minikafka"), "*", "expected.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing of MiniKafka in the corpus: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			for partition, want := range expectedBatches(t, file) {
				got := runIn(vfs.OS(), "dump-segment", "-d", filepath.Join(dir, "data"), partition, "--json", "--deep-iteration")
				if got.exit != exitOK {
					t.Errorf("%s: exit %d: %s", partition, got.exit, got.stderr)
				}
				if diff := cmp.Diff(want, dumpedBatches(t, got.out)); diff != "" {
					t.Errorf("%s:\n%s", partition, diff)
				}
			}
		})
	}
}

func expectedBatches(t *testing.T, file string) map[string][]miniBatch {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]miniBatch{}
	eachObject(t, data, func(line []byte) {
		var b struct {
			Kind, Topic string
			Partition   int
			miniBatch
		}
		unmarshal(t, line, &b)
		if b.Kind == "batch" {
			name := fmt.Sprintf("%s:%d", b.Topic, b.Partition)
			all[name] = append(all[name], b.miniBatch)
		}
	})
	return all
}

func dumpedBatches(t *testing.T, out []byte) []miniBatch {
	var all []miniBatch
	eachObject(t, out, func(line []byte) {
		var b struct {
			miniBatch
			Epoch   int32   `json:"partition_leader_epoch"`
			Marker  *string `json:"end_txn_marker"`
			Records []map[string]any
		}
		unmarshal(t, line, &b)
		b.LeaderEpoch = b.Epoch
		if b.Marker != nil {
			word := strings.ToLower(*b.Marker)
			b.Control = &word
		}
		b.miniBatch.Records = []miniRecord{}
		for _, r := range b.Records {
			b.miniBatch.Records = append(b.miniBatch.Records, plainRecord(r))
		}
		all = append(all, b.miniBatch)
	})
	return all
}

// plainRecord puts a record of ours into MiniKafka's terms: all bytes in base64.
func plainRecord(r map[string]any) miniRecord {
	m := miniRecord{
		Offset: int64(r["offset"].(float64)), Timestamp: int64(r["timestamp"].(float64)),
		Key: inBase64(r, "key"), Value: inBase64(r, "value"), Headers: [][2]*string{},
	}
	for _, h := range r["headers"].([]any) {
		pair := h.([]any)
		name := pair[0].(string)
		value := map[string]any{"v": pair[1]}
		if len(pair) == 3 {
			value = map[string]any{"v_base64": pair[1]}
		}
		m.Headers = append(m.Headers, [2]*string{&name, inBase64(value, "v")})
	}
	return m
}

func inBase64(object map[string]any, name string) *string {
	if coded, ok := object[name+"_base64"].(string); ok {
		return &coded
	}
	if text, ok := object[name].(string); ok {
		coded := base64.StdEncoding.EncodeToString([]byte(text))
		return &coded
	}
	return nil
}

func eachObject(t *testing.T, jsonLines []byte, yield func(line []byte)) {
	lines := bufio.NewScanner(bytes.NewReader(jsonLines))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		yield(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func unmarshal(t *testing.T, line []byte, v any) {
	if err := json.Unmarshal(line, v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}
