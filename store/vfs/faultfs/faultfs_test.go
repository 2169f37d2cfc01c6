package faultfs_test

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store/vfs"
	"logdir/store/vfs/faultfs"
	"logdir/store/vfs/memfs"
)

// work does one of each changing operation.
func work(f vfs.FS) error {
	steps := []func() error{
		func() error { return f.Mkdir("d") },
		func() error { return vfs.WriteAtomic(f, "d/f", []byte("hello")) },
		func() error { return f.Chtimes("d/f", time.Unix(0, 0)) },
		func() error { return f.Remove("d/f") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestOperationsInOrder(t *testing.T) {
	var got []string
	f := faultfs.Wrap(memfs.New(), func(op faultfs.Op) error {
		got = append(got, fmt.Sprintf("%d %s %s", op.N, op.Kind, op.Path))
		return nil
	})
	if err := work(f); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 mkdir d",
		"2 create d/f.tmp", "3 truncate d/f.tmp", "4 write d/f.tmp", "5 sync d/f.tmp",
		"6 rename d/f", "7 syncdir d",
		"8 chtimes d/f", "9 remove d/f",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFaultSurfaces(t *testing.T) {
	count := faultfs.Wrap(memfs.New(), nil)
	if err := work(count); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= count.Ops(); n++ {
		if err := work(faultfs.Wrap(memfs.New(), faultfs.FailAt(n))); !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("operation %d: %v, want the fault", n, err)
		}
		crashed := faultfs.Wrap(memfs.New(), faultfs.CrashAt(n))
		if err := work(crashed); !errors.Is(err, faultfs.ErrCrashed) {
			t.Errorf("operation %d: %v, want the crash", n, err)
		}
		if err := crashed.Mkdir("later"); !errors.Is(err, faultfs.ErrCrashed) {
			t.Errorf("operation %d: %v: alive after the crash", n, err)
		}
	}
}

func TestShortWrite(t *testing.T) {
	mem := memfs.New()
	f := faultfs.Wrap(mem, func(op faultfs.Op) error {
		if op.Kind == faultfs.Write {
			return faultfs.ShortWrite{N: 3, Err: syscall.ENOSPC}
		}
		return nil
	})
	file, err := f.OpenCreate("f")
	if err != nil {
		t.Fatal(err)
	}
	n, err := file.WriteAt([]byte("hello"), 0)
	if n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v; want 3 and ENOSPC", n, err)
	}
	if data, _ := vfs.ReadAll(mem, "f", 10); string(data) != "hel" {
		t.Errorf("on disk: %q", data)
	}
}

func TestBadSectors(t *testing.T) {
	mem := memfs.New()
	if err := vfs.WriteAtomic(mem, "f", make([]byte, 2048)); err != nil {
		t.Fatal(err)
	}
	f := faultfs.Wrap(mem, nil)
	f.BadSectors("f", 512, 1024)
	file, err := f.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		pos, size int64
		n         int
		err       error
	}{
		{0, 512, 512, nil},
		{0, 513, 512, syscall.EIO},
		{600, 10, 0, syscall.EIO},
		{1023, 10, 0, syscall.EIO},
		{1024, 1024, 1024, nil},
		{1024, 2000, 1024, io.EOF},
	}
	for _, test := range tests {
		n, err := file.ReadAt(make([]byte, test.size), test.pos)
		if n != test.n || !errors.Is(err, test.err) {
			t.Errorf("read %d at %d: %d, %v; want %d, %v", test.size, test.pos, n, err, test.n, test.err)
		}
	}
}
