//go:build unix

package crc

import (
	"hash/crc32"
	"os"
	"syscall"
	"testing"
)

// The kernel reads whole vectors; that none of them reaches beyond the slice is seen where
// the pages beside it cannot be read: there the test would die.
func TestReadsNothingBeside(t *testing.T) {
	page := os.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(pages)
	copy(pages[page:2*page], noise(page))
	for _, fence := range [][]byte{pages[:page], pages[2*page:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	for n := range page + 1 {
		for _, p := range [][]byte{pages[page : page+n], pages[2*page-n : 2*page]} {
			if got, want := Checksum(p), crc32.Checksum(p, table); got != want {
				t.Fatalf("%d bytes: got %#x, want %#x", n, got, want)
			}
		}
	}
}
