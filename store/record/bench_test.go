package record

import (
	"fmt"
	"testing"
)

// bench16K is a batch of 145 records of 100 bytes.
func bench16K(b *testing.B) ([]byte, int) {
	b.Helper()
	const records = 145
	w := NewBuilder()
	w.Reset(NoProducer())
	value := make([]byte, 100-7-8-2)
	for i := range int64(records) {
		w.Append(&Record{Offset: i, Timestamp: 1700000000000 + i, Key: fmt.Appendf(nil, "key%05d", i), Value: value})
	}
	raw, err := w.Build(nil)
	if err != nil {
		b.Fatal(err)
	}
	return raw, records
}

// BenchmarkIterate reads the records of a batch in memory. "limit" is the least loop that
// finds keys and values: no checks, no headers, no timestamps.
func BenchmarkIterate(b *testing.B) {
	raw, records := bench16K(b)
	perRecord := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
	}
	b.Run("limit", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if n := leastLoop(raw); n != records {
				b.Fatal(n)
			}
		}
		perRecord(b)
	})
	b.Run("reader", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		r := NewReader()
		for b.Loop() {
			batch, _ := Parse(raw)
			n := 0
			for r.Reset(&batch); r.Next(); {
				n += len(r.Record().Key)
			}
			if n != 8*records {
				b.Fatal(n, r.Err())
			}
		}
		perRecord(b)
	})
	b.Run("reader+crc", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		r := NewReader()
		for b.Loop() {
			batch, ok := Good(raw)
			if !ok {
				b.Fatal("not good")
			}
			for r.Reset(&batch); r.Next(); {
			}
		}
		perRecord(b)
	})
}

func leastLoop(raw []byte) (n int) {
	for pos := posRecords; pos < len(raw); n++ {
		length, body := varint(raw, pos)
		_, p := varlong(raw, body+1)
		_, p = varint(raw, p)
		_, p = field(raw, p)
		if _, p = field(raw, p); p == past {
			return -1
		}
		pos = body + int(length)
	}
	return n
}

func BenchmarkBuild(b *testing.B) {
	raw, records := bench16K(b)
	batch, _ := Parse(raw)
	var recs []Record
	r := NewReader()
	for r.Reset(&batch); r.Next(); {
		recs = append(recs, *r.Record())
	}
	w := NewBuilder()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	frame := make([]byte, 0, 2*len(raw))
	for b.Loop() {
		w.Reset(NoProducer())
		for i := range recs {
			w.Append(&recs[i])
		}
		var err error
		if frame, err = w.Build(frame[:0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
}
