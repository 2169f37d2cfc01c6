package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
)

func newTxnListCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the transactional ids and their state",
		Long: `List what the coordinator knows: of each transactional id its producer, the epoch of its
newest run, the state, and the partitions that an open transaction has records in. A real
broker's log directory is read too, every __transaction_state partition that stands there.`,
		Example: `  logdir txn list
  logdir txn list -d /var/lib/kafka/data --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3 4", "logdir-txns(1)"),
		RunE:        func(*cobra.Command, []string) error { return env.listTxns() },
	}
}

func (e *Env) listTxns() error {
	all, damage, err := e.readTxns()
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"TRANSACTIONAL-ID", "PRODUCER-ID", "EPOCH", "STATE", "PARTITIONS"}}
	for _, x := range all {
		partitions := make([]string, len(x.Partitions))
		for i, tp := range x.Partitions {
			partitions[i] = tp.String()
		}
		t.Rows = append(t.Rows, []any{x.ID, x.ProducerID, x.Epoch, x.State.String(), partitions})
	}
	return errors.Join(append(damage, e.Print(t))...)
}
