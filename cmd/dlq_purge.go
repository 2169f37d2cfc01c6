package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store/cluster"
	"logdir/store/deadletter"
)

func newDLQPurgeCmd(env *Env) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:   "purge [TARGET...]",
		Short: "delete dead letters",
		Long: `Delete the queues with all their records, pending or not. Nothing is kept, and undo cannot
bring them back; so it asks, unless --yes is given.`,
		Example: `  logdir dlq purge orders:0 --yes
  logdir dlq purge --dry-run`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-dlq(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return env.onQueues(targets, func(cl *cluster.Cluster, queues []deadletter.Status) error {
				if dryRun {
					return env.Print(purgeReport(queues, "would be purged"))
				}
				return env.purgeQueues(c.Context(), cl, queues)
			})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would go, but write nothing")
	return c
}

func (e *Env) purgeQueues(ctx context.Context, c *cluster.Cluster, queues []deadletter.Status) error {
	if len(queues) == 0 {
		return nil
	}
	var records, pending int64
	for _, q := range queues {
		records, pending = records+q.Records, pending+q.Pending
	}
	err := e.Confirm(fmt.Sprintf("purge %d dead letter(s), %d of them pending (undo cannot bring them back)", records, pending))
	if err != nil {
		return err
	}
	var purged []deadletter.Status
	var errs []error
	for _, q := range queues {
		if err := deadletter.Open(c, q.Topic).Purge(ctx, q.Partition); err != nil {
			errs = append(errs, err)
			continue
		}
		purged = append(purged, q)
	}
	return errors.Join(append(errs, e.Print(purgeReport(purged, "purged")))...)
}

func purgeReport(queues []deadletter.Status, status string) render.Report {
	r := render.Table{Columns: []string{"TOPIC", "PARTITION", "RECORDS", "PENDING", "STATUS"}}
	for _, q := range queues {
		r.Rows = append(r.Rows, []any{q.Topic, q.Partition, q.Records, q.Pending, status})
	}
	return r
}
