package cmd

import (
	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store/cluster"
	"logdir/store/group"
)

func newGroupLeaveCmd(env *Env) *cobra.Command {
	o := &oneMember{}
	c := &cobra.Command{
		Use:   "leave GROUP",
		Short: "take a member out of a group",
		Long: `Take a member out and begin a new generation: its partitions go to the others. What it read
and did not commit they read again. Prints the members that are left.`,
		Example:     `  logdir group leave billing --member b`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-group(1)"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				g, err := co.Leave(c.Context(), o.group, o.member)
				if err != nil {
					return err
				}
				return env.Print(remainingReport(g))
			})
		},
	}
	o.addFlags(c)
	return c
}

func remainingReport(g *group.Group) render.Report {
	t := render.Table{Columns: memberColumns}
	for _, m := range g.Members() {
		t.Rows = append(t.Rows, memberRow(g.ID, g.Generation(), m.ID, m.Assignment))
	}
	return t
}
