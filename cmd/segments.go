package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/segment"
)

// segmentsOptions are the flags of "logdir segments".
type segmentsOptions struct{ sizes bool }

func newSegmentsCmd(env *Env) *cobra.Command {
	o := &segmentsOptions{}
	c := &cobra.Command{
		Use:     "segments [TARGET...]",
		Aliases: []string{"ls"},
		Short:   "list the segments of partitions",
		Long: `List every segment of every replica with what its batch headers tell: where it ends, how
many batches it holds, how many entries its index has. Without TARGET: everything.`,
		Example: `  logdir segments orders
  logdir ls -d /var/lib/kafka/data --sizes
  logdir segments orders:0 --json`,
		Annotations: about("0 1 2 3 4", "logdir-verify-crc(1)", "logdir-dump-segment(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	c.Flags().BoolVar(&o.sizes, "sizes", false, "totals per replica instead, as kafka-log-dirs")
	return c
}

func (o *segmentsOptions) run(ctx context.Context, env *Env, targets []string) error {
	v, err := env.look(targets)
	if err != nil {
		return err
	}
	refs, err := v.Resolve(targets, true)
	if err != nil {
		return err
	}
	list := segmentList{env: env, view: v, refs: refs}
	if o.sizes {
		return list.print(ctx, []string{"TOPIC", "PARTITION", "BROKER", "SEGMENTS", "BYTES", "OFFSET-LAG"}, list.sizeRow)
	}
	return list.print(ctx, []string{
		"TOPIC", "PARTITION", "BROKER", "SEGMENT", "STATE", "NEXT-OFFSET", "BATCHES", "BYTES", "INDEX-ENTRIES",
	}, list.segmentRows)
}

// segmentList prints the segments of replicas.
type segmentList struct {
	env    *Env
	view   *cluster.View
	refs   []store.PartitionRef
	rows   *render.Stream
	damage []*corrupt.Error
}

// print lists the replicas; row prints what is to be said of one.
func (l *segmentList) print(ctx context.Context, columns []string, row func(store.PartitionRef, *inspect.PartitionInfo) error) error {
	dirs := make([]inspect.PartitionDir, len(l.refs))
	for i, r := range l.refs {
		dirs[i] = inspect.PartitionDir{Path: r.Dir, Name: r.Show("")}
	}
	l.rows = l.env.Stream(columns)
	var failed []error
	i := 0
	for p := range inspect.Segments(ctx, l.env.FS, dirs) {
		if p.Err != nil {
			failed = append(failed, readError(dirs[i].Name, p.Err))
		}
		if err := row(l.refs[i], l.keep(l.refs[i], &p)); err != nil {
			return err
		}
		i++
	}
	if err := l.rows.Close(); err != nil {
		return err
	}
	return errors.Join(append(failed, ctx.Err(), damageError(l.damage))...)
}

// keep leaves of a replica that was named by a file only that file, and collects damage.
func (l *segmentList) keep(ref store.PartitionRef, p *inspect.PartitionInfo) *inspect.PartitionInfo {
	kept := p.Segments[:0]
	for _, s := range p.Segments {
		if ref.File != "" && filepath.Base(s.Name) != ref.File {
			continue
		}
		l.damage = append(l.damage, s.Damage...)
		kept = append(kept, s)
	}
	p.Segments = kept
	return p
}

func (l *segmentList) segmentRows(ref store.PartitionRef, p *inspect.PartitionInfo) error {
	for _, s := range p.Segments {
		state := "closed"
		if s.Active {
			state = "active"
		}
		var entries any = s.IndexEntries
		if s.IndexEntries == inspect.Missing {
			entries = render.Both{Text: "missing", JSON: nil}
		}
		err := l.rows.Row(ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker),
			segment.FileName(s.Base, ""), state, s.NextOffset, s.Batches, s.Size, entries)
		if err != nil {
			return err
		}
	}
	return nil
}

// sizeRow prints the totals of a replica. OFFSET-LAG is how far its end is behind the
// high watermark that its broker has noted, as kafka-log-dirs computes it.
func (l *segmentList) sizeRow(ref store.PartitionRef, p *inspect.PartitionInfo) error {
	size, end := int64(0), int64(0)
	for _, s := range p.Segments {
		size += s.Size
		end = s.NextOffset
	}
	var lag any
	if mark, ok, err := l.view.HighWatermark(ref, 0, end); err != nil {
		return err
	} else if ok {
		lag = max(0, mark-end)
	}
	return l.rows.Row(ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker), len(p.Segments), size, lag)
}
