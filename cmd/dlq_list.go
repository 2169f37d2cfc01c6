package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store/cluster"
	"logdir/store/deadletter"
)

func newDLQListCmd(env *Env) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "list [TARGET...]",
		Short: "how many dead letters each partition has",
		Long: `List the queues: RECORDS counts all that stand there, PENDING those that were not retried
with success. A queue of which nothing is pending is listed with --all only.`,
		Example: `  logdir dlq list
  [ -z "$(logdir dlq list orders)" ] && echo 'nothing was diverted'`,
		Annotations: about("0 1 2 3 4 5", "logdir-dlq(1)"),
		RunE: func(_ *cobra.Command, targets []string) error {
			return env.onQueues(targets, func(_ *cluster.Cluster, queues []deadletter.Status) error {
				damage := damageIn(queues)
				if !all {
					queues = pending(queues)
				}
				return errors.Join(env.Print(queueReport(queues)), damage)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also queues of which nothing is pending")
	return c
}

// damageIn joins what is wrong with queues.
func damageIn(queues []deadletter.Status) error {
	var errs []error
	for _, q := range queues {
		errs = append(errs, q.Damage)
	}
	return errors.Join(errs...)
}

func queueReport(queues []deadletter.Status) render.Report {
	r := render.Table{Columns: []string{"TOPIC", "PARTITION", "RECORDS", "PENDING"}}
	for _, q := range queues {
		r.Rows = append(r.Rows, []any{q.Topic, q.Partition, q.Records, q.Pending})
	}
	return r
}
