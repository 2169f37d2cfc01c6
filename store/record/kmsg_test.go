package record

import (
	"fmt"
	"hash/crc32"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"logdir/store/compress"
)

// kmsg has the structures of Kafka's messages, generated from its protocol files by
// others. Here it decodes what we encode, and encodes what we decode.

// TestKmsgReadsOurBatches: batches we write are, field by field, what we meant.
func TestKmsgReadsOurBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMetaV2(t)
		records := drawRecords(t, m.BaseOffset)
		b := NewBuilder()
		b.Reset(m)
		for i := range records {
			b.Append(&records[i])
		}
		raw, err := b.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		var k kmsg.RecordBatch
		if err := k.ReadFrom(raw); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(headerMeant(m, records, len(raw)), headerOf(&k)); diff != "" {
			t.Errorf("header (-meant +kmsg):\n%s", diff)
		}
		if crc := crc32.Checksum(raw[posAttributes:], crc32.MakeTable(crc32.Castagnoli)); uint32(k.CRC) != crc {
			t.Errorf("crc %08x, want %08x", uint32(k.CRC), crc)
		}
		if diff := cmp.Diff(rowsOf(records), kmsgRows(t, &k, m)); diff != "" {
			t.Errorf("records (-meant +kmsg):\n%s", diff)
		}
	})
}

// TestWeReadKmsgsBatches: batches that kmsg encodes are read back whole.
func TestWeReadKmsgsBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMetaV2(t)
		records := drawRecords(t, m.BaseOffset)
		raw := kmsgBatch(t, m, records)
		b, bad := Parse(raw)
		if bad != nil || !b.CRCValid() {
			t.Fatalf("%v, crc valid: %v", bad, b.CRCValid())
		}
		m.LastOffset = records[len(records)-1].Offset
		if diff := cmp.Diff(m, b.Meta()); diff != "" {
			t.Errorf("header (-kmsg +ours):\n%s", diff)
		}
		if m.TimestampType == LogAppendTime {
			stamp(records, m.AppendTime)
		}
		if diff := cmp.Diff(rowsOf(records), rowsRead(t, &b)); diff != "" {
			t.Errorf("records (-kmsg +ours):\n%s", diff)
		}
	})
}

func stamp(records []Record, timestamp int64) {
	for i := range records {
		records[i].Timestamp = timestamp
	}
}

// drawMetaV2 draws every field of a header that a Builder can write.
func drawMetaV2(t *rapid.T) Meta {
	m := NoProducer()
	m.BaseOffset = rapid.Int64Range(0, 1<<50).Draw(t, "base")
	m.LeaderEpoch = rapid.Int32Range(-1, math.MaxInt32).Draw(t, "epoch")
	m.Codec = rapid.SampledFrom(compress.Codecs()).Draw(t, "codec")
	if rapid.Bool().Draw(t, "append time") {
		m.TimestampType, m.AppendTime = LogAppendTime, rapid.Int64Range(0, 1<<50).Draw(t, "at")
	}
	if rapid.Bool().Draw(t, "producer") {
		m.ProducerID = rapid.Int64Range(0, math.MaxInt64).Draw(t, "pid")
		m.ProducerEpoch = rapid.Int32Range(0, math.MaxInt16).Draw(t, "pepoch")
		m.BaseSequence = rapid.Int32Range(0, math.MaxInt32).Draw(t, "sequence")
	}
	m.Transactional = rapid.Bool().Draw(t, "transactional")
	return m
}

// headerOf is what kmsg read of the header, and headerMeant what it should have.
func headerOf(k *kmsg.RecordBatch) string {
	return fmt.Sprintf("base %d length %d epoch %d magic %d attributes %04x last +%d first %d max %d producer %d/%d/%d count %d",
		k.FirstOffset, k.Length, k.PartitionLeaderEpoch, k.Magic, k.Attributes, k.LastOffsetDelta,
		k.FirstTimestamp, k.MaxTimestamp, k.ProducerID, k.ProducerEpoch, k.FirstSequence, k.NumRecords)
}

func headerMeant(m Meta, records []Record, size int) string {
	largest := NoTimestamp
	for _, r := range records {
		largest = max(largest, r.Timestamp)
	}
	attributes := int(m.Codec)
	if m.TimestampType == LogAppendTime {
		attributes, largest = attributes+8, m.AppendTime
	}
	if m.Transactional {
		attributes += 16
	}
	return fmt.Sprintf("base %d length %d epoch %d magic %d attributes %04x last +%d first %d max %d producer %d/%d/%d count %d",
		m.BaseOffset, size-12, m.LeaderEpoch, 2, attributes, records[len(records)-1].Offset-m.BaseOffset,
		records[0].Timestamp, largest, m.ProducerID, m.ProducerEpoch, m.BaseSequence, len(records))
}

// kmsgRows decodes the records with kmsg. It has no codecs: ours unpack.
func kmsgRows(t *rapid.T, k *kmsg.RecordBatch, m Meta) []string {
	plain, err := compress.NewDecoder().Decode(nil, k.Records, m.Codec, compress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	for range k.NumRecords {
		var kr kmsg.Record
		if err := kr.ReadFrom(plain); err != nil {
			t.Fatal(err)
		}
		r := Record{
			Offset: k.FirstOffset + int64(kr.OffsetDelta), Timestamp: k.FirstTimestamp + kr.TimestampDelta64,
			Key: kr.Key, Value: kr.Value,
		}
		for _, h := range kr.Headers {
			r.Headers = append(r.Headers, Header{[]byte(h.Key), h.Value})
		}
		rows = append(rows, recordRow(&r))
		plain = plain[varintSize(kr.Length)+int(kr.Length):]
	}
	if len(plain) > 0 {
		t.Errorf("%d bytes behind the records", len(plain))
	}
	return rows
}

// kmsgBatch encodes a batch with kmsg alone, but for the codecs.
func kmsgBatch(t *rapid.T, m Meta, records []Record) []byte {
	var plain []byte
	for i := range records {
		plain = append(plain, kmsgRecord(&records[i], m.BaseOffset, records[0].Timestamp)...)
	}
	packed, err := compress.NewEncoder().Encode(nil, plain, m.Codec)
	if err != nil {
		t.Fatal(err)
	}
	k := kmsg.RecordBatch{
		FirstOffset: m.BaseOffset, PartitionLeaderEpoch: m.LeaderEpoch, Magic: 2,
		Length: int32(49 + len(packed)), Attributes: int16(m.Codec),
		LastOffsetDelta: int32(records[len(records)-1].Offset - m.BaseOffset),
		FirstTimestamp:  records[0].Timestamp, MaxTimestamp: m.AppendTime,
		ProducerID: m.ProducerID, ProducerEpoch: int16(m.ProducerEpoch), FirstSequence: m.BaseSequence,
		NumRecords: int32(len(records)), Records: packed,
	}
	if m.TimestampType == LogAppendTime {
		k.Attributes |= 8
	}
	if m.Transactional {
		k.Attributes |= 16
	}
	raw := k.AppendTo(nil)
	k.CRC = int32(crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return k.AppendTo(raw[:0])
}

// kmsgRecord encodes one record, twice: the first time tells the length.
func kmsgRecord(r *Record, base, timestamp int64) []byte {
	k := kmsg.Record{
		TimestampDelta64: r.Timestamp - timestamp, OffsetDelta: int32(r.Offset - base),
		Key: r.Key, Value: r.Value,
	}
	for _, h := range r.Headers {
		k.Headers = append(k.Headers, kmsg.Header{Key: string(h.Key), Value: h.Value})
	}
	k.Length = int32(len(k.AppendTo(nil)) - 1) // a length of 0 takes one byte
	return k.AppendTo(nil)
}

// TestWeReadKmsgsMessages: messages and wrappers of v0 and v1 that kmsg encodes.
func TestWeReadKmsgsMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := Format(rapid.IntRange(0, 1).Draw(t, "format"))
		codec := rapid.SampledFrom(compress.Codecs()[:4]).Draw(t, "codec")
		records := drawRecords(t, rapid.Int64Range(1, 1<<50).Draw(t, "base"))
		for i := range records {
			records[i].Headers = nil
			if format == V0 {
				records[i].Timestamp = NoTimestamp
			}
		}
		rows := []string{}
		for _, raw := range kmsgMessages(t, format, codec, records) {
			b, bad := Parse(raw)
			if bad != nil || !b.CRCValid() || b.Format() != format || b.Codec() != codec {
				t.Fatalf("%v: crc valid %v, format %s, codec %s", bad, b.CRCValid(), b.Format(), b.Codec())
			}
			rows = append(rows, rowsRead(t, &b)...)
		}
		if diff := cmp.Diff(rowsOf(records), rows); diff != "" {
			t.Errorf("(-kmsg +ours):\n%s", diff)
		}
	})
}

// kmsgMessages are the records as messages of their own, or packed into one wrapper as a
// broker stores it.
func kmsgMessages(t *rapid.T, f Format, c compress.Codec, records []Record) [][]byte {
	var messages [][]byte
	for _, r := range records {
		offset := r.Offset
		if f == V1 && c != compress.None {
			offset -= records[0].Offset
		}
		messages = append(messages, kmsgMessage(f, offset, r.Timestamp, compress.None, r.Key, r.Value))
	}
	if c == compress.None {
		return messages
	}
	value, err := compress.NewEncoder().Encode(nil, join(messages...), c)
	if err != nil {
		t.Fatal(err)
	}
	if f == V0 && c == compress.LZ4 {
		value = oldHC(value)
	}
	last := records[len(records)-1]
	return [][]byte{kmsgMessage(f, last.Offset, last.Timestamp, c, nil, value)}
}

// kmsgMessage encodes one message; the size and the checksum are set at the end.
func kmsgMessage(f Format, offset, timestamp int64, c compress.Codec, key, value []byte) []byte {
	if f == V0 {
		k := kmsg.MessageV0{Offset: offset, Attributes: int8(c), Key: key, Value: value}
		raw := k.AppendTo(nil)
		k.MessageSize, k.CRC = int32(len(raw)-12), int32(crc32.ChecksumIEEE(raw[16:]))
		return k.AppendTo(nil)
	}
	k := kmsg.MessageV1{Offset: offset, Magic: 1, Attributes: int8(c), Timestamp: timestamp, Key: key, Value: value}
	raw := k.AppendTo(nil)
	k.MessageSize, k.CRC = int32(len(raw)-12), int32(crc32.ChecksumIEEE(raw[16:]))
	return k.AppendTo(nil)
}
