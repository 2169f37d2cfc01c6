package replica

import (
	"errors"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
)

// follower is one follower in a round.
type follower struct {
	*round
	broker int32
	log    *store.Log // nil in a dry run
	at     state      // of its log
	mark   int64      // its high watermark before the round
	out    Fetched
}

// follow lets one follower fetch. The result is nil if it did not get that far; with an
// error beside, it has what stood in front of damage.
func (r *round) follow(broker int32) (*Fetched, error) {
	f := &follower{round: r, broker: broker, out: Fetched{TopicPartition: r.tp, Follower: broker, TruncatedTo: NotTruncated}}
	if err := f.open(); err != nil {
		return nil, err
	}
	if err := f.join(); err != nil {
		return nil, err
	}
	f.out.From = f.at.end
	err := f.fetch()
	f.out.To = f.at.end
	if f.o.DryRun || f.dead != nil {
		return &f.out, err
	}
	return &f.out, errors.Join(err, f.learn())
}

// open finds out about the follower's log.
func (f *follower) open() (err error) {
	if f.o.DryRun {
		_, f.at, err = f.look(f.tp, f.broker)
	} else if f.log, err = f.logs.Open(f.ctx, f.tp, f.broker); err == nil {
		f.at = state{f.log.Start(), f.log.End(), f.log.Epochs()}
	}
	if err != nil {
		return err
	}
	mark, _, err := f.cluster.Checkpointed(f.broker, checkpoint.HighWatermarkFile, f.tp)
	f.mark = min(mark, f.at.end)
	return err
}

// join cuts the follower's log where it leaves the leader's, or begins it anew where it
// does not reach the leader's at all.
func (f *follower) join() error {
	to := f.cut()
	apart, err := f.apart(to)
	if err == nil && !apart && to < f.at.end {
		if err = f.truncate(to); err == nil {
			apart, err = f.apart(f.at.end) // whole batches were cut: it may end before to
		}
	}
	if err == nil && apart {
		err = f.restart()
	}
	return err
}

// apart tells whether a log that ends at an offset has nothing of the leader's: it ends
// below the leader's log start, or, there or without a record of its own, inside a batch of
// the leader's.
func (f *follower) apart(to int64) (bool, error) {
	start := f.round.at.start
	if to < start || to > max(start, f.at.start) {
		return to < start, nil
	}
	base, err := f.batchAt(to)
	return base < to, err
}

// cut is where the follower's log has to end before it may fetch. Beyond the leader's end
// there is nothing that the leader has.
func (f *follower) cut() int64 {
	to := f.at.end
	switch {
	case f.settings.Text(cluster.Truncation) != CutByMark:
		to = divergence(f.round.at, f.at, f.mark)
	case f.remembered(f.broker).Epoch != f.p.LeaderEpoch:
		to = f.mark
	}
	return min(to, f.round.at.end)
}

// CutByMark is the value of logdir.truncation for the rule of before KIP-101.
const CutByMark = "hw"

// truncate cuts the follower's log: its marks first, or a crash in between would leave
// marks that later records seem to have reached. Of a log that keeps no record the deleted
// ones below its start must not stay either: they would stand in front of the leader's,
// from an epoch that the leader never had.
func (f *follower) truncate(to int64) error {
	if to <= f.at.start {
		return f.restart()
	}
	f.out.TruncatedTo, f.at.end = to, to
	if f.o.DryRun {
		return nil
	}
	if err := f.cluster.LowerCheckpoints(f.ctx, f.broker, f.tp, to); err != nil {
		return err
	}
	end, err := cutLog(f.log, to)
	f.out.TruncatedTo, f.at.end = end, end
	return err
}

// cutLog cuts a log at an offset, or before the batch that holds it.
func cutLog(log *store.Log, to int64) (end int64, err error) {
	plan, err := log.PlanTruncate(to, true)
	if err != nil {
		return 0, err
	}
	return plan.End, log.Truncate(plan)
}

// restart begins the follower's log anew where the leader's starts.
func (f *follower) restart() error {
	at, err := f.batchAt(f.round.at.start)
	if err != nil {
		return err
	}
	if f.at.end > f.at.start {
		f.out.TruncatedTo = at
	}
	f.at = state{start: at, end: at}
	if f.o.DryRun {
		return nil
	}
	if err := f.cluster.LowerCheckpoints(f.ctx, f.broker, f.tp, 0); err != nil {
		return err
	}
	return f.log.RestartAt(at)
}

// batchAt is where the leader's batch begins that holds an offset.
func (f *follower) batchAt(offset int64) (base int64, err error) {
	c := f.round.log.From(offset)
	defer func() { err = errors.Join(err, c.Close()) }()
	if c.Next() && c.Damage() == nil {
		return min(c.Batch().BaseOffset(), offset), nil
	}
	return offset, c.Err()
}

// fetch copies whole batches from the follower's log end on: up to MaxBytes, at least one.
func (f *follower) fetch() error {
	frames, end, damage := f.read(f.at.end)
	if len(frames) == 0 || f.o.DryRun {
		f.at.end = end
		return damage
	}
	if err := f.log.AppendReplica(frames); err != nil {
		return errors.Join(err, damage)
	}
	f.at.end = f.log.End()
	if f.dead = f.cluster.Failpoint(store.FailReplicate); f.dead != nil {
		return f.dead
	}
	return damage
}

// read gathers frames of the leader's log from an offset on. Where damage ends them, it
// is the error.
func (f *follower) read(from int64) (frames []byte, end int64, err error) {
	frames, end = f.frames[:0], from
	c := f.round.log.From(from)
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if d := c.Damage(); d != nil {
			return frames, end, damageFound(f.cluster, d, f.tp)
		}
		b := c.Batch()
		if len(frames) > 0 && len(frames)+b.Size() > f.o.MaxBytes {
			break
		}
		if b.BaseOffset() < end {
			return frames, end, f.misfit(b.BaseOffset(), b.LastOffset())
		}
		frames, end = append(frames, b.Raw()...), b.NextOffset()
		f.frames = frames
	}
	return frames, end, c.Err()
}

// misfit is about two logs whose batches do not begin at the same offsets: epochs found
// no difference, but there is one.
func (f *follower) misfit(base, last int64) error {
	return store.Errorf(store.Damage, "", "%s: broker %d ends at offset %d, inside the leader's batch %d..%d",
		f.tp, f.broker, f.at.end, base, last).WithHint("logdir diff %s", f.tp)
}

// learn notes what came with the records: the high watermark as the leader had it, and
// where its log starts.
func (f *follower) learn() error {
	tp, mark := f.tp, min(f.round.mark, f.at.end)
	err := f.cluster.SetHighWatermarks(f.ctx, f.broker, cluster.Points{tp: mark})
	start := f.round.at.start
	if start <= f.log.Start() || start > f.at.end {
		return err
	}
	err = errors.Join(err, f.cluster.SetLogStarts(f.ctx, f.broker, cluster.Points{tp: start}))
	return errors.Join(err, f.logs.Drop(tp, f.broker)) // it is to be opened with its new start
}
