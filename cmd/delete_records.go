package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
)

// deleteRecordsOptions are the flags of "logdir delete-records".
type deleteRecordsOptions struct {
	before flagval.OffsetSpec
	dryRun bool
}

func newDeleteRecordsCmd(env *Env) *cobra.Command {
	o := &deleteRecordsOptions{}
	c := &cobra.Command{
		Use:   "delete-records TOPIC:P --before OFFSET",
		Short: "raise the log start offset",
		Long: `Delete the records of one partition below an offset: the leader's log start offset moves
there, and whole segments below it go. An offset inside a segment or a batch is fine: what
is left of it below is not read any more. Followers move their log start when they next
fetch; LOW-WATERMARK is the smallest log start of the replicas that are up.

Nothing is kept of what goes, and undo cannot bring it back.`,
		Example: `  logdir delete-records orders:0 --before 1500
  logdir delete-records orders:0 --before end --dry-run
  logdir delete-records orders:0 --before @-7d`,
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 3 4 5 9", "logdir-retention(1)", "logdir-offsets(7)"),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("before") {
				return usagef("--before OFFSET is missing")
			}
			return o.run(c.Context(), env, args)
		},
	}
	c.Flags().Var(&o.before, "before", "the new log start: an `offset` as for fetch -o; end is the high watermark")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be, but write nothing")
	return c
}

func (o *deleteRecordsOptions) run(ctx context.Context, env *Env, targets []string) error {
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.delete(ctx, env, c, targets), c.Close())
}

func (o *deleteRecordsOptions) delete(ctx context.Context, env *Env, c *cluster.Cluster, targets []string) error {
	v, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	refs, err := v.Resolve(targets, false)
	if err != nil {
		return err
	}
	if len(refs) != 1 {
		return usagef("delete-records works on one partition, the target names %d: say TOPIC:PARTITION", len(refs))
	}
	ref := refs[0]
	if leader, _, err := c.Meta().LeaderOf(ref.TopicPartition); err != nil || leader != ref.Broker {
		return errors.Join(err, notLeader(ref, leader, err))
	}
	before, err := env.offsetAt(v, ref, "--before", o.before)
	if err != nil {
		return err
	}
	low, err := o.deleteBefore(ctx, env, c, v, ref, before)
	if err != nil {
		return err
	}
	return env.Print(render.Table{
		Columns: []string{"TOPIC", "PARTITION", "LOW-WATERMARK"},
		Rows:    [][]any{{ref.Topic, ref.Partition, low}},
	})
}

// notLeader refuses a follower: its log start is its leader's to move.
func notLeader(ref store.PartitionRef, leader int32, err error) error {
	if err != nil {
		return nil
	}
	return store.Errorf(store.Refused, "NOT_LEADER_OR_FOLLOWER", "%s is led by broker %d, not %d", ref.TopicPartition, leader, ref.Broker)
}

// deleteBefore deletes, or finds out what would be, and returns the low watermark.
func (o *deleteRecordsOptions) deleteBefore(ctx context.Context, env *Env, c *cluster.Cluster, v *cluster.View, ref store.PartitionRef, before int64) (int64, error) {
	marks, err := v.Offsets(ref)
	if err != nil {
		return 0, err
	}
	if err := cluster.CheckDeletion(ref.TopicPartition, before, marks.LogStart, marks.HighWatermark); err != nil {
		return 0, err
	}
	if o.dryRun {
		return c.LowWatermark(ref.TopicPartition, ref.Broker, before)
	}
	if n := before - marks.LogStart; n > 0 {
		env.Note("%s: offsets %d to %d go for good: undo cannot bring them back", ref.TopicPartition, marks.LogStart, before-1)
	}
	d, err := c.DeleteRecords(ctx, ref.TopicPartition, before)
	if err == nil && d.LowWatermark < d.LogStart {
		env.Note("%s: a follower still starts at %d; it learns of %d when it next fetches", ref.TopicPartition, d.LowWatermark, d.LogStart)
		env.Hint("%s", env.retype("logdir replicate", []string{ref.TopicPartition.String()}))
	}
	return d.LowWatermark, err
}
