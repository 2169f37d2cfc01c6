package crc

import (
	"fmt"
	"hash/crc32"
	"testing"
)

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{16,40, 64, 150, 300, 512, 1<<10, 16 << 10, 256 << 10} {
		p := make([]byte, n)
		for _, f := range []struct {
			name string
			sum  func([]byte) uint32
		}{{"ours", Checksum}, {"hash", func(p []byte) uint32 { return crc32.Checksum(p, table) }}} {
			b.Run(fmt.Sprintf("%d/%s", n, f.name), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					f.sum(p)
				}
			})
		}
	}
}

func TestQuick(t *testing.T) {
	p := make([]byte, 8192)
	for i := range p {
		p[i] = byte(i*7 + i>>8*13)
	}
	for n := range 4097 {
		for a := range 3 {
			if got, want := Update(uint32(n*a), p[a:a+n]), crc32.Update(uint32(n*a), table, p[a:a+n]); got != want {
				t.Fatalf("%d %d: %x %x", n, a, got, want)
			}
		}
	}
}
