package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"logdir/store/vfs"
)

func TestWriteAtomicReplaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "checkpoint")
	for _, want := range []string{"a longer first version", "second"} {
		if err := vfs.WriteAtomic(vfs.OS(), name, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := vfs.ReadAll(vfs.OS(), name, 100)
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v; want %q", got, err, want)
		}
	}
	if there, _ := vfs.Exists(vfs.OS(), name+vfs.TempSuffix); there {
		t.Error("the temporary file is still there")
	}
}

func TestReadAllRefusesALargeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, make([]byte, 11), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.ReadAll(vfs.OS(), name, 10); err == nil {
		t.Error("11 bytes were read with a limit of 10")
	}
}

func TestCopyFileKeepsBytesAndTime(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	data := make([]byte, 3<<20+7)
	for i := range data {
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(from, data, 0o600); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := vfs.OS().Chtimes(from, when); err != nil {
		t.Fatal(err)
	}
	if err := vfs.CopyFile(vfs.OS(), from, vfs.OS(), to); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil || string(got) != string(data) {
		t.Errorf("the copy differs (%v)", err)
	}
	if info, err := os.Stat(to); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("modification time %v, want %v", info.ModTime(), when)
	}
}

func TestLockExcludesAnotherHandle(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	if held, err := vfs.OS().Locked(name); held || err != nil {
		t.Fatalf("a missing file is locked (%v)", err)
	}
	l, err := vfs.OS().Lock(name, true)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := vfs.OS().Locked(name); !held || err != nil {
		t.Errorf("the lock does not show (%v)", err)
	}
	if _, err := vfs.LockWait(t.Context(), vfs.OS(), name, false, 0); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = l.Close() })
	again, err := vfs.LockWait(t.Context(), vfs.OS(), name, true, 10*time.Second)
	if err != nil {
		t.Fatalf("after the first let go: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestSharedLocksStandTogether(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	for range 2 {
		l, err := vfs.OS().Lock(name, false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	if held, err := vfs.OS().Locked(name); held || err != nil {
		t.Errorf("a shared lock shows as exclusive (%v)", err)
	}
}

func TestMissingFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "nope")
	if _, err := vfs.OS().Open(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	if _, err := vfs.OS().OpenRW(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open for writing: %v", err)
	}
	if err := vfs.RemoveAll(vfs.OS(), name); err != nil {
		t.Errorf("remove all of nothing: %v", err)
	}
}

// TestLinkedDirectory: a link to a directory is one, and goes without what it leads to.
func TestLinkedDirectory(t *testing.T) {
	disk, logDir := t.TempDir(), t.TempDir()
	kept := filepath.Join(disk, "00000000000000000000.log")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"foo-0": disk, "foo-1": filepath.Join(disk, "gone"), "note": kept} {
		if err := os.Symlink(target, filepath.Join(logDir, name)); err != nil {
			t.Skip(err)
		}
	}
	entries, err := vfs.OS().ReadDir(logDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() != (e.Name() == "foo-0") {
			t.Errorf("%s: directory %v", e.Name(), e.IsDir())
		}
	}
	if err := vfs.RemoveAll(vfs.OS(), logDir); err != nil {
		t.Fatal(err)
	}
	if there, err := vfs.Exists(vfs.OS(), kept); !there || err != nil {
		t.Errorf("what the link led to is gone: %v", err)
	}
}
