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

// onCoordinator runs a command on the groups of the cluster.
func (e *Env) onCoordinator(ctx context.Context, do func(*cluster.Cluster, *group.Coordinator) error) error {
	c, err := e.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	co := group.NewCoordinator(c)
	err = do(c, co)
	return errors.Join(err, co.Close(context.WithoutCancel(ctx)), c.Close())
}

// oneMember is a group and one member of it, as most group commands have them.
type oneMember struct{ group, member string }

// addFlags defines --member, and takes GROUP from the argument or from --group.
func (o *oneMember) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.member, "member", "", "the member: a `name`")
	o.groupFlag(c)
	c.Args = func(_ *cobra.Command, args []string) error {
		if err := o.takeGroup(args); err != nil {
			return err
		}
		if o.member == "" {
			return errors.New("which member? name it with --member")
		}
		return nil
	}
}

// groupFlag makes --group, as Kafka's tools spell it, stand for the argument.
func (o *oneMember) groupFlag(c *cobra.Command) {
	c.Flags().VarP(flagval.NewOnce(&o.group), "group", "g", "as the argument GROUP: a `name`")
	c.Flags().Lookup("group").Hidden = true
}

func (o *oneMember) takeGroup(args []string) error {
	switch {
	case len(args) == 1 && o.group == "":
		o.group = args[0]
	case len(args) > 1 || len(args) == 1:
		return errors.New("one group at a time")
	case o.group == "":
		return errors.New("which group?")
	}
	return nil
}

// memberColumns are those of join, leave and the like.
var memberColumns = []string{"GROUP", "GENERATION", "MEMBER", "STATE", "ASSIGNMENT"}

// memberRow shows what a member has.
func memberRow(group string, generation int32, member string, assignment []store.TopicPartition) []any {
	return []any{group, generation, member, memberState(assignment), assignmentCell(assignment)}
}

// partitionsOf are the partitions that a member believes to have.
func partitionsOf(v *group.View) []store.TopicPartition {
	list := make([]store.TopicPartition, len(v.Positions))
	for i, p := range v.Positions {
		list[i] = p.TopicPartition()
	}
	return list
}

// targetPositions are the partitions of a view that the TARGETs name, all if there are
// none. A partition that the member does not have is refused.
func targetPositions(v *group.View, targets []string) ([]group.Position, error) {
	if len(targets) == 0 {
		return v.Positions, nil
	}
	var chosen []group.Position
	for _, text := range targets {
		t, err := store.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		before := len(chosen)
		for _, p := range v.Positions {
			if p.Topic == t.Topic && t.Has(p.Partition) {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == before {
			return nil, store.Errorf(store.Fenced, "NOT_PARTITION_OWNER", "%s does not have %s in group %s", v.Member, text, v.Group).
				WithHint("logdir group describe %s", v.Group)
		}
	}
	return chosen, nil
}

// committedReport shows what a commit wrote.
func committedReport(done []group.OffsetCommit) render.Report {
	t := render.Table{Columns: []string{"GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET"}}
	for _, c := range done {
		t.Rows = append(t.Rows, []any{c.Group, c.Topic, c.Partition, c.Offset})
	}
	return t
}
