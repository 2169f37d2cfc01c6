package cmd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/vfs"
)

// repairFlags are those of every command that changes bytes which are there already.
type repairFlags struct {
	dryRun     bool
	quarantine string
}

// ordinaryQuarantine is the default of --quarantine, as the help shows it.
const ordinaryQuarantine = " (default quarantine/ in a cluster, LOGDIR.quarantine/ beside a bare log dir LOGDIR)"

func (f *repairFlags) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the same plan, but write nothing")
	flags.StringVar(&f.quarantine, "quarantine", "", "`directory` for every byte that is taken out"+ordinaryQuarantine)
}

// repair is a data directory opened to be changed by plans: its replicas, their log
// directories, and who else is kept out meanwhile.
type repair struct {
	env     *Env
	flags   repairFlags
	command string
	view    *cluster.View
	refs    []store.PartitionRef
	logDirs map[string]*recovery.LogDir // by path
	held    []io.Closer
}

// openRepair resolves the targets and locks what they name; a dry run locks nothing.
// all takes every replica, otherwise it is the leader's.
func (e *Env) openRepair(ctx context.Context, command string, f repairFlags, targets []string, all bool) (*repair, error) {
	v, err := e.look(targets)
	if err != nil {
		return nil, err
	}
	r := &repair{env: e, flags: f, command: command, view: v, logDirs: map[string]*recovery.LogDir{}}
	if r.refs, err = v.Resolve(targets, all); err != nil {
		return nil, err
	}
	if !f.dryRun {
		err = r.lock(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close lets go of the locks.
func (r *repair) Close() error {
	var errs []error
	for _, l := range slices.Backward(r.held) {
		errs = append(errs, l.Close())
	}
	r.held = nil
	return errors.Join(errs...)
}

// lock keeps brokers and other commands out: the partitions in order, then the checkpoints,
// then each log directory, which in a cluster is shared with commands on other partitions.
func (r *repair) lock(ctx context.Context) error {
	type logDir struct {
		path   string
		broker int32
	}
	var partitions []store.PartitionRef
	var dirs []logDir
	for _, ref := range r.refs {
		p := r.placeOf(ref)
		if p.cluster {
			partitions = append(partitions, ref)
		}
		if d := (logDir{p.logDir, ref.Broker}); p.logDir != "" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	slices.SortFunc(partitions, func(a, b store.PartitionRef) int { return a.Compare(b.TopicPartition) })
	partitions = slices.CompactFunc(partitions, func(a, b store.PartitionRef) bool { return a.TopicPartition == b.TopicPartition })
	for _, ref := range partitions {
		locks := store.NewLocks(r.env.FS, filepath.Join(r.placeOf(ref).root, cluster.LocksDir), r.env.Global.LockTimeout)
		if err := r.hold(locks.Partition(ctx, ref.TopicPartition)); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := r.lockDir(ctx, d.path, d.broker); err != nil {
			return err
		}
	}
	return nil
}

func (r *repair) lockDir(ctx context.Context, dir string, broker int32) error {
	p := r.place(dir)
	if p.cluster && broker != store.NoBroker {
		locks := store.NewLocks(r.env.FS, filepath.Join(p.root, cluster.LocksDir), r.env.Global.LockTimeout)
		if err := r.hold(locks.Checkpoints(ctx, broker)); err != nil {
			return err
		}
	}
	return r.hold(store.LockBroker(ctx, r.env.FS, dir, !p.cluster, r.env.Global.LockTimeout))
}

func (r *repair) hold(l io.Closer, err error) error {
	if err == nil {
		r.held = append(r.held, l)
	}
	return err
}

// location is where a replica stands.
type location struct {
	// logDir is the log directory, "" for a folder that is in none.
	logDir string
	// root is what manifests name files relative to; quarantine is the default one.
	root, quarantine string
	cluster          bool
}

// placeOf finds the log directory of a replica and what is around it.
func (r *repair) placeOf(ref store.PartitionRef) location {
	if ref.Partition < 0 {
		dir := absolute(ref.Dir)
		return location{root: dir, quarantine: dir + ".quarantine"}
	}
	return r.place(filepath.Dir(absolute(ref.Dir)))
}

// place is a log directory: a cluster's, MiniKafka's or a bare one. Nothing of ours ever
// goes inside.
func (r *repair) place(logDir string) location {
	up := filepath.Dir(logDir)
	switch {
	case r.exists(up, store.ClusterFile):
		return location{logDir: logDir, root: up, quarantine: filepath.Join(up, cluster.QuarantineDir), cluster: true}
	case strings.HasPrefix(filepath.Base(logDir), "broker-") && r.exists(up, store.MiniKafkaFile):
		return location{logDir: logDir, root: up, quarantine: up + ".quarantine"}
	}
	return location{logDir: logDir, root: logDir, quarantine: logDir + ".quarantine"}
}

func (r *repair) exists(dir, name string) bool {
	there, err := vfs.Exists(r.env.FS, filepath.Join(dir, name))
	return there && err == nil
}

// absolute is a path that has a parent by its name.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// logDir is what the files of a log directory say, read once.
func (r *repair) logDir(path string) (*recovery.LogDir, error) {
	if d := r.logDirs[path]; d != nil {
		return d, nil
	}
	d, err := recovery.ReadLogDir(r.env.FS, path)
	r.logDirs[path] = d
	return d, err
}

// partition is a replica with its lines in the checkpoints.
func (r *repair) partition(ref store.PartitionRef) (recovery.Partition, error) {
	d, err := r.logDir(r.placeOf(ref).logDir)
	if err != nil {
		return recovery.Partition{}, err
	}
	p := d.Partition(ref)
	p.DataDir = r.dataDirFlag()
	return p, nil
}

// partitions are all the replicas, with their lines.
func (r *repair) partitions() ([]recovery.Partition, error) {
	out := make([]recovery.Partition, len(r.refs))
	for i, ref := range r.refs {
		var err error
		if out[i], err = r.partition(ref); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// interval is index.interval.bytes of a topic: what the flag says, or the topic's config.
func (r *repair) interval(topic string, flag int) int {
	if flag > 0 {
		return flag
	}
	if r.view.Meta != nil {
		if t, err := r.view.Meta.Topic(topic); err == nil {
			return int(r.view.Meta.Settings(t).Int("index.interval.bytes"))
		}
	}
	return store.DefaultIndexInterval
}

// bare says whether any of the replicas is not in a cluster of ours.
func (r *repair) bare() bool {
	return slices.ContainsFunc(r.refs, func(ref store.PartitionRef) bool { return !r.placeOf(ref).cluster })
}

// confirm asks before anything but a cluster of ours is changed.
func (r *repair) confirm(question string) error {
	if !r.bare() {
		return nil
	}
	return r.env.Confirm(question)
}

// dataDirFlag is how a command to type next names the data directory.
func (r *repair) dataDirFlag() string {
	if d := r.env.namedDataDir(); d != "" {
		return "-d " + store.ShellWord(d) + " "
	}
	return ""
}

// quarantineFlag is how undo is told where the old bytes are, unless it looks there by itself.
func (r *repair) quarantineFlag() string {
	if r.flags.quarantine == "" {
		return ""
	}
	return "--quarantine " + store.ShellWord(r.flags.quarantine) + " "
}

// work is what is to be changed below one root.
type work struct {
	place   location
	changes []recovery.Change
}

// execute makes the changes, one run for each quarantine, and answers the runs' ids in the
// order of the works.
func (r *repair) execute(ctx context.Context, works []work, before func() error) ([]string, error) {
	ids := make([]string, len(works))
	for i, w := range works {
		job := recovery.Job{
			Quarantine: r.quarantine(w.place), Command: r.command, Now: r.env.Now(),
			Changes: w.changes, Before: before,
		}
		var err error
		ids[i], err = job.Execute(ctx)
		r.logRun(ids[i], w, err)
		if err != nil {
			return ids, err
		}
	}
	return ids, nil
}

func (r *repair) quarantine(p location) recovery.Quarantine {
	dir := p.quarantine
	if r.flags.quarantine != "" {
		dir = absolute(r.flags.quarantine)
	}
	return recovery.Quarantine{FS: r.env.FS, Dir: dir, Root: p.root}
}

// checkQuarantine refuses a quarantine inside a log directory, on which a broker would stop.
func (r *repair) checkQuarantine() error {
	if r.flags.quarantine == "" {
		return nil
	}
	dir := absolute(r.flags.quarantine)
	for _, ref := range r.refs {
		for _, inside := range []string{r.placeOf(ref).logDir, absolute(ref.Dir)} {
			if inside != "" && (dir == inside || strings.HasPrefix(dir, inside+string(filepath.Separator))) {
				return usagef("--quarantine %s lies inside the log directory %s: a broker would not start there", r.flags.quarantine, inside)
			}
		}
	}
	return nil
}

// add puts changes to the work of their place.
func add(works []work, p location, changes []recovery.Change) []work {
	if len(changes) == 0 {
		return works
	}
	for i := range works {
		if works[i].place.root == p.root {
			works[i].changes = append(works[i].changes, changes...)
			return works
		}
	}
	return append(works, work{place: p, changes: changes})
}

// idAt is the id of the run that changed files below root, nil if there is none.
func idAt(works []work, ids []string, root string) any {
	for i, w := range works {
		if w.place.root == root && ids[i] != "" {
			return ids[i]
		}
	}
	return nil
}
