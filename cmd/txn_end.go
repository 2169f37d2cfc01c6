package cmd

import (
	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/txn"
)

// txnEnd is one of the two ways in which a transaction ends.
type txnEnd struct {
	commit            bool
	name, short, long string
}

var (
	commitTxn = txnEnd{
		commit: true, name: "commit", short: "commit a transaction",
		long: `Commit the open transaction: all its records, and the offsets sent with it, become visible.
First it is written down that it commits; then each partition gets its marker, the
offsets' last. If that is interrupted the next txn command goes on with it.`,
	}
	abortTxn = txnEnd{
		name: "abort", short: "abort a transaction",
		long: `Abort the open transaction: its records stay in the logs, each behind a marker and in the
transaction index, and no read_committed reader sees them. Offsets sent with it are dropped.`,
	}
)

func newTxnEndCmd(env *Env, how txnEnd) *cobra.Command {
	var o oneRun
	c := &cobra.Command{
		Use:   how.name + " ID",
		Short: how.short,
		Long:  how.long,
		Example: "  logdir txn " + how.name + ` mover
  logdir txn ` + how.name + " mover --producer-epoch 0",
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 3 4 5 6 9 99", "logdir-txn(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.onTxns(c.Context(), store.FsyncClose, func(_ *cluster.Cluster, co *txn.Coordinator) error {
				t, err := co.End(c.Context(), args[0], o.epoch, how.commit)
				if err != nil {
					return err
				}
				return env.printTxn(t)
			})
		},
	}
	o.addTo(c.Flags())
	return c
}
