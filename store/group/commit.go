package group

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"logdir/store"
)

// Commit notes how far a member has come. It must be of the group's generation, and have the
// partitions; or nothing is committed. Positions that are Unset are passed over. The result is
// what was committed.
func (c *Coordinator) Commit(ctx context.Context, group, member string, generation int32, positions []Position) (done []OffsetCommit, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if err := w.mayCommit(member, generation, positions); err != nil {
			return err
		}
		done, err = w.commitAs(member, generation, positions)
		return err
	})
	return done, err
}

// MovedAndCommit is Moved, and then Commit, as one change. A commit that is refused leaves
// the positions moved all the same.
func (c *Coordinator) MovedAndCommit(ctx context.Context, v *View) (done []OffsetCommit, err error) {
	err = c.change(ctx, v.Group, func(w *change) error {
		refused := w.mayCommit(v.Member, v.Generation, v.Positions)
		if err := w.moved(v, refused == nil); err != nil || refused != nil {
			return errors.Join(err, refused)
		}
		done, err = w.commitAs(v.Member, v.Generation, v.Positions)
		return err
	})
	return done, err
}

// mayCommit requires a member to be of the group's generation and to have the partitions.
func (w *change) mayCommit(member string, generation int32, positions []Position) error {
	if _, err := w.fence(member, generation); err != nil {
		return err
	}
	for _, p := range positions {
		if err := w.owned(member, p.TopicPartition()); err != nil {
			return err
		}
	}
	return nil
}

// commitAs commits for a member that may.
func (w *change) commitAs(member string, generation int32, positions []Position) ([]OffsetCommit, error) {
	done, err := w.commit(positions)
	if err != nil {
		return done, err
	}
	w.info("commit", slog.String("member", member), slog.Int("generation", int(generation)), slog.Int("partitions", len(done)))
	return done, w.heard(member)
}

// commit writes offsets in one batch.
func (w *change) commit(positions []Position) ([]OffsetCommit, error) {
	done := w.offsets(positions)
	if err := w.c.cluster.Failpoint(store.FailGroupCommit); err != nil {
		return nil, err
	}
	return done, w.write(commits(done)...)
}

// offsets are the positions as they are committed.
func (w *change) offsets(positions []Position) (done []OffsetCommit) {
	for _, p := range positions {
		if p.Offset == Unset {
			continue
		}
		done = append(done, OffsetCommit{
			Group: w.id, Topic: p.Topic, Partition: p.Partition,
			Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, CommitTimestamp: w.now, ExpireTimestamp: -1,
		})
	}
	return done
}

func commits(done []OffsetCommit) []entry {
	entries := make([]entry, len(done))
	for i := range done {
		entries[i] = entry{key: done[i].AppendKey, value: done[i].AppendValue}
	}
	return entries
}

// heard notes that a member lives.
func (w *change) heard(member string) error {
	v, err := w.c.View(w.id, member)
	if err != nil || v.Heartbeat == w.now {
		return err
	}
	v.Heartbeat = w.now
	return v.write(w.c.cluster)
}

// ResetOffsets sets the committed offsets of a group without members. decide is called with the
// group, nil if it is not there yet, and tells them; with dry nothing is written.
func (c *Coordinator) ResetOffsets(ctx context.Context, group string, dry bool, decide func(*Group) ([]Position, error)) error {
	return c.change(ctx, group, func(w *change) error {
		if err := w.empty(); err != nil {
			return err
		}
		positions, err := decide(w.g)
		if err != nil || dry {
			return err
		}
		done, err := w.commit(positions)
		if err == nil {
			w.info("reset-offsets", slog.Int("partitions", len(done)))
		}
		return err
	})
}

// Delete removes a group without members, offsets and all; with dry it only checks.
func (c *Coordinator) Delete(ctx context.Context, group string, dry bool) error {
	return c.change(ctx, group, func(w *change) error {
		if err := w.known(); err != nil {
			return err
		}
		if err := w.empty(); err != nil || dry {
			return err
		}
		entries := w.tombstones(w.g.Offsets())
		if w.g.Classic != nil {
			entries = append(entries, entry{key: w.g.Classic.AppendKey})
		}
		if err := w.write(entries...); err != nil {
			return err
		}
		w.info("delete")
		return removeViews(c.cluster, group)
	})
}

// DeleteOffsets forgets the committed offsets that chosen picks, and returns them; with dry
// it only checks. Topics that a member reads are refused.
func (c *Coordinator) DeleteOffsets(ctx context.Context, group string, dry bool, chosen func(store.TopicPartition) bool) (gone []Position, err error) {
	err = c.change(ctx, group, func(w *change) error {
		if err := w.known(); err != nil {
			return err
		}
		for _, o := range w.g.Offsets() {
			if chosen(o.TopicPartition()) {
				gone = append(gone, o)
			}
		}
		if err := w.unread(gone); err != nil || dry {
			return err
		}
		return w.write(w.tombstones(gone)...)
	})
	return gone, err
}

// ForgetTopic deletes the committed offsets of a topic that is gone, in all groups.
func (c *Coordinator) ForgetTopic(ctx context.Context, topic string) error {
	groups, err := c.Groups()
	if err != nil {
		return err
	}
	for _, g := range groups {
		err := c.change(ctx, g.ID, func(w *change) error {
			if w.g == nil {
				return nil
			}
			all := slices.DeleteFunc(w.g.Offsets(), func(o Position) bool { return o.Topic != topic })
			return w.write(w.tombstones(all)...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unread requires that no member subscribes to the topics of offsets.
func (w *change) unread(offsets []Position) error {
	members := w.subscribers()
	for _, o := range offsets {
		if len(wanting(o.Topic, members)) > 0 {
			return store.Errorf(store.Refused, "GROUP_SUBSCRIBED_TO_TOPIC", "group %s reads topic %s", w.id, o.Topic).
				WithHint("logdir group describe %s --members", w.id)
		}
	}
	return nil
}

func (w *change) tombstones(offsets []Position) []entry {
	entries := make([]entry, len(offsets))
	for i, o := range offsets {
		c := OffsetCommit{Group: w.id, Topic: o.Topic, Partition: o.Partition}
		entries[i] = entry{key: c.AppendKey}
	}
	return entries
}
