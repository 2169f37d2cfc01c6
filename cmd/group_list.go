package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
)

func newGroupListCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list groups",
		Long: `List the groups with their state, in Kafka's words: Stable with members, Empty without; groups
whose coordinator assigns (KIP-848) may also be Assigning or Reconciling.`,
		Example: `  logdir group list
  logdir group list -d /var/lib/kafka/data --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3 4", "logdir-group(1)"),
		RunE: func(*cobra.Command, []string) error {
			known, err := env.readGroups()
			if err != nil {
				return err
			}
			t := render.Table{Columns: []string{"GROUP", "STATE", "MEMBERS"}}
			for _, g := range known.Groups() {
				t.Rows = append(t.Rows, []any{g.ID, g.State(), len(g.Members())})
			}
			return errors.Join(append(known.damage, env.Print(t))...)
		},
	}
}
