package compress

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// records makes some size bytes that look like the records of a batch: small JSON with
// words that come again and numbers that do not.
func records(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"created", "paid", "shipped", "returned", "cancelled"}
	var b []byte
	for len(b) < size {
		b = fmt.Appendf(b, "\xa2\x01\x00\x14\x02\x10order-%d{\"state\":%q,\"amount\":%d,\"customer\":\"%08x\"}\x00",
			r.IntN(1000), words[r.IntN(len(words))], r.IntN(100_000), r.Uint32())
	}
	return b[:size]
}

// The ratio of packed to plain is reported beside the speed, which counts plain bytes.
func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(b *testing.B, plain []byte, c Codec) {
		d, packed, out := NewDecoder(), encode(b, plain, c), make([]byte, 0, 2*len(plain))
		for b.Loop() {
			var err error
			if out, err = d.Decode(out[:0], packed, c, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	benchmark(b, func(b *testing.B, plain []byte, c Codec) {
		e, out := NewEncoder(), make([]byte, 0, 2*len(plain))
		for b.Loop() {
			var err error
			if out, err = e.Encode(out[:0], plain, c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(out))/float64(len(plain)), "ratio")
	})
}

func benchmark(b *testing.B, run func(b *testing.B, plain []byte, c Codec)) {
	for _, c := range Codecs() {
		for _, size := range []int{1 << 10, 16 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("%s/%dKiB", c, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				run(b, records(size), c)
			})
		}
	}
}
