package recovery

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Policy says what becomes of damage.
type Policy string

// The policies of recover.
const (
	// Tail cuts only bytes that hold no record, at the end of the log, and refuses the rest.
	Tail Policy = "tail"
	// Kafka does what a broker does when it starts.
	Kafka Policy = "kafka"
	// Skip takes out only the bad bytes and keeps every valid batch behind them.
	Skip Policy = "skip"
)

// Options say how partitions are repaired.
type Options struct {
	Policy Policy
	// Fix puts back what can be proved before the policy is applied.
	Fix bool
	// FromRecoveryPoint starts policy kafka where a broker would.
	FromRecoveryPoint bool
	// Deep also decompresses and parses records.
	Deep bool
	// IndexInterval is index.interval.bytes; 0 means 4096.
	IndexInterval int
	// TrimIndexes takes preallocated space off index files, which a clean marker demands.
	TrimIndexes bool
}

// Row is one line of what recover did or would do.
type Row struct {
	store.TopicPartition
	Broker int32
	// Segment is the base offset, or corrupt.Unknown for a file that belongs to none.
	Segment int64
	// Damage is the kind, or "" for something that is changed but not damaged.
	Damage corrupt.Kind
	// LostBytes counts the bytes that go from the segment's log; LogEnd is the offset behind
	// it afterwards; LostRecords counts all records that go for it.
	LostBytes, LogEnd, LostRecords int64
	// Action says what was done, as "truncated to 70 bytes"; "" if nothing was.
	Action string
}

// Plan is what is going to be done with one partition. Making one reads only.
type Plan struct {
	Partition Partition
	Rows      []Row
	// First are changes after which the rest must be planned anew; mostly none.
	First []Change
	// Changes is what is to be done, in this order.
	Changes []Change
	// LogStart and LogEnd are as they will be, if HasLog: a folder without a segment has none.
	LogStart, LogEnd int64
	HasLog           bool
	// Lost sums up what goes with the bytes.
	Lost Loss
	// Left is damage that stays, and why: the exit code is then 4.
	Left []error
	// Notes are for the operator's eyes: nothing to do, but to know.
	Notes []string
}

// Empty says that nothing is to be done.
func (p *Plan) Empty() bool { return len(p.First) == 0 && len(p.Changes) == 0 }

// ChangesLog says that a log is cut, rewritten or removed, and not only what is derived from it.
func (p *Plan) ChangesLog() bool {
	return slices.ContainsFunc(slices.Concat(p.First, p.Changes), func(c Change) bool {
		return filepath.Ext(c.Path) == segment.LogSuffix
	})
}

// Make plans the repair of one partition.
func Make(ctx context.Context, fsys vfs.ReadFS, p Partition, o Options) (*Plan, error) {
	if o.IndexInterval == 0 {
		o.IndexInterval = store.DefaultIndexInterval
	}
	if o.Policy == Kafka {
		return makeKafka(ctx, fsys, p, o)
	}
	return makeOwn(ctx, fsys, p, o)
}

// row begins a line about a segment.
func (p *Plan) row(segment int64, kind corrupt.Kind, end int64, format string, args ...any) Row {
	return Row{
		TopicPartition: p.Partition.TopicPartition, Broker: p.Partition.Broker,
		Segment: segment, Damage: kind, LogEnd: end, Action: fmt.Sprintf(format, args...),
	}
}

// note adds a sentence for the operator.
func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
