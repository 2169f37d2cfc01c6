package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store/cluster"
	"logdir/store/group"
)

func newGroupExpireCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "expire [GROUP]",
		Short: "take out members that gave no sign of life",
		Long: `Take out the members of which the coordinator has not heard for their session timeout, by
the clock of --now, and begin a new generation of each group that lost one: what a timer does
in a broker. Without GROUP, of all groups. Groups that lost nobody are not listed.`,
		Example: `  logdir group expire billing
  logdir group expire --now 2026-01-01T00:01:00Z`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 4 5 9", "logdir-group(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				return env.expireGroups(c.Context(), co, args)
			})
		},
	}
}

func (e *Env) expireGroups(ctx context.Context, co *group.Coordinator, names []string) error {
	if len(names) == 0 {
		all, err := co.Groups()
		if err != nil {
			return err
		}
		for _, g := range all {
			names = append(names, g.ID)
		}
	}
	t := render.Table{Columns: []string{"GROUP", "EXPIRED", "GENERATION"}}
	var errs []error
	for _, name := range names {
		expired, err := co.Expire(ctx, name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case len(expired.Members) > 0:
			t.Rows = append(t.Rows, []any{name, expired.Members, expired.Generation})
		}
	}
	return errors.Join(append(errs, e.Print(t))...)
}
