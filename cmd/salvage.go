package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
)

// salvageOptions are the flags of "logdir salvage".
type salvageOptions struct {
	to       string
	interval int64
}

func newSalvageCmd(env *Env) *cobra.Command {
	o := &salvageOptions{}
	c := &cobra.Command{
		Use:   "salvage SOURCE --to DIR",
		Short: "copy everything readable into a new, clean log directory",
		Long: `Copy everything readable of a damaged or dying directory into a new Kafka log directory,
with the same topics, partitions and offsets. The source is only read, and may be on
read-only media; damage and read errors are passed over. Of a cluster the leaders' replicas
are taken.

Every range that was left out stands in salvage-report.jsonl beside the new directory. The
result passes check, and a broker can mount it.`,
		Example: `  logdir salvage /mnt/dying/kafka-logs --to /data/kafka-logs
  logdir salvage backup/orders-0 --to rescued`,
		Args:        cobra.ExactArgs(1),
		Annotations: about("0 1 2 3 4 5", "logdir-recover(1)", "logdir-check(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "the new log `directory`; it must not be there, or be empty")
	f.Var(flagval.NewBytes(&o.interval), "index-interval-bytes", "index.interval.bytes of the new indexes (0: 4096)")
	return c
}

func (o *salvageOptions) run(ctx context.Context, env *Env, source string) error {
	if o.to == "" {
		return usagef("--to DIR is missing")
	}
	v, err := cluster.OpenView(env.FS, source)
	if err != nil {
		return err
	}
	env.warnOfBrokers(v)
	refs, err := v.Resolve(nil, false)
	if err != nil {
		return err
	}
	s := recovery.Salvage{Source: env.FS, Target: env.FS, To: filepath.Clean(o.to), IndexInterval: int(o.interval)}
	if s.IndexInterval == 0 {
		s.IndexInterval = store.DefaultIndexInterval
	}
	if err := insideSource(source, o.to); err != nil {
		return err
	}
	if s.Report, err = s.ReportPath(); err != nil {
		return err
	}
	partitions, err := salvageable(env, refs)
	if err != nil {
		return err
	}
	if err := noteAside(env, v); err != nil {
		return err
	}
	if len(partitions) == 0 {
		return store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "%s: no partition to be saved", source)
	}
	return o.salvage(ctx, env, s, partitions)
}

// noteAside names the folders that a broker took out of service: what is in them may be just
// what is wanted, but it would not be mounted under their names.
func noteAside(env *Env, v *cluster.View) error {
	refs, err := v.AllPartitions()
	for _, ref := range refs {
		if ref.PutAside() && v.Kind != store.KindPartition {
			env.Note("%s was set aside by a broker and is left out; to save it: logdir salvage %s --to DIR", ref.Rel, store.ShellWord(ref.Dir))
		}
	}
	return err
}

// insideSource refuses a target below the source, which is only read.
func insideSource(source, to string) error {
	rel, err := filepath.Rel(absolute(source), absolute(to))
	if err == nil && filepath.IsLocal(rel) {
		return usagef("--to %s lies inside the source, which is only read", to)
	}
	return nil
}

// salvageable are the replicas with what their log directories say. Of two replicas of one
// partition, as in a cluster without a leader, the first is taken.
func salvageable(env *Env, refs []store.PartitionRef) ([]recovery.Partition, error) {
	dirs := map[string]*recovery.LogDir{}
	var out []recovery.Partition
	for _, ref := range refs {
		if slices.ContainsFunc(out, func(p recovery.Partition) bool { return p.TopicPartition == ref.TopicPartition }) {
			env.Note("%s: the replica on broker %d is not used", ref.TopicPartition, ref.Broker)
			continue
		}
		path := filepath.Dir(absolute(ref.Dir))
		if dirs[path] == nil {
			d, err := recovery.ReadLogDir(env.FS, path)
			if err != nil {
				return nil, err
			}
			dirs[path] = d
		}
		out = append(out, dirs[path].Partition(ref))
	}
	return out, nil
}

func (o *salvageOptions) salvage(ctx context.Context, env *Env, s recovery.Salvage, partitions []recovery.Partition) error {
	rows := env.Stream([]string{"TOPIC", "PARTITION", "LOG-START", "LOG-END", "RECORDS", "LOST-RANGES", "LOST-BYTES"})
	ranges, bytes := 0, int64(0)
	err := s.Run(ctx, partitions, func(one recovery.Salvaged) error {
		ranges, bytes = ranges+one.LostRanges(), bytes+one.LostBytes
		env.logSalvage(one)
		return rows.Row(one.Topic, one.Partition, one.LogStart, one.LogEnd, one.Records, one.LostRanges(), one.LostBytes)
	})
	if err = errors.Join(err, rows.Close()); err != nil || ranges == 0 {
		return err
	}
	return store.Errorf(store.Damage, "CORRUPT_MESSAGE", "%d range(s) of %d bytes were left out: see %s", ranges, bytes, s.Report)
}
