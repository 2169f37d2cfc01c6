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

func newDLQRetryCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "retry [TARGET...]",
		Aliases: []string{"reprocess"},
		Short:   "append dead letters to their partitions",
		Long: `Append the pending batches of each queue to the partition that they were meant for, in
order and without the logdir.dlq.* headers. At the first batch that is not taken the
partition is left: that one and those behind it stay pending.

A crash in the middle may leave batches in the partition that are still pending, and the
next retry appends those again.`,
		Example: `  logdir topic alter orders -c logdir.partition.max.records=1000
  logdir dlq retry orders`,
		Annotations: about("0 1 2 3 4 5 8 9", "logdir-dlq(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return env.onQueues(targets, func(cl *cluster.Cluster, queues []deadletter.Status) error {
				return env.retryQueues(c.Context(), cl, pending(queues))
			})
		},
	}
}

// The words of STATUS. A partition that is full keeps the reason of the diversion.
const (
	retryDone   = "done"
	retryFailed = "failed"
)

// retryQueues retries each queue; a failure ends only that one.
func (e *Env) retryQueues(ctx context.Context, c *cluster.Cluster, queues []deadletter.Status) error {
	r := render.Table{Columns: []string{"TOPIC", "PARTITION", "RETRIED", "PENDING", "STATUS"}}
	var errs []error
	for _, q := range queues {
		retried, err := retryQueue(ctx, c, q.TopicPartition)
		left, serr := deadletter.Open(c, q.Topic).Status(q.Partition)
		status := retryDone
		switch {
		case errors.Is(err, client.ErrFull):
			status, err = string(deadletter.PartitionFull), stillFull(left)
		case err != nil:
			status = retryFailed
		}
		errs = append(errs, err, serr)
		r.Rows = append(r.Rows, []any{q.Topic, q.Partition, retried, left.Pending, status})
	}
	return errors.Join(append([]error{e.Print(r)}, errs...)...)
}

func stillFull(q deadletter.Status) error {
	return store.Errorf(store.Diverted, "POLICY_VIOLATION", "%s is still full: %d record(s) stay in the dead letter queue",
		q.TopicPartition, q.Pending).
		WithHint("raise %s or %s with logdir topic alter %s -c", cluster.MaxRecords, cluster.MaxBytes, q.Topic)
}

// retryQueue appends what it can of one queue to its partition.
func retryQueue(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition) (records int, err error) {
	meta := c.Meta()
	topic, err := meta.Topic(tp.Topic)
	if err != nil {
		return 0, err
	}
	to, err := client.OpenTopic(c, tp.Topic, client.TopicOptions{LeaderEpoch: client.AnyEpoch, Sync: true})
	if err != nil {
		return 0, err
	}
	deliver := func(ctx context.Context, run deadletter.Run) (int, error) {
		q := client.Request{Partition: int(tp.Partition), Frames: run.Frames}
		for _, b := range run.Batches {
			q.Batches = append(q.Batches, client.Batch(b))
		}
		reply, err := to.Append(ctx, q, client.AcksLeader)
		if unsynced := to.Close(ctx); unsynced != nil {
			return 0, unsynced
		}
		return len(reply.Answers), err
	}
	return deadletter.Open(c, tp.Topic).Retry(ctx, tp.Partition, formatOf(meta.Settings(topic)), deliver)
}
