package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/segment"
)

// rollOptions are the flags of "logdir roll".
type rollOptions struct{ dryRun bool }

func newRollCmd(env *Env) *cobra.Command {
	var o rollOptions
	c := &cobra.Command{
		Use:   "roll TARGET...",
		Short: "close the active segment and begin a new one",
		Long: `Close the active segment of a partition and begin a new one at the log end, as if it had
grown to segment.bytes. Retention and compaction never touch the active segment; rolling
lets them have it. An empty active segment is left alone and not listed.`,
		Example: `  logdir roll orders:0
  logdir roll orders --dry-run`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: about("0 1 2 3 4 5 9", "logdir-segments(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be rolled, but write nothing")
	return c
}

func (o rollOptions) run(ctx context.Context, env *Env, targets []string) error {
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.roll(ctx, env, c, targets), c.Close())
}

func (o rollOptions) roll(ctx context.Context, env *Env, c *cluster.Cluster, targets []string) error {
	v, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	refs, leaderless, err := resolve(v, targets, false)
	if err != nil {
		return err
	}
	rows := env.Stream([]string{"TOPIC", "PARTITION", "BROKER", "SEGMENT", "ACTION"})
	var failed []error
	for _, ref := range refs {
		base, action, err := o.rollOne(ctx, env, c, v, ref)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if action == "" {
			continue
		}
		if err := rows.Row(ref.Topic, ref.Partition, ref.Broker, segment.FileName(base, ""), action); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, leaderless, rows.Close())...)
}

// rollOne rolls one replica and returns the new segment's base offset. An empty action
// says that there was nothing to do.
func (o rollOptions) rollOne(ctx context.Context, env *Env, c *cluster.Cluster, v *cluster.View, ref store.PartitionRef) (base int64, action string, err error) {
	if o.dryRun {
		return wouldRoll(env, v, ref)
	}
	base, rolled, err := c.Roll(ctx, ref.TopicPartition, ref.Broker)
	if err != nil || !rolled {
		return 0, "", err
	}
	return base, "rolled", nil
}

func wouldRoll(env *Env, v *cluster.View, ref store.PartitionRef) (base int64, action string, err error) {
	marks, err := v.Offsets(ref)
	if err != nil {
		return 0, "", err
	}
	if marks.Damage != nil {
		return 0, "", env.damageAt(v, ref, marks.Damage)
	}
	r, err := v.Reader(ref)
	if err != nil {
		return 0, "", err
	}
	if bases := r.Segments(); len(bases) == 0 || bases[len(bases)-1] == marks.LogEnd {
		return 0, "", nil
	}
	return marks.LogEnd, "would be rolled", nil
}
