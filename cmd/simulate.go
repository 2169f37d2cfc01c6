package cmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/workload"
)

// simulateOptions are the flags of "logdir simulate".
type simulateOptions struct {
	plan         workload.Plan
	groups       []string // GROUP=N
	acks         string
	pollInterval int64 // ms
}

// simulateMemory is the size in bytes up to which a simulation's memory may grow before
// the collector works harder. It is a wish, not a bound.
const simulateMemory = 40 << 20

func newSimulateCmd(env *Env) *cobra.Command {
	o := &simulateOptions{}
	c := &cobra.Command{
		Use:   "simulate TOPIC",
		Short: "many producers and consumers at once, checked while they run",
		Long: `Run many producers and groups of consumers at once, a goroutine each, on the real files
and locks of a topic. Every record says whose it is and which, so each group can tell
whether one is missing, came twice or came out of order.

Consumers join before the first record is produced: with more of them than partitions the
rest stand by. Followers of a replicated topic fetch after every write. Ctrl-C stops the
producers; what they made is still read and checked, and summed up.`,
		Example: `  logdir simulate orders --consumers group1=10
  logdir simulate orders --producers 1000 --keys 50 --acks all
  logdir simulate orders --consumers billing=3,audit=1 --messages 10000`,
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 3 4 5 6 7 8 9 130", "logdir-produce(1)", "logdir-group(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			o.plan.Topic = args[0]
			return o.run(c.Context(), env)
		},
	}
	o.addFlags(c)
	return c
}

func (o *simulateOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&o.plan.Producers, "producers", 10, "so many producers: a `number`")
	f.StringSliceVar(&o.groups, "consumers", nil, "groups and how many consumers each has: `GROUP=N,...`")
	f.IntVar(&o.plan.Messages, "messages", 100, "how many records each producer makes: a `number`")
	f.IntVar(&o.plan.Keys, "keys", 0, "how many different keys there are: a `number`; 0 = records without keys")
	f.IntVar(&o.plan.RecordSize, "record-size", 100, "`bytes` of each value")
	f.StringVar(&o.acks, "acks", "1", "what a producer waits for: `0|1|all`")
	f.Int64Var(&o.pollInterval, "poll-interval-ms", 0, "how many `ms` a consumer waits between polls")
	f.Uint64Var(&o.plan.Seed, "seed", 1, "a `number`: the same one makes the same records")
}

func (o *simulateOptions) run(ctx context.Context, env *Env) error {
	if err := o.validate(); err != nil {
		return err
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	// Garbage is collected early rather than at twice what is in use: a thousand open
	// batches are worth keeping flat, and the last few percent of speed are not.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(simulateMemory))
	outcome, err := workload.Run(ctx, c, &o.plan)
	if outcome != nil {
		if made, all := outcome.Made, o.plan.Records(); ctx.Err() != nil {
			env.Note("stopped: %d of %d records were made", made, all)
		}
		err = errors.Join(err, o.report(env, outcome))
	}
	return errors.Join(err, c.Close())
}

// validate reads what is not a number yet, and refuses what cannot be run.
func (o *simulateOptions) validate() (err error) {
	if o.plan.Acks, err = client.ParseAcks(o.acks); err != nil {
		return usagef("%w", err)
	}
	if o.plan.Groups, err = parseGroups(o.groups); err != nil {
		return err
	}
	o.plan.PollInterval = milliseconds(o.pollInterval)
	return o.plan.Validate()
}

// parseGroups reads GROUP=N.
func parseGroups(texts []string) ([]workload.GroupPlan, error) {
	var groups []workload.GroupPlan
	for _, text := range texts {
		name, count, ok := strings.Cut(text, "=")
		n, err := strconv.Atoi(count)
		if !ok || err != nil {
			return nil, usagef("--consumers %s: want GROUP=N", text)
		}
		groups = append(groups, workload.GroupPlan{Name: name, Consumers: n})
	}
	return groups, nil
}

// report prints the table, the sentence of Kafka's producer-perf-test, and the verdict.
func (o *simulateOptions) report(env *Env, out *workload.Outcome) error {
	t := render.Table{Columns: []string{"ROLE", "NAME", "ACTIVE", "STANDBY", "RECORDS", "DUPLICATES", "MISSING", "OUT-OF-ORDER"}}
	t.Rows = append(t.Rows, []any{"producer", nil, out.Producers, nil, out.Sent.Written, nil, nil, nil})
	for _, g := range out.Groups {
		t.Rows = append(t.Rows, []any{"consumer", g.Name, g.Active, g.Standby, g.Records, g.Duplicates, g.Missing, g.OutOfOrder})
	}
	if err := env.Print(t); err != nil {
		return err
	}
	env.Tell("%s", performance(out))
	if !out.Intact() {
		return store.Errorf(store.Damage, "", "%s: a group did not see every record once and in order", o.plan.Topic)
	}
	return nil
}

// performance is the sentence that Kafka's producer-perf-test ends with.
func performance(o *workload.Outcome) string {
	seconds := max(o.Elapsed.Seconds(), 1e-9)
	l := o.Latency
	return fmt.Sprintf("%d records sent, %f records/sec (%.2f MB/sec), %.2f ms avg latency, %.2f ms max latency, "+
		"%d ms 50th, %d ms 95th, %d ms 99th, %d ms 99.9th.",
		o.Sent.Written, float64(o.Sent.Written)/seconds, float64(o.Sent.Bytes)/seconds/(1<<20),
		inMs(l.Mean()), inMs(l.Max()), l.Quantile(.5).Milliseconds(), l.Quantile(.95).Milliseconds(),
		l.Quantile(.99).Milliseconds(), l.Quantile(.999).Milliseconds())
}

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
