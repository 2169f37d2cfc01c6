package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"logdir/fixtures"
)

// A thousand producers in one process take less than 64 MiB, and lose, double or reorder
// nothing.
func TestThousandProducersAreCheap(t *testing.T) {
	fixtures.WithoutRace(t)
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the memory is Linux's to tell")
	}
	for _, keys := range []string{"0", "100"} {
		s := newShell(t, "-p", "8")
		var out, errs bytes.Buffer
		c := s.command("simulate", "t", "--producers", "1000", "--messages", "300", "--keys", keys, "--consumers", "g=3", "--output", "tsv", "--no-header")
		c.Stdout, c.Stderr = &out, &errs
		used, err := watchMemory(c)
		if err != nil {
			t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
		}
		if want := "consumer\tg\t3\t0\t300000\t0\t0\t0\n"; !strings.Contains(out.String(), want) {
			t.Errorf("want %q, got:\n%s", want, out.String())
		}
		const limit = 64 << 10 // KiB
		if used == 0 || used > limit {
			t.Errorf("keys %s: %d KiB of memory, want at most %d", keys, used, limit)
		}
	}
}

// watchMemory runs a process and tells its peak of resident memory in KiB. That of the
// resource usage would not do: it counts what the parent had when it forked.
func watchMemory(c *exec.Cmd) (peak int, err error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", c.Process.Pid)
	for {
		select {
		case err := <-done:
			return peak, err
		case <-time.After(2 * time.Millisecond):
			peak = max(peak, peakOf(status))
		}
	}
}

// peakOf reads the line "VmHWM:  12345 kB". It is 0 for a process that is gone.
func peakOf(status string) int {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}
