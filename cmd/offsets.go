package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
)

// offsetsOptions are the flags of "logdir offsets".
type offsetsOptions struct {
	replicas  bool
	at        string
	isolation string
	selection kafkaSelection
}

func newOffsetsCmd(env *Env) *cobra.Command {
	o := offsetsOptions{isolation: readUncommitted}
	c := &cobra.Command{
		Use:     "offsets [TARGET...]",
		Aliases: []string{"get-offsets"},
		Short:   "show log start, high watermark and log end side by side",
		Long: `Show where each log starts, what consumers may read (the high watermark) and where the
next record goes (the log end). With --at also the first record at or after a time, or the
one with the largest timestamp.`,
		Example: `  logdir offsets orders --replicas
  logdir offsets orders:0 --at 2026-01-01
  logdir offsets -d /var/lib/kafka/data --at latest
  logdir offsets orders --isolation-level read_committed`,
		Annotations: about("0 1 2 3 4 5", "logdir-fetch(1)", "logdir-segments(1)", "logdir help offsets"),
		RunE: func(_ *cobra.Command, targets []string) error {
			return o.run(env, targets)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.replicas, "replicas", false, "also the followers")
	f.StringVar(&o.at, "at", "", "add offset and timestamp of the first record at or after this `time`; or latest, earliest, max-timestamp (-1, -2, -3)")
	f.Var(flagval.Enum(&o.isolation, readUncommitted, readCommitted), "isolation-level", "with read_committed: add the last stable offset, which no consumer of that `level` passes")
	o.selection.addTo(f)
	return c
}

func (o offsetsOptions) run(env *Env, targets []string) error {
	find, err := o.finder(env)
	if err != nil {
		return err
	}
	if targets, err = o.selection.targets(targets); err != nil {
		return err
	}
	v, err := env.look(targets)
	if err != nil {
		return err
	}
	refs, leaderless, err := resolve(v, targets, o.replicas)
	if err != nil {
		return err
	}
	if len(targets) == 0 && !o.replicas {
		noteLeaderless(env, v)
	}
	return errors.Join(o.print(env, v, o.selection.chosen(refs), find), leaderless)
}

// noteLeaderless tells why partitions are missing from a list of leaders.
func noteLeaderless(env *Env, v *cluster.View) {
	if v.Meta == nil {
		return
	}
	for _, t := range v.Meta.Topics {
		for n, p := range t.Partitions {
			if p.Leader == nil {
				env.Note("%s:%d has no leader: --replicas shows what its brokers have", t.Name, n)
			}
		}
	}
}

func (o offsetsOptions) print(env *Env, v *cluster.View, refs []store.PartitionRef, find finder) error {
	columns := []string{"TOPIC", "PARTITION", "BROKER", "ROLE", "LOG-START", "HIGH-WATERMARK", "LOG-END"}
	if find != nil {
		columns = append(columns, "OFFSET", "TIMESTAMP")
	}
	if o.isolation == readCommitted {
		columns = append(columns, "LAST-STABLE")
	}
	rows := env.Stream(columns)
	var bad []error
	for _, ref := range refs {
		marks, err := v.Offsets(ref)
		if err != nil {
			bad = append(bad, readError(ref.Rel, err))
			continue
		}
		row, err := o.row(v, marks, find)
		if err != nil {
			bad = append(bad, readError(ref.Rel, err))
		}
		if err := rows.Row(row...); err != nil {
			return err
		}
		if marks.Damage != nil {
			bad = append(bad, env.damageAt(v, ref, marks.Damage))
		}
	}
	return errors.Join(append(bad, rows.Close())...)
}

// row has all columns also if something could not be read.
func (o offsetsOptions) row(v *cluster.View, marks cluster.Offsets, find finder) ([]any, error) {
	row := offsetsRow(marks)
	stable, err := int64(corrupt.Unknown), error(nil)
	if o.isolation == readCommitted {
		if stable, err = lastStable(v, marks); stable >= 0 {
			marks.HighWatermark = stable // what is looked for has to be stable
		}
	}
	if find != nil {
		offset, timestamp, failed := find(v, marks)
		err = errors.Join(err, failed)
		row = append(row, render.Known(offset), render.Known(timestamp))
	}
	if o.isolation == readCommitted {
		row = append(row, render.Known(stable))
	}
	return row, err
}

// lastStable is the offset in front of which no transaction is open, -1 if it cannot be read.
func lastStable(v *cluster.View, marks cluster.Offsets) (int64, error) {
	log, err := v.Reader(marks.Ref)
	if err != nil {
		return corrupt.Unknown, err
	}
	end := readableEnd(marks)
	isolation, err := readIsolation(v, log, end, end)
	if err != nil {
		return corrupt.Unknown, err
	}
	return isolation.LastStable, nil
}

// damageAt is damage met in a replica, with the command to type next.
func (e *Env) damageAt(v *cluster.View, ref store.PartitionRef, d *corrupt.Error) error {
	d.Path = v.Rel(d.Path)
	return store.DamageFound(d, ref.TopicPartition).
		WithHint("%s", e.retype("logdir recover --dry-run", []string{ref.String()}))
}

func offsetsRow(o cluster.Offsets) []any {
	var role any
	if o.Role != cluster.NoRole {
		role = string(o.Role)
	}
	return []any{
		o.Ref.Topic, render.Known(o.Ref.Partition), render.Known(o.Ref.Broker), role,
		o.LogStart, render.Known(o.HighWatermark), o.LogEnd,
	}
}

// finder looks for an offset in a log, and the timestamp of its record; both are -1
// where there is none.
type finder func(*cluster.View, cluster.Offsets) (offset, timestamp int64, err error)

// finders are the words of kafka-get-offsets for a time, and the numbers that they stand for
// in Kafka's ListOffsets. Nothing here is tiered: all that a log has is local.
var finders = map[string]finder{
	"-1": findLatest, "latest": findLatest,
	"-2": findEarliest, "earliest": findEarliest,
	"-3": findNewest, "max-timestamp": findNewest,
	"-4": findEarliest, "earliest-local": findEarliest,
	"-5": findNothing, "latest-tiered": findNothing,
	"-6": findNothing, "earliest-pending-upload": findNothing,
}

// finder reads --at.
func (o offsetsOptions) finder(env *Env) (finder, error) {
	if o.at == "" {
		return nil, nil
	}
	if find, ok := finders[o.at]; ok {
		return find, nil
	}
	moment, err := flagval.ParseMoment(o.at)
	if err != nil {
		return nil, usagef("--at %q: %w; or latest, earliest, max-timestamp", o.at, err)
	}
	ts := moment.At(env.Now())
	return func(v *cluster.View, o cluster.Offsets) (int64, int64, error) { return findTime(v, o, ts) }, nil
}

func findLatest(_ *cluster.View, o cluster.Offsets) (int64, int64, error) {
	if o.HighWatermark == corrupt.Unknown {
		return o.LogEnd, corrupt.Unknown, nil
	}
	return o.HighWatermark, corrupt.Unknown, nil
}

func findEarliest(_ *cluster.View, o cluster.Offsets) (int64, int64, error) {
	return o.LogStart, corrupt.Unknown, nil
}

func findNothing(*cluster.View, cluster.Offsets) (int64, int64, error) {
	return corrupt.Unknown, corrupt.Unknown, nil
}

// findNewest finds the first record with the largest timestamp that consumers may read.
func findNewest(v *cluster.View, o cluster.Offsets) (offset, timestamp int64, err error) {
	r, err := v.Reader(o.Ref)
	if err != nil {
		return corrupt.Unknown, corrupt.Unknown, err
	}
	end := o.LogEnd
	if o.Role == cluster.Leader {
		end = readableEnd(o)
	}
	offset, timestamp, found, err := r.OffsetOfMaxTimestamp(end)
	if err != nil || !found {
		return corrupt.Unknown, corrupt.Unknown, err
	}
	return offset, timestamp, nil
}

// findTime finds the first record at or after ts. What consumers may not yet read of a
// leader's log does not count, as in Kafka.
func findTime(v *cluster.View, o cluster.Offsets, ts int64) (offset, timestamp int64, err error) {
	r, err := v.Reader(o.Ref)
	if err != nil {
		return corrupt.Unknown, corrupt.Unknown, err
	}
	offset, timestamp, found, err := r.OffsetForTime(ts)
	hidden := o.Role == cluster.Leader && offset >= o.HighWatermark
	if err != nil || !found || hidden {
		return corrupt.Unknown, corrupt.Unknown, err
	}
	return offset, timestamp, nil
}
