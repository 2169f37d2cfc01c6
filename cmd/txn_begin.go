package cmd

import (
	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/txn"
)

func newTxnBeginCmd(env *Env) *cobra.Command {
	var timeoutMs int32
	c := &cobra.Command{
		Use:   "begin ID",
		Short: "begin a transaction",
		Long: `Begin a transaction under a transactional id: with its producer id and the next epoch. That
fences an older run of the same id, and aborts what it left open.`,
		Example: `  logdir txn begin mover
  logdir txn begin mover --transaction-timeout-ms 900000`,
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 4 5 9 99", "logdir-txn(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			if timeoutMs <= 0 {
				return usagef("--transaction-timeout-ms %d: want more than 0", timeoutMs)
			}
			return env.onTxns(c.Context(), store.FsyncClose, func(_ *cluster.Cluster, co *txn.Coordinator) error {
				t, err := co.Begin(c.Context(), args[0], timeoutMs)
				if err != nil {
					return err
				}
				return env.printTxn(t)
			})
		},
	}
	c.Flags().Int32Var(&timeoutMs, "transaction-timeout-ms", 60000, "abort it when it is open for so many `ms`")
	return c
}
