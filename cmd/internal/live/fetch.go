package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"logdir/store"
)

// How much one fetch brings.
const (
	fetchBytes     = 32 << 20
	partitionBytes = 8 << 20
	fetchWait      = 500 * time.Millisecond
	maxFetched     = 16 // partitions that are fetched from one broker at once
)

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
	before, frames := t.next(), t.wanted(p.RecordBatches, f.allowance)
	if err := t.log.Append(frames); err != nil {
		f.drop(t)
		return errors.Join(t.close(), t.failed(err))
	}
	if f.Moved != nil {
		f.Moved(t.next() - before)
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
