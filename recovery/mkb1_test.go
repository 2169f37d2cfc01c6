package recovery

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"logdir/store"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// TestPolicyKafkaRefusesMKB1: a broker would empty such a log, even if its first header is
// damaged, by which it is known.
func TestPolicyKafkaRefusesMKB1(t *testing.T) {
	for _, field := range []struct {
		name     string
		pos, end int
		bytes    byte
	}{
		{"the magic", 0, 4, 0},
		{"one letter of the magic", 0, 1, 'N'},
		{"the length", 4, 8, 0xff},
		{"the checksum", 8, 12, 0x01},
		{"the version", 12, 13, 9},
		{"the offset", 13, 21, 0x7f},
		{"all of the header", 0, 52, 0},
		{"all of the header, with ones", 0, 52, 0xff},
		{"the byte that is a v2 header's magic", 16, 17, 2},
		{"all of the first batch", 0, 86, '?'},
	} {
		t.Run(field.name, func(t *testing.T) {
			fsys := mkb1Log(t)
			log := read(t, fsys, "d/foo-0/00000000000000000000.log")
			for i := field.pos; i < field.end; i++ {
				log[i] = field.bytes
			}
			put(t, fsys, "d/foo-0/00000000000000000000.log", log)
			before := photo(t, fsys, "d")
			err := repair(t, fsys, Options{Policy: Kafka})
			refused, ok := errors.AsType[*store.Error](err)
			if !ok || refused.Class != store.Refused {
				t.Fatalf("%v, want a refusal", err)
			}
			for _, word := range []string{"foo:0", ".log", "MKB1", "nothing was changed"} {
				if !strings.Contains(refused.Error(), word) {
					t.Errorf("%q does not say %q", refused, word)
				}
			}
			if !strings.Contains(refused.Hint, "logdir recover --dry-run ") {
				t.Errorf("hint %q", refused.Hint)
			}
			if after := photo(t, fsys, "d"); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("files have changed")
			}
		})
	}
}

// mkb1Log is a log of three batches.
func mkb1Log(t testing.TB) *memfs.FS {
	m := record.NoProducer()
	m.Format = record.MKB1
	var log []byte
	for i := range int64(3) {
		log = appendBatch(t, log, i, m)
	}
	return single(t, log)
}
