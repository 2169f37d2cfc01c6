package live

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"logdir/store"
)

// committed reads the committed offsets of a group. Stable waits for transactions that are
// just being completed.
func (c *Cluster) committed(ctx context.Context, group string, of []store.TopicPartition, stable bool) (map[store.TopicPartition]mark, error) {
	req := offsetFetch(group, of)
	req.RequireStable = stable
	for {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return nil, err
		}
		marks, err := marksOf(resp, group)
		if !errors.Is(err, kerr.UnstableOffsetCommit) {
			return marks, err
		}
		if err := sleep(ctx, c.request/200); err != nil {
			return nil, err
		}
	}
}

// offsetFetch asks in the old form, which holds one group, and in the new one: the version
// that the broker knows decides which is sent.
func offsetFetch(group string, of []store.TopicPartition) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	req.Group, g.Group = group, group
	for topic, partitions := range byTopic(of) {
		old := kmsg.NewOffsetFetchRequestTopic()
		old.Topic, old.Partitions = topic, partitions
		req.Topics = append(req.Topics, old)
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = topic, partitions
		g.Topics = append(g.Topics, t)
	}
	req.Groups = append(req.Groups, g)
	return req
}

func marksOf(resp *kmsg.OffsetFetchResponse, group string) (map[store.TopicPartition]mark, error) {
	marks := map[store.TopicPartition]mark{}
	note := func(topic string, partition int32, offset int64, metadata *string, code int16) error {
		if err := kerr.ErrorForCode(code); err != nil {
			return err
		}
		m := mark{offset: offset}
		if metadata != nil {
			m.metadata = *metadata
		}
		marks[store.TopicPartition{Topic: topic, Partition: partition}] = m
		return nil
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, aboutGroup(err, group)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := note(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode); err != nil {
				return nil, err
			}
		}
	}
	for _, g := range resp.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return nil, aboutGroup(err, group)
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := note(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode); err != nil {
					return nil, err
				}
			}
		}
	}
	return marks, nil
}

// aboutGroup names the group that is refused.
func aboutGroup(err error, group string) error {
	if retriable(err) {
		return err
	}
	return worded(err, "group "+group)
}

// GroupOffset is a committed offset of a group.
type GroupOffset struct {
	Group string
	store.TopicPartition
	Offset int64
}

// CommitGroup commits offsets of one group that nobody is a member of just now.
func (c *Cluster) CommitGroup(ctx context.Context, group string, offsets []GroupOffset) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = group
	topics := map[string]int{}
	for _, o := range offsets {
		at, ok := topics[o.Topic]
		if !ok {
			at = len(req.Topics)
			topics[o.Topic] = at
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = o.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = o.Partition, o.Offset
		req.Topics[at].Partitions = append(req.Topics[at].Partitions, p)
	}
	err := c.patiently(ctx, func() error {
		resp, err := req.RequestWith(ctx, c.client)
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return aboutGroup(err, group)
				}
			}
		}
		return nil
	})
	return err
}
