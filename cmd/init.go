package cmd

import (
	"context"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store/cluster"
)

// initOptions are the flags of "logdir init".
type initOptions struct {
	brokers       int
	brokerIDs     flagval.IDs
	configs       flagval.KeyValues
	autoReplicate bool
	format        string
	source        string // --import
}

func newInitCmd(env *Env) *cobra.Command {
	o := initOptions{format: "kafka"}
	c := &cobra.Command{
		Use:   "init",
		Short: "create a cluster of brokers as folders",
		Long: `Create a cluster: a folder for each broker, and cluster.json. The data directory must be
missing or empty. With --import a copy of a broker's log dir becomes broker 1.`,
		Example: `  logdir init -d lab --brokers 3
  logdir init -d copy --import /var/lib/kafka/data`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3 5 9", "logdir-topic(1)", "logdir-data-dir(5)"),
		RunE: func(c *cobra.Command, _ []string) error {
			return o.run(c.Context(), env, c.Flags().Changed("brokers"))
		},
	}
	f := c.Flags()
	f.IntVar(&o.brokers, "brokers", 1, "how many brokers, with ids from 1 on: a `number`")
	f.Var(&o.brokerIDs, "broker-ids", "their `ids` instead, as 1,2,5")
	f.VarP(&o.configs, "config", "c", "a topic config that is the default of all topics: `name=value` (repeatable)")
	f.BoolVar(&o.autoReplicate, "auto-replicate", false, "produce --acks all drives the followers itself")
	f.Var(flagval.Enum(&o.format, "kafka", "mkb1"), "format", "default of the config logdir.format: kafka or mkb1")
	f.StringVar(&o.source, "import", "", "copy this bare log `directory` in as the one broker")
	return c
}

func (o initOptions) run(ctx context.Context, env *Env, counted bool) error {
	n, err := o.cluster(env, counted)
	if err != nil {
		return err
	}
	m, err := o.create(ctx, env, n)
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"BROKER", "STATE"}}
	for _, b := range m.Brokers {
		t.Rows = append(t.Rows, []any{b.ID, string(b.State)})
	}
	return env.Print(t)
}

// cluster turns the flags into what is to be made.
func (o initOptions) cluster(env *Env, counted bool) (cluster.NewCluster, error) {
	n := cluster.NewCluster{AutoReplicate: o.autoReplicate, Now: env.Now(), LockTimeout: env.Global.LockTimeout}
	switch {
	case o.brokerIDs != nil && counted:
		return n, usagef("--brokers and --broker-ids exclude each other")
	case o.brokerIDs != nil:
		n.BrokerIDs = o.brokerIDs
	case o.brokers < 1:
		return n, usagef("--brokers %d: want at least 1", o.brokers)
	default:
		n.BrokerIDs = cluster.BrokerRange(o.brokers)
	}
	configs, err := checkedConfigs(o.configs)
	if err != nil {
		return n, err
	}
	if o.format != "kafka" {
		configs[cluster.Format] = o.format
	}
	n.Configs = configs
	return n, nil
}

func (o initOptions) create(ctx context.Context, env *Env, n cluster.NewCluster) (*cluster.Meta, error) {
	if o.source == "" {
		return cluster.Init(ctx, env.FS, env.Global.DataDir, n)
	}
	done, err := cluster.Import(ctx, env.FS, o.source, env.Global.DataDir, n)
	if err != nil {
		return nil, err
	}
	if len(done.Skipped) > 0 {
		env.Note("left where they are: %s", strings.Join(done.Skipped, " "))
	}
	for _, tp := range done.Added {
		env.Note("%s is not in %s: made empty", tp, o.source)
	}
	return done.Meta, nil
}

// checkedConfigs is the map of the pairs, each name known and each value in bounds.
func checkedConfigs(pairs flagval.KeyValues) (map[string]string, error) {
	configs := map[string]string{}
	for _, p := range pairs {
		if err := cluster.CheckConfig(p.Key, p.Value); err != nil {
			return nil, err
		}
	}
	maps.Copy(configs, pairs.Map())
	return configs, nil
}
