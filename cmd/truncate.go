package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
)

// truncateOptions are the flags of "logdir truncate".
type truncateOptions struct {
	repairFlags
	to        flagval.OffsetSpec
	roundDown bool
	interval  int64
}

func newTruncateCmd(env *Env) *cobra.Command {
	o := &truncateOptions{}
	c := &cobra.Command{
		Use:   "truncate TARGET --to OFFSET",
		Short: "cut a replica back to an offset",
		Long: `Cut one replica so that OFFSET becomes its log end: the batch that holds it goes, and all
behind it. An offset inside a batch is refused unless --round-down. The removed bytes go to
the quarantine; "logdir undo" puts them back. It asks on anything but a cluster of ours.

A cut of a live leader begins a new leader epoch: its followers cut what it has no more when
they next fetch.`,
		Example: `  logdir truncate orders:0@2 --to 1500 --dry-run
  logdir truncate orders:0@2 --to -10 --round-down`,
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 3 4 5 9", "logdir-replicate(1)", "logdir-undo(1)", "logdir-offsets(7)"),
		RunE: func(c *cobra.Command, targets []string) error {
			if !c.Flags().Changed("to") {
				return usagef("--to OFFSET is missing")
			}
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	o.repairFlags.addTo(f)
	f.Var(&o.to, "to", "the new log end: an `offset` as for fetch -o; end is the high watermark")
	f.BoolVar(&o.roundDown, "round-down", false, "an offset inside a batch means the batch's first")
	f.Var(flagval.NewBytes(&o.interval), "index-interval-bytes", "index.interval.bytes for rebuilt indexes, where no topic config says (0: 4096)")
	return c
}

func (o *truncateOptions) run(ctx context.Context, env *Env, targets []string) error {
	r, err := env.openRepair(ctx, "truncate", o.repairFlags, targets, false)
	if err != nil {
		return err
	}
	return errors.Join(o.truncate(ctx, r), r.Close())
}

func (o *truncateOptions) truncate(ctx context.Context, r *repair) error {
	if err := r.checkQuarantine(); err != nil {
		return err
	}
	if len(r.refs) != 1 {
		return usagef("truncate cuts one replica, the target names %d: say TOPIC:PARTITION@BROKER", len(r.refs))
	}
	ref := r.refs[0]
	p, err := r.partition(ref)
	if err != nil {
		return err
	}
	offset, err := r.env.offsetAt(r.view, ref, "--to", o.to)
	if err != nil {
		return err
	}
	plan, err := recovery.MakeTruncate(ctx, r.env.FS, p, offset, o.roundDown, r.interval(ref.Topic, int(o.interval)))
	if err != nil {
		return err
	}
	if err := o.cut(ctx, r, plan); err != nil {
		return err
	}
	return r.env.Print(render.Table{
		Columns: []string{"TOPIC", "PARTITION", "BROKER", "LOG-END", "REMOVED-RECORDS", "REMOVED-BYTES"},
		Rows:    [][]any{{ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker), plan.LogEnd, plan.Lost.Records, plan.Lost.Bytes}},
	})
}

func (o *truncateOptions) cut(ctx context.Context, r *repair, plan *recovery.Plan) error {
	points, err := o.points(r, plan)
	if err != nil || plan.Empty() && len(points) == 0 {
		return err
	}
	ref := r.refs[0]
	if err := r.checkFollowers(ref, plan.LogEnd); err != nil {
		return err
	}
	if o.dryRun {
		return r.beginEpoch(ctx, ref)
	}
	if err := r.confirm(fmt.Sprintf("cut %s back to offset %d (%d records go)", ref.TopicPartition, plan.LogEnd, plan.Lost.Records)); err != nil {
		return err
	}
	if err := r.beginEpoch(ctx, ref); err != nil {
		return err
	}
	_, err = r.execute(ctx, add(nil, r.placeOf(ref), slices.Concat(plan.Changes, points)), nil)
	return err
}

// points are the changes of the checkpoints. Of a run that was interrupted they may be all
// that is left to do.
func (o *truncateOptions) points(r *repair, plan *recovery.Plan) ([]recovery.Change, error) {
	tp := plan.Partition.TopicPartition
	if tp.Partition < 0 {
		return nil, nil
	}
	return plan.Partition.LogDir.LowerPoints(r.env.FS, map[store.TopicPartition]int64{tp: plan.LogEnd})
}
