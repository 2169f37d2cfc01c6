package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/group"
)

// groupDescribeOptions are the flags of "logdir group describe".
type groupDescribeOptions struct{ offsets, members, state bool }

func newGroupDescribeCmd(env *Env) *cobra.Command {
	var o groupDescribeOptions
	c := &cobra.Command{
		Use:   "describe [GROUP...]",
		Short: "show committed offsets and lag, members or state of a group",
		Long: `Show how far a group has come in each partition: the offset that is committed, the high
watermark, and how many offsets lie in between. Where nothing tells the high watermark the lag
is counted from the log end. Without a GROUP all are shown.`,
		Example: `  logdir group describe billing
  logdir group describe billing --members
  logdir group describe -d /var/lib/kafka/data --json`,
		Annotations: about("0 1 2 3 4", "logdir-group(1)", "logdir-offsets(1)"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.members && o.state || o.offsets && (o.members || o.state) {
				return usagef("--offsets, --members and --state are three reports: one at a time")
			}
			known, err := env.readGroups()
			if err != nil {
				return err
			}
			wanted, err := known.named(args)
			if err != nil {
				return err
			}
			return errors.Join(append(known.damage, o.print(known, wanted))...)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.offsets, "offsets", false, "a row for each partition (the default)")
	f.BoolVar(&o.members, "members", false, "a row for each member instead")
	f.BoolVar(&o.state, "state", false, "a row for each group instead")
	return c
}

// named are the groups that the arguments ask for.
func (g *knownGroups) named(args []string) ([]*group.Group, error) {
	if len(args) == 0 {
		return g.Groups(), nil
	}
	var list []*group.Group
	for _, id := range args {
		found, ok := g.Group(id)
		if !ok {
			return nil, group.NotFound(id, g.Groups())
		}
		list = append(list, found)
	}
	return list, nil
}

func (o groupDescribeOptions) print(g *knownGroups, wanted []*group.Group) error {
	switch {
	case o.members:
		return g.env.Print(g.membersReport(wanted))
	case o.state:
		return g.env.Print(stateReport(wanted))
	}
	return g.printOffsets(wanted)
}

func stateReport(wanted []*group.Group) render.Table {
	t := render.Table{Columns: []string{"GROUP", "STATE", "MEMBERS", "GENERATION", "TYPE", "PROTOCOL", "LEADER"}}
	for _, g := range wanted {
		row := []any{g.ID, g.State(), len(g.Members()), render.Known(g.Generation()), string(g.Kind), nil, nil}
		if c := g.Classic; c != nil {
			row[5], row[6] = orNil(c.Protocol), orNil(c.Leader)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// orNil is no value for an empty text.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (g *knownGroups) membersReport(wanted []*group.Group) render.Table {
	t := render.Table{Columns: []string{"GROUP", "GENERATION", "MEMBER", "STATE", "ASSIGNMENT", "CLIENT-ID", "HOST", "INSTANCE-ID"}}
	names := topicNames{view: g.view}
	for _, of := range wanted {
		for _, m := range of.Members() {
			assignment := names.named(m.Assignment)
			t.Rows = append(t.Rows, []any{
				of.ID, of.Generation(), m.ID, memberState(assignment), assignmentCell(assignment),
				orNil(m.ClientID), orNil(m.ClientHost), orNil(m.InstanceID),
			})
		}
	}
	return t
}

// memberState tells a member that reads from one that waits until another leaves.
func memberState(assignment []store.TopicPartition) string {
	if len(assignment) == 0 {
		return "standby"
	}
	return "active"
}
