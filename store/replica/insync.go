package replica

import (
	"slices"

	"logdir/store/checkpoint"
	"logdir/store/cluster"
)

// conclude is the leader's part of the round: it counts who is in sync and moves the high
// watermark.
func (r *round) conclude() (isr []int32, mark int64, err error) {
	if err := r.measure(); err != nil {
		return r.p.ISR, r.mark, err
	}
	remember := r.memories()
	isr = r.inSync(remember)
	both := union(r.p.ISR, isr)
	mark = r.minimum(isr)
	if r.o.DryRun {
		return isr, mark, nil
	}
	// What all of the old and all of the new ISR have is safe whichever of them a crash
	// leaves; what a smaller ISR makes visible waits until the smaller ISR is published.
	if err := r.noteMark(r.minimum(both)); err != nil {
		return r.p.ISR, r.mark, err
	}
	if err := r.publish(isr, r.needed(remember)); err != nil {
		return r.p.ISR, r.mark, err
	}
	return isr, mark, r.noteMark(mark)
}

// measure finds how far the in-sync replicas that did not move have what the leader has.
// What else a log holds does not count: it is from an older leader, and to be cut. (Kafka's
// leader learns of a follower's log end only by a fetch, which comes after the cut.)
func (r *round) measure() error {
	r.ends[r.leader] = r.at.end
	for _, broker := range r.p.ISR {
		if _, known := r.ends[broker]; known {
			continue
		}
		_, at, _, err := stateOf(r.cluster, r.tp, broker, r.cluster.LockedReader)
		if err != nil {
			return err
		}
		mark, _, err := r.cluster.Checkpointed(broker, checkpoint.HighWatermarkFile, r.tp)
		if err != nil {
			return err
		}
		r.ends[broker] = min(divergence(r.at, at, mark), r.at.end)
	}
	return nil
}

// inSync is the ISR after the round (Kafka: maybeExpandIsr and maybeShrinkIsr).
func (r *round) inSync(remember []cluster.FollowerState) []int32 {
	isr := []int32{r.leader}
	for _, f := range remember {
		in := r.p.InSync(f.Broker) || r.joins(f.Broker)
		if in && !r.lags(f) && r.cluster.Meta().IsUp(f.Broker) {
			isr = append(isr, f.Broker)
		}
	}
	slices.Sort(isr)
	return isr
}

// joins tells whether a follower that moved has what an in-sync replica must have: all
// that is visible, and all from before this leader's time.
func (r *round) joins(broker int32) bool {
	end := r.ends[broker]
	return r.moved[broker] && end >= r.mark && end >= r.epochStart()
}

// epochStart is where the current leader's epoch begins.
func (r *round) epochStart() int64 {
	last, _ := r.at.epochs.Latest()
	return last.StartOffset
}

// lags tells whether a follower is too far behind, in records or in time.
func (r *round) lags(f cluster.FollowerState) bool {
	end := r.ends[f.Broker]
	if end >= r.at.end {
		return false
	}
	records, ms := r.settings.Int(cluster.ReplicaLagRecords), r.settings.Int(cluster.ReplicaLagTime)
	return records >= 0 && r.at.end-end > records || ms > 0 && r.cluster.Now().UnixMilli()-f.CaughtUp > ms
}

// remembered is what the leader knows of a follower from earlier rounds.
func (r *round) remembered(broker int32) cluster.FollowerState {
	for _, f := range r.p.Followers {
		if f.Broker == broker {
			return f
		}
	}
	return cluster.FollowerState{Broker: broker, Epoch: noEpoch, CaughtUp: r.cluster.Now().UnixMilli()}
}

// noEpoch is below every leader epoch.
const noEpoch = -1

// memories is what the leader knows of its followers after this round, by number.
func (r *round) memories() []cluster.FollowerState {
	var all []cluster.FollowerState
	for _, broker := range slices.Sorted(slices.Values(r.p.Replicas)) {
		if broker == r.leader {
			continue
		}
		f := r.remembered(broker)
		end, known := r.ends[broker]
		if r.moved[broker] {
			f.Epoch = r.p.LeaderEpoch
		}
		if known && end >= r.at.end {
			f.CaughtUp = r.cluster.Now().UnixMilli()
		}
		all = append(all, f)
	}
	return all
}

// needed keeps memories for the topics whose configs ask for them: elsewhere a round
// changes no metadata.
func (r *round) needed(remember []cluster.FollowerState) []cluster.FollowerState {
	if r.settings.Text(cluster.Truncation) == CutByMark || r.settings.Int(cluster.ReplicaLagTime) > 0 {
		return remember
	}
	return nil
}

// minimum is the smallest log end in an ISR; the high watermark never goes back.
func (r *round) minimum(isr []int32) int64 {
	mark := r.at.end
	for _, broker := range isr {
		mark = min(mark, r.ends[broker])
	}
	return max(mark, r.mark)
}

func union(a, b []int32) []int32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// noteMark writes the leader's high watermark.
func (r *round) noteMark(mark int64) error {
	return r.cluster.SetHighWatermarks(r.ctx, r.leader, cluster.Points{r.tp: mark})
}

// publish changes the metadata if ISR or memories changed. A leader that somebody stopped
// meanwhile has nothing to say any more, and a follower neither.
func (r *round) publish(isr []int32, remember []cluster.FollowerState) error {
	if slices.Equal(isr, r.p.ISR) && slices.Equal(remember, r.p.Followers) {
		return nil
	}
	return r.cluster.Update(r.ctx, func(m *cluster.Meta) error {
		_, p, err := m.Partition(r.tp)
		if err != nil || p.LeaderID() != r.leader || p.LeaderEpoch != r.p.LeaderEpoch {
			return err
		}
		p.ISR = slices.DeleteFunc(slices.Clone(isr), func(b int32) bool { return !m.IsUp(b) })
		p.Followers = remember
		return nil
	})
}
