package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// topicDeleteOptions are the flags of "logdir topic delete".
type topicDeleteOptions struct {
	topic    string
	ifExists bool
	dryRun   bool
}

func newTopicDeleteCmd(env *Env) *cobra.Command {
	var o topicDeleteOptions
	c := &cobra.Command{
		Use:   "delete TOPIC",
		Short: "delete a topic and all its records",
		Long: `Delete a topic: its metadata first, then the folders on all brokers. Nothing is kept, and
undo cannot bring it back; so it asks, unless --yes is given.`,
		Example: `  logdir topic delete orders --yes
  logdir topic delete orders --dry-run`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 5 9", "logdir-topic(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args)
		},
	}
	topicFlag(c, &o.topic)
	c.Flags().BoolVar(&o.ifExists, "if-exists", false, "it is no error if the topic is not there")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would go, but write nothing")
	return c
}

func (o topicDeleteOptions) run(ctx context.Context, env *Env, args []string) error {
	name, err := oneTopic(args, o.topic)
	if err != nil {
		return err
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.delete(ctx, env, c, name), c.Close())
}

func (o topicDeleteOptions) delete(ctx context.Context, env *Env, c *cluster.Cluster, name string) error {
	partitions, err := c.Deletable(name)
	if e, ok := errors.AsType[*store.Error](err); ok && o.ifExists && e.Class == store.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if o.dryRun {
		return env.Print(deletionReport(name, partitions, "would be deleted"))
	}
	if err := env.Confirm("delete topic " + name + " with all its records (undo cannot bring it back)"); err != nil {
		return err
	}
	if err := deleteTopic(ctx, c, name); err != nil {
		return err
	}
	return env.Print(deletionReport(name, partitions, "deleted"))
}

// deleteTopic removes a topic, and then the committed offsets in it: they would count for
// a new topic of that name.
func deleteTopic(ctx context.Context, c *cluster.Cluster, name string) error {
	if err := c.DeleteTopic(ctx, name); err != nil {
		return err
	}
	co := group.NewCoordinator(c)
	return errors.Join(co.ForgetTopic(ctx, name), co.Close(ctx))
}

func deletionReport(topic string, partitions int, status string) render.Report {
	return render.Table{
		Columns: []string{"TOPIC", "PARTITIONS", "STATUS"},
		Rows:    [][]any{{topic, partitions, status}},
	}
}
