package record

import (
	"fmt"
	"testing"

	"logdir/store/compress"
)

// BenchmarkReadFormats iterates over batches of 100 records of 100 bytes, checksums of
// inner messages included. The speed counts the bytes of the records.
func BenchmarkReadFormats(b *testing.B) {
	records := make([]Record, 100)
	for i := range records {
		records[i] = Record{
			Offset: int64(i), Timestamp: 1700000000000 + int64(i),
			Key: fmt.Appendf(nil, "key-%d", i), Value: fmt.Appendf(nil, "%080d", i),
		}
	}
	for name, raw := range map[string][]byte{
		"v0-gzip": benchWrapper(b, compress.Gzip, records, V0),
		"v1-lz4":  benchWrapper(b, compress.LZ4, records, V1),
		"v2":      benchBatch(b, V2, compress.None, records),
		"v2-lz4":  benchBatch(b, V2, compress.LZ4, records),
		"mkb1":    benchBatch(b, MKB1, compress.None, records),
	} {
		b.Run(name, func(b *testing.B) { benchRead(b, raw, len(records)) })
	}
}

func benchRead(b *testing.B, raw []byte, want int) {
	batch, bad := Parse(raw)
	if bad != nil {
		b.Fatal(bad)
	}
	r := NewReader()
	b.SetBytes(int64(100 * want))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for r.Reset(&batch); r.Next(); {
			n++
		}
		if n != want {
			b.Fatalf("%d of %d records: %v", n, want, r.Err())
		}
	}
}

func benchWrapper(b *testing.B, c compress.Codec, records []Record, f Format) []byte {
	var inner []byte
	for _, r := range records {
		if f == V0 {
			inner = append(inner, messageV0(r.Offset, 0, r.Key, r.Value)...)
		} else {
			inner = append(inner, messageV1(r.Offset, 0, r.Timestamp, r.Key, r.Value)...)
		}
	}
	if f == V0 {
		return messageV0(99, byte(c), nil, packed(b, c, inner))
	}
	return messageV1(99, byte(c), 1700000000099, nil, packed(b, c, inner))
}

func benchBatch(b *testing.B, f Format, c compress.Codec, records []Record) []byte {
	m := NoProducer()
	m.Format, m.Codec = f, c
	return build(b, m, records...)
}
