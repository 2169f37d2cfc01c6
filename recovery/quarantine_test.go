package recovery

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// TestNoRoom: a disk without room for the quarantine changes nothing.
func TestNoRoom(t *testing.T) {
	for _, s := range stories() {
		t.Run(s.name, func(t *testing.T) {
			fsys := s.make(t)
			before := photo(t, fsys, ".")
			fsys.SetFree(manifestSlack)
			err := repair(t, fsys, s.o)
			e, ok := errors.AsType[*store.Error](err)
			if !ok || e.Class != store.Failed || !strings.Contains(e.Msg, "no room for") {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(before, photo(t, fsys, ".")); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
}

// TestZerosTakeNoRoom: a megabyte of zeros is kept as its length.
func TestZerosTakeNoRoom(t *testing.T) {
	fsys := single(t, append(fixtureF(t), make([]byte, 1<<20)...))
	fsys.SetFree(manifestSlack + 4096)
	must(t, repair(t, fsys, Options{Policy: Tail}))
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); !bytes.Equal(got, fixtureF(t)) {
		t.Errorf("%d bytes", len(got))
	}
	size, err := vfs.Size(fsys, "d.quarantine/20260101T000000-1/"+dataName)
	must(t, err)
	if size != 0 {
		t.Errorf("%d bytes kept", size)
	}
	undo(t, fsys)
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); len(got) != 720+1<<20 || !isZero(got[720:]) {
		t.Errorf("%d bytes after undo", len(got))
	}
}

// TestUndoRefuses what was changed since, and then changes nothing at all.
func TestUndoRefuses(t *testing.T) {
	const log = "d/foo-0/00000000000000000000.log"
	for name, change := range map[string]func(*testing.T, *memfs.FS){
		"appended": func(t *testing.T, fsys *memfs.FS) { put(t, fsys, log, append(read(t, fsys, log), 1)) },
		"flipped": func(t *testing.T, fsys *memfs.FS) {
			data := read(t, fsys, log)
			data[99] ^= 4
			put(t, fsys, log, data)
		},
		"removed":       func(t *testing.T, fsys *memfs.FS) { must(t, fsys.Remove(log)) },
		"index changed": func(t *testing.T, fsys *memfs.FS) { put(t, fsys, "d/foo-0/00000000000000000000.index", []byte("x")) },
		"kept bytes rotten": func(t *testing.T, fsys *memfs.FS) {
			name := "d.quarantine/20260101T000000-1/" + dataName
			data := read(t, fsys, name)
			data[3] ^= 1
			put(t, fsys, name, data)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := tornStory(t)
			must(t, repair(t, fsys, Options{Policy: Tail}))
			change(t, fsys)
			before := photo(t, fsys, ".")
			err := tryUndo(t, fsys)
			if e, ok := errors.AsType[*store.Error](err); !ok || e.Class != store.Refused {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(before, photo(t, fsys, ".")); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
}

// TestRunsAreTakenBackInTurn: the newest run first, each once.
func TestRunsAreTakenBackInTurn(t *testing.T) {
	fsys := single(t, append(fixtureF(t), 1, 2, 3))
	q := quarantineOf(fsys)
	for range 11 {
		c, _, err := Break(fsys, "d/foo-0/00000000000000000000.log", 0, DamageOptions{Mode: DamageGarbage, Bytes: 5})
		must(t, err)
		_, err = Job{Quarantine: q, Command: "corrupt-tail", Now: testNow, Changes: []Change{c}}.Execute(t.Context())
		must(t, err)
	}
	var order []string
	for range 11 {
		r, err := q.Run("")
		must(t, err)
		order = append(order, r.ID)
		undo(t, fsys)
	}
	if order[0] != "20260101T000000-11" || order[10] != "20260101T000000-1" || !slices.IsSortedFunc(order, func(a, b string) int {
		return byID(Run{Manifest: &Manifest{ID: b}}, Run{Manifest: &Manifest{ID: a}})
	}) {
		t.Errorf("order %v", order)
	}
	if got := read(t, fsys, "d/foo-0/00000000000000000000.log"); len(got) != 723 {
		t.Errorf("%d bytes", len(got))
	}
}
