package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/group"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// CheckScope names what is checked.
type CheckScope struct {
	// LogDirs are checked for what stands in them beside partitions.
	LogDirs []CheckDir
	// Partitions are checked in full. Their Broker tells to which of LogDirs they belong.
	Partitions []store.PartitionRef
	// DataDirs are the data directories by log directory, as a command to type next names
	// them with -d; "" where it need not.
	DataDirs map[string]string
	// Leaders are the log directories of each partition's leader, by the directory in which
	// groups of ours have committed: by default these read what stands beside their commits,
	// and a broker has to reset them.
	Leaders map[string]map[store.TopicPartition]string
	// Groups are those whose commits stand in no log, by a directory of Leaders.
	Groups map[string][]*group.Group
}

// command is a command to type next about a log directory.
func (s *CheckScope) command(logDir, verb string, words ...string) string {
	line := []string{"logdir " + verb}
	if dir := s.DataDirs[logDir]; dir != "" {
		line = append(line, "-d", store.ShellWord(dir))
	}
	for _, w := range words {
		line = append(line, store.ShellWord(w))
	}
	return strings.Join(line, " ")
}

// CheckDir is one log directory and what reports call it.
type CheckDir struct {
	Path, Name string
	// Whole says that all its partitions are among those to check.
	Whole bool
}

// CheckOptions say how a check judges.
type CheckOptions struct {
	// Now is the clock against which timestamps are held.
	Now time.Time
	// MaxBatch bounds what one batch may decompress to; 0 is 128 MiB.
	MaxBatch int
	// Progress is that of VerifyOptions.
	Progress func(bytes int64)
}

// CheckReport is the verdict.
type CheckReport struct {
	Findings []Finding
	// Segments, Batches and Records count what is good.
	Segments         int
	Batches, Records int64
	// LostBatches and LostRecords count what cannot be read any more.
	LostBatches, LostRecords int64
	// LostBytes counts the bytes in which nothing tells of a batch.
	LostBytes int64
	// Err is what could not be read; the rest was checked all the same.
	Err []error
}

// Verdict is the last line of a report.
func (r *CheckReport) Verdict() string {
	switch {
	case r.LostBatches > 0:
		text := fmt.Sprintf("damaged: %d records in %d batches are unreadable", r.LostRecords, r.LostBatches)
		if r.LostBytes > 0 {
			text += fmt.Sprintf(", and %d bytes hold no batch that can be read", r.LostBytes)
		}
		return text
	case r.LostBytes > 0:
		return fmt.Sprintf("damaged: %d bytes hold no batch that can be read", r.LostBytes)
	case r.Damaged():
		return "repairable without loss" + r.missing()
	}
	return "healthy" + r.missing()
}

// missing tells what good bytes alone do not: something remembers more records than there are.
func (r *CheckReport) missing() string {
	for _, f := range r.Findings {
		if f.Kind == BeyondEnd || f.Kind == MissingLog {
			return ", but records are missing that once were there"
		}
	}
	return ""
}

// Damaged says that something is, whether or not it can be repaired.
func (r *CheckReport) Damaged() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Damage })
}

// Check judges everything in scope, partitions in parallel. Nothing is written.
func Check(ctx context.Context, fsys vfs.ReadFS, scope CheckScope, o CheckOptions) *CheckReport {
	c := &check{fs: fsys, scope: scope, o: o, report: &CheckReport{}, ends: map[replicaDir]logRange{}}
	refs := scope.Partitions
	results := inOrder(ctx, refs, func() func(store.PartitionRef) partitionReport {
		p := newPartitionCheck(fsys, &c.scope, o)
		return p.check
	})
	i := 0
	for r := range results {
		c.take(refs[i], r)
		i++
	}
	for _, d := range scope.LogDirs {
		c.logDir(d)
	}
	c.acrossPartitions()
	c.report.Findings = groupFindings(c.report.Findings)
	return c.report
}

// check collects the findings of all partitions and holds them against each other.
type check struct {
	fs     vfs.ReadFS
	scope  CheckScope
	o      CheckOptions
	report *CheckReport

	ends     map[replicaDir]logRange
	ids      []partitionID
	clusters []clusterID
	commits  []commits
}

// replicaDir is a replica: a broker's copy of a partition.
type replicaDir struct {
	store.TopicPartition
	dir string // the log directory
}

// logRange is what a log holds: offsets from start up to end. Of one that could not be read
// to its end they are not known.
type logRange struct {
	start, end int64
	known      bool
	empty      bool // there is no log at all: recover has nothing to go by
}

func (l logRange) holds(offset int64) bool { return !l.known || offset >= l.start && offset <= l.end }

func (c *check) take(ref store.PartitionRef, r partitionReport) {
	c.report.Findings = append(c.report.Findings, r.findings...)
	c.report.Segments += r.segments
	c.report.Batches += r.batches
	c.report.Records += r.records
	c.report.LostBatches += r.lostBatches
	c.report.LostRecords += r.lostRecords
	c.report.LostBytes += r.lostBytes
	if r.err != nil {
		c.report.Err = append(c.report.Err, r.err)
	}
	if ref.State == segment.Normal {
		c.ends[replicaDir{ref.TopicPartition, logDirOf(ref)}] = r.log
		c.commits = append(c.commits, r.commits)
	}
	if r.id != nil {
		c.ids = append(c.ids, partitionID{ref, *r.id})
	}
}

func (c *check) add(severity Severity, e *corrupt.Error, next string) {
	c.report.Findings = append(c.report.Findings, Finding{Severity: severity, Error: e, Next: next})
}

// at is a finding about a whole file or folder.
func at(kind corrupt.Kind, path, format string, args ...any) *corrupt.Error {
	e := corrupt.Newf(kind, 0, 0, format, args...)
	e.Path = path
	return e
}
