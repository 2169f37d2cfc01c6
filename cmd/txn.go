package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/txn"
)

func newTxnCmd(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "txn",
		Short: "transactions, step by step",
		Long: `Transactions over Kafka's own records, each step a command, so that one can stop between
any two: records of several partitions and the offsets of a group become visible together,
or not at all. Who reads with --isolation-level read_committed sees nothing of a transaction
that is open or aborted.

What the coordinator knows stands in __transaction_state, in the coordinator folder of the
cluster. A commit or abort that was interrupted is finished by the next txn command or by
"broker start"; a transaction that is open for longer than its timeout is aborted then.`,
		Example: `  logdir txn begin mover
  echo hello | logdir txn produce mover orders
  logdir txn send-offsets mover billing -t in:0 --offset 42
  logdir txn commit mover`,
		Annotations: about("0 1 2 3 4 5 6 7 9 99 130", "logdir-txns(1)", "logdir-produce(1)", "logdir-group(1)"),
	}
	c.AddCommand(newTxnBeginCmd(env), newTxnProduceCmd(env), newTxnSendOffsetsCmd(env),
		newTxnEndCmd(env, commitTxn), newTxnEndCmd(env, abortTxn), newTxnListCmd(env))
	return c
}

// onTxns runs a command on the transactions of the cluster, once everything is finished that
// an earlier one left half done.
func (e *Env) onTxns(ctx context.Context, fsync store.Fsync, do func(*cluster.Cluster, *txn.Coordinator) error) error {
	c, err := e.openCluster(fsync)
	if err != nil {
		return err
	}
	co := txn.NewCoordinator(c)
	err = e.finishTxns(ctx, co)
	if err == nil {
		err = do(c, co)
	}
	return errors.Join(err, co.Close(context.WithoutCancel(ctx)), c.Close())
}

// finishAllTxns is finishTxns for a command that does nothing else with transactions.
func (e *Env) finishAllTxns(ctx context.Context, c *cluster.Cluster) error {
	co := txn.NewCoordinator(c)
	return errors.Join(e.finishTxns(ctx, co), co.Close(context.WithoutCancel(ctx)))
}

// finishTxns ends what a coordinator ends by itself, and says so. What cannot be ended now
// is no error of this command.
func (e *Env) finishTxns(ctx context.Context, co *txn.Coordinator) error {
	ended, left, err := co.Finish(ctx)
	for _, t := range ended {
		why := "was decided, and is finished"
		if t.TimedOut {
			why = fmt.Sprintf("was open for more than %d ms, and is aborted", t.TimeoutMs)
		}
		e.Note("the transaction of %s %s: %s, epoch %d", t.ID, why, t.State, t.Epoch)
	}
	for _, u := range left {
		if _, crashed := errors.AsType[*crashError](u.Err); crashed {
			err = errors.Join(err, u.Err)
			continue
		}
		e.Note("the transaction of %s cannot be finished yet: %v", u.ID, u.Err)
	}
	return err
}

// oneRun is a transactional id and the epoch of one of its runs.
type oneRun struct {
	id    string
	epoch int32
}

func (o *oneRun) addTo(f *pflag.FlagSet) {
	f.Int32Var(&o.epoch, "producer-epoch", txn.AnyEpoch, "act as the run with this `epoch`, which may be fenced (default the newest run)")
}

// printTxn prints what is so of a transaction now.
func (e *Env) printTxn(t txn.Transaction) error {
	return e.Print(render.Table{
		Columns: []string{"TRANSACTIONAL-ID", "PRODUCER-ID", "EPOCH", "STATE"},
		Rows:    [][]any{{t.ID, t.ProducerID, t.Epoch, t.State.String()}},
	})
}

// readTxns replays the transactions of a cluster's coordinator, or of a broker's log
// directory. damage is the first of each log.
func (e *Env) readTxns() (all []txn.Transaction, damage []error, err error) {
	v, err := e.look(nil)
	if err != nil {
		return nil, nil, err
	}
	known := txn.NewTransactions()
	damage, err = e.replayCoordinator(v, txn.Topic, known.ReadLog)
	return known.All(), damage, err
}
