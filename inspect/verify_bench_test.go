package inspect

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// BenchmarkVerify compares, in one run, verify-crc with reading the file and doing nothing
// (what cat does), and with a hand-written loop that computes the checksums. The bars are
// 0.65, 0.45 and 0.30 of reading for batches of 16 KiB, 1 KiB and one record of 100 bytes.
func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct {
		name    string
		records int
	}{{"16KiB", 150}, {"1KiB", 9}, {"one-record", 1}} {
		dir := filepath.Join(b.TempDir(), "t-0")
		path := writeVerifyLog(b, dir, c.records, 64<<20)
		b.Run(c.name+"/read", func(b *testing.B) { benchRead(b, path, func([]byte) int { return 0 }) })
		b.Run(c.name+"/loop", func(b *testing.B) { benchRead(b, path, crcLoop()) })
		b.Run(c.name+"/verify", func(b *testing.B) { benchVerify(b, path, VerifyOptions{}) })
		b.Run(c.name+"/deep", func(b *testing.B) { benchVerify(b, path, VerifyOptions{Deep: true}) })
	}
}

func writeVerifyLog(b *testing.B, dir string, records, size int) string {
	var log []byte
	for base := int64(0); len(log) < size; base += int64(records) {
		log = append(log, batchOf(b, base, records, 100)...)
	}
	path := filepath.Join(dir, segment.FileName(0, segment.LogSuffix))
	if err := os.Mkdir(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, log, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// benchRead reads the file through one buffer. use tells how many bytes at the end of a
// read it wants to see again.
func benchRead(b *testing.B, path string, use func([]byte) int) {
	buf := make([]byte, 1<<20)
	b.SetBytes(size(b, path))
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		for pos := int64(0); ; {
			n, err := f.ReadAt(buf, pos)
			pos += int64(n - use(buf[:n]))
			if err == io.EOF {
				break
			}
		}
		f.Close()
	}
}

func crcLoop() func([]byte) int {
	table := crc32.MakeTable(crc32.Castagnoli)
	return func(data []byte) int {
		for len(data) >= record.HeaderSize {
			n := 12 + int(binary.BigEndian.Uint32(data[8:]))
			if n > len(data) {
				break
			}
			if crc32.Checksum(data[21:n], table) != binary.BigEndian.Uint32(data[17:]) {
				panic("a bad batch in a good file")
			}
			data = data[n:]
		}
		return len(data)
	}
}

func benchVerify(b *testing.B, path string, o VerifyOptions) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.SetBytes(size(b, path))
	b.ReportAllocs()
	for b.Loop() {
		for v := range Verify(b.Context(), vfs.OS(), []LogRef{{Path: path, Name: path}}, o) {
			if v.Err != nil || v.Batches == 0 || !v.Healthy() {
				b.Fatal(v.Err, v.Damage)
			}
		}
	}
}

func size(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkSegments lists 1,000 partitions of one small segment each: the time must grow
// with the number of files only.
func BenchmarkSegments(b *testing.B) {
	root := b.TempDir()
	log := batchOf(b, 0, 1, 10)
	var dirs []PartitionDir
	for i := range 1000 {
		dir := filepath.Join(root, fmt.Sprintf("t-%d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for suffix, data := range map[string][]byte{segment.LogSuffix: log, segment.IndexSuffix: nil} {
			if err := os.WriteFile(filepath.Join(dir, segment.FileName(0, suffix)), data, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		dirs = append(dirs, PartitionDir{dir, dir})
	}
	for b.Loop() {
		for p := range Segments(b.Context(), vfs.OS(), dirs) {
			if p.Err != nil || len(p.Segments) != 1 {
				b.Fatal(p.Err, p.Segments)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(dirs)), "us/partition")
}
