package cmd

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
)

// topicListOptions are the flags of "logdir topic list".
type topicListOptions struct {
	orphans         bool
	excludeInternal bool
}

func newTopicListCmd(env *Env) *cobra.Command {
	var o topicListOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "list topics",
		Long: `List the topics of a cluster, or of a bare log dir as its folders tell. With --orphans:
folders that no metadata names, left by a crash inside create or delete.`,
		Example: `  logdir topic list --exclude-internal
  logdir topic list --orphans`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3", "logdir-topic(1)"),
		RunE: func(*cobra.Command, []string) error {
			v, err := env.look(nil)
			if err != nil {
				return err
			}
			if o.orphans {
				return printOrphans(env, v)
			}
			return o.print(env, v)
		},
	}
	c.Flags().BoolVar(&o.orphans, "orphans", false, "list folders that no metadata names instead")
	c.Flags().BoolVar(&o.excludeInternal, "exclude-internal", false, "leave out Kafka's own topics, such as __consumer_offsets")
	return c
}

func (o topicListOptions) print(env *Env, v *cluster.View) error {
	topics, err := v.Topics()
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"TOPIC", "PARTITIONS", "REPLICATION-FACTOR"}}
	for _, topic := range topics {
		if o.excludeInternal && store.InternalTopic(topic.Name) {
			continue
		}
		t.Rows = append(t.Rows, []any{topic.Name, topic.Partitions, render.Known(topic.ReplicationFactor)})
	}
	return env.Print(t)
}

func printOrphans(env *Env, v *cluster.View) error {
	orphans, err := v.Orphans()
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"BROKER", "DIRECTORY"}}
	for _, ref := range orphans {
		t.Rows = append(t.Rows, []any{ref.Broker, filepath.Base(ref.Dir)})
	}
	return env.Print(t)
}
