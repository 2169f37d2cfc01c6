package cmd

import (
	"github.com/spf13/cobra"

	"logdir/store/cluster"
	"logdir/store/group"
)

func newGroupHeartbeatCmd(env *Env) *cobra.Command {
	o := &oneMember{}
	c := &cobra.Command{
		Use:   "heartbeat GROUP",
		Short: "tell the coordinator that a member lives",
		Long: `Tell the coordinator that a member lives, as join, poll and commit do too. A member of which
it has not heard for its session timeout is taken out by group expire.`,
		Example:     `  logdir group heartbeat billing --member a`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-group(1)"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.onCoordinator(c.Context(), func(_ *cluster.Cluster, co *group.Coordinator) error {
				behind, err := co.Heartbeat(c.Context(), o.group, o.member)
				if behind && err == nil {
					env.Note("a new generation has begun: %s takes it over with its next poll (REBALANCE_IN_PROGRESS)", o.member)
				}
				return err
			})
		},
	}
	o.addFlags(c)
	return c
}
