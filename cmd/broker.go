package cmd

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
)

func newBrokerCmd(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "broker",
		Short: "list, stop, crash, start and restart brokers",
		Long: `Brokers of a cluster are folders, broker-N. To stop or crash one changes what the metadata
says of it, and closes its logs or does not; nothing elects new leaders: see promote.`,
		Example: `  logdir broker crash 1 --lose-unflushed
  logdir promote --all
  logdir broker start 1`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-promote(1)", "logdir-replicate(1)"),
	}
	c.AddCommand(newBrokerListCmd(env), newBrokerStopCmd(env), newBrokerCrashCmd(env),
		newBrokerStartCmd(env), newBrokerRestartCmd(env))
	return c
}

func newBrokerListCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "show brokers, their states, replicas and leaderships",
		Example: `  logdir broker list
  logdir broker list --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3 5", "logdir-broker(1)"),
		RunE:        func(*cobra.Command, []string) error { return listBrokers(env) },
	}
}

func listBrokers(env *Env) error {
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	m := c.Meta()
	t := render.Table{Columns: []string{"BROKER", "STATE", "REPLICAS", "LEADERS"}}
	for _, b := range m.Brokers {
		t.Rows = append(t.Rows, []any{b.ID, string(b.State), replica.Replicas(m, b.ID), replica.Led(m, b.ID)})
	}
	return errors.Join(env.Print(t), c.Close())
}

// brokerDown is how stop and crash take a broker out.
type brokerDown struct {
	state  cluster.BrokerState
	dryRun bool
	down   func(ctx context.Context, c *cluster.Cluster, id int32) error
}

func newBrokerStopCmd(env *Env) *cobra.Command {
	o := brokerDown{state: cluster.Stopped, down: replica.Stop}
	c := &cobra.Command{
		Use:   "stop ID",
		Short: "stop a broker cleanly",
		Long: `Close every log of the broker as Kafka does: synced, with index files of exact size and a
producer snapshot; note high watermarks and recovery points, and leave the mark of a clean
stop. It leaves every ISR but those it is the last of; what it led has no leader.`,
		Example: `  logdir broker stop 2
  logdir broker stop 2 --dry-run`,
		Args:              oneBroker,
		ValidArgsFunction: env.brokerWords,
		Annotations:       about("0 1 2 3 4 5 9", "logdir-broker(1)"),
	}
	o.addTo(c)
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, args[0]) }
	return c
}

func newBrokerCrashCmd(env *Env) *cobra.Command {
	o := brokerDown{state: cluster.Crashed}
	var how replica.CrashOptions
	c := &cobra.Command{
		Use:   "crash ID",
		Short: "end a broker without a word",
		Long: `The same loss of leadership as by stop, but nothing is closed, noted or marked. What was
written stays, as after the death of a process; with --lose-unflushed only what was synced
stays, as after a power cut: the recovery point says how much that is.`,
		Example: `  logdir broker crash 1
  logdir broker crash 1 --lose-unflushed
  logdir broker crash 1 --torn-bytes 30`,
		Args:              oneBroker,
		ValidArgsFunction: env.brokerWords,
		Annotations:       about("0 1 2 3 4 5 9", "logdir-broker(1)", "logdir-recover(1)"),
	}
	o.addTo(c)
	f := c.Flags()
	f.BoolVar(&how.LoseUnflushed, "lose-unflushed", false, "also cut each log back to its recovery point")
	f.IntVar(&how.TornBytes, "torn-bytes", 0, "leave so many `bytes` of one more frame at the end of each log")
	o.down = func(ctx context.Context, c *cluster.Cluster, id int32) error { return replica.Crash(ctx, c, id, how) }
	c.RunE = func(c *cobra.Command, args []string) error {
		if how.TornBytes < 0 {
			return usagef("--torn-bytes %d is negative", how.TornBytes)
		}
		return o.run(c.Context(), env, args[0])
	}
	return c
}

func (o *brokerDown) addTo(c *cobra.Command) {
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the same row, but write nothing")
}

func (o *brokerDown) run(ctx context.Context, env *Env, arg string) error {
	return env.onBroker(arg, func(c *cluster.Cluster, id int32) error {
		if err := replica.MustBe(c.Meta(), id, true); err != nil {
			return err
		}
		led := replica.Led(c.Meta(), id)
		var err error
		if !o.dryRun {
			err = o.down(ctx, c, id)
		}
		if c.Meta().IsUp(id) && !o.dryRun {
			return err
		}
		return errors.Join(err, env.Print(render.Table{
			Columns: []string{"BROKER", "STATE", "LEADERLESS"},
			Rows:    [][]any{{id, string(o.state), led}},
		}))
	})
}

// oneBroker wants one argument.
func oneBroker(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("which broker? give its number")
	}
	return nil
}

// onBroker opens the cluster for a command on one broker.
func (e *Env) onBroker(arg string, do func(*cluster.Cluster, int32) error) error {
	id, err := strconv.ParseInt(arg, 10, 32)
	if err != nil {
		return usagef("broker %q: want a number", arg)
	}
	c, err := e.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(do(c, int32(id)), c.Close())
}
