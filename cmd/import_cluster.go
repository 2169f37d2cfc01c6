package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/live"
	"logdir/store"
)

// importCluster fills the directory from a running cluster.
func (o *importOptions) importCluster(ctx context.Context, env *Env, targets []store.Target) error {
	cluster, err := o.connect(ctx, env)
	if err != nil {
		return err
	}
	defer cluster.Close()
	partitions, err := importPartitions(ctx, cluster, targets)
	if err != nil {
		return err
	}
	wanted, err := o.ranges(ctx, env, cluster, partitions)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.previewImport(env, wanted)
	}
	dir, err := live.OpenDir(ctx, env.FS, filepath.Clean(o.to), o.dirOptions(env, cluster.ID))
	if err != nil {
		return err
	}
	left := int64(0)
	for _, w := range wanted {
		left += w.To - w.From
	}
	bar := env.countProgress("import", left)
	i := &live.Import{
		Cluster: cluster, Dir: dir, Wanted: wanted, MaxBytes: o.maxBytes,
		Moved: bar.Add, Note: env.Note,
	}
	done, err := i.Run(ctx)
	bar.Close()
	return errors.Join(err, dir.Close(), o.printImported(env, wanted, done))
}

func (o *importOptions) printImported(env *Env, wanted []live.Wanted, done []live.Imported) error {
	rows := env.Stream(importColumns)
	for n, i := range done {
		if err := importedRow(rows.Row, i, wanted[n].To); err != nil {
			return err
		}
	}
	return rows.Close()
}

func (o *importOptions) previewImport(env *Env, wanted []live.Wanted) error {
	rows := env.Stream(importColumns)
	for _, w := range wanted {
		if err := rows.Row(w.Topic, w.Partition, w.From, w.To, nil, nil, "would be imported"); err != nil {
			return err
		}
	}
	return rows.Close()
}

// importPartitions are the partitions that the targets name, by topic and number.
func importPartitions(ctx context.Context, c *live.Cluster, targets []store.Target) ([]store.TopicPartition, error) {
	var names []string
	for _, t := range targets {
		names = append(names, t.Topic)
	}
	slices.Sort(names)
	topics, err := c.Topics(ctx, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	var out []store.TopicPartition
	for _, t := range targets {
		topic := topics[t.Topic]
		if topic == nil {
			return nil, store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "topic %s is not in the cluster", t.Topic)
		}
		mine := partitionsOfTarget(t, len(topic.Leaders))
		if len(mine) == 0 {
			return nil, store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", "%s: topic %s has no such partition, the last is %d",
				t.Text, t.Topic, len(topic.Leaders)-1)
		}
		out = append(out, mine...)
	}
	slices.SortFunc(out, store.TopicPartition.Compare)
	return slices.Compact(out), nil
}

func partitionsOfTarget(t store.Target, count int) (out []store.TopicPartition) {
	for p := range int32(count) {
		if t.Has(p) {
			out = append(out, store.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	return out
}

// ranges turns --offset into a range of each partition, as the cluster is now.
func (o *importOptions) ranges(ctx context.Context, env *Env, c *live.Cluster, of []store.TopicPartition) ([]live.Wanted, error) {
	bounds, err := c.Bounds(ctx, of)
	if err != nil {
		return nil, err
	}
	from, err := o.locate(ctx, env, c, of, o.offset.From, bounds)
	if err != nil {
		return nil, err
	}
	to := map[store.TopicPartition]int64{}
	if o.offset.HasTo {
		if to, err = o.locate(ctx, env, c, of, o.offset.To, bounds); err != nil {
			return nil, err
		}
	}
	var wanted []live.Wanted
	for _, tp := range of {
		b, w := bounds[tp], live.Wanted{TopicPartition: tp, From: from[tp], To: bounds[tp].End}
		if end, ok := to[tp]; ok {
			w.To = min(w.To, end)
		}
		if w.From < b.Start || w.From > b.End {
			return nil, store.Errorf(store.NotFound, "OFFSET_OUT_OF_RANGE", "%s: offset %d is out of range: the log goes from %d to %d", tp, w.From, b.Start, b.End)
		}
		w.To = max(w.To, w.From)
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// locate finds one end of the range in each partition.
func (o *importOptions) locate(ctx context.Context, env *Env, c *live.Cluster, of []store.TopicPartition, at flagval.Offset, bounds map[store.TopicPartition]live.Bounds) (map[store.TopicPartition]int64, error) {
	if at.Kind == flagval.AtTime {
		return atTime(ctx, c, of, at.Time.At(env.Now()), bounds)
	}
	out := map[store.TopicPartition]int64{}
	for tp, b := range bounds {
		switch at.Kind {
		case flagval.Start:
			out[tp] = min(b.Start+at.N, b.End)
		case flagval.End:
			out[tp] = max(b.End-at.N, b.Start)
		default:
			out[tp] = at.N
		}
	}
	return out, nil
}

// atTime finds the first offset at or after a time in each partition; the end, if no record
// is that young.
func atTime(ctx context.Context, c *live.Cluster, of []store.TopicPartition, ts int64, bounds map[store.TopicPartition]live.Bounds) (map[store.TopicPartition]int64, error) {
	offsets, err := c.OffsetsAt(ctx, of, ts)
	for tp, offset := range offsets {
		if offset < 0 {
			offsets[tp] = bounds[tp].End
		}
	}
	return offsets, err
}
