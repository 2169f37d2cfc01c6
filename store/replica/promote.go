package replica

import (
	"context"
	"errors"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
)

// Vote says how leaders are elected.
type Vote struct {
	// Unclean allows a replica that is not in sync: what only others have is lost.
	Unclean bool
	// DryRun works out the outcome and writes nothing.
	DryRun bool
}

// Election is the outcome of one.
type Election struct {
	store.TopicPartition
	// From led before, store.NoBroker if nobody did; To leads now.
	From, To    int32
	LeaderEpoch int32
	// LogEnd and HighWatermark are those of the new leader.
	LogEnd, HighWatermark int64
	// Clean says that the new leader was in sync.
	Clean bool
}

// ErrElectionNotNeeded says that the broker leads already.
var ErrElectionNotNeeded = errors.New("the broker leads already")

// Promote makes a broker the leader of a partition, with the next leader epoch.
//
// The metadata changes first, in one step; then the new leader notes the epoch and its
// log end, which it would otherwise do at its first append. An epoch noted for an election
// that a crash undid would make the log seem newer than it is.
func Promote(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, to int32, v Vote) (e Election, err error) {
	if v.DryRun {
		e, err = elect(c, tp, to, v)
		return e, err
	}
	lock, err := c.Locks().Partition(ctx, tp)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := c.Reload(); err != nil {
		return e, err
	}
	if e, err = elect(c, tp, to, v); err != nil {
		return e, err
	}
	if err := c.Update(ctx, func(m *cluster.Meta) error { return e.enter(m) }); err != nil {
		return e, err
	}
	logElection(c, e)
	return e, lead(ctx, c, tp, to)
}

// elect judges an election and works out what comes of it.
func elect(c *cluster.Cluster, tp store.TopicPartition, to int32, v Vote) (Election, error) {
	meta := c.Meta()
	_, p, err := meta.Partition(tp)
	if err != nil {
		return Election{}, err
	}
	e := Election{TopicPartition: tp, From: p.LeaderID(), To: to, LeaderEpoch: p.LeaderEpoch + 1, Clean: p.InSync(to)}
	if err := e.refused(meta, p, v); err != nil {
		return e, err
	}
	_, at, err := look(c, tp, to, c.LockedReader)
	if err != nil {
		return e, err
	}
	e.LogEnd, e.HighWatermark = at.end, at.end
	if e.Clean && len(p.ISR) > 1 {
		mark, _, err := c.Checkpointed(to, checkpoint.HighWatermarkFile, tp)
		e.HighWatermark = min(mark, at.end)
		return e, err
	}
	return e, nil
}

// refused says why a broker cannot lead.
func (e *Election) refused(m *cluster.Meta, p *cluster.Partition, v Vote) error {
	if _, err := m.Broker(e.To); err != nil {
		return err
	}
	switch {
	case !slices.Contains(p.Replicas, e.To):
		return store.Errorf(store.Refused, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "broker %d has no replica of %s, only %v", e.To, e.TopicPartition, p.Replicas)
	case !m.IsUp(e.To):
		return store.Errorf(store.Refused, "BROKER_NOT_AVAILABLE", "broker %d is not up", e.To).
			WithHint("logdir broker start %d", e.To)
	case e.From == e.To:
		return ErrElectionNotNeeded
	case !e.Clean && !v.Unclean:
		return store.Errorf(store.Refused, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "broker %d is not in sync for %s (ISR %v): it may lack acknowledged records", e.To, e.TopicPartition, p.ISR).
			WithHint("start one of the ISR, or lose what only they have: --unclean")
	}
	return nil
}

// enter writes the outcome into the metadata. After an unclean election nobody but the
// new leader is in sync.
func (e *Election) enter(m *cluster.Meta) error {
	_, p, err := m.Partition(e.TopicPartition)
	if err != nil {
		return err
	}
	if !m.IsUp(e.To) {
		return store.Errorf(store.Refused, "BROKER_NOT_AVAILABLE", "broker %d went down meanwhile", e.To)
	}
	p.Lead(e.To)
	p.LeaderEpoch = e.LeaderEpoch
	if !e.Clean {
		p.ISR = []int32{e.To}
	}
	return nil
}

// lead has the leader note in its log that its epoch begins at the log end. The caller
// holds the partition's lock.
func lead(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, broker int32) error {
	_, p, err := c.Meta().Partition(tp)
	if err != nil {
		return err
	}
	log, err := c.OpenReplica(ctx, tp, broker)
	if err != nil {
		return err
	}
	return errors.Join(log.AssignEpoch(p.LeaderEpoch), log.Close())
}

// BeginEpoch gives a partition the next leader epoch, with the leader that it has: its log is
// to lose records that followers may have. The leader notes the epoch when it next appends.
// The caller holds the partition's lock.
func BeginEpoch(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, leader int32) (epoch int32, err error) {
	err = c.Update(ctx, func(m *cluster.Meta) error {
		_, p, err := m.Partition(tp)
		if err != nil {
			return err
		}
		if p.LeaderID() == leader { // else whoever leads next has another epoch anyway
			p.LeaderEpoch++
		}
		epoch = p.LeaderEpoch
		return nil
	})
	return epoch, err
}

// Leaderless lists the partitions that have no leader, by topic and number.
func Leaderless(m *cluster.Meta) []store.TopicPartition {
	var all []store.TopicPartition
	for _, t := range m.Topics {
		for n, p := range t.Partitions {
			if p.Leader == nil {
				all = append(all, store.TopicPartition{Topic: t.Name, Partition: int32(n)})
			}
		}
	}
	return all
}

// Candidate is the broker to lead a partition: the first live one of the ISR, in the order
// of assignment; where unclean is allowed, else the first live replica.
func Candidate(m *cluster.Meta, tp store.TopicPartition, unclean bool) (int32, error) {
	_, p, err := m.Partition(tp)
	if err != nil {
		return store.NoBroker, err
	}
	for _, b := range p.Replicas {
		if m.IsUp(b) && p.InSync(b) {
			return b, nil
		}
	}
	for _, b := range p.Replicas {
		if m.IsUp(b) && unclean {
			return b, nil
		}
	}
	return store.NoBroker, store.Errorf(store.Refused, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "%s: none of the ISR %v is up", tp, p.ISR).
		WithHint("logdir broker start %d", p.ISR[0])
}
