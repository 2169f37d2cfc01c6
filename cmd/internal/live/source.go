package live

import (
	"context"
	"errors"
	"time"

	"logdir/store"
	"logdir/store/record"
)

// Source is one partition of a directory that is exported.
type Source struct {
	store.TopicPartition
	// Target is the topic that it becomes; the partition stays the same.
	Target string
	// From and To bound its offsets; To is not included.
	From, To int64
	Read     ReadFunc
	// Open is what is said at the end where records were left because their transaction is
	// open; nil if there are none.
	Open error
}

// to is the partition of the cluster.
func (s *Source) to() store.TopicPartition {
	return store.TopicPartition{Topic: s.Target, Partition: s.Partition}
}

// ReadFunc calls each for the records from offset from on, in order; both are valid during
// the call. It ends without an error at the last one, and where each says client.ErrStop.
type ReadFunc func(from int64, each func(*record.Batch, *record.Record) error) error

// Exported is what became of one partition in one run.
type Exported struct {
	store.TopicPartition
	Records int64
	// First and Last are offsets in the directory, TargetFirst and TargetLast in the
	// cluster; they are -1 as long as there are none.
	First, Last, TargetFirst, TargetLast int64
	Status                               string
	Err                                  error // what is wrong with it
}

// NewExported is a partition of which nothing is exported yet.
func NewExported(tp store.TopicPartition) Exported {
	return Exported{TopicPartition: tp, First: -1, Last: -1, TargetFirst: -1, TargetLast: -1}
}

// Add counts a record that has an offset here and one there.
func (e *Exported) Add(offset, target int64) { e.addRun(run{offset, offset, target}) }

func (e *Exported) addRun(r run) {
	if e.Records == 0 {
		e.First, e.TargetFirst = r.first, r.target
	}
	e.Records += r.count()
	e.Last, e.TargetLast = r.last, r.target
	if r.target >= 0 {
		e.TargetLast = r.target + r.count() - 1
	}
}

// add counts what a transaction has exported.
func (e *Exported) add(o Exported) {
	if o.Records == 0 {
		return
	}
	if e.Records == 0 {
		e.First, e.TargetFirst = o.First, o.TargetFirst
	}
	e.Records += o.Records
	e.Last, e.TargetLast = o.Last, o.TargetLast
}

// run is a row of offsets without a gap, both here and there.
type run struct{ first, last, target int64 }

func (r run) count() int64 { return r.last - r.first + 1 }

// joins says that s goes on where r ends, here and there.
func (r run) joins(s run) bool { return s.first == r.last+1 && s.target == r.target+r.count() }

// appendRun adds a run, joined to the last one where that is possible.
func appendRun(runs []run, r run) []run {
	if n := len(runs); n > 0 && runs[n-1].joins(r) {
		runs[n-1].last = r.last
		return runs
	}
	return append(runs, r)
}

// The words of the STATUS column.
const (
	statusDone    = "done"
	statusWould   = "would be exported"
	statusDamaged = "damaged"
	statusOpen    = "open-transaction"
	statusFailed  = "failed"
	statusLeft    = "unfinished"
)

// StatusOf is the word for what ended a partition.
func StatusOf(err error, dryRun bool) string {
	known, _ := errors.AsType[*store.Error](err)
	switch {
	case err == nil && dryRun:
		return statusWould
	case err == nil:
		return statusDone
	case errors.Is(err, context.Canceled):
		return statusLeft
	case known == nil:
		return statusFailed
	case known.Class == store.Damage:
		return statusDamaged
	case known.Name == "INVALID_TXN_STATE":
		return statusOpen
	case known.Class == store.NotAcked:
		return statusLeft
	}
	return statusFailed
}

// Pace holds an export back to so many records per second. The zero value does not.
type Pace struct {
	rate  int64
	start time.Time
	sent  int64
}

// NewPace begins to count; 0 is no limit.
func NewPace(rate int64) Pace { return Pace{rate: rate, start: time.Now()} }

// Wait waits until n more records may go.
func (p *Pace) Wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return nil
	}
	due := p.start.Add(time.Duration(float64(p.sent) / float64(p.rate) * float64(time.Second)))
	p.sent += int64(n)
	wait := time.Until(due)
	if wait <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// share is how many records may go at once, so that the rate holds within a tenth of a
// second.
func (p *Pace) share() int {
	if p.rate <= 0 {
		return 1 << 30
	}
	return int(max(p.rate/10, 1))
}
