package inspect

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

func TestIsRedpanda(t *testing.T) {
	header := make([]byte, redpandaHeaderSize)
	copy(header[4:], []byte{91, 0, 0, 0, 7}) // 91 bytes, base offset 7
	binary.LittleEndian.PutUint32(header, crc32.Checksum(header[4:], crc32.MakeTable(crc32.Castagnoli)))
	if !isRedpanda(bytes.NewReader(append([]byte("xyz"), header...)), 3) {
		t.Error("a header with the right checksum was not known")
	}
	header[60] ^= 1
	kafka := batchOf(t, 0, 3, 20)
	for name, log := range map[string][]byte{
		"another checksum": header,
		"a batch of Kafka": kafka,
		"zeros":            make([]byte, 100),
		"too short":        kafka[:30],
		"no bytes":         nil,
	} {
		if isRedpanda(bytes.NewReader(log), 0) {
			t.Errorf("%s was taken for Redpanda's", name)
		}
	}
}
