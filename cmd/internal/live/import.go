package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"logdir/store"
	"logdir/store/record"
)

// How much one fetch brings.
const (
	fetchBytes     = 32 << 20
	partitionBytes = 8 << 20
	fetchWait      = 500 * time.Millisecond
	maxFetched     = 16 // partitions that are fetched from one broker at once
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
	// Moved is told of bytes that are written. It is called by several goroutines.
	Moved func(bytes int64)
	// Note is told of what the import passes over. It is called by several goroutines.
	Note func(format string, args ...any)

	taken atomic.Int64
	full  atomic.Bool
	parts []*taking
}

// taking is one partition on its way. One goroutine at a time has it.
type taking struct {
	Wanted
	log      *Partition
	out      Imported
	finished bool
}

// Run imports everything, and goes on after errors that pass. The result is in the order of
// Wanted, whatever the error.
func (i *Import) Run(ctx context.Context) ([]Imported, error) {
	for _, w := range i.Wanted {
		i.parts = append(i.parts, &taking{Wanted: w, out: Imported{TopicPartition: w.TopicPartition}})
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

func (t *taking) fail(err error) { t.out.Err, t.finished = err, true }

// fetcher fetches from one broker.
type fetcher struct {
	*Import
	broker  int32
	topics  map[string]*Topic
	waiting []*taking
	active  []*taking
	moved   []*taking // that another broker leads
}

// run fetches until all partitions are there, or somebody else leads them.
func (f *fetcher) run(ctx context.Context) error {
	err := f.fetchAll(ctx)
	for _, t := range slices.Concat(f.active, f.moved) {
		err = errors.Join(err, t.close())
	}
	return err
}

func (f *fetcher) fetchAll(ctx context.Context) error {
	for {
		if err := f.activate(); err != nil {
			return err
		}
		if len(f.active) == 0 || ctx.Err() != nil || f.full.Load() {
			return nil
		}
		resp, err := f.fetch(ctx)
		if err != nil {
			return err
		}
		if err := f.take(ctx, resp); err != nil {
			return err
		}
	}
}

// activate opens partitions until enough are fetched at once.
func (f *fetcher) activate() error {
	for len(f.active) < maxFetched && len(f.waiting) > 0 {
		t := f.waiting[0]
		f.waiting = f.waiting[1:]
		if err := t.open(f.Dir, f.topics[t.Topic]); err != nil {
			if _, ours := errors.AsType[*store.Error](err); !ours {
				return err
			}
			t.fail(err)
			continue
		}
		if t.log.End() >= t.To {
			if err := t.finish(); err != nil {
				return err
			}
			continue
		}
		f.active = append(f.active, t)
	}
	return nil
}

// fetch asks for the next batches of all active partitions. They take turns in being first:
// what comes first fills the answer.
func (f *fetcher) fetch(ctx context.Context) (*kmsg.FetchResponse, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(fetchWait.Milliseconds()), 1, fetchBytes
	f.active = append(f.active[1:], f.active[0])
	for _, t := range f.active {
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic, topic.TopicID = t.Topic, f.topics[t.Topic].ID
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = t.Partition, t.next(), partitionBytes
		topic.Partitions = append(topic.Partitions, p)
		req.Topics = append(req.Topics, topic)
	}
	resp, err := f.Cluster.client.Broker(int(f.broker)).Request(ctx, req)
	if err != nil {
		return nil, err
	}
	answer := resp.(*kmsg.FetchResponse)
	return answer, kerr.ErrorForCode(answer.ErrorCode)
}

// take writes what a fetch has brought. An answer without a byte says that nothing is left:
// the last offsets are of records that compaction has taken.
func (f *fetcher) take(ctx context.Context, resp *kmsg.FetchResponse) error {
	var bytes int
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			t := f.find(topic, p.Partition)
			if t == nil {
				continue
			}
			bytes += len(p.RecordBatches)
			if err := f.takeOne(ctx, t, &p); err != nil {
				return err
			}
		}
	}
	if bytes > 0 {
		return nil
	}
	for _, t := range slices.Clone(f.active) {
		if err := f.finish(t); err != nil {
			return err
		}
	}
	return nil
}

// find is the partition of an answer, which names its topic or only the id.
func (f *fetcher) find(topic kmsg.FetchResponseTopic, partition int32) *taking {
	at := slices.IndexFunc(f.active, func(t *taking) bool {
		named := t.Topic == topic.Topic || topic.Topic == "" && f.topics[t.Topic].ID == topic.TopicID
		return named && t.Partition == partition
	})
	if at < 0 {
		return nil
	}
	return f.active[at]
}

func (f *fetcher) takeOne(ctx context.Context, t *taking, p *kmsg.FetchResponseTopicPartition) error {
	switch err := kerr.ErrorForCode(p.ErrorCode); {
	case errors.Is(err, kerr.OffsetOutOfRange):
		return f.catchUp(ctx, t)
	case err != nil && retriable(err):
		f.drop(t)
		f.moved = append(f.moved, t)
		return nil
	case err != nil:
		f.drop(t)
		err = worded(err, t.TopicPartition.String())
		return errors.Join(t.close(), t.failed(err))
	}
	frames := t.wanted(p.RecordBatches, f.allowance)
	if err := t.log.Append(frames); err != nil {
		f.drop(t)
		return errors.Join(t.close(), t.failed(err))
	}
	if f.Moved != nil {
		f.Moved(int64(len(frames)))
	}
	if t.log.End() >= t.To {
		return f.finish(t)
	}
	return nil
}

// allowance says whether so many bytes more may be taken.
func (i *Import) allowance(n int64) bool {
	if taken := i.taken.Add(n); i.MaxBytes == 0 || taken <= i.MaxBytes || taken == n {
		return true
	}
	i.taken.Add(-n)
	i.full.Store(true)
	return false
}

// catchUp goes on where the log begins now: retention was faster.
func (f *fetcher) catchUp(ctx context.Context, t *taking) error {
	bounds, err := f.Cluster.Bounds(ctx, []store.TopicPartition{t.TopicPartition})
	if err != nil {
		return err
	}
	start, next := bounds[t.TopicPartition].Start, t.next()
	if start <= next {
		f.drop(t)
		return errors.Join(t.close(), t.failed(store.Errorf(store.Refused, kerr.OffsetOutOfRange.Message,
			"%s: the cluster has lost its offsets from %d on", t.TopicPartition, next)))
	}
	f.Note("%s: offsets %d to %d were deleted before they could be fetched", t.TopicPartition, next, start-1)
	t.From = start
	if start >= t.To {
		return f.finish(t)
	}
	return nil
}

// finish closes a partition that is there.
func (f *fetcher) finish(t *taking) error {
	f.drop(t)
	return t.finish()
}

func (f *fetcher) drop(t *taking) {
	f.active = slices.DeleteFunc(f.active, func(o *taking) bool { return o == t })
}

// open opens the partition in the directory.
func (t *taking) open(d *Dir, topic *Topic) (err error) {
	t.log, err = d.Open(t.TopicPartition, topic.ID)
	if err != nil {
		return err
	}
	if !t.log.Empty() {
		t.From = max(t.From, t.log.End())
		return nil
	}
	return t.log.BeginAt(t.From)
}

// next is the offset to be fetched next.
func (t *taking) next() int64 { return max(t.log.End(), t.From) }

// wanted cuts what was fetched: whole batches, none before what is there, none at or behind
// To, and no more than is allowed.
func (t *taking) wanted(data []byte, allowed func(int64) bool) []byte {
	from, end := -1, 0
	for rest := data; ; rest = data[end:] {
		size, _, ok := record.Peek(rest)
		if !ok || size > int64(len(rest)) {
			break
		}
		b, err := record.View(rest[:size])
		if err != nil || b.BaseOffset() >= t.To {
			break
		}
		if from < 0 && b.NextOffset() <= t.next() {
			end += int(size)
			continue
		}
		if !allowed(size) {
			break
		}
		if from < 0 {
			from = end
		}
		end += int(size)
	}
	if from < 0 {
		return nil
	}
	return data[from:end]
}

// finish closes a partition whose range is there.
func (t *taking) finish() error {
	t.finished = true
	return t.close()
}

// failed ends a partition; only what is wrong with the disk ends the others too.
func (t *taking) failed(err error) error {
	if _, ours := errors.AsType[*store.Error](err); !ours {
		return err
	}
	t.fail(err)
	return nil
}

// close leaves the partition clean and counts what came.
func (t *taking) close() error {
	if t.log == nil {
		return nil
	}
	start := t.start()
	err := t.log.Close(start)
	t.out.LogStart, t.out.LogEnd = start, t.log.End()
	t.out.Batches, t.out.Bytes = t.out.Batches+t.log.Batches, t.out.Bytes+t.log.Bytes
	t.log = nil
	return err
}

// start is the log start: the first batch may begin before the first offset that was asked
// for.
func (t *taking) start() int64 {
	if first := t.log.Start(); t.log.fresh {
		return max(first, min(t.From, t.log.End()))
	}
	return t.log.Start()
}
