package cmd

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
)

// topicAlterOptions are the flags of "logdir topic alter".
type topicAlterOptions struct {
	topic      string
	partitions int
	configs    flagval.KeyValues
	unset      []string
	dryRun     bool
}

func newTopicAlterCmd(env *Env) *cobra.Command {
	var o topicAlterOptions
	c := &cobra.Command{
		Use:   "alter TOPIC",
		Short: "add partitions, set and unset configs",
		Long: `Change a topic. Partitions can only become more, and keys then map elsewhere. What is
printed are the configs that the topic has of its own afterwards.`,
		Example: `  logdir topic alter orders -c retention.ms=60000
  logdir topic alter orders --delete-config retention.ms
  logdir topic alter orders -p 8`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 5 9", "logdir-topic(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args)
		},
	}
	f := c.Flags()
	topicFlag(c, &o.topic)
	f.IntVarP(&o.partitions, "partitions", "p", 0, "the new `number` of partitions")
	f.VarP(&o.configs, "config", "c", "set a topic config: `name=value` (repeatable)")
	f.StringArrayVar(&o.unset, "delete-config", nil, "a config that falls back to its default: a `name` (repeatable)")
	f.BoolVar(&o.dryRun, "dry-run", false, "check everything and show the result, but write nothing")
	return c
}

func (o topicAlterOptions) run(ctx context.Context, env *Env, args []string) error {
	name, err := oneTopic(args, o.topic)
	if err != nil {
		return err
	}
	if o.partitions == 0 && len(o.configs) == 0 && len(o.unset) == 0 {
		return usagef("nothing to change: give -p, -c or --delete-config")
	}
	configs, err := checkedConfigs(o.configs)
	if err != nil {
		return err
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	change := cluster.Change{Partitions: o.partitions, Set: configs, Delete: o.unset, DryRun: o.dryRun}
	return errors.Join(o.alter(ctx, env, c, name, change), c.Close())
}

func (o topicAlterOptions) alter(ctx context.Context, env *Env, c *cluster.Cluster, name string, change cluster.Change) error {
	t, err := c.AlterTopic(ctx, name, change)
	if err != nil {
		return err
	}
	switch {
	case o.partitions > 0 && o.dryRun:
		env.Note("%s would have %d partitions: records with a key would go elsewhere than before", name, o.partitions)
	case o.partitions > 0:
		env.Note("%s has %d partitions now: records with a key go elsewhere than before", name, o.partitions)
	}
	return env.Print(overrideReport(t))
}

// overrideReport lists the configs that a topic has of its own.
func overrideReport(t *cluster.Topic) render.Report {
	r := render.Table{Columns: []string{"TOPIC", "CONFIG"}}
	for _, name := range slices.Sorted(maps.Keys(t.Configs)) {
		r.Rows = append(r.Rows, []any{t.Name, name + "=" + t.Configs[name]})
	}
	return r
}
