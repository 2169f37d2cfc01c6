package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen collects what is written to it.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// shown runs a command that takes so long, and returns what was on the screen.
func shown(t *testing.T, takes time.Duration) string {
	var s screen
	synctest.Test(t, func(*testing.T) {
		bar := Start(&s, "verify", 4<<20)
		bar.Add(1 << 20)
		time.Sleep(takes)
		bar.Add(1 << 20)
		bar.Close()
	})
	return s.b.String()
}

func TestAShortCommandShowsNothing(t *testing.T) {
	if got := shown(t, 400*time.Millisecond); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestALongCommandShowsABar(t *testing.T) {
	got := shown(t, 2*time.Second)
	for _, piece := range []string{"verify", "1.0 MiB / 4.0 MiB"} {
		if !strings.Contains(got, piece) {
			t.Errorf("%q lacks %q", got, piece)
		}
	}
}

func TestNoBar(*testing.T) {
	var b *Bar
	b.Add(1)
	b.Close()
}

// A bar of records counts them, and shows how fast they go and how long the rest takes.
func TestABarOfRecords(t *testing.T) {
	var s screen
	synctest.Test(t, func(*testing.T) {
		bar := StartCount(&s, "export", 4000)
		bar.Add(1000)
		time.Sleep(time.Second)
		bar.Close()
		bar.Close()
	})
	if got := s.b.String(); !strings.Contains(got, "export 1000 / 4000 records") || !strings.Contains(got, "/s") {
		t.Errorf("got %q", got)
	}
}
