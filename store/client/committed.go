package client

import (
	"context"
	"slices"
	"time"

	"logdir/store"
)

// pollInterval is how often acks=all looks at the followers.
const pollInterval = 5 * time.Millisecond

// committed returns the wait for the ISR of this moment to have what was answered; nil
// if that is the leader alone.
func (t *Topic) committed(tp store.TopicPartition, leader int32, answers []store.Appended) func(context.Context) error {
	_, p, err := t.cluster.Meta().Partition(tp)
	if err != nil || len(p.ISR) == 1 {
		return nil
	}
	w := waiter{topic: t, tp: tp, leader: leader, isr: slices.Clone(p.ISR)}
	for _, a := range answers {
		w.end = max(w.end, a.LastOffset+1)
	}
	return w.wait
}

// waiter waits for the in-sync replicas of one append.
type waiter struct {
	topic  *Topic
	tp     store.TopicPartition
	leader int32
	isr    []int32 // at the moment of the append
	end    int64   // they must have everything below
}

func (w waiter) wait(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if f := w.topic.o.Followers; f != nil {
			if err := f.Round(ctx, w.tp); err != nil {
				return err
			}
		}
		if done, err := w.done(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// done tells whether every replica of the captured ISR has the records and the high
// watermark says so. It is an error if fewer are left than the topic demands.
func (w waiter) done() (bool, error) {
	c := w.topic.cluster
	if err := c.Reload(); err != nil {
		return false, err
	}
	topic, p, err := c.Meta().Partition(w.tp)
	if err != nil {
		return false, err
	}
	if need := minInSync(c.Meta(), topic, p); len(p.ISR) < need {
		return false, store.Errorf(store.NotAcked, "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
			"%s: %d in-sync replica(s) are left, needs %d", w.tp, len(p.ISR), need)
	}
	for _, broker := range w.isr {
		end, err := w.topic.replicaEnd(w.tp, broker)
		if end < w.end || err != nil {
			return false, err
		}
	}
	mark, err := c.HighWatermark(w.tp, w.leader, w.end)
	return mark >= w.end, err
}
