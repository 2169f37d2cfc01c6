package memfs_test

import (
	"errors"
	"io/fs"
	"testing"

	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put makes a file with data, unsynced.
func put(t *testing.T, m *memfs.FS, name, data string) vfs.File {
	t.Helper()
	f, err := m.OpenCreate(name)
	must(t, err)
	_, err = f.WriteAt([]byte(data), 0)
	must(t, err)
	return f
}

// content is a file's content, or "<none>".
func content(t *testing.T, m *memfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadAll(m, name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "<none>"
	}
	must(t, err)
	return string(data)
}

func TestWhatACrashKeeps(t *testing.T) {
	tests := []struct {
		name      string
		do        func(*testing.T, *memfs.FS)
		none, all string // content of d/f with nothing, and with everything unsynced kept
	}{
		{"file and name synced", func(t *testing.T, m *memfs.FS) {
			must(t, put(t, m, "d/f", "new").Sync())
			must(t, m.SyncDir("d"))
		}, "new", "new"},
		{"name not synced", func(t *testing.T, m *memfs.FS) {
			must(t, put(t, m, "d/f", "new").Sync())
		}, "<none>", "new"},
		{"bytes not synced", func(t *testing.T, m *memfs.FS) {
			put(t, m, "d/f", "new")
			must(t, m.SyncDir("d"))
		}, "", "new"},
		{"overwritten after sync", func(t *testing.T, m *memfs.FS) {
			must(t, put(t, m, "d/f", "old").Sync())
			must(t, m.SyncDir("d"))
			put(t, m, "d/f", "newer")
		}, "old", "newer"},
		{"truncated after sync", func(t *testing.T, m *memfs.FS) {
			f := put(t, m, "d/f", "old and long")
			must(t, f.Sync())
			must(t, m.SyncDir("d"))
			must(t, f.Truncate(3))
		}, "old and long", "old"},
		{"removed, not synced", func(t *testing.T, m *memfs.FS) {
			must(t, put(t, m, "d/f", "old").Sync())
			must(t, m.SyncDir("d"))
			must(t, m.Remove("d/f"))
		}, "old", "<none>"},
		{"renamed over, not synced", func(t *testing.T, m *memfs.FS) {
			must(t, put(t, m, "d/f", "old").Sync())
			must(t, m.SyncDir("d"))
			must(t, put(t, m, "d/f.tmp", "new").Sync())
			must(t, m.Rename("d/f.tmp", "d/f"))
		}, "old", "new"},
		{"replaced atomically", func(t *testing.T, m *memfs.FS) {
			must(t, vfs.WriteAtomic(m, "d/f", []byte("old")))
			must(t, vfs.WriteAtomic(m, "d/f", []byte("new")))
		}, "new", "new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := memfs.New()
			must(t, m.Mkdir("d"))
			must(t, m.SyncDir("."))
			test.do(t, m)
			if got := content(t, m.CrashClone(memfs.CrashOptions{Unsynced: 0}), "d/f"); got != test.none {
				t.Errorf("nothing unsynced kept: %q, want %q", got, test.none)
			}
			if got := content(t, m.CrashClone(memfs.CrashOptions{Unsynced: 1}), "d/f"); got != test.all {
				t.Errorf("everything unsynced kept: %q, want %q", got, test.all)
			}
		})
	}
}

// A rename of a directory that was never synced is lost as a whole.
func TestUnsyncedDirectoryIsUnreachable(t *testing.T) {
	m := memfs.New()
	must(t, m.MkdirAll("a/b"))
	must(t, put(t, m, "a/b/f", "x").Sync())
	must(t, m.SyncDir("a/b"))
	if got := content(t, m.CrashClone(memfs.CrashOptions{}), "a/b/f"); got != "<none>" {
		t.Errorf("got %q, want the file to be out of reach", got)
	}
	must(t, m.SyncDir("a"))
	must(t, m.SyncDir("."))
	if got := content(t, m.CrashClone(memfs.CrashOptions{}), "a/b/f"); got != "x" {
		t.Errorf("got %q, want x", got)
	}
}

// A random crash gives the same result for the same seed, and over many seeds every
// mixture of two blocks.
func TestRandomCrashIsSeeded(t *testing.T) {
	m := memfs.New()
	block := func(c byte) string { return string(bytesOf(c, 512)) }
	f := put(t, m, "f", block('a')+block('b'))
	must(t, f.Sync())
	must(t, m.SyncDir("."))
	put(t, m, "f", block('A')+block('B'))
	seen := map[string]bool{}
	for seed := range uint64(200) {
		o := memfs.CrashOptions{Unsynced: 0.5, Seed: seed}
		got := content(t, m.CrashClone(o), "f")
		if again := content(t, m.CrashClone(o), "f"); again != got {
			t.Fatalf("seed %d: two results", seed)
		}
		seen[string([]byte{got[0], got[512]})] = true
	}
	for _, want := range []string{"ab", "Ab", "aB", "AB"} {
		if !seen[want] {
			t.Errorf("the mixture %s never came", want)
		}
	}
}

func bytesOf(c byte, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = c
	}
	return p
}

func TestGrownFileReadsAsZeros(t *testing.T) {
	m := memfs.New()
	f := put(t, m, "f", "abcdef")
	must(t, f.Truncate(2))
	must(t, f.Truncate(4))
	if got := content(t, m, "f"); got != "ab\x00\x00" {
		t.Errorf("got %q: bytes behind a cut came back", got)
	}
}

func TestNames(t *testing.T) {
	m := memfs.New()
	must(t, m.MkdirAll("/x/y"))
	put(t, m, "/x/y/2", "")
	put(t, m, "x/y/1", "")
	entries, err := m.ReadDir("/x/y/")
	must(t, err)
	if len(entries) != 2 || entries[0].Name() != "1" || entries[1].Name() != "2" {
		t.Errorf("entries %v, want 1 and 2", entries)
	}
	for what, err := range map[string]error{
		"open a missing file":         second(m.Open("x/nope")),
		"open below a file":           second(m.Open("x/y/1/z")),
		"create below a missing dir":  second(m.OpenCreate("nope/f")),
		"rename a missing file":       m.Rename("nope", "x/q"),
		"remove a missing file":       m.Remove("nope"),
		"sync a missing directory":    m.SyncDir("nope"),
		"set the time of nothing":     m.Chtimes("nope", m2026),
		"stat a missing file":         second(m.Stat("nope")),
		"list a missing directory":    second(m.ReadDir("nope")),
		"rename into a missing place": m.Rename("x/y/1", "nope/1"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want fs.ErrNotExist", what, err)
		}
	}
	if err := m.Mkdir("x/y"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("mkdir twice: %v, want fs.ErrExist", err)
	}
	if _, err := m.Create("x/y/1"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create twice: %v, want fs.ErrExist", err)
	}
	if err := m.Remove("x"); err == nil {
		t.Error("a directory with entries was removed")
	}
	must(t, vfs.RemoveAll(m, "x"))
	if got := content(t, m, "x/y/1"); got != "<none>" {
		t.Errorf("after RemoveAll: %q", got)
	}
}

var m2026 = memfs.New().Clock()

func second[T any](_ T, err error) error { return err }

func TestLocks(t *testing.T) {
	m := memfs.New()
	shared, err := m.Lock("l", false)
	must(t, err)
	if held, err := m.Locked("l"); held || err != nil {
		t.Errorf("a shared lock shows as exclusive (%v)", err)
	}
	if _, err := m.Lock("l", true); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("exclusive beside shared: %v, want ErrLocked", err)
	}
	must(t, shared.Close())
	must(t, shared.Close())
	exclusive, err := m.Lock("l", true)
	must(t, err)
	if held, err := m.Locked("l"); !held || err != nil {
		t.Errorf("an exclusive lock does not show (%v)", err)
	}
	if _, err := m.Lock("l", false); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("shared beside exclusive: %v, want ErrLocked", err)
	}
	must(t, exclusive.Close())
}
