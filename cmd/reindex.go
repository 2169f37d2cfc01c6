package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/segment"
)

// reindexOptions are the flags of "logdir reindex".
type reindexOptions struct {
	repairFlags
	interval int64
}

func newReindexCmd(env *Env) *cobra.Command {
	o := &reindexOptions{}
	c := &cobra.Command{
		Use:   "reindex [TARGET...]",
		Short: "make .index and .timeindex anew from the log",
		Long: `Make the .index and .timeindex of every segment anew, byte for byte as Kafka's own recovery
would, and touch nothing else. It is the answer to "find . -name '*.index' | xargs rm". The
old files go to the quarantine; "logdir undo" puts them back. It asks on anything but a
cluster of ours.`,
		Example: `  logdir reindex orders:0
  logdir reindex -d /var/lib/kafka/data --dry-run`,
		Annotations: about("0 1 2 3 4 5 9", "logdir-undo(1)", "logdir-recover(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	f := c.Flags()
	o.repairFlags.addTo(f)
	f.Var(flagval.NewBytes(&o.interval), "index-interval-bytes", "index.interval.bytes, where no topic config says (0: 4096)")
	return c
}

func (o *reindexOptions) run(ctx context.Context, env *Env, targets []string) error {
	r, err := env.openRepair(ctx, "reindex", o.repairFlags, targets, true)
	if err != nil {
		return err
	}
	return errors.Join(o.reindex(ctx, r), r.Close())
}

func (o *reindexOptions) reindex(ctx context.Context, r *repair) error {
	if err := r.checkQuarantine(); err != nil {
		return err
	}
	t := render.Table{Columns: []string{"TOPIC", "PARTITION", "BROKER", "SEGMENT", "INDEX-ENTRIES"}}
	var works []work
	var left []error
	for _, ref := range r.refs {
		p, err := r.partition(ref)
		if err != nil {
			return err
		}
		plan, done, err := recovery.MakeReindex(ctx, r.env.FS, p, r.interval(ref.Topic, int(o.interval)))
		if err != nil {
			return err
		}
		works, left = add(works, r.placeOf(ref), plan.Changes), append(left, plan.Left...)
		t.Rows = append(t.Rows, reindexRows(ref, done)...)
	}
	if !o.dryRun && len(works) > 0 {
		if err := r.confirm(fmt.Sprintf("rewrite index files of %s", r.env.Global.DataDir)); err != nil {
			return err
		}
		if _, err := r.execute(ctx, works, nil); err != nil {
			return err
		}
	}
	return errors.Join(append([]error{r.env.Print(t)}, left...)...)
}

func reindexRows(ref store.PartitionRef, done []recovery.Reindexed) [][]any {
	var rows [][]any
	for _, d := range done {
		rows = append(rows, []any{ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker), segment.FileName(d.Segment, ""), d.Entries})
	}
	return rows
}
