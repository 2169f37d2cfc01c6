package cmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupDeleteOptions are the flags of "logdir group delete".
type groupDeleteOptions struct {
	oneMember
	offsets bool
	targets []string
	dryRun  bool
}

func newGroupDeleteCmd(env *Env) *cobra.Command {
	o := &groupDeleteOptions{}
	c := &cobra.Command{
		Use:   "delete GROUP",
		Short: "delete a group without members, or some of its offsets",
		Long: `Delete a group that has no members, with its committed offsets; or, with --offsets, only
those of the topics that are named, which no member may read. Nothing is kept, and undo cannot
bring it back; so it asks, unless --yes is given.`,
		Example: `  logdir group delete billing --yes
  logdir group delete billing --offsets -t orders:0 --yes`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-group(1)"),
		Args:        func(_ *cobra.Command, args []string) error { return o.takeGroup(args) },
		RunE: func(c *cobra.Command, _ []string) error {
			if o.offsets != (len(o.targets) > 0) {
				return usagef("--offsets and --topic go together")
			}
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				if o.offsets {
					return o.deleteOffsets(c.Context(), env, co)
				}
				return o.deleteGroup(c.Context(), env, co)
			})
		},
	}
	o.groupFlag(c)
	fs := c.Flags()
	fs.BoolVar(&o.offsets, "offsets", false, "delete only committed offsets, those of --topic")
	fs.StringArrayVarP(&o.targets, "topic", "t", nil, "with --offsets: a `target` TOPIC[:PARTS] (repeatable)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "show what would go, but write nothing")
	return c
}

func (o *groupDeleteOptions) deleteGroup(ctx context.Context, env *Env, co *group.Coordinator) error {
	if err := co.Delete(ctx, o.group, true); err != nil {
		return err
	}
	if !o.dryRun {
		if err := env.Confirm("delete group " + o.group + " and its committed offsets (undo cannot bring them back)"); err != nil {
			return err
		}
		if err := co.Delete(ctx, o.group, false); err != nil {
			return err
		}
	}
	return env.Print(render.Table{Columns: []string{"GROUP", "STATUS"}, Rows: [][]any{{o.group, o.status()}}})
}

func (o *groupDeleteOptions) status() string {
	if o.dryRun {
		return "would be deleted"
	}
	return "deleted"
}

func (o *groupDeleteOptions) deleteOffsets(ctx context.Context, env *Env, co *group.Coordinator) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	gone, err := co.DeleteOffsets(ctx, o.group, true, chosen)
	if err != nil || len(gone) == 0 {
		return err
	}
	if !o.dryRun {
		if err := env.Confirm("delete committed offsets of group " + o.group + " (undo cannot bring them back)"); err != nil {
			return err
		}
		if gone, err = co.DeleteOffsets(ctx, o.group, false, chosen); err != nil {
			return err
		}
	}
	t := render.Table{Columns: []string{"GROUP", "STATUS", "TOPIC", "PARTITION", "OLD-OFFSET"}}
	for _, c := range gone {
		t.Rows = append(t.Rows, []any{o.group, o.status(), c.Topic, c.Partition, c.Offset})
	}
	return env.Print(t)
}

// chosen tells the partitions that the TARGETs name. The topics need not be there any
// more.
func (o *groupDeleteOptions) chosen() (func(store.TopicPartition) bool, error) {
	var targets []store.Target
	for _, text := range o.targets {
		t, err := store.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return func(tp store.TopicPartition) bool {
		return slices.ContainsFunc(targets, func(t store.Target) bool { return t.Topic == tp.Topic && t.Has(tp.Partition) })
	}, nil
}
