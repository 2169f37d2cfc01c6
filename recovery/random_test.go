package recovery

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/inspect"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// TestRandomDamage repairs logs of every format with random damage by every policy.
// LOGDIR_SEEDS=N tries N seeds.
func TestRandomDamage(t *testing.T) {
	seeds := 60
	if n, err := strconv.Atoi(os.Getenv("LOGDIR_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			l := newRandomLog(t, uint64(seed))
			for range 1 + l.IntN(3) {
				l.hurt()
			}
			for _, o := range []Options{{Policy: Tail}, {Policy: Skip}, {Policy: Tail, Fix: true}, {Policy: Skip, Fix: true}} {
				l.checkPolicy(t, o)
			}
			if l.format != "MKB1" { // policy kafka refuses what no broker reads
				l.checkKafka(t)
			}
			l.checkSalvage(t)
			if t.Failed() {
				t.Logf("%s log, damage: %s", l.format, strings.Join(l.damage, "; "))
			}
		})
	}
}

// checkPolicy: no whole batch is lost, a second run has nothing to do, check agrees with
// what is left, and undo is exact.
func (l *randomLog) checkPolicy(t *testing.T, o Options) {
	t.Helper()
	name := fmt.Sprintf("policy %s, fix %v", o.Policy, o.Fix)
	fsys := l.directory(t)
	before, whole := photo(t, fsys, "d"), l.whole(t, fsys, "d/foo-0")
	p := plan(t, fsys, o)
	if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
		t.Errorf("%s: planning wrote:\n%s", name, diff)
	}
	id := carryOut(t, fsys, p)
	after := l.whole(t, fsys, "d/foo-0")
	for i := range whole {
		if !after[i] {
			t.Errorf("%s: batch %d is gone: %+v", name, i, p.Rows)
		}
	}
	again := plan(t, fsys, o)
	if !again.Empty() || len(again.Left) > 0 != (len(p.Left) > 0) {
		t.Errorf("%s: a second run does %v, left %v; the first did %v, left %v", name, again.Rows, again.Left, p.Rows, p.Left)
	}
	if damaged := damageFound(t, fsys); len(damaged) > 0 != (len(p.Left) > 0) {
		t.Errorf("%s: left %v, but check finds %v", name, p.Left, damaged)
	}
	if o.Policy == Skip && len(p.Left) == 0 && l.format != "MKB1" {
		brokerIsContent(t, fsys)
	}
	if id == "" {
		return
	}
	undo(t, fsys)
	if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
		t.Errorf("%s: after undo (-before +after):\n%s", name, diff)
	}
}

// checkKafka: the forecast is what policy kafka does, and that can be undone.
func (l *randomLog) checkKafka(t *testing.T) {
	t.Helper()
	fsys := l.directory(t)
	before := photo(t, fsys, "d")
	d, err := store.Detect(fsys, "d")
	must(t, err)
	rows, err := inspect.ForecastLogDir(t.Context(), d, store.LogDir{Path: "d"}, inspect.ForecastOptions{})
	must(t, err)
	p := plan(t, fsys, Options{Policy: Kafka, FromRecoveryPoint: true})
	f := rows[0]
	if f.Action == inspect.ForecastRefuse {
		if len(p.Left) == 0 {
			t.Errorf("forecast: %s, but the policy is content", f.Why)
		}
		return
	}
	if len(p.Left) > 0 || f.To != p.LogEnd || f.RecordsLost != p.Lost.Records {
		t.Errorf("forecast: to %d, %d records lost; policy kafka: to %d, %d lost, left %v", f.To, f.RecordsLost, p.LogEnd, p.Lost.Records, p.Left)
	}
	if carryOut(t, fsys, p) == "" {
		return
	}
	again := plan(t, fsys, Options{Policy: Kafka, FromRecoveryPoint: true})
	for _, c := range again.Changes { // see TestPolicyKafkaLearnsEpochsTwice
		if path.Base(c.Path) != checkpoint.EpochFile {
			t.Errorf("policy kafka: a second run does %s to %s", c.Action, c.Path)
		}
	}
	carryOut(t, fsys, again)
	if third := plan(t, fsys, Options{Policy: Kafka, FromRecoveryPoint: true}); !third.Empty() {
		t.Errorf("policy kafka: a third run does %v", third.Rows)
	}
	must(t, undoAll(t, fsys))
	if diff := cmp.Diff(before, photo(t, fsys, "d")); diff != "" {
		t.Errorf("policy kafka: after undo (-before +after):\n%s", diff)
	}
}

// TestPolicyKafkaLearnsEpochsTwice: where leader-epoch-checkpoint has the epoch of the batches, but
// from beyond the log end on, a broker that starts learns nothing from the batches, since it
// knows their epoch, and then drops the entry, since it is beyond the end. The next start learns
// it from the batches. So here, and only here, a second run of policy kafka has work to do.
func TestPolicyKafkaLearnsEpochsTwice(t *testing.T) {
	fsys := single(t, fixtureF(t))
	file := "d/foo-0/" + checkpoint.EpochFile
	put(t, fsys, file, []byte("0\n1\n0 700\n"))
	o := Options{Policy: Kafka}
	for run, want := range []string{"0\n0\n", "0\n1\n0 0\n"} {
		carryOut(t, fsys, plan(t, fsys, o))
		if got := string(read(t, fsys, file)); got != want {
			t.Errorf("run %d: %q, want %q", run, got, want)
		}
	}
	if third := plan(t, fsys, o); !third.Empty() {
		t.Errorf("a third run does %v", third.Rows)
	}
}

// checkSalvage: every whole batch is in the new directory, with which nothing is wrong.
func (l *randomLog) checkSalvage(t *testing.T) {
	t.Helper()
	fsys := l.directory(t)
	_, err := salvage(t, fsys, fsys)
	must(t, err)
	after := l.whole(t, fsys, "out/new/foo-0")
	for i := range l.whole(t, fsys, "d/foo-0") {
		if !after[i] {
			t.Errorf("salvage: batch %d is gone", i)
		}
	}
	moved := memfs.New()
	must(t, moved.MkdirAll("d/foo-0"))
	for path := range photo(t, fsys, "out/new") {
		put(t, moved, "d"+strings.TrimPrefix(path, "out/new"), read(t, fsys, path))
	}
	if found := damageFound(t, moved); len(found) > 0 {
		t.Errorf("salvage: check finds %v", found)
	}
	if p := plan(t, moved, Options{Policy: Tail, Deep: true}); !p.Empty() || len(p.Left) > 0 {
		t.Errorf("salvage: needs repair: %v, left %v", p.Rows, p.Left)
	}
}

// damageFound is the damage that a check of the directory d finds.
func damageFound(t *testing.T, fsys vfs.ReadFS) (found []string) {
	t.Helper()
	d, err := store.Detect(fsys, "d")
	must(t, err)
	refs, err := d.AllPartitions()
	must(t, err)
	scope := inspect.CheckScope{Partitions: refs, LogDirs: []inspect.CheckDir{{Path: "d", Whole: true}}}
	report := inspect.Check(t.Context(), fsys, scope, inspect.CheckOptions{Now: time.UnixMilli(1700000000000)})
	for _, f := range report.Findings {
		if f.Severity == inspect.Damage {
			found = append(found, fmt.Sprintf("%s in %s: %s", f.Kind, f.Where(), f.Detail))
		}
	}
	for _, err := range report.Err {
		t.Error(err)
	}
	return found
}
