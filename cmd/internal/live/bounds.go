package live

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"logdir/store"
)

// Bounds are the offsets of a partition in a running cluster: the log start, and the high
// watermark.
type Bounds struct{ Start, End int64 }

// Kafka's two timestamps that ask for an end of the log instead.
const (
	timeLatest   = -1
	timeEarliest = -2
)

// Bounds asks for the ends of partitions.
func (c *Cluster) Bounds(ctx context.Context, of []store.TopicPartition) (map[store.TopicPartition]Bounds, error) {
	starts, err := c.OffsetsAt(ctx, of, timeEarliest)
	if err != nil {
		return nil, err
	}
	ends, err := c.OffsetsAt(ctx, of, timeLatest)
	if err != nil {
		return nil, err
	}
	out := map[store.TopicPartition]Bounds{}
	for _, tp := range of {
		out[tp] = Bounds{starts[tp], ends[tp]}
	}
	return out, nil
}

// OffsetsAt asks for the first offset with a timestamp, in ms, at or after ts; -1 where
// there is none.
func (c *Cluster) OffsetsAt(ctx context.Context, of []store.TopicPartition, ts int64) (offsets map[store.TopicPartition]int64, err error) {
	req := kmsg.NewPtrListOffsetsRequest()
	for topic, partitions := range byTopic(of) {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = topic
		for _, n := range partitions {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = n, ts
			t.Partitions = append(t.Partitions, p)
		}
		req.Topics = append(req.Topics, t)
	}
	err = c.patiently(ctx, func() error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		offsets, err = offsetsOf(resp)
		return err
	})
	return offsets, err
}

func offsetsOf(resp *kmsg.ListOffsetsResponse) (map[store.TopicPartition]int64, error) {
	offsets := map[store.TopicPartition]int64{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := store.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil && retriable(err) {
				return nil, err
			} else if err != nil {
				return nil, worded(err, tp.String())
			}
			offsets[tp] = p.Offset
		}
	}
	return offsets, nil
}
