package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowdWriter is a process that produces numbered lines until it is told to end, or killed.
type crowdWriter struct {
	name     string
	cmd      *exec.Cmd
	in       io.WriteCloser
	acked    bytes.Buffer // "partition offset value" of what was acknowledged
	errs     bytes.Buffer
	feeding  sync.WaitGroup
	finished chan struct{} // closed: no more lines
}

// startWriter starts a writer that syncs each append before it is answered.
func (s shell) startWriter(name string, flags ...string) *crowdWriter {
	s.t.Helper()
	args := append([]string{"produce", "t", "-K", "/", "--fsync", "always", "--batch-size", "300", "--linger-ms", "0", "--report", `%p %o %v\n`}, flags...)
	w := &crowdWriter{name: name, cmd: s.command(args...), finished: make(chan struct{})}
	w.cmd.Stdout, w.cmd.Stderr = &w.acked, &w.errs
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.feeding.Go(w.feed)
	return w
}

// feed writes lines such as "k3/w1:17": key k3, value w1:17.
func (w *crowdWriter) feed() {
	defer w.in.Close()
	for n := 0; ; n++ {
		select {
		case <-w.finished:
			return
		default:
		}
		if _, err := fmt.Fprintf(w.in, "k%d/%s:%d\n", n%7, w.name, n); err != nil {
			return // the process is gone
		}
	}
}

// finish ends the input and waits for the process, which must have succeeded.
func (w *crowdWriter) finish(t *testing.T) {
	t.Helper()
	close(w.finished)
	w.feeding.Wait()
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("writer %s: %v\n%s", w.name, err, w.errs.String())
	}
}

// kill ends the process wherever it is.
func (w *crowdWriter) kill(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	close(w.finished)
	w.feeding.Wait()
	if err := w.cmd.Wait(); err == nil {
		t.Errorf("writer %s was not killed", w.name)
	}
}

// acknowledged are the records that the writer was told of: whole lines only.
func (w *crowdWriter) acknowledged() crowdLog {
	all := w.acked.String()
	return readCrowdLog(all[:strings.LastIndexByte(all, '\n')+1])
}

// crowdLog is the value at each place, "partition offset".
type crowdLog map[string]string

func readCrowdLog(lines string) crowdLog {
	log := crowdLog{}
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		log[fields[0]+" "+fields[1]] = fields[2]
	}
	return log
}

// requireIn requires that another log has everything that this one has.
func (l crowdLog) requireIn(t *testing.T, all crowdLog, what string) {
	t.Helper()
	for at, value := range l {
		if all[at] != value {
			t.Fatalf("%s: %s stood at %q; now there is %q", what, value, at, all[at])
		}
	}
}

// TestCrowdOfProcesses lets processes write to one partition and to all at once, while
// others read, and kills some of them. What was acknowledged is there, in the order of each
// writer, once; no lock is left behind; who reads is never kept waiting, and what it saw
// stays. Where a killed process leaves a torn tail, the others refuse to write behind it
// until recover has cut it.
func TestCrowdOfProcesses(t *testing.T) {
	s := newShell(t, "-p", "3", "-c", "segment.bytes=20000")
	var writers []*crowdWriter
	for n := range 6 {
		flags := []string{}
		if n%2 == 0 {
			flags = []string{"-p", "0"} // one partition that many want
		}
		writers = append(writers, s.startWriter(fmt.Sprint("w", n), flags...))
	}
	seen := s.readAlong(300 * time.Millisecond)
	for _, w := range writers[:2] {
		w.kill(t)
	}
	seen = append(seen, s.readAlong(100*time.Millisecond)...)
	for _, w := range writers[2:] {
		w.finish(t)
	}
	s.ok("", "recover", "t", "--lock-timeout", "0")
	all := s.checkCrowd(t)
	for _, w := range writers {
		w.acknowledged().requireIn(t, all, "writer "+w.name)
	}
	for _, log := range seen {
		log.requireIn(t, all, "a reader")
	}
}

// readAlong reads the topic again and again for a while.
func (s shell) readAlong(d time.Duration) (seen []crowdLog) {
	s.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		stdout, stderr, code := s.run("", "fetch", "t", "-f", `%p %o %v\n`, "--lock-timeout", "0")
		if code != exitOK && code != exitDamage { // a torn tail of a killed writer
			s.t.Fatalf("a reader: exit code %d\n%s", code, stderr)
		}
		seen = append(seen, readCrowdLog(stdout))
	}
	return seen
}

// checkCrowd requires that the log is whole and has the values of each writer in order,
// once, in each partition. It returns what is there.
func (s shell) checkCrowd(t *testing.T) crowdLog {
	t.Helper()
	s.ok("", "verify-crc", "t")
	stdout := s.ok("", "fetch", "t", "-f", `%p %o %v\n`)
	last, values := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(stdout) {
		var partition, offset, n int
		var writer string
		if _, err := fmt.Sscanf(strings.Replace(line, ":", " ", 1), "%d %d %s %d", &partition, &offset, &writer, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lane, value := fmt.Sprint(writer, " ", partition), fmt.Sprint(writer, " ", n)
		if before, ok := last[lane]; ok && n <= before || values[value] {
			t.Fatalf("%q stands behind %d, or twice", line, before)
		}
		last[lane], values[value] = n, true
	}
	return readCrowdLog(stdout)
}

// A process that dies in the middle of a write leaves half a frame and no lock. The others
// say so and write nothing behind it; after recover they go on, and nothing that was
// acknowledged is missing.
func TestTornTailStopsTheCrowd(t *testing.T) {
	s := newShell(t)
	before := s.startWriter("before")
	time.Sleep(50 * time.Millisecond)
	before.finish(t)
	if _, stderr, code := s.run("k/torn:0\n", "produce", "t", "-K", "/", "--failpoint", "append.mid-write"); code != exitCrash {
		t.Fatalf("exit code %d, want %d: %s", code, exitCrash, stderr)
	}
	for range 3 {
		stdout, stderr, code := s.run("k/refused:0\n", "produce", "t", "-K", "/", "--lock-timeout", "0")
		if code != exitDamage || stdout != "" && !strings.Contains(stdout, "failed") || !strings.Contains(stderr, "logdir recover") {
			t.Errorf("exit code %d, want %d\n%s%s", code, exitDamage, stdout, stderr)
		}
	}
	s.ok("", "recover", "t")
	after := s.startWriter("after")
	time.Sleep(50 * time.Millisecond)
	after.finish(t)
	all := s.checkCrowd(t)
	before.acknowledged().requireIn(t, all, "before the crash")
	after.acknowledged().requireIn(t, all, "after the crash")
	if len(before.acknowledged()) == 0 || len(after.acknowledged()) == 0 {
		t.Error("nothing was written")
	}
}
