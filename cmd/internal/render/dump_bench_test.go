package render

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"logdir/inspect"
	"logdir/store/record"
	"logdir/store/vfs"
)

// BenchmarkDump compares, in one run, the dump of a log of 100-byte records with the
// least that a program could do: a hand-written loop for just this file. The bars are
// text at 0.68 of that loop (which is four times franz-go with fmt.Fprintf) and JSON at
// 0.33 of the text, 0.40 if all goes well.
func BenchmarkDump(b *testing.B) {
	path := writeBenchLog(b, 64<<20)
	b.Run("loop", func(b *testing.B) { benchLoop(b, path) })
	for _, workers := range []int{1, 2} {
		b.Run("text-"+strconv.Itoa(workers), func(b *testing.B) {
			benchDump(b, path, workers, &DumpText{Records: true, PrintData: true})
		})
		b.Run("json-"+strconv.Itoa(workers), func(b *testing.B) {
			benchDump(b, path, workers, &DumpJSON{Records: true})
		})
	}
}

func benchDump(b *testing.B, path string, workers int, p inspect.Printer) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	d := inspect.Dumper{FS: vfs.OS(), Out: devNull(b), Printer: p, Options: inspect.DumpOptions{Deep: true}}
	b.SetBytes(fileSize(b, path))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.File(context.Background(), path, path); err != nil {
			b.Fatal(err)
		}
	}
	if len(d.Report.Damage) > 0 {
		b.Fatal(d.Report.Damage[0])
	}
}

// devNull is a real file: writing to it is a system call, as it is for the program.
func devNull(b *testing.B) io.Writer {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func fileSize(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// writeBenchLog makes a log of at least size bytes: records of 100 bytes, batches of 16 KiB.
func writeBenchLog(b *testing.B, size int) string {
	path := filepath.Join(b.TempDir(), "00000000000000000000.log")
	builder, meta := record.NewBuilder(), record.NoProducer()
	value := []byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijkl")
	var out []byte
	for offset := int64(0); len(out) < size; {
		meta.BaseOffset = offset
		builder.Reset(meta)
		for builder.Size() < 16<<10 {
			key := strconv.AppendInt(nil, 10000000+offset, 10)
			builder.Append(&record.Record{Offset: offset, Timestamp: 1700000000000 + offset, Key: key, Value: value})
			offset++
		}
		var err error
		if out, err = builder.Build(out); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(path, out, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// benchLoop is the limit: one buffer, and no check that this file does not need.
func benchLoop(b *testing.B, path string) {
	w := devNull(b)
	b.SetBytes(fileSize(b, path))
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		limitDump(f, w)
		f.Close()
	}
}

func limitDump(f io.ReaderAt, w io.Writer) {
	in, out := make([]byte, 1<<20), make([]byte, 0, 512<<10)
	table := crc32.MakeTable(crc32.Castagnoli)
	for pos := int64(0); ; {
		n, err := f.ReadAt(in, pos)
		data := in[:n]
		for len(data) >= record.HeaderSize {
			size := 12 + int(binary.BigEndian.Uint32(data[8:]))
			if size > len(data) {
				break
			}
			out = limitBatch(out, data[:size], pos, crc32.Checksum(data[21:size], table))
			data, pos = data[size:], pos+int64(size)
			if len(out) > 256<<10 {
				w.Write(out)
				out = out[:0]
			}
		}
		if err == io.EOF {
			w.Write(out)
			return
		}
	}
}

func limitBatch(out, f []byte, pos int64, sum uint32) []byte {
	base, delta := int64(binary.BigEndian.Uint64(f)), int64(binary.BigEndian.Uint32(f[23:]))
	first := int64(binary.BigEndian.Uint64(f[27:]))
	out = strconv.AppendInt(append(out, "baseOffset: "...), base, 10)
	out = strconv.AppendInt(append(out, " lastOffset: "...), base+delta, 10)
	out = strconv.AppendInt(append(out, " count: "...), int64(binary.BigEndian.Uint32(f[57:])), 10)
	out = append(out, " baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: -1"...)
	out = append(out, " isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: "...)
	out = strconv.AppendInt(out, pos, 10)
	out = strconv.AppendInt(append(out, " CreateTime: "...), int64(binary.BigEndian.Uint64(f[35:])), 10)
	out = strconv.AppendInt(append(out, " size: "...), int64(len(f)), 10)
	out = strconv.AppendUint(append(out, " magic: 2 compresscodec: none crc: "...), uint64(binary.BigEndian.Uint32(f[17:])), 10)
	out = strconv.AppendBool(append(out, " isvalid: "...), sum == binary.BigEndian.Uint32(f[17:]))
	out = append(out, '\n')
	for p := f[record.HeaderSize:]; len(p) > 0; {
		out, p = limitRecord(out, p, base, first)
	}
	return out
}

func limitRecord(out, p []byte, base, first int64) (line, rest []byte) {
	_, n := binary.Varint(p)
	p = p[n+1:]
	stamp, n := binary.Varint(p)
	p = p[n:]
	offset, n := binary.Varint(p)
	p = p[n:]
	keySize, n := binary.Varint(p)
	key := p[n : n+int(keySize)]
	p = p[n+int(keySize):]
	valueSize, n := binary.Varint(p)
	value := p[n : n+int(valueSize)]
	out = strconv.AppendInt(append(out, "| offset: "...), base+offset, 10)
	out = strconv.AppendInt(append(out, " CreateTime: "...), first+stamp, 10)
	out = strconv.AppendInt(append(out, " keySize: "...), keySize, 10)
	out = strconv.AppendInt(append(out, " valueSize: "...), valueSize, 10)
	out = append(append(out, " sequence: -1 headerKeys: [] key: "...), key...)
	out = append(append(out, " payload: "...), value...)
	return append(out, '\n'), p[n+int(valueSize)+1:]
}
