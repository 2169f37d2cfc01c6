package cmd

import (
	"errors"
	"path/filepath"
	"strings"

	"logdir/cmd/internal/progress"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/segment"
)

// look opens the data directory for reading and warns if a broker runs on it. TARGETs
// that are all paths need no data directory around them.
func (e *Env) look(targets []string) (*cluster.View, error) {
	v, err := cluster.OpenView(e.FS, e.Global.DataDir)
	if err == nil {
		e.warnOfBrokers(v)
		return v, nil
	}
	refused, ok := errors.AsType[*store.Error](err)
	if ok && refused.Class == store.NotFound && len(targets) > 0 && e.allPaths(targets) {
		return &cluster.View{Dir: &store.Dir{FS: e.FS, Path: e.Global.DataDir}}, nil
	}
	return nil, err
}

// resolve turns TARGETs into replicas, the leaders' or all. That some partitions have no
// leader is no reason not to do the others: it is told behind them.
func resolve(v *cluster.View, targets []string, all bool) (refs []store.PartitionRef, leaderless, err error) {
	refs, err = v.Resolve(targets, all)
	if len(refs) > 0 {
		return refs, err, nil
	}
	return nil, nil, err
}

// allPaths says that each TARGET names something in the working directory.
func (e *Env) allPaths(targets []string) bool {
	for _, t := range targets {
		if _, err := e.FS.Stat(t); err != nil && !store.LooksLikePath(t) {
			return false
		}
	}
	return true
}

// warnOfBrokers notes where somebody else has a log directory for itself: what is read
// there may change under our eyes.
func (e *Env) warnOfBrokers(v *cluster.View) {
	dirs, err := v.LogDirs()
	if err != nil {
		return // the command itself will say what is wrong
	}
	for _, d := range dirs {
		lock := filepath.Join(d.Path, store.BrokerLockFile)
		if held, err := e.FS.Locked(lock); err == nil && held {
			e.Note("a broker runs on %s: its files may change while they are read", d.Path)
		}
	}
}

// retype is a command to type next, on the same data directory and TARGETs.
func (e *Env) retype(command string, targets []string) string {
	words := []string{command}
	if dir := e.Global.DataDir; dir != "." && (len(targets) == 0 || !e.allPaths(targets)) {
		words = append(words, "-d", store.ShellWord(dir))
	}
	for _, t := range targets {
		words = append(words, store.ShellWord(t))
	}
	return strings.Join(words, " ")
}

// namedDataDir is the data directory as a command to type next has to name it, "" if it is
// where the user is, or what the environment says.
func (e *Env) namedDataDir() string {
	dir := e.Global.DataDir
	if set, _ := e.Getenv("LOGDIR_DATA_DIR"); dir == "." || dir == set {
		return ""
	}
	return dir
}

// logsOf lists the segments of the replicas, in their order. A replica named by one of
// its files is that file.
func (e *Env) logsOf(refs []store.PartitionRef) ([]inspect.LogRef, error) {
	var logs []inspect.LogRef
	for _, r := range refs {
		if r.File != "" {
			logs = append(logs, inspect.RefOf(e.FS, filepath.Join(r.Dir, r.File), r.Show(r.File)))
			continue
		}
		found, err := inspect.ListLogs(e.FS, r.Dir, r.Show(""))
		if err != nil {
			return nil, err
		}
		logs = append(logs, found...)
	}
	return logs, nil
}

// isLog says that a file named by path is one that holds batches.
func isLog(name string) bool {
	_, suffix, ok := segment.ParseName(name)
	return !ok || suffix == segment.LogSuffix
}

// progressOf shows on a terminal how far the reading of the logs is; elsewhere nothing.
func (e *Env) progressOf(label string, logs []inspect.LogRef) *progress.Bar {
	if !e.StderrIsTTY || e.Global.Quiet {
		return nil
	}
	total := int64(0)
	for _, l := range logs {
		if info, err := e.FS.Stat(l.Path); err == nil {
			total += info.Size()
		}
	}
	return progress.Start(e.Err, label, total)
}
