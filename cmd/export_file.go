package cmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"logdir/cmd/internal/live"
	"logdir/cmd/internal/progress"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/record"
	"logdir/store/vfs"
)

// fileExport writes records as JSON Lines.
type fileExport struct {
	*linePrinter
	context render.RecordContext
	pace    live.Pace
	bar     *progress.Bar
	dryRun  bool
}

// exportFile writes all sources into one file, in their order. The file appears when all
// of it is there.
func (o *exportOptions) exportFile(ctx context.Context, env *Env, p *exportPlan) (err error) {
	x := &fileExport{dryRun: o.dryRun, pace: live.NewPace(o.rate), bar: env.countProgress("export", offsetsIn(p.live()))}
	defer x.bar.Close()
	var envelope render.Envelope
	x.linePrinter = &linePrinter{out: env.Out, append: envelope.AppendRecord}
	rows := env.Stream(exportColumns)
	if o.to == "-" || o.dryRun {
		err = x.all(ctx, p.live(), rows)
	} else {
		err = o.intoFile(env, x, func() error { return x.all(ctx, p.live(), rows) })
	}
	x.bar.Close()
	if o.to == "-" && !o.dryRun {
		return err // stdout is the records
	}
	return errors.Join(err, rows.Close())
}

// intoFile lets a file appear with what fill writes; damage in the source does not keep
// it from appearing.
func (o *exportOptions) intoFile(env *Env, x *fileExport, fill func() error) error {
	if info, err := env.FS.Stat(o.to); err == nil {
		if !info.Mode().IsRegular() {
			return usagef("--to %s is not a file; - is stdout", o.to)
		}
		if err := env.Confirm("overwriting " + o.to); err != nil {
			return err
		}
	}
	partial := o.to + ".partial"
	if err := env.FS.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := env.FS.Create(partial)
	if err != nil {
		return err
	}
	x.out = &fileWriter{file: f}
	bad := fill()
	if !onlySource(bad) {
		return errors.Join(bad, f.Close(), env.FS.Remove(partial))
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = env.FS.Rename(partial, o.to)
	}
	return errors.Join(bad, err, env.FS.SyncDir(filepath.Dir(o.to)))
}

// onlySource says that nothing is wrong but the records that could not be read.
func onlySource(err error) bool {
	for _, e := range split(err) {
		if known, ok := errors.AsType[*store.Error](e); !ok || known.Class != store.Damage && known.Class != store.Refused {
			return false
		}
	}
	return true
}

// all exports the sources one after the other. What is wrong with one does not keep the
// others.
func (x *fileExport) all(ctx context.Context, sources []live.Source, rows *render.Stream) error {
	var errs []error
	for _, s := range sources {
		e, err := x.one(ctx, s)
		if !onlySource(err) {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, err, exportedRow(rows.Row, e))
	}
	return errors.Join(append(errs, x.Close())...)
}

// one exports a partition and says what of it.
func (x *fileExport) one(ctx context.Context, s live.Source) (live.Exported, error) {
	e := live.NewExported(s.TopicPartition)
	x.context = render.RecordContext{Topic: s.Target, Partition: s.Partition, BaseOffset: client.NoOffset}
	err := s.Read(s.From, func(b *record.Batch, r *record.Record) error {
		e.Add(r.Offset, client.NoOffset)
		x.bar.Add(1)
		if x.dryRun {
			return ctx.Err()
		}
		if err := x.pace.Wait(ctx, 1); err != nil {
			return err
		}
		if base := b.BaseOffset(); base != x.context.BaseOffset {
			x.context.SetBatch(b)
		}
		x.context.Record = r
		return x.Record(&x.context)
	})
	err = errors.Join(err, s.Open)
	e.Status = live.StatusOf(err, x.dryRun)
	return e, err
}

// offsetsIn is how many offsets the sources span: at most so many records.
func offsetsIn(sources []live.Source) (n int64) {
	for _, s := range sources {
		n += s.To - s.From
	}
	return n
}

// fileWriter writes a file from its start.
type fileWriter struct {
	file vfs.File
	pos  int64
}

func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.pos)
	w.pos += int64(n)
	return n, err
}
