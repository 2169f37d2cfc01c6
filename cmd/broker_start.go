package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/replica"
	"logdir/store/vfs"
)

// brokerUp is how start and restart bring a broker up.
type brokerUp struct{ dryRun bool }

func newBrokerStartCmd(env *Env) *cobra.Command {
	var o brokerUp
	c := &cobra.Command{
		Use:   "start ID",
		Short: "bring a broker up again",
		Long: `Bring a broker up. Without the mark of a clean stop its logs are repaired first, as by
"logdir recover": a torn tail is cut, and where that policy refuses, nothing is changed
and the broker stays down. Then transactions are finished whose end was decided and that
waited, for instance for a leader.

The broker joins an ISR again only by a replicate that catches it up. What only it was in
sync for it leads again, with the next leader epoch.`,
		Example: `  logdir broker start 1
  logdir broker start 1 --dry-run`,
		Args:              oneBroker,
		ValidArgsFunction: env.brokerWords,
		Annotations:       about("0 1 2 3 4 5 9", "logdir-broker(1)", "logdir-recover(1)"),
	}
	o.addTo(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.onBroker(args[0], func(cl *cluster.Cluster, id int32) error { return o.start(c.Context(), env, cl, id) })
	}
	return c
}

func newBrokerRestartCmd(env *Env) *cobra.Command {
	var o brokerUp
	c := &cobra.Command{
		Use:   "restart ID",
		Short: "stop and start a broker before anybody notices",
		Long: `Stop a broker cleanly and start it at once: ISR and leaderships stay as they are. Under
logdir.truncation=hw its followers cut their logs at their own high watermarks, as
followers did before KIP-101.`,
		Example: `  logdir broker restart 2
  logdir broker restart 2 --dry-run`,
		Args:              oneBroker,
		ValidArgsFunction: env.brokerWords,
		Annotations:       about("0 1 2 3 4 5 9", "logdir-broker(1)"),
	}
	o.addTo(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.onBroker(args[0], func(cl *cluster.Cluster, id int32) error { return o.restart(c.Context(), env, cl, id) })
	}
	return c
}

func (o *brokerUp) addTo(c *cobra.Command) {
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the same row, but write nothing")
}

func (o *brokerUp) start(ctx context.Context, env *Env, c *cluster.Cluster, id int32) error {
	repair := func(ctx context.Context) (int, error) { return env.repairBroker(ctx, c, id, o.dryRun) }
	up := replica.Start
	if o.dryRun {
		up = replica.TryStart
	}
	started, err := up(ctx, c, id, repair)
	if err == nil && !o.dryRun {
		err = env.finishAllTxns(ctx, c)
	}
	if err != nil {
		return err
	}
	return env.printStarted(id, started)
}

func (o *brokerUp) restart(ctx context.Context, env *Env, c *cluster.Cluster, id int32) error {
	if err := replica.MustBe(c.Meta(), id, true); err != nil {
		return err
	}
	if !o.dryRun {
		if err := replica.Restart(ctx, c, id); err != nil {
			return err
		}
	}
	return env.printStarted(id, replica.Started{Clean: true})
}

func (e *Env) printStarted(id int32, s replica.Started) error {
	recovered := "checked"
	if s.Clean {
		recovered = "skipped"
	}
	return e.Print(render.Table{
		Columns: []string{"BROKER", "STATE", "RECOVERY", "REPAIRED"},
		Rows:    [][]any{{id, string(cluster.Up), recovered, s.Repaired}},
	})
}

// repairBroker is recover with its default policy on all replicas of one broker. Where it
// refuses one of them, nothing is changed.
func (e *Env) repairBroker(ctx context.Context, c *cluster.Cluster, id int32, dryRun bool) (repaired int, err error) {
	targets, err := topicsOn(c, id)
	if err != nil || len(targets) == 0 {
		return 0, err
	}
	o := &recoverOptions{policy: string(recovery.Tail), repairFlags: repairFlags{dryRun: dryRun}}
	r, err := e.openRepair(ctx, fmt.Sprintf("broker start %d", id), o.repairFlags, targets, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s := &recoverRun{o: o, repair: r}
	if err := s.plan(ctx); err != nil {
		return 0, err
	}
	if err = s.left(); err == nil && !dryRun {
		err = s.carryOut(ctx)
	}
	s.log()
	return s.damagedReplicas(), err
}

// topicsOn names the replicas of a broker, topic by topic.
func topicsOn(c *cluster.Cluster, id int32) ([]string, error) {
	var targets []string
	for _, t := range c.Meta().Topics {
		for n := range t.Partitions {
			tp := store.TopicPartition{Topic: t.Name, Partition: int32(n)}
			there, err := vfs.Exists(c.FS(), c.ReplicaDir(tp, id))
			if err != nil {
				return nil, err
			}
			if there {
				targets = append(targets, fmt.Sprintf("%s@%d", t.Name, id))
				break
			}
		}
	}
	return targets, nil
}

// damagedReplicas counts the replicas with damage that the plans deal with.
func (s *recoverRun) damagedReplicas() int {
	n := 0
	for _, p := range s.plans {
		if slices.ContainsFunc(p.Rows, func(r recovery.Row) bool { return r.Damage != "" }) {
			n++
		}
	}
	return n
}
