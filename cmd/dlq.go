package cmd

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/deadletter"
)

func newDLQCmd(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "dlq",
		Short: "list, show, retry and purge dead letters",
		Long: `The dead letter queue: records that a full partition did not take after all retries of
produce, or that failed the handler of group poll --exec. Each partition has a queue of its
own, an ordinary log in dlq/; why a record is there stands in its logdir.dlq.* headers.`,
		Example: `  logdir dlq list
  logdir dlq show orders:0 -f '%v %h\n'
  logdir dlq retry orders`,
		Annotations: about("0 1 2 3 4 5 8 9", "logdir-produce(1)", "logdir-group(1)"),
	}
	c.AddCommand(newDLQListCmd(env), newDLQShowCmd(env), newDLQRetryCmd(env), newDLQPurgeCmd(env))
	return c
}

// onQueues runs a command on the queues that the TARGETs name, all if there are none.
func (e *Env) onQueues(targets []string, do func(*cluster.Cluster, []deadletter.Status) error) error {
	c, err := e.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	queues, err := chooseQueues(c, targets)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return errors.Join(do(c, queues), c.Close())
}

// chooseQueues finds the queues that the TARGETs name. It is no error that a partition has
// none, only that there is no such partition.
func chooseQueues(c *cluster.Cluster, targets []string) ([]deadletter.Status, error) {
	queues, err := deadletter.List(c)
	if err != nil || len(targets) == 0 {
		return queues, err
	}
	var chosen []deadletter.Status
	for _, text := range targets {
		t, err := store.ParseTarget(text)
		if err != nil {
			return nil, err
		}
		if t.Broker != store.NoBroker {
			return nil, usagef("%s: the queue belongs to no broker", text)
		}
		named := slices.DeleteFunc(slices.Clone(queues), func(q deadletter.Status) bool {
			return q.Topic != t.Topic || !t.Has(q.Partition)
		})
		if len(named) == 0 {
			err = checkPartitions(c.Meta(), t)
		}
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, named...)
	}
	return chosen, nil
}

// checkPartitions refuses a target that names no partition of any topic.
func checkPartitions(meta *cluster.Meta, t store.Target) error {
	topic, err := meta.Topic(t.Topic)
	if err != nil {
		return err
	}
	for p := range topic.Partitions {
		if t.Has(int32(p)) {
			return nil
		}
	}
	return store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION",
		"%s: topic %s has partitions 0 to %d", t.Text, t.Topic, len(topic.Partitions)-1)
}

// pending leaves out the queues of which nothing is pending.
func pending(queues []deadletter.Status) []deadletter.Status {
	return slices.DeleteFunc(queues, func(q deadletter.Status) bool { return q.Pending == 0 })
}
