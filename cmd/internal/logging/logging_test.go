package logging

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func newYear() time.Time { return time.UnixMilli(1767225600000) }

// session logs at every level, with and without attributes of its own.
func session(o Options) string {
	var b strings.Builder
	o.Now = newYear
	log := New(&b, o)
	partition := log.With(Component, "partition", "topic", "hot")
	partition.Debug("open")
	partition.Info("append", "partition", 0, "base_offset", int64(7), "records", 1)
	partition.WithGroup("next").Warn("two words", "path", "a b", "empty", "", "clean", false)
	log.Error("lock", Component, "replica", "err", errors.New("locked by another process"))
	return b.String()
}

func TestText(t *testing.T) {
	want := `2026-01-01 00:00:00 | DEBUG | partition | open topic=hot
2026-01-01 00:00:00 | INFO  | partition | append topic=hot partition=0 base_offset=7 records=1
2026-01-01 00:00:00 | WARN  | partition | two words topic=hot next.path="a b" next.empty="" next.clean=false
2026-01-01 00:00:00 | ERROR | replica   | lock err="locked by another process"
`
	if diff := cmp.Diff(want, session(Options{Level: "debug"})); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	want := `{"time":"2026-01-01T00:00:00Z","level":"info","component":"partition","message":"append","topic":"hot","partition":0,"base_offset":7,"records":1}
{"time":"2026-01-01T00:00:00Z","level":"warn","component":"partition","message":"two words","topic":"hot","next.path":"a b","next.empty":"","next.clean":false}
{"time":"2026-01-01T00:00:00Z","level":"error","component":"replica","message":"lock","err":"locked by another process"}
`
	if diff := cmp.Diff(want, session(Options{Level: "info", JSON: true})); diff != "" {
		t.Error(diff)
	}
}

func TestLevels(t *testing.T) {
	for level, lines := range map[string]int{"debug": 4, "info": 3, "warn": 2, "error": 1, "off": 0} {
		if got := strings.Count(session(Options{Level: level}), "\n"); got != lines {
			t.Errorf("%s: %d lines, want %d", level, got, lines)
		}
	}
}

// Several processes append to one file: lines stay whole.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.log")
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			f := OpenLater(path)
			log := New(f, Options{Level: "info", Now: newYear}).With(slog.String(Component, "partition"))
			for i := range 25 {
				log.Info("append", "base_offset", i)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "2026-01-01 00:00:00 | INFO  | partition | append base_offset="); got != 100 {
		t.Errorf("%d lines, want 100", got)
	}
}

func TestAFileThatNobodyWritesIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.log")
	if err := OpenLater(path).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatCannotBeWrittenIsReported(t *testing.T) {
	f := OpenLater(filepath.Join(t.TempDir(), "nowhere", "run.log"))
	New(f, Options{Level: "info", Now: newYear}).Warn("x")
	if err := f.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
