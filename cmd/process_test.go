package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shell runs logdir on one data directory, as processes of their own.
type shell struct {
	t   *testing.T
	dir string
}

// newShell makes a cluster with the topic t.
func newShell(t *testing.T, topicFlags ...string) shell {
	t.Helper()
	s := shell{t: t, dir: t.TempDir() + "/d"}
	s.ok("", append([]string{"topic", "create", "t"}, topicFlags...)...)
	return s
}

func (s shell) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), "logdir", args...)
	c.Env = append(os.Environ(), "LOGDIR_DATA_DIR="+s.dir, "HOME="+s.dir)
	return c
}

// run gives a command its input and returns what it printed.
func (s shell) run(stdin string, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	var out, errs bytes.Buffer
	c := s.command(args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// ok is run for a command that must not fail.
func (s shell) ok(stdin string, args ...string) string {
	s.t.Helper()
	stdout, stderr, code := s.run(stdin, args...)
	if code != 0 {
		s.t.Fatalf("logdir %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// Four processes write to one partition at once: each one's records stand in its own
// order, none is missing, none is there twice, and the log is whole.
func TestWritersInParallelKeepTheirOrder(t *testing.T) {
	const writers, each = 4, 150
	s := newShell(t, "-c", "segment.bytes=2000")
	var running sync.WaitGroup
	want := map[string][]string{}
	for w := range writers {
		name := fmt.Sprint("w", w)
		for i := range each {
			want[name] = append(want[name], fmt.Sprint(i))
		}
		lines := name + " " + strings.Join(want[name], "\n"+name+" ") + "\n"
		running.Go(func() { s.ok(lines, "produce", "t", "--batch-size", "1", "--report", "none") })
	}
	running.Wait()
	got := map[string][]string{}
	offset := 0
	for line := range strings.Lines(s.ok("", "fetch", "t", "-f", `%o %v\n`)) {
		fields := strings.Fields(line)
		if fields[0] != fmt.Sprint(offset) {
			t.Fatalf("offset %s after %d", fields[0], offset-1)
		}
		got[fields[1]] = append(got[fields[1]], fields[2])
		offset++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records of each writer (-want +got):\n%s", diff)
	}
	s.ok("", "verify-crc", "t")
}

// A writer that is killed leaves its lock free, and in the log a prefix of what it was
// given with at most a torn tail.
func TestKilledWriter(t *testing.T) {
	s := newShell(t, "-c", "segment.bytes=100000")
	next := 0
	for round := 0; round < 5 || next == 0 && round < 100; round++ { // a slow machine starts it late
		kill(t, s, &next, time.Duration(20+15*round)*time.Millisecond)
		s.ok("", "recover", "t", "--lock-timeout", "0")
		if again := s.ok("", "recover", "t"); again != "" {
			t.Errorf("a second recover found something:\n%s", again)
		}
		next = countInOrder(t, s.ok("", "fetch", "t"))
		s.ok("", "verify-crc", "t")
	}
	if next == 0 {
		t.Error("not one record was written")
	}
}

// kill starts a producer of rising numbers and kills it after a while.
func kill(t *testing.T, s shell, next *int, after time.Duration) {
	t.Helper()
	c := s.command("produce", "t", "--batch-size", "300", "--fsync", "never", "--report", "none")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriterSize(in, 4096)
		for n := *next; ; n++ {
			if _, err := fmt.Fprintln(w, n); err != nil {
				return
			}
		}
	}()
	time.Sleep(after)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("the writer was not killed")
	}
	in.Close()
}

// countInOrder requires that the lines are 0, 1, 2, ... and counts them.
func countInOrder(t *testing.T, lines string) (n int) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) != fmt.Sprint(n) {
			t.Fatalf("record %q at offset %d", line, n)
		}
		n++
	}
	return n
}

// The first Ctrl-C sends what was read.
func TestInterruptClosesCleanly(t *testing.T) {
	s := newShell(t)
	c := s.command("produce", "t", "--linger-ms", "-1", "--tee", "--report", "none")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "a\nb\n")
	if _, err := io.ReadFull(out, make([]byte, 4)); err != nil { // both were read
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if got := s.ok("", "fetch", "t", "-D", ""); got != "ab" {
		t.Errorf("the log holds %q, want both records", got)
	}
}

// A reader that goes away ends fetch, without a word.
func TestClosedPipeEndsFetch(t *testing.T) {
	s := newShell(t)
	s.ok(strings.Repeat("a line of some length\n", 50_000), "produce", "t", "--report", "none")
	var errs bytes.Buffer
	c := s.command("fetch", "t")
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	io.ReadFull(out, make([]byte, 10))
	out.Close()
	err = c.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("got %v, want the end by a signal", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGPIPE && status.ExitStatus() != exitPipe {
		t.Errorf("%v, want SIGPIPE", err)
	}
	if errs.Len() > 0 {
		t.Errorf("stderr: %s", errs.String())
	}
}

// Another process has the lock: a writer waits so long and no longer.
func TestHeldLock(t *testing.T) {
	s := newShell(t)
	env := OS()
	lock, err := env.FS.Lock(s.dir+"/locks/partition.t-0", true)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	stdout, stderr, code := s.run("a\n", "produce", "t", "--lock-timeout", "0")
	if code != exitBusy || stdout != "" || !strings.Contains(stderr, "t:0: locked by another process") {
		t.Errorf("exit code %d, want %d; stderr: %s", code, exitBusy, stderr)
	}
	if got := s.ok("", "fetch", "t"); got != "" {
		t.Errorf("the log holds %q", got)
	}
}

// Where no partition takes anything more, an endless input is not read to its end.
func TestHopelessInputEnds(t *testing.T) {
	s := newShell(t)
	c := s.command("produce", "t", "--report", "none", "--leader-epoch", "7")
	c.Stdin = endless{}
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != exitRefused {
		t.Errorf("%v, want exit code %d", err, exitRefused)
	}
}

// endless is a stream of lines without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestTerminalOnStdin(t *testing.T) {
	s := newShell(t)
	var out, errs bytes.Buffer
	env := OS()
	env.In, env.Out, env.Err, env.StdinIsTTY, env.Exit = strings.NewReader("a\n"), &out, &errs, true, nil
	if code := Main([]string{"produce", "t", "-d", s.dir}, env); code != 0 {
		t.Fatal(code, errs.String())
	}
	if want := "note: one record per line; Ctrl-D ends the input\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", errs.String(), want)
	}
}
