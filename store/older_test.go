package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// v1Message is a message of Kafka 0.10:
//
//	offset 8 | size 4 | CRC-32 4 | magic 1 | attributes 1 | timestamp 8 | key -1 | value
func v1Message(offset int64, value string) []byte {
	be := binary.BigEndian
	body := append([]byte{1, 0}, be.AppendUint64(nil, 1000)...)
	body = be.AppendUint32(body, 0xffffffff)
	body = append(be.AppendUint32(body, uint32(len(value))), value...)
	frame := be.AppendUint64(nil, uint64(offset))
	frame = be.AppendUint32(frame, uint32(4+len(body)))
	frame = be.AppendUint32(frame, crc32.ChecksumIEEE(body))
	return append(frame, body...)
}

// A follower takes the old messages that its leader has, a leader none.
func TestFollowerTakesOlderFormats(t *testing.T) {
	fs := memfs.New()
	if err := fs.Mkdir("t-0"); err != nil {
		t.Fatal(err)
	}
	log, err := OpenLog(fs, "t-0", Config{SegmentBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	var frames []byte
	for offset := range int64(6) { // the third and the fifth begin a segment
		frames = append(frames, v1Message(offset, "value")...)
	}
	if err := log.AppendReplica(frames); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(v1Message(0, "x"), 0); err == nil {
		t.Error("a leader took a v1 message")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(fs, "t-0", ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if end, damage, err := r.End(); end != 6 || damage != nil || err != nil || len(r.Segments()) != 3 {
		t.Errorf("end %d, damage %v, error %v, segments %v", end, damage, err, r.Segments())
	}
	c := r.From(0)
	defer c.Close()
	for offset := int64(0); c.Next(); offset++ {
		if b := c.Batch(); b.Format() != record.V1 || b.LastOffset() != offset {
			t.Errorf("offset %d: %s at %d", offset, b.Format(), b.LastOffset())
		}
	}
	bad := v1Message(6, "value")
	bad[len(bad)-1] ^= 1
	if d, ok := errors.AsType[*corrupt.Error](log.AppendReplica(bad)); !ok || d.Kind != corrupt.BadCRC {
		t.Error("a follower took a message with a bad CRC")
	}
}
