package segment_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// benchSize is the size of the segment under measurement: larger than any cache of the
// processor, small enough to stay in memory.
const benchSize = 256 << 20

// BenchmarkScan sets the Scanner beside two yardsticks in one run: "cat" only reads
// the file, "limit" is the least loop that reads and checksums. performance.md wants of the
// Scanner 0.65, 0.45 and 0.30 of cat for batches of 16 KiB, 1 KiB and one record.
func BenchmarkScan(b *testing.B) {
	for _, size := range []struct {
		name    string
		records int
	}{{"16KiB", 145}, {"1KiB", 9}, {"1record", 1}} {
		f := benchSegment(b, size.records)
		b.Run(size.name+"/cat", func(b *testing.B) { benchRead(b, f, readAll) })
		b.Run(size.name+"/limit", func(b *testing.B) { benchRead(b, f, checksumAll) })
		b.Run(size.name+"/scan", func(b *testing.B) {
			s := new(segment.Scanner)
			benchRead(b, f, func(f *os.File, _ []byte) (int64, error) {
				s.Reset(f, benchSize, segment.Options{})
				n := int64(0)
				for s.Next() {
					n += s.Size()
				}
				return n, s.Err()
			})
		})
	}
}

func benchRead(b *testing.B, f *os.File, read func(*os.File, []byte) (int64, error)) {
	b.SetBytes(benchSize)
	b.ReportAllocs()
	buf := make([]byte, 1<<20)
	for b.Loop() {
		n, err := read(f, buf)
		if err != nil || n != benchSize {
			b.Fatal(n, err)
		}
	}
}

func readAll(f *os.File, buf []byte) (n int64, err error) {
	for {
		got, err := f.ReadAt(buf, n)
		n += int64(got)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// checksumAll trusts that all is well, and checks only that.
func checksumAll(f *os.File, buf []byte) (n int64, err error) {
	table := crc32.MakeTable(crc32.Castagnoli)
	have, pos := 0, int64(0)
	for {
		got, err := f.ReadAt(buf[have:], pos)
		pos += int64(got)
		rest := buf[:have+got]
		for len(rest) >= 61 {
			size := 12 + int(binary.BigEndian.Uint32(rest[8:]))
			if size > len(rest) {
				break
			}
			if crc32.Checksum(rest[21:size], table) != binary.BigEndian.Uint32(rest[17:]) {
				return n, fmt.Errorf("checksum at %d", n)
			}
			n += int64(size)
			rest = rest[size:]
		}
		have = copy(buf, rest)
		if err == io.EOF {
			return n + int64(have), nil
		}
		if err != nil {
			return n, err
		}
	}
}

// benchSegment writes a segment of exactly benchSize bytes whose batches hold so many
// records of 100 bytes. The last one is cut, so that its end is a torn batch.
func benchSegment(b *testing.B, records int) *os.File {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), segment.FileName(0, segment.LogSuffix)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	frame := benchFrame(b, records)
	chunk := make([]byte, 0, 4<<20)
	for size, offset := 0, int64(0); size < benchSize; size += len(chunk) {
		chunk = chunk[:0]
		for len(chunk)+len(frame) <= cap(chunk) {
			record.SetBaseOffset(frame, offset)
			chunk = append(chunk, frame...)
			offset += int64(records)
		}
		if _, err := f.Write(chunk[:min(len(chunk), benchSize-size)]); err != nil {
			b.Fatal(err)
		}
	}
	if err := readBack(f); err != nil {
		b.Fatal(err)
	}
	return f
}

func readBack(f *os.File) error {
	_, err := readAll(f, make([]byte, 1<<20))
	return err
}

// benchFrame is one batch of records of 100 bytes.
func benchFrame(b *testing.B, records int) []byte {
	b.Helper()
	builder := record.NewBuilder()
	m := record.NoProducer()
	m.LeaderEpoch = 0
	builder.Reset(m)
	value := make([]byte, 100-7-8)
	for i := range value {
		value[i] = 'a' + byte(i%26)
	}
	for i := range records {
		builder.Append(&record.Record{
			Offset: int64(i), Timestamp: 1700000000000 + int64(i),
			Key: fmt.Appendf(nil, "key%05d", i), Value: value,
		})
	}
	frame, err := builder.Build(nil)
	if err != nil {
		b.Fatal(err)
	}
	return frame
}

// BenchmarkAppend writes batches of 100 records without a sync. "limit" only writes the
// same bytes; both leave out the making of the batch.
func BenchmarkAppend(b *testing.B) {
	frame := benchFrame(b, 100)
	const limit = 64 << 20 // then begin again, not to fill the disk
	b.Run("limit", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		b.SetBytes(int64(len(frame)))
		pos := int64(0)
		for b.Loop() {
			if _, err := f.WriteAt(frame, pos); err != nil {
				b.Fatal(err)
			}
			if pos += int64(len(frame)); pos > limit {
				must(b, f.Truncate(0))
				pos = 0
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		dir, base := b.TempDir(), int64(0)
		a := benchAppender(b, dir, base)
		b.SetBytes(int64(len(frame)))
		b.ReportAllocs()
		for b.Loop() {
			record.SetBaseOffset(frame, a.NextOffset())
			if _, err := a.Append(frame); err != nil {
				b.Fatal(err)
			}
			if a.Size() > limit {
				base = a.NextOffset()
				must(b, a.Close())
				must(b, os.RemoveAll(dir))
				must(b, os.Mkdir(dir, 0o700))
				a = benchAppender(b, dir, base)
			}
		}
		must(b, a.Close())
	})
}

func benchAppender(b *testing.B, dir string, base int64) *segment.Appender {
	b.Helper()
	a, err := segment.OpenAppender(vfs.OS(), dir, base, segment.AppenderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return a
}
