package cmd

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// killStory is a command that changes files, and the directory on which it does.
type killStory struct {
	name   string
	damage func(s shell) // done to the directory first
	args   []string
	// result is what must come out, however often the command was begun.
	result func(s shell) map[string]string
}

// killStories are the commands that must survive being killed.
var killStories = []killStory{
	{"tail", tornEverywhere, []string{"recover"}, shell.contents},
	{"kafka", flippedEverywhere, []string{"recover", "--policy", "kafka"}, shell.contents},
	{"skip", flippedEverywhere, []string{"recover", "--policy", "skip"}, shell.contents},
	{"fix", flippedEverywhere, []string{"recover", "--fix"}, shell.contents},
	{"truncate", func(shell) {}, []string{"truncate", "t:0", "--to", "6"}, shell.contents},
	// A second run makes one segment of two that have become small.
	{"compact", func(shell) {}, []string{"compact", "t"}, shell.records},
}

// contents are the bytes of all files, and records what is in them.
func (s shell) contents() map[string]string { return s.photo(false) }

func (s shell) records() map[string]string {
	if stdout, stderr, code := s.run("", "check"); code != 0 {
		s.t.Errorf("check: %s%s", stdout, stderr)
	}
	return map[string]string{"t": s.ok("", "fetch", "t", "-f", `%p %o %k %v %d\n`)}
}

func tornEverywhere(s shell) {
	for p := range killPartitions {
		s.ok("", "corrupt-tail", fmt.Sprint("t:", p))
	}
}

func flippedEverywhere(s shell) {
	for p := range killPartitions {
		s.ok("", "corrupt-tail", fmt.Sprint("t:", p), "--mode", "flip", "--segment", "0")
	}
}

const killPartitions = 4

// killable makes a cluster with enough files that a repair takes a while.
func killable(t *testing.T) shell {
	t.Helper()
	s := newShell(t, "-p", fmt.Sprint(killPartitions), "-c", "segment.bytes=600", "-c", "cleanup.policy=compact")
	var lines strings.Builder
	for i := range 40 * killPartitions {
		fmt.Fprintf(&lines, "k%d:value %d\n", i%20, i)
	}
	s.ok(lines.String(), "produce", "t", "-K", ":", "--batch-size", "120", "--report", "none")
	return s
}

// killRounds is how often each command is killed. LOGDIR_KILLS=N changes it.
func killRounds() int {
	if n, err := strconv.Atoi(os.Getenv("LOGDIR_KILLS")); err == nil {
		return n
	}
	return 5
}

// killSeed is LOGDIR_SEED, or another one each time.
func killSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("LOGDIR_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("LOGDIR_SEED=%d", seed)
	return seed
}

// TestKilledRepairs kills the process of each command at random moments. Whatever was reached,
// the same command finishes to the same bytes as one that was left alone, a third has nothing
// to do, and undo puts back the directory bit for bit: also right after the kill, and also if
// undo is killed as well.
func TestKilledRepairs(t *testing.T) {
	seed := killSeed(t)
	whole := killable(t)
	var hits atomic.Int64
	t.Cleanup(func() {
		if hits.Load() == 0 && !t.Failed() {
			t.Error("not one process was killed before its end")
		}
	})
	for i, story := range killStories {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			k := &killing{t: t, story: story, Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
			k.prepare(whole)
			for range killRounds() {
				k.round()
			}
			hits.Add(int64(k.hits))
			t.Logf("%d of %d processes were killed before their end", k.hits, k.kills)
		})
	}
}

// killing is one story, told again and again.
type killing struct {
	t *testing.T
	*rand.Rand
	story killStory

	damaged shell
	before  map[string]string // what is damaged
	want    map[string]string // what the command makes of it
	takes   time.Duration     // when it is left alone
	kills   int
	hits    int // processes that were killed before their end
}

func (k *killing) prepare(whole shell) {
	k.damaged = whole.clone(k.t)
	k.story.damage(k.damaged)
	os.RemoveAll(k.damaged.dir + "/quarantine") // the damage is not to be undone
	k.before = k.damaged.photo(true)
	alone := k.damaged.clone(k.t)
	start := time.Now()
	alone.ok("", k.story.args...)
	k.takes = time.Since(start)
	k.want = k.story.result(alone)
	if cmp.Equal(k.damaged.photo(false), alone.photo(false)) {
		k.t.Fatal("the command changes nothing")
	}
}

func (k *killing) round() {
	s := k.damaged.clone(k.t)
	k.kill(s, k.story.args...)
	if k.IntN(3) == 0 {
		k.undoAll(s, "right after the kill")
	}
	k.finish(s)
	k.same(k.want, k.story.result(s), "finished after the kill")
	if again := s.ok("", k.story.args...); k.story.args[0] == "recover" && again != "" {
		k.t.Errorf("a run behind the last one has work to do:\n%s", again)
	}
	k.same(k.want, k.story.result(s), "done once more")
	k.undoAll(s, "at last")
}

// finish runs the command again. A compaction that was interrupted while it put its segments in
// place tells what finishes that, or takes it back.
func (k *killing) finish(s shell) {
	stdout, stderr, code := s.run("", k.story.args...)
	if code == exitRefused && strings.Contains(stderr, "an interrupted compaction waits to be finished") {
		s.ok("", "recover", "t", "--policy", "kafka")
		stdout, stderr, code = s.run("", k.story.args...)
	}
	if code != 0 {
		k.t.Fatalf("exit code %d after the kill:\n%s%s", code, stdout, stderr)
	}
}

// kill starts a command and kills it at some moment up to its end, or lets it die of itself
// before its first change.
func (k *killing) kill(s shell, args ...string) {
	k.kills++
	if args[0] == "recover" && k.IntN(5) == 0 {
		if _, stderr, code := s.run("", slices.Concat(args, []string{"--failpoint", "recover.before-truncate"})...); code != exitCrash {
			k.t.Fatalf("failpoint: exit code %d: %s", code, stderr)
		}
		k.hits++
		return
	}
	c := s.command(args...)
	if err := c.Start(); err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(time.Duration((0.3 + 0.8*k.Float64()) * float64(k.takes)))
	c.Process.Kill()
	if err := c.Wait(); err != nil && c.ProcessState.ExitCode() < 0 {
		k.hits++
	}
}

// undoAll takes back every run. One undo or another is killed on the way.
func (k *killing) undoAll(s shell, when string) {
	for {
		if k.IntN(2) == 0 {
			k.kill(s, "undo")
		}
		_, stderr, code := s.run("", "undo")
		if code == exitNotFound {
			break
		}
		if code != 0 {
			k.t.Fatalf("undo %s: exit code %d: %s", when, code, stderr)
		}
	}
	k.same(k.before, s.photo(true), "undone "+when)
}

func (k *killing) same(want, got map[string]string, when string) {
	k.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Fatalf("%s (-want +got):\n%s", when, diff)
	}
}

// clone copies the directory, with the times of its files.
func (s shell) clone(t *testing.T) shell {
	t.Helper()
	to := shell{t: t, dir: t.TempDir() + "/d"}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to.dir + strings.TrimPrefix(path, s.dir)
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			return err
		}
		return os.Chtimes(target, time.Time{}, info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// photo describes every file of the brokers, with their times or without.
func (s shell) photo(times bool) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, s.dir+"/")
		switch {
		case err != nil:
			return err
		case path == s.dir:
			return nil
		case name == "quarantine" || name == "locks":
			return fs.SkipDir
		case strings.HasSuffix(name, ".cleaned"):
			return nil // of a compaction that had not begun to change anything
		case e.IsDir():
			out[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out[name] = fmt.Sprintf("%d bytes %x", len(data), sha256.Sum256(data))
		if info, err := e.Info(); err == nil && times {
			out[name] += info.ModTime().UTC().Format(" 2006-01-02T15:04:05.000000000")
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
