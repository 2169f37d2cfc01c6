package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
)

// replicateOptions are the flags of "logdir replicate".
type replicateOptions struct {
	only, except  []int32
	rounds        int
	maxBytes      int64
	untilCaughtUp bool
	dryRun        bool
}

func newReplicateCmd(env *Env) *cobra.Command {
	o := &replicateOptions{maxBytes: replica.DefaultMaxBytes}
	c := &cobra.Command{
		Use:   "replicate [TARGET...]",
		Short: "let followers fetch, one round at a time",
		Long: `One round: each live follower compares leader epochs with the leader, cuts what the leader
never had, and copies whole batches from its own log end on. Then the leader counts who is
in sync and moves the high watermark, of which followers learn one round later.

TARGET is TOPIC[:PARTS], or TOPIC[:PARTS]@BROKER for one follower. None means everything;
partitions without a leader have nobody to follow and are passed over.`,
		Example: `  logdir replicate orders
  logdir replicate orders:0 --only 2 --max-bytes 1
  logdir replicate --until-caught-up`,
		Annotations: about("0 1 2 3 4 5 9 99", "logdir-promote(1)", "logdir-diff(1)", "logdir-offsets(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	f.Int32SliceVar(&o.only, "only", nil, "only these `brokers` fetch: 2,3")
	f.Int32SliceVar(&o.except, "except", nil, "all but these `brokers` fetch")
	f.IntVar(&o.rounds, "rounds", 1, "so many rounds: a `number`")
	f.Var(flagval.NewBytes(&o.maxBytes), "max-bytes", "how much one follower fetches in one round, at least one batch (replica.fetch.max.bytes)")
	f.BoolVar(&o.untilCaughtUp, "until-caught-up", false, "as many rounds as it takes until no follower is behind")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what one round would do, but write nothing")
	return c
}

func (o *replicateOptions) validate() error {
	switch {
	case o.rounds < 1:
		return usagef("--rounds %d: want at least 1", o.rounds)
	case o.maxBytes < 1 || o.maxBytes > 1<<31-1:
		return usagef("--max-bytes %d: want 1 to 2147483647", o.maxBytes)
	case o.untilCaughtUp && o.rounds != 1:
		return usagef("--until-caught-up counts the rounds itself: no --rounds beside it")
	case o.dryRun && (o.untilCaughtUp || o.rounds != 1):
		return usagef("--dry-run shows one round: a second begins with what the first wrote")
	}
	return nil
}

func (o *replicateOptions) run(ctx context.Context, env *Env, targets []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.replicate(ctx, env, c, targets), c.Close())
}

func (o *replicateOptions) replicate(ctx context.Context, env *Env, c *cluster.Cluster, targets []string) error {
	if err := o.checkBrokers(c.Meta()); err != nil {
		return err
	}
	follows, err := o.follows(env, c.Meta(), targets)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(follows, func(f follow) bool { return len(f.partitions) > 0 }) {
		env.Note("no partition has a follower: nothing to fetch")
	}
	r := &replication{o: o, env: env, follows: follows}
	r.rows = env.Stream([]string{"TOPIC", "PARTITION", "FOLLOWER", "FROM", "TO", "TRUNCATED-TO", "HIGH-WATERMARK", "ISR"})
	for i := range r.follows {
		r.follows[i].fetcher = replica.NewFetcher(c, o.fetching(r.follows[i].only))
	}
	return r.run(ctx)
}

// checkBrokers refuses brokers that are not there.
func (o *replicateOptions) checkBrokers(m *cluster.Meta) error {
	for _, id := range slices.Concat(o.only, o.except) {
		if _, err := m.Broker(id); err != nil {
			return err
		}
	}
	return nil
}

func (o *replicateOptions) fetching(only []int32) replica.Options {
	return replica.Options{MaxBytes: int(o.maxBytes), Only: only, Except: o.except, Sync: true, DryRun: o.dryRun}
}

// follow is what one TARGET means: partitions, and who of their followers moves.
type follow struct {
	partitions []store.TopicPartition
	only       []int32
	fetcher    *replica.Fetcher
}

// follows reads the TARGETs; none means every partition that has followers.
func (o *replicateOptions) follows(env *Env, m *cluster.Meta, targets []string) ([]follow, error) {
	if len(targets) == 0 {
		all := follow{only: o.only}
		for _, t := range m.Topics {
			all.add(env, m, t, store.Target{Topic: t.Name}, true)
		}
		return []follow{all}, nil
	}
	var out []follow
	for _, text := range targets {
		t, err := store.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		topic, err := m.Topic(t.Topic)
		if err != nil {
			return nil, err
		}
		one := follow{only: o.only}
		if t.Broker != store.NoBroker {
			if _, err := m.Broker(t.Broker); err != nil {
				return nil, err
			}
			one.only = []int32{t.Broker}
		}
		if !one.add(env, m, topic, t, false) {
			return nil, store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "%s: topic %s has partitions 0 to %d", text, topic.Name, len(topic.Partitions)-1)
		}
		out = append(out, one)
	}
	return out, nil
}

// add takes the partitions of a topic that the target names, but for those without a
// leader, and tells whether there were any.
func (f *follow) add(env *Env, m *cluster.Meta, topic *cluster.Topic, t store.Target, quiet bool) (any bool) {
	for n, p := range topic.Partitions {
		if !t.Has(int32(n)) {
			continue
		}
		any = true
		tp := store.TopicPartition{Topic: topic.Name, Partition: int32(n)}
		_, _, err := m.LeaderOf(tp)
		switch {
		case err == nil && (len(p.Replicas) > 1 || !quiet):
			f.partitions = append(f.partitions, tp)
		case err != nil:
			env.Note("%s has no leader: nobody to follow (LEADER_NOT_AVAILABLE)", tp)
		}
	}
	return any
}

// replication is one run of replicate.
type replication struct {
	o       *replicateOptions
	env     *Env
	follows []follow
	rows    *render.Stream
	failed  []error
}

func (r *replication) run(ctx context.Context) error {
	err := r.rounds(ctx)
	for _, f := range r.follows {
		r.failed = append(r.failed, f.fetcher.Close(context.WithoutCancel(ctx)))
	}
	return errors.Join(append(r.failed, err, r.rows.Close())...)
}

func (r *replication) rounds(ctx context.Context) error {
	for n := 0; n < r.o.rounds || r.o.untilCaughtUp; n++ {
		behind, err := r.round(ctx)
		if err != nil || len(r.failed) > 0 || r.o.untilCaughtUp && !behind {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// round is one round of everything. What fails in one partition does not keep the others
// from it, but ends the rounds.
func (r *replication) round(ctx context.Context) (behind bool, err error) {
	for _, f := range r.follows {
		for _, tp := range f.partitions {
			moved, err := f.fetcher.Fetch(ctx, tp)
			if err != nil {
				r.failed = append(r.failed, err)
			}
			for _, m := range moved {
				behind = behind || m.Behind()
				if err := r.row(m); err != nil {
					return behind, err
				}
			}
		}
	}
	return behind, nil
}

func (r *replication) row(m replica.Fetched) error {
	return r.rows.Row(m.Topic, m.Partition, m.Follower, m.From, m.To, render.Known(m.TruncatedTo), m.HighWatermark, m.ISR)
}
