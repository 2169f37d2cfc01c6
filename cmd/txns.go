package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/cluster"
)

func newTxnsCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "txns [TARGET...]",
		Short: "list the transactions that the segments tell of",
		Long: `List the transactions that have records in a partition, straight from the segments, in the
order of their first offsets. One that is open holds back the last stable offset: consumers
with isolation level read_committed wait in front of it.`,
		Example: `  logdir txns orders:0
  logdir txns -d /var/lib/kafka/data --json | grep '"state":"open"'`,
		Annotations: about("0 1 2 3 4 5 141", "logdir-offsets(1)", "logdir-fetch(1)", "logdir-dump-segment(1)"),
		RunE: func(_ *cobra.Command, targets []string) error {
			v, err := env.look(targets)
			if err != nil {
				return err
			}
			refs, leaderless, err := resolve(v, targets, false)
			if err != nil {
				return err
			}
			l := txnList{env: env, view: v}
			err = l.print(refs)
			l.hint()
			return errors.Join(err, leaderless)
		},
	}
}

// txnList prints the transactions of partitions.
type txnList struct {
	env  *Env
	view *cluster.View
	rows *render.Stream
	// oldest are the transactions that hold back what is stable: the first open one of each
	// partition.
	oldest []openTxn
}

type openTxn struct {
	store.TopicPartition
	inspect.Txn
}

func (l *txnList) print(refs []store.PartitionRef) error {
	l.rows = l.env.Stream([]string{"TOPIC", "PARTITION", "PRODUCER-ID", "EPOCH", "FIRST-OFFSET", "LAST-OFFSET", "STATE"})
	var bad []error
	for _, ref := range refs {
		err := l.partition(ref)
		if isClosedPipe(err) {
			return err
		}
		bad = append(bad, err)
	}
	return errors.Join(append(bad, l.rows.Close())...)
}

// partition prints the transactions of one replica. Of its damage the first is told.
func (l *txnList) partition(ref store.PartitionRef) error {
	log, err := l.view.Reader(ref)
	if err != nil {
		return readError(ref.Rel, err)
	}
	open := false
	damage, err := inspect.Transactions(log, func(t inspect.Txn) error {
		if t.State == inspect.TxnOpen && !open {
			open = true
			l.oldest = append(l.oldest, openTxn{ref.TopicPartition, t})
		}
		return l.rows.Row(ref.Topic, render.Known(ref.Partition), t.ProducerID, t.ProducerEpoch,
			t.FirstOffset, t.LastOffset, string(t.State))
	})
	switch {
	case isClosedPipe(err):
		return err
	case err != nil:
		return readError(ref.Rel, err)
	case len(damage) > 0:
		return l.env.damageAt(l.view, ref, damage[0])
	}
	return nil
}

// hint tells how to end what holds back the last stable offset.
func (l *txnList) hint() {
	for _, t := range l.oldest {
		if l.view.Meta != nil {
			l.env.Hint("%s is stable up to %d only: logdir txn list names the transaction of producer %d, logdir txn abort ID ends it",
				t.TopicPartition, t.FirstOffset, t.ProducerID)
			continue
		}
		l.env.Hint("%s is stable up to %d only; to end that: kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic %s --partition %d --start-offset %d",
			t.TopicPartition, t.FirstOffset, t.Topic, t.Partition, t.FirstOffset)
	}
}
