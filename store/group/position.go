package group

import (
	"context"
	"errors"

	"logdir/store"
)

// View is what a member believes just now.
func (c *Coordinator) View(group, member string) (*View, error) {
	return ReadView(c.cluster.FS(), c.cluster.Path(), group, member)
}

// Recall is the View of somebody who goes on with what they believe: a member, or one that
// the group lost without its knowing. Who never joined, or left, has none.
func (c *Coordinator) Recall(ctx context.Context, group, member string) (v *View, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if err := w.known(); err != nil {
			return err
		}
		if err := checkName("member", member); err != nil {
			return err
		}
		if v, err = c.View(group, member); err != nil || v.Generation > 0 {
			return err
		}
		_, err := w.member(member)
		return err
	})
	return v, err
}

// Refresh lets a member take over the newest assignment, as a poll does: partitions that
// it had all along keep their positions, new ones begin at the committed offset, or where
// the reset policy says. It counts as a heartbeat.
func (c *Coordinator) Refresh(ctx context.Context, group, member string) (v *View, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if _, err := w.member(member); err != nil {
			return err
		}
		if v, err = c.View(group, member); err != nil {
			return err
		}
		return w.takeOver(v)
	})
	return v, err
}

// takeOver brings a view up to the group's generation and writes it down.
func (w *change) takeOver(v *View) error {
	m := w.g.classicMember(v.Member)
	positions := []Position{}
	for _, tp := range m.Partitions() {
		p := Position{Topic: tp.Topic, Partition: tp.Partition, Offset: Unset, LeaderEpoch: -1}
		if had := v.Position(tp); had != nil && w.g.keeps(v.Member, tp, v.Generation) {
			p = *had
		}
		if p.Offset == Unset {
			if err := w.begin(&p, v.Reset); err != nil {
				return err
			}
		}
		positions = append(positions, p)
	}
	v.Generation, v.Positions, v.Heartbeat = w.g.Generation(), positions, w.now
	return v.write(w.c.cluster)
}

// begin sets a position to the committed offset, or by the reset policy.
func (w *change) begin(p *Position, policy Reset) error {
	if c, ok := w.g.Offset(p.TopicPartition()); ok {
		p.Offset, p.LeaderEpoch = c.Offset, c.LeaderEpoch
		return nil
	}
	if policy == NoReset {
		return nil
	}
	start, end, err := w.c.Range(p.TopicPartition())
	if e, ok := errors.AsType[*store.Error](err); ok && e.Class == store.Refused {
		return nil // no leader: the next poll asks again
	}
	if p.Offset = start; policy == Latest {
		p.Offset = end
	}
	return err
}

// Range is what a consumer can read of a partition: from the log start offset to the high
// watermark.
func (c *Coordinator) Range(tp store.TopicPartition) (start, end int64, err error) {
	leader, _, err := c.cluster.Meta().LeaderOf(tp)
	if err != nil {
		return 0, 0, err
	}
	log, err := c.cluster.Reader(tp, leader)
	if err != nil {
		return 0, 0, err
	}
	logEnd, _, err := log.End()
	if err != nil {
		return 0, 0, err
	}
	end, err = c.cluster.HighWatermark(tp, leader, logEnd)
	return log.Start(), end, err
}

// Moved writes down how far somebody has read. What they no longer believe to have is passed
// over: one that left meanwhile, or took over another generation, has nothing to write down.
func (c *Coordinator) Moved(ctx context.Context, v *View) error {
	return c.change(ctx, v.Group, func(w *change) error { return w.moved(v, false) })
}

// moved writes a view's positions down, and with heard that the member lives.
func (w *change) moved(v *View, heard bool) error {
	now, err := w.c.View(v.Group, v.Member)
	if err != nil || now.Generation == 0 || now.Generation != v.Generation {
		return err
	}
	for i := range now.Positions {
		if p := v.Position(now.Positions[i].TopicPartition()); p != nil {
			now.Positions[i] = *p
		}
	}
	if heard {
		now.Heartbeat = w.now
	}
	return now.write(w.c.cluster)
}
