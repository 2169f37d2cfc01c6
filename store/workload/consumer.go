package workload

import (
	"context"
	"errors"
	"time"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/group"
	"logdir/store/record"
)

const (
	// maxPoll is how many offsets of a partition one poll reads at most.
	maxPoll = 5000
	// idlePause is how long a consumer rests that found nothing.
	idlePause = 2 * time.Millisecond
	// heartbeatInterval is Kafka's heartbeat.interval.ms.
	heartbeatInterval = 3 * time.Second
)

// consumer is one member of a group.
type consumer struct {
	run     *run
	audit   *audit
	group   string
	member  string
	fetcher *client.Fetcher
	view    *group.View // what it believes: assignment and positions
	beat    time.Time   // of the last heartbeat
	read    []sighting  // reused
}

// join makes the consumer a member. It begins at the committed offsets; without any, at
// what comes now.
func (c *consumer) join(ctx context.Context) error {
	v, err := c.run.coordinator.Join(ctx, group.Join{
		Group: c.group, Member: c.member, Topics: []string{c.run.plan.Topic},
		SessionTimeout: group.DefaultSessionTimeout, Reset: group.Latest,
	})
	if err == nil {
		c.view, c.beat = v, time.Now()
	}
	return err
}

// refresh tells the coordinator that the consumer lives and how far it has read, and
// takes over the newest assignment.
func (c *consumer) refresh(ctx context.Context) error {
	if err := c.run.coordinator.Moved(ctx, c.view); err != nil {
		return err
	}
	v, err := c.run.coordinator.Refresh(ctx, c.group, c.member)
	if isOut(err) {
		return c.join(ctx)
	}
	if err == nil {
		c.view, c.beat = v, time.Now()
	}
	return err
}

// work polls until the group has read everything, or until the end of during. A poll that
// has begun is not interrupted. After the end of unhurried the plan's pauses are left out.
func (c *consumer) work(ctx, during, unhurried context.Context) error {
	for during.Err() == nil && !c.run.drained(c.audit) {
		found, err := c.poll(ctx)
		if err != nil {
			return err
		}
		if unhurried.Err() == nil {
			pause(unhurried, c.run.plan.PollInterval)
		}
		if !found {
			pause(during, idlePause)
		}
		if time.Since(c.beat) > heartbeatInterval {
			if err := c.refresh(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// poll reads what there is in each of its partitions and commits how far it came.
func (c *consumer) poll(ctx context.Context) (found bool, err error) {
	for i := range c.view.Positions {
		moved, err := c.pollOne(&c.view.Positions[i])
		if err != nil {
			return found, err
		}
		found = found || moved
	}
	if !found {
		return false, nil
	}
	err = c.commit(ctx)
	if isOut(err) {
		return true, c.refresh(ctx) // what could not be committed, somebody reads again
	}
	return true, err
}

func (c *consumer) commit(ctx context.Context) error {
	_, err := c.run.coordinator.Commit(ctx, c.group, c.member, c.view.Generation, c.view.Positions)
	return err
}

// isOut tells that the group went on without the consumer: it has to take over the newest
// assignment, or to join again.
func isOut(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && (e.Class == store.Fenced || e.Name == "UNKNOWN_MEMBER_ID")
}

// pollOne reads on in one partition.
func (c *consumer) pollOne(p *group.Position) (moved bool, err error) {
	if p.Offset == group.Unset {
		return false, nil
	}
	leader, epoch, err := c.run.cluster.Meta().LeaderOf(p.TopicPartition())
	if err != nil {
		return false, err
	}
	log, err := c.run.cluster.Reader(p.TopicPartition(), leader)
	if err != nil {
		return false, err
	}
	end, _, err := log.End()
	if err != nil {
		return false, err
	}
	mark, err := c.run.cluster.HighWatermark(p.TopicPartition(), leader, end)
	if err != nil || mark <= p.Offset {
		return false, err
	}
	q := client.Fetch{Log: log, From: p.Offset, To: min(mark, p.Offset+maxPoll)}
	next, err := c.fetch(q, int(p.Partition))
	p.Offset, p.LeaderEpoch = next, epoch
	return true, err
}

// fetch shows the audit what a fetch brings.
func (c *consumer) fetch(q client.Fetch, partition int) (next int64, err error) {
	c.read = c.read[:0]
	next, err = c.fetcher.Run(q, func(_ *record.Batch, r *record.Record) error {
		if s, ok := c.audit.sight(r); ok {
			c.read = append(c.read, s)
		}
		return nil
	})
	c.audit.note(partition, c.read, next)
	return next, err
}
