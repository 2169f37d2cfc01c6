package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"logdir/store/vfs"
)

// benchLines is how many bytes of lines the benchmarks move.
const benchLines = 64 << 20

// BenchmarkProduce moves lines from a file into a partition, and beside it the same lines
// from file to file: what the bar of produce is a ratio to.
func BenchmarkProduce(b *testing.B) {
	for _, size := range []int{100, 1024} {
		lines := writeLines(b, size)
		b.Run(fmt.Sprintf("%d-byte lines/copy", size), func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "out")
			b.SetBytes(benchLines)
			for b.Loop() {
				copyLines(b, lines, out)
			}
		})
		b.Run(fmt.Sprintf("%d-byte lines/produce", size), func(b *testing.B) {
			b.SetBytes(benchLines)
			for b.Loop() {
				produceLines(b, lines, filepath.Join(b.TempDir(), "d"))
			}
		})
	}
}

// BenchmarkFetch prints the values of a partition.
func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{100, 1024} {
		b.Run(fmt.Sprintf("%d-byte values", size), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "d")
			produceLines(b, writeLines(b, size), dir)
			b.SetBytes(benchLines)
			for b.Loop() {
				benchRun(b, nil, "fetch", "t", "-d", dir)
			}
		})
	}
}

func writeLines(b *testing.B, size int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "lines")
	line := append(bytes.Repeat([]byte("x"), size-1), '\n')
	if err := os.WriteFile(name, bytes.Repeat(line, benchLines/size), 0o600); err != nil {
		b.Fatal(err)
	}
	return name
}

func copyLines(b *testing.B, from, to string) {
	b.Helper()
	data, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer data.Close()
	out, err := os.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, data); err != nil {
		b.Fatal(err)
	}
}

func produceLines(b *testing.B, lines, dir string) {
	b.Helper()
	benchRun(b, nil, "topic", "create", "t", "-d", dir)
	in, err := os.Open(lines)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	benchRun(b, in, "produce", "t", "-d", dir, "--fsync", "never", "--report", "none")
}

// benchRun runs a command in this process; what it prints is thrown away.
func benchRun(b *testing.B, in io.Reader, args ...string) {
	b.Helper()
	var errs bytes.Buffer
	env := &Env{
		In: in, Out: io.Discard, Err: &errs, FS: vfs.OS(), Now: OS().Now,
		Getenv: os.LookupEnv, Environ: os.Environ, Log: OS().Log,
	}
	if code := Main(args, env); code != 0 {
		b.Fatal(code, errs.String())
	}
}
