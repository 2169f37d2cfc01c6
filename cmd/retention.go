package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/segment"
)

// retentionOptions are the flags of "logdir retention".
type retentionOptions struct {
	bytes, ms int64
	dryRun    bool
	given     func(flag string) bool
}

func newRetentionCmd(env *Env) *cobra.Command {
	var o retentionOptions
	c := &cobra.Command{
		Use:   "retention [TARGET...]",
		Short: "delete old segments, by size, age and log start",
		Long: `One pass of retention: whole segments go, from the oldest on, as long as the rules say so.
First those below the log start; then what is too much for retention.bytes; then what is
older than retention.ms, by the newest record of each segment. Nothing goes that reaches
beyond the high watermark. The active segment can go too: a new one is begun first.

A topic whose cleanup.policy is compact loses only what lies below the log start, unless a
flag says otherwise. Nothing is kept of what goes, and undo cannot bring it back.`,
		Example: `  logdir retention --dry-run
  logdir retention orders --retention-ms 3600000
  logdir retention orders:0@2 --retention-bytes 1048576`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-delete-records(1)", "logdir-roll(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	o.addTo(c.Flags())
	return c
}

func (o *retentionOptions) addTo(f *pflag.FlagSet) {
	o.given = f.Changed
	f.Int64Var(&o.bytes, "retention-bytes", 0, "keep so many `bytes`, instead of the topic's retention.bytes; -1 all")
	f.Int64Var(&o.ms, "retention-ms", 0, "keep records for so many `ms`, instead of the topic's retention.ms; -1 for ever")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would go, but write nothing")
}

// limits are what the flags put in the place of the topic's configs.
func (o *retentionOptions) limits() (l cluster.Limits, err error) {
	if o.given("retention-bytes") {
		l.Bytes = &o.bytes
	}
	if o.given("retention-ms") {
		l.Ms = &o.ms
	}
	if o.bytes < -1 || o.ms < -1 {
		return l, usagef("a limit is -1 for none, or not negative")
	}
	return l, nil
}

func (o *retentionOptions) run(ctx context.Context, env *Env, targets []string) error {
	limits, err := o.limits()
	if err != nil {
		return err
	}
	c, err := env.openCluster(store.FsyncClose)
	if err != nil {
		return err
	}
	return errors.Join(o.retain(ctx, env, c, targets, limits), c.Close())
}

func (o *retentionOptions) retain(ctx context.Context, env *Env, c *cluster.Cluster, targets []string, limits cluster.Limits) error {
	v, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	refs, leaderless, err := resolve(v, targets, false)
	if err != nil {
		return err
	}
	rows := env.Stream([]string{"TOPIC", "PARTITION", "BROKER", "SEGMENT", "ACTION"})
	var failed []error
	for _, ref := range refs {
		plan, err := o.retainOne(ctx, env, c, v, ref, limits)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err := o.print(rows, ref, plan); err != nil {
			return err
		}
	}
	return errors.Join(append(failed, leaderless, rows.Close())...)
}

func (o *retentionOptions) retainOne(ctx context.Context, env *Env, c *cluster.Cluster, v *cluster.View, ref store.PartitionRef, limits cluster.Limits) (store.Expiry, error) {
	if o.dryRun {
		return wouldRetain(env, v, ref, limits)
	}
	return c.Retain(ctx, ref.TopicPartition, ref.Broker, limits, func(plan store.Expiry) error {
		env.noteGone(ref.TopicPartition, plan.Segments)
		return nil
	})
}

// noteGone says, before it is done, that a deletion cannot be taken back.
func (e *Env) noteGone(tp store.TopicPartition, segments []store.Expired) {
	if len(segments) == 0 {
		return
	}
	bytes := int64(0)
	for _, s := range segments {
		bytes += s.Size
	}
	e.Note("%s: %d segment(s), %d bytes, go for good: undo cannot bring them back", tp, len(segments), bytes)
}

func wouldRetain(env *Env, v *cluster.View, ref store.PartitionRef, limits cluster.Limits) (store.Expiry, error) {
	topic, err := v.Meta.Topic(ref.Topic)
	if err != nil {
		return store.Expiry{}, err
	}
	marks, err := v.Offsets(ref)
	if err != nil {
		return store.Expiry{}, err
	}
	if marks.Damage != nil {
		return store.Expiry{}, env.damageAt(v, ref, marks.Damage)
	}
	r, err := v.Reader(ref)
	if err != nil {
		return store.Expiry{}, err
	}
	return r.PlanRetention(v.Meta.RetentionOf(topic, limits, env.Now().UnixMilli(), max(marks.HighWatermark, 0)))
}

func (o *retentionOptions) print(rows *render.Stream, ref store.PartitionRef, plan store.Expiry) error {
	action := "deleted"
	if o.dryRun {
		action = "would be deleted"
	}
	for _, s := range plan.Segments {
		if err := rows.Row(ref.Topic, ref.Partition, ref.Broker, segment.FileName(s.Base, ""), action+" ("+s.Reason+")"); err != nil {
			return err
		}
	}
	return nil
}
