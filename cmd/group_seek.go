package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupSeekOptions are the flags of "logdir group seek".
type groupSeekOptions struct {
	oneMember
	targets []string
	to      flagval.OffsetSpec
}

func newGroupSeekCmd(env *Env) *cobra.Command {
	o := &groupSeekOptions{}
	c := &cobra.Command{
		Use:   "seek GROUP",
		Short: "move a member's position",
		Long: `Move the position of a member in partitions that it has: where its next poll begins. What
is committed stays as it is, until the member commits.`,
		Example: `  logdir group seek billing --member a -t orders:0 --to start
  logdir group seek billing --member a -t orders --to stored`,
		Annotations: about("0 1 2 3 4 5 6 9", "logdir-group(1)", "logdir help offsets"),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(o.targets) == 0 || !c.Flags().Changed("to") {
				return usagef("which partition, and where to? --topic T:P --to SPEC")
			}
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				return o.seek(c.Context(), env, co)
			})
		},
	}
	o.addFlags(c)
	c.Flags().StringArrayVarP(&o.targets, "topic", "t", nil, "the partitions: a `target` T:P (repeatable)")
	c.Flags().Var(&o.to, "to", "where to, an `offset`: start end N -N +N @TIME or stored")
	return c
}

func (o *groupSeekOptions) seek(ctx context.Context, env *Env, co *group.Coordinator) error {
	known, err := env.readGroups()
	if err != nil {
		return err
	}
	g, err := known.named([]string{o.group})
	if err != nil {
		return err
	}
	v, err := co.Recall(ctx, o.group, o.member)
	if err != nil {
		return err
	}
	chosen, err := targetPositions(v, o.targets)
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"GROUP", "TOPIC", "PARTITION", "OLD-POSITION", "NEW-POSITION"}}
	for _, p := range chosen {
		to, err := env.groupOffset(known.view, g[0], p.TopicPartition(), o.to)
		if err != nil {
			return err
		}
		*v.Position(p.TopicPartition()) = group.Position{Topic: p.Topic, Partition: p.Partition, Offset: to, LeaderEpoch: -1}
		t.Rows = append(t.Rows, []any{o.group, p.Topic, p.Partition, render.Known(p.Offset), to})
	}
	return errors.Join(co.Moved(ctx, v), env.Print(t))
}

// groupOffset resolves --to for a partition that a group reads. It must be one of the
// partition's offsets, or its end.
func (e *Env) groupOffset(v *cluster.View, g *group.Group, tp store.TopicPartition, spec flagval.OffsetSpec) (int64, error) {
	if spec.From.Kind == flagval.Stored && !spec.HasTo {
		c, err := committedOffset(g, tp)
		return c.Offset, err
	}
	ref, err := v.Leading(tp)
	if err != nil {
		return 0, err
	}
	to, err := e.offsetAt(v, ref, "--to", spec)
	if err != nil {
		return 0, err
	}
	return to, e.withinRange(v, ref, to)
}

// withinRange requires an offset to be between log start and high watermark.
func (e *Env) withinRange(v *cluster.View, ref store.PartitionRef, offset int64) error {
	marks, err := v.Offsets(ref)
	if err != nil {
		return err
	}
	if offset < marks.LogStart || offset > max(marks.HighWatermark, marks.LogStart) {
		return outOfRange(ref.TopicPartition, offset, marks.LogStart, marks.HighWatermark)
	}
	return nil
}

// committedOffset is what a group, which may not be there yet, has committed.
func committedOffset(g *group.Group, tp store.TopicPartition) (group.Position, error) {
	if g != nil {
		if c, ok := g.Offset(tp); ok {
			return c, nil
		}
	}
	return group.Position{}, store.Errorf(store.NotFound, "NO_OFFSET_FOR_PARTITION", "%s: the group has committed nothing there", tp)
}
