package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/deadletter"
)

// dlqShowOptions are the flags of "logdir dlq show".
type dlqShowOptions struct {
	fetchOptions
	all bool
}

func newDLQShowCmd(env *Env) *cobra.Command {
	o := &dlqShowOptions{}
	c := &cobra.Command{
		Use:   "show [TARGET...]",
		Short: "print dead letters",
		Long: `Print the pending records of the queues as fetch prints records, with the headers that say
why they are there. Offsets are those in the queue.`,
		Example: `  logdir dlq show orders:0 -f '%v %h\n'
  logdir dlq show -J --grep h:logdir.dlq.group=billing`,
		Annotations: about("0 1 2 3 4 5", "logdir-dlq(1)", "logdir-fetch(1)", "logdir help format"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	fs := c.Flags()
	fs.BoolVar(&o.all, "all", false, "also what was retried with success")
	fs.Int64VarP(&o.maxMessages, "max-messages", "c", 0, "stop after so many records: a `number`, 0 for all")
	fs.StringArrayVar(&o.grep, "grep", nil, "only records that match: a `filter` k:RE, v:RE or h:NAME=RE; ! before it negates")
	flagGroup(c, "which records", "all", "max-messages", "grep")
	o.addOutputFlags(c)
	return c
}

func (o *dlqShowOptions) run(ctx context.Context, env *Env, targets []string) error {
	if o.maxMessages < 0 {
		return usagef("--max-messages %d is negative", o.maxMessages)
	}
	if err := o.validateOutput(env); err != nil {
		return err
	}
	filters, err := parseFilters(o.grep)
	if err != nil {
		return err
	}
	printer, err := o.printer(env)
	if err != nil {
		return err
	}
	f := &fetchRun{
		o: &o.fetchOptions, env: env, printer: printer, filters: filters,
		fetcher: client.NewFetcher(),
	}
	f.limit(ctx, o.maxMessages)
	err = env.onQueues(targets, func(c *cluster.Cluster, queues []deadletter.Status) error {
		return o.show(c, f, queues)
	})
	return errors.Join(err, printer.Close())
}

func (o *dlqShowOptions) show(c *cluster.Cluster, f *fetchRun, queues []deadletter.Status) error {
	var errs []error
	for _, q := range queues {
		if !f.enough() {
			errs = append(errs, o.showOne(c, f, q))
		}
	}
	return errors.Join(errs...)
}

// showOne prints one queue, from its first pending record on.
func (o *dlqShowOptions) showOne(c *cluster.Cluster, f *fetchRun, q deadletter.Status) error {
	queue := deadletter.Open(c, q.Topic)
	log, err := queue.Reader(q.Partition)
	if log == nil || err != nil {
		return err
	}
	fetch := client.Fetch{Log: log, From: log.Start(), To: maxOffset}
	if o.all {
		fetch.From = 0
	}
	f.context = render.RecordContext{
		Topic: q.Topic, Partition: q.Partition, Broker: store.NoBroker, BaseOffset: client.NoOffset,
	}
	_, err = f.fetcher.Run(fetch, f.record)
	return queue.Damaged(q.Partition, err)
}
