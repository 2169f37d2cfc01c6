package cmd

import (
	"bytes"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A thousand producers in one process take less than 64 MiB, and lose, double or reorder
// nothing.
func TestThousandProducersAreCheap(t *testing.T) {
	if raceDetected() {
		t.Skip("SKIPPED: the race detector has a memory of its own")
	}
	for _, keys := range []string{"0", "100"} {
		s := newShell(t, "-p", "8")
		var out, errs bytes.Buffer
		c := s.command("simulate", "t", "--producers", "1000", "--messages", "300", "--keys", keys, "--consumers", "g=3", "--output", "tsv", "--no-header")
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
		}
		if want := "consumer\tg\t3\t0\t300000\t0\t0\t0\n"; !strings.Contains(out.String(), want) {
			t.Errorf("want %q, got:\n%s", want, out.String())
		}
		const limit = 64 << 10 // KiB, as Linux counts
		if used := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > limit {
			t.Errorf("keys %s: %d KiB of memory, want at most %d", keys, used, limit)
		}
	}
}

// raceDetected tells whether this is a binary of go test -race.
func raceDetected() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
