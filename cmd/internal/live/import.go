package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"logdir/store"
)

// Wanted is a range of a partition of a cluster; To is not included.
type Wanted struct {
	store.TopicPartition
	From, To int64
}

// Import copies partitions of a cluster into a Dir.
type Import struct {
	Cluster *Cluster
	Dir     *Dir
	Wanted  []Wanted
	// MaxBytes ends the import; 0 is no limit. The first batch is taken in any case.
	MaxBytes int64
	// Moved is told how many offsets are behind. It is called by several goroutines.
	Moved func(offsets int64)
	// Note is told of what the import passes over. It is called by several goroutines.
	Note func(format string, args ...any)

	taken atomic.Int64
	full  atomic.Bool
	parts []*taking
}

// Run imports everything, and goes on after errors that pass. The result is in the order of
// Wanted, whatever the error.
func (i *Import) Run(ctx context.Context) ([]Imported, error) {
	for _, w := range i.Wanted {
		i.parts = append(i.parts, &taking{Wanted: w, out: Imported{TopicPartition: w.TopicPartition, LogStart: -1, LogEnd: -1}})
	}
	err := i.insist(ctx)
	var out []Imported
	errs := []error{err}
	for _, t := range i.parts {
		if t.out.Err == nil && !t.finished {
			t.out.Err = err
		} else {
			errs = append(errs, t.out.Err)
		}
		out = append(out, t.out)
	}
	return out, errors.Join(errs...)
}

// insist goes on until all is there, as long as there is progress now and then.
func (i *Import) insist(ctx context.Context) error {
	last, wait := time.Now(), 50*time.Millisecond
	for {
		before := i.taken.Load()
		err := i.round(ctx)
		left := i.unfinished()
		if ctx.Err() != nil || len(left) == 0 || i.full.Load() {
			return ctx.Err()
		}
		if i.taken.Load() > before {
			last, wait = time.Now(), 50*time.Millisecond
		}
		if err == nil {
			err = kerr.LeaderNotAvailable
		}
		if !retriable(err) || time.Since(last) > i.Cluster.delivery {
			return i.Cluster.worded(err)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, 2*time.Second)
	}
}

func (i *Import) unfinished() []*taking {
	return slices.DeleteFunc(slices.Clone(i.parts), func(t *taking) bool { return t.finished })
}

// round asks who leads what is left, and fetches from all leaders at once.
func (i *Import) round(ctx context.Context) error {
	left := i.unfinished()
	names := make([]string, len(left))
	for n, t := range left {
		names[n] = t.Topic
	}
	slices.Sort(names)
	topics, err := i.Cluster.Topics(ctx, slices.Compact(names))
	if err != nil {
		return err
	}
	byLeader := map[int32][]*taking{}
	for _, t := range left {
		topic := topics[t.Topic]
		if topic == nil || int(t.Partition) >= len(topic.Leaders) {
			t.fail(worded(kerr.UnknownTopicOrPartition, t.TopicPartition.String()))
			continue
		}
		if leader := topic.Leaders[t.Partition]; leader >= 0 {
			byLeader[leader] = append(byLeader[leader], t)
		}
	}
	var all sync.WaitGroup
	errs := make([]error, 0, len(byLeader))
	var mu sync.Mutex
	for leader, parts := range byLeader {
		all.Go(func() {
			f := &fetcher{Import: i, broker: leader, topics: topics, waiting: parts}
			err := f.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	return firstOf(errs)
}

// firstOf is an error that does not pass, or else any.
func firstOf(errs []error) (first error) {
	for _, err := range errs {
		if err != nil && (first == nil || !retriable(err)) {
			first = err
		}
	}
	return first
}
