package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/txn"
)

// txnProduce is produce into a transaction.
type txnProduce struct {
	oneRun
	produce produceOptions
	row     bool // print the transaction: no --report asks for more
}

func newTxnProduceCmd(env *Env) *cobra.Command {
	o := &txnProduce{}
	c := &cobra.Command{
		Use:   "produce ID TOPIC [FILE...]",
		Short: "append records to a transaction",
		Long: `Append records to a topic as part of the open transaction, with the flags of "logdir
produce". It is always idempotent, with acks all: sequences go on from command to command.
A partition that is full fails: nothing of a transaction goes to the dead letter queue.`,
		Example: `  echo hello | logdir txn produce mover orders
  echo late | logdir txn produce mover orders --producer-epoch 0`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && o.produce.topic == "" {
				return errors.New("which transactional id, and which topic?")
			}
			return nil
		},
		Annotations: about("0 1 2 3 4 5 6 7 9 99 130", "logdir-txn(1)", "logdir-produce(1)"),
	}
	o.addFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, args) }
	return c
}

func (o *txnProduce) addFlags(c *cobra.Command) {
	fs, p := c.Flags(), &o.produce
	p.given = func(name string) bool { return fs.Changed(name) }
	p.addInputFlags(c, fs)
	p.addPlacementFlags(c, fs)
	p.addSendingFlags(c, fs)
	o.addTo(fs)
	p.defineFailureFlags(fs)
	flagGroup(c, "identity and failure", "producer-epoch", "leader-epoch", "lose-acks", "crash-after")
	p.addReportFlags(c, fs)
	p.addKafkaSpellings(fs)
	p.acks, p.noDLQ, p.report = client.AcksAll.String(), true, ""
	for name, value := range map[string]string{"acks": p.acks, "no-dlq": "true", "report": p.report} {
		fs.Lookup(name).DefValue = value
	}
	fs.Lookup("report").Usage = reportKinds + " (default the transaction's row)"
}

func (o *txnProduce) run(ctx context.Context, env *Env, args []string) error {
	p := &o.produce
	o.id, args = args[0], args[1:]
	if p.topic == "" {
		p.topic, args = args[0], args[1:]
	}
	p.files = args
	if o.row = p.report == ""; o.row {
		p.report = reportNone
	}
	if err := p.validateInto("logdir txn produce " + o.id); err != nil {
		return err
	}
	fsync, err := store.ParseFsync(p.fsync)
	if err != nil {
		return err
	}
	return env.onTxns(ctx, fsync, func(c *cluster.Cluster, co *txn.Coordinator) error {
		return o.produceInto(ctx, env, c, co, fsync)
	})
}

// produceInto produces into the open transaction.
func (o *txnProduce) produceInto(ctx context.Context, env *Env, c *cluster.Cluster, co *txn.Coordinator, fsync store.Fsync) error {
	p := &o.produce
	topic, err := c.Meta().Topic(p.topic)
	if err == nil {
		err = txn.CheckTopic(c.Meta(), topic)
	}
	if err != nil {
		return err
	}
	if p.transaction, err = co.Open(ctx, o.id, o.epoch); err != nil {
		return err
	}
	run, err := p.openIn(ctx, env, c, fsync)
	if err != nil {
		return err
	}
	if err := run.run(ctx); err != nil || !o.row {
		return err
	}
	return env.printTxn(p.transaction.Transaction)
}

// validateInto is validate for a producer whose identity is that of a transaction.
func (o *produceOptions) validateInto(command string) error {
	switch {
	case !o.noDLQ:
		return usagef("nothing of a transaction goes to the dead letter queue: no --no-dlq=false")
	case o.acks != "all" && o.acks != "-1":
		return usagef("a transaction waits for all: no --acks %s", o.acks)
	}
	return errors.Join(o.validateTopic(command), o.validateInput(), o.validateSending())
}
