package cmd

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/store"
	"logdir/store/cluster"
)

// topicCreateOptions are the flags of "logdir topic create".
type topicCreateOptions struct {
	topic       string
	partitions  int
	replication int
	assignment  string
	configs     flagval.KeyValues
	ifNotExists bool
	dryRun      bool
}

func newTopicCreateCmd(env *Env) *cobra.Command {
	var o topicCreateOptions
	c := &cobra.Command{
		Use:   "create TOPIC",
		Short: "create a topic",
		Long: `Create a topic. Replica i of partition p goes to brokers[(p+i) mod n]; the first replica
leads. In a missing or empty data directory a one-broker cluster is started first.`,
		Example: `  logdir topic create orders -p 4 -r 2
  logdir topic create small -c segment.bytes=250 -c index.interval.bytes=1
  logdir topic create placed --replica-assignment 1:2,2:3`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 5 9 99", "logdir-topic(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args, c.Flags().Changed)
		},
	}
	f := c.Flags()
	topicFlag(c, &o.topic)
	f.IntVarP(&o.partitions, "partitions", "p", 1, "how many partitions: a `number`")
	f.IntVarP(&o.replication, "replication-factor", "r", 1, "how many replicas each has: a `number`")
	f.StringVar(&o.assignment, "replica-assignment", "", "the replicas of each partition, the leader first: `1:2,2:1`")
	f.VarP(&o.configs, "config", "c", "a topic config: `name=value` (repeatable)")
	f.BoolVar(&o.ifNotExists, "if-not-exists", false, "it is no error if the topic is there")
	f.BoolVar(&o.dryRun, "dry-run", false, "check everything and show the placement, but write nothing")
	return c
}

func (o topicCreateOptions) run(ctx context.Context, env *Env, args []string, changed func(string) bool) error {
	n, err := o.newTopic(args, changed)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.rehearse(env, n)
	}
	c, err := env.clusterFor(ctx, n)
	if err != nil {
		return err
	}
	return errors.Join(o.create(ctx, env, c, n), c.Close())
}

// newTopic turns arguments and flags into what is to be made.
func (o topicCreateOptions) newTopic(args []string, changed func(string) bool) (n cluster.NewTopic, err error) {
	if n.Name, err = oneTopic(args, o.topic); err != nil {
		return n, err
	}
	if err := store.ValidateTopic(n.Name); err != nil {
		return n, err
	}
	if n.Configs, err = checkedConfigs(o.configs); err != nil {
		return n, err
	}
	n.Partitions, n.ReplicationFactor = o.partitions, o.replication
	if o.assignment == "" {
		return n, nil
	}
	if changed("partitions") || changed("replication-factor") {
		return n, usagef("--replica-assignment says how many partitions and replicas there are")
	}
	n.Assignment, err = cluster.ParseAssignment(o.assignment)
	return n, err
}

func (o topicCreateOptions) create(ctx context.Context, env *Env, c *cluster.Cluster, n cluster.NewTopic) error {
	t, err := c.CreateTopic(ctx, n)
	if o.forgives(err) {
		return nil
	}
	if err != nil {
		return err
	}
	noteTwins(env, c.Meta(), t.Name)
	return env.Print(assignmentReport(t))
}

// forgives says that the topic is there, and may be.
func (o topicCreateOptions) forgives(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return o.ifNotExists && ok && e.Name == "TOPIC_ALREADY_EXISTS"
}

// rehearse shows what create would do.
func (o topicCreateOptions) rehearse(env *Env, n cluster.NewTopic) error {
	m := cluster.NewMeta(1)
	fresh, err := env.freshDataDir()
	if err != nil {
		return err
	}
	if !fresh {
		c, err := env.openCluster(store.FsyncClose)
		if err != nil {
			return err
		}
		m = c.Meta()
	}
	t, err := m.PlanTopic(n)
	if o.forgives(err) {
		return nil
	}
	if err != nil && fresh {
		return asFirstTopic(err, n)
	}
	if err != nil {
		return err
	}
	noteTwins(env, m, t.Name)
	return env.Print(assignmentReport(t))
}

// noteTwins warns of topics that a broker's metrics could not tell apart.
func noteTwins(env *Env, m *cluster.Meta, name string) {
	if twins := m.MetricTwins(name); len(twins) > 0 {
		env.Note("the metrics of %s collide with those of %s: '.' and '_' are the same there", name, strings.Join(twins, ", "))
	}
}

// clusterFor opens the cluster for a new topic, and starts one of one broker where there
// is nothing yet and the topic would fit it.
func (e *Env) clusterFor(ctx context.Context, n cluster.NewTopic) (*cluster.Cluster, error) {
	fresh, err := e.freshDataDir()
	if err != nil {
		return nil, err
	}
	if fresh {
		if _, err := cluster.NewMeta(1).PlanTopic(n); err != nil {
			return nil, asFirstTopic(err, n)
		}
		if err := e.startCluster(ctx); err != nil {
			return nil, err
		}
	}
	return e.openCluster(store.FsyncClose)
}

// asFirstTopic is an error about a topic where there is no cluster yet.
func asFirstTopic(err error, n cluster.NewTopic) error {
	if e, ok := errors.AsType[*store.Error](err); ok && e.Name == "INVALID_REPLICATION_FACTOR" {
		return e.WithHint("first: logdir init --brokers %d", n.ReplicationFactor)
	}
	return err
}

// freshDataDir says that the data directory is missing or empty.
func (e *Env) freshDataDir() (bool, error) {
	names, err := e.FS.ReadDir(e.Global.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && len(names) == 0, err
}

// startCluster makes a one-broker cluster and says so. Another command that was faster
// has done the same.
func (e *Env) startCluster(ctx context.Context) error {
	_, err := cluster.Init(ctx, e.FS, e.Global.DataDir, cluster.NewCluster{
		BrokerIDs: cluster.BrokerRange(1), Now: e.Now(), LockTimeout: e.Global.LockTimeout,
	})
	if refused, ok := errors.AsType[*store.Error](err); ok && refused.Class == store.Refused {
		return nil
	}
	if err == nil {
		e.Note("started a cluster of one broker in %s", e.Global.DataDir)
	}
	return err
}
