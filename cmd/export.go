package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/live"
	"logdir/cmd/internal/render"
	"logdir/store"
)

// exportOptions are the flags of "logdir export".
type exportOptions struct {
	clusterFlags
	to        string
	offset    flagval.OffsetSpec
	onDamage  string
	isolation string
	topicMap  flagval.KeyValues
	dryRun    bool
	rate      int64

	createTopics bool
	replication  int16
	id           string
	groups       []string
	offsetMap    string

	topics []string // --topic, instead of arguments
	given  func(flag string) bool
}

func newExportCmd(env *Env) *cobra.Command {
	o := &exportOptions{offset: flagval.WholeLog(), onDamage: damageStop}
	c := &cobra.Command{
		Use:   "export [TARGET...] --bootstrap-server HOST:PORT",
		Short: "send the records of a directory into a running cluster",
		Long: `Send records into a running cluster: the same partition, order, timestamps, headers and
nulls. Exactly once: they are written in transactions that also commit how far the export
is, as offsets of the group logdir-export-ID. Run it again to go on, after a kill, a lost
broker or a full disk; what the cluster has committed is not sent again.

Without a TARGET all topics are sent but Kafka's internal ones. With --to the records are
written as JSON Lines, which import reads back.`,
		Example: `  logdir export orders -d /mnt/dead/kafka-logs --bootstrap-server kafka:9092 --dry-run
  logdir export orders -d /mnt/dead/kafka-logs --bootstrap-server kafka:9092 --create-topics
  logdir export orders:0 -o @2026-01-01:@2026-01-02 --to orders.jsonl`,
		Annotations: about("0 1 2 3 4 5 6 7 130", "logdir-export(1)", "logdir-import(1)", "logdir help offsets"),
	}
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, append(args, o.topics...)) }
	o.addFlags(c)
	return c
}

func (o *exportOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.given = f.Changed
	f.VarP(&o.offset, "offset", "o", "which `range` of each partition: start end N -N +N N:M @TIME @TIME:TIME")
	f.Var(flagval.Enum(&o.onDamage, damageStop, damageSkip), "on-damage", "`what` to do at damage: stop there, or skip to the next good batch")
	f.Var(flagval.Enum(&o.isolation, readUncommitted, readCommitted), "isolation-level", "`level`: read_committed (default into a cluster) or read_uncommitted (default into a file)")
	flagGroup(c, "which records", "offset", "on-damage", "isolation-level")

	f.StringVar(&o.to, "to", "", "write JSON Lines to this `file` instead, - for stdout")
	f.Var(&o.topicMap, "topic-map", "`from=to`: send a topic under another name; repeatable")
	f.BoolVar(&o.createTopics, "create-topics", false, "create topics that are not there, with partition count and configs of the source")
	f.Int16Var(&o.replication, "replication-factor", -1, "with --create-topics: a `number` (default the cluster's)")
	f.StringVar(&o.id, "id", "", "`name` of the export, under which its progress is kept (default host and directory)")
	f.Int64Var(&o.rate, "rate", 0, "records per second at most: a `number`, 0 for no limit")
	f.BoolVar(&o.dryRun, "dry-run", false, "only check and count")
	flagGroup(c, "where to", "to", "topic-map", "create-topics", "replication-factor", "id", "rate", "dry-run")

	f.StringSliceVar(&o.groups, "groups", nil, "afterwards commit the offsets of these `groups`, translated")
	f.StringVar(&o.offsetMap, "offset-map", "", "write which offset became which to this `file`, as JSON Lines")
	flagGroup(c, "offsets", "groups", "offset-map")
	o.clusterFlags.addTo(c)
	addTopicFlag(c, &o.topics)
}

func (o *exportOptions) run(ctx context.Context, env *Env, args []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	p, err := o.plan(env, args)
	if err != nil {
		return err
	}
	if o.to != "" {
		err = o.exportFile(ctx, env, p)
	} else {
		err = o.exportCluster(ctx, env, p)
	}
	return errors.Join(err, errors.Join(p.errs()...))
}

func (o *exportOptions) validate() error {
	switch {
	case o.to == "" && o.servers == "" && o.clientConfig == "":
		return usagef("where to? say --bootstrap-server HOST:PORT, or --to FILE")
	case o.to != "" && o.servers != "":
		return usagef("--to and --bootstrap-server are two targets")
	case o.to != "" && (o.createTopics || o.id != "" || len(o.groups) > 0 || o.offsetMap != ""):
		return usagef("--create-topics, --id, --groups and --offset-map are for a cluster, not for --to")
	case o.given("replication-factor") && !o.createTopics:
		return usagef("--replication-factor goes with --create-topics")
	case o.rate < 0:
		return usagef("--rate is not negative")
	case o.offset.From.Kind == flagval.Stored || o.offset.HasTo && o.offset.To.Kind == flagval.Stored:
		return usagef("--offset stored is the committed offset of a group, and there is no group")
	}
	for _, m := range o.topicMap {
		if err := store.ValidateTopic(m.Value); err != nil {
			return err
		}
	}
	if o.isolation == "" {
		o.isolation = readUncommitted
		if o.to == "" {
			o.isolation = readCommitted
		}
	}
	return nil
}

// target is the name that a topic gets.
func (o *exportOptions) target(topic string) string {
	if to, ok := o.topicMap.Map()[topic]; ok {
		return to
	}
	return topic
}

// name is --id, or host and directory: the same directory on the same host goes on where
// it was.
func (o *exportOptions) name(env *Env) string {
	if o.id != "" {
		return o.id
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return host + ":" + filepath.ToSlash(absolute(env.Global.DataDir))
}

// checkMap makes sure that no two partitions become one, and that each mapped topic is
// one of those exported.
func (o *exportOptions) checkMap(refs []store.PartitionRef) error {
	seen := map[store.TopicPartition]store.TopicPartition{}
	for _, ref := range refs {
		to := store.TopicPartition{Topic: o.target(ref.Topic), Partition: ref.Partition}
		if other, twice := seen[to]; twice {
			return usagef("%s and %s would both become %s", other, ref.TopicPartition, to)
		}
		seen[to] = ref.TopicPartition
	}
	for from := range o.topicMap.Map() {
		if !slices.ContainsFunc(refs, func(r store.PartitionRef) bool { return r.Topic == from }) {
			return usagef("--topic-map %s=...: that topic is not exported", from)
		}
	}
	return nil
}

// exportColumns are those of the report.
var exportColumns = []string{"TOPIC", "PARTITION", "RECORDS", "FIRST-OFFSET", "LAST-OFFSET", "TARGET-FIRST", "TARGET-LAST", "STATUS"}

// exportedRow prints what became of a partition.
func exportedRow(row func(...any) error, e live.Exported) error {
	if e.Records == 0 {
		return row(e.Topic, e.Partition, 0, nil, nil, nil, nil, e.Status)
	}
	return row(e.Topic, e.Partition, e.Records, e.First, e.Last, render.Known(e.TargetFirst), render.Known(e.TargetLast), e.Status)
}
