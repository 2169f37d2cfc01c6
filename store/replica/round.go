package replica

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/corrupt"
)

// round is one round of one partition, under its lock.
type round struct {
	*Fetcher
	ctx      context.Context
	tp       store.TopicPartition
	p        *cluster.Partition // as it was when the round began
	settings cluster.Settings
	leader   int32
	log      *store.LogReader // of the leader
	at       state            // of the leader's log
	mark     int64            // the leader's high watermark before the round
	ends     map[int32]int64  // of the logs that are known to be the leader's so far
	moved    map[int32]bool   // the followers that fetched
}

// begin looks at the leader. A damaged end of its log is an error: nobody is to copy what
// lies before it and believe that to be all.
func (f *Fetcher) begin(ctx context.Context, tp store.TopicPartition) (*round, error) {
	meta := f.cluster.Meta()
	leader, epoch, err := meta.LeaderOf(tp)
	if err != nil {
		return nil, err
	}
	topic, p, err := meta.Partition(tp)
	if err != nil {
		return nil, err
	}
	r := &round{
		Fetcher: f, ctx: ctx, tp: tp, p: p, settings: meta.Settings(topic),
		leader: leader, ends: map[int32]int64{}, moved: map[int32]bool{},
	}
	if r.log, r.at, err = f.look(tp, leader); err != nil {
		return nil, err
	}
	// A leader notes its epoch when it first appends: so far it has all of the epochs before.
	if last, _ := r.at.epochs.Latest(); last.Epoch < epoch {
		r.at.epochs.Assign(epoch, r.at.end)
	}
	r.mark, err = f.cluster.HighWatermark(tp, leader, r.at.end)
	return r, err
}

// look reads the state of a replica's log. A dry run has no lock: what is torn may be on
// its way then.
func (f *Fetcher) look(tp store.TopicPartition, broker int32) (*store.LogReader, state, error) {
	if f.o.DryRun {
		return look(f.cluster, tp, broker, f.cluster.Reader)
	}
	return look(f.cluster, tp, broker, f.cluster.LockedReader)
}

// look reads the state of a replica's log with a reader that open gives. A damaged end
// is an error.
func look(c *cluster.Cluster, tp store.TopicPartition, broker int32, open openReader) (*store.LogReader, state, error) {
	r, s, damage, err := stateOf(c, tp, broker, open)
	if err == nil && damage != nil {
		err = damageFound(c, damage, tp)
	}
	return r, s, err
}

// damageFound is store.DamageFound with the place as it is shown, and a hint that works
// from where the command was typed.
func damageFound(c *cluster.Cluster, d *corrupt.Error, tp store.TopicPartition) error {
	if rel, err := filepath.Rel(c.Path(), d.Path); err == nil {
		d.Path = filepath.ToSlash(rel)
	}
	e := store.DamageFound(d, tp)
	if c.Path() == "." {
		return e
	}
	return e.WithHint("logdir recover --dry-run -d %s %s", c.Path(), tp)
}

// openReader opens a replica for reading.
type openReader func(tp store.TopicPartition, broker int32) (*store.LogReader, error)

// stateOf reads the state of a replica's log, which ends before any damage.
func stateOf(c *cluster.Cluster, tp store.TopicPartition, broker int32, open openReader) (r *store.LogReader, s state, damage *corrupt.Error, err error) {
	if r, err = open(tp, broker); err != nil {
		return nil, s, nil, err
	}
	end, damage, err := r.End()
	if err != nil {
		return nil, s, nil, err
	}
	s.start = r.Start()
	s.end = max(end, s.start)
	s.epochs, err = checkpoint.ReadEpochs(c.FS(), filepath.Join(r.Dir(), checkpoint.EpochFile))
	s.epochs.TruncateFromEnd(s.end + 1)
	return r, s, damage, err
}

// run lets the followers fetch, then counts who is in sync.
func (r *round) run() ([]Fetched, error) {
	var moved []Fetched
	var errs []error
	for _, broker := range r.followers() {
		one, err := r.follow(broker)
		if r.dead != nil {
			return moved, r.dead
		}
		if err != nil {
			errs = append(errs, err)
		}
		if one == nil {
			continue
		}
		r.ends[broker], r.moved[broker] = one.To, true
		moved = append(moved, *one)
	}
	isr, mark, err := r.conclude()
	for i := range moved {
		moved[i].LeaderEnd, moved[i].HighWatermark, moved[i].ISR = r.at.end, mark, isr
	}
	return moved, errors.Join(append(errs, err)...)
}

// followers are the live replicas that fetch in this round, by number.
func (r *round) followers() []int32 {
	var ids []int32
	for _, broker := range r.p.Replicas {
		if broker != r.leader && r.moves(broker) && r.cluster.Meta().IsUp(broker) {
			ids = append(ids, broker)
		}
	}
	slices.Sort(ids)
	return ids
}
