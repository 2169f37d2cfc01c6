package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
)

// undoOptions are the flags of "logdir undo".
type undoOptions struct {
	repairFlags
	list bool
}

func newUndoCmd(env *Env) *cobra.Command {
	o := &undoOptions{}
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "put back what a repair or damage command changed",
		Long: `Put back what one run of recover, truncate, reindex, compact or corrupt-tail changed, bit for
bit, names and modification times included. Without ID it is the newest run that is not
undone yet. It refuses when a file is not as that run left it, and changes nothing then.

Wanted deletions (topic delete, retention, delete-records, dlq purge, group delete) keep
nothing that could be put back.`,
		Example: `  logdir undo --list
  logdir undo --dry-run
  logdir undo 20260101T000000-1`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: about("0 1 2 3 5 9", "logdir-recover(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), env, args)
		},
	}
	o.repairFlags.addTo(c.Flags())
	c.Flags().Lookup("dry-run").Usage = "show what would be put back, but write nothing"
	c.Flags().Lookup("quarantine").Usage = "`directory` that the runs left their bytes in" + ordinaryQuarantine
	c.Flags().BoolVar(&o.list, "list", false, "list the runs that can be undone, the oldest first")
	return c
}

func (o *undoOptions) run(ctx context.Context, env *Env, args []string) error {
	v, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	r := &repair{env: env, flags: o.repairFlags, view: v}
	if r.refs, err = v.Resolve(nil, true); err != nil {
		return err
	}
	q := r.quarantine(r.rootPlace())
	if o.list {
		return listRuns(env, q)
	}
	id := ""
	if len(args) > 0 {
		id = args[0]
	}
	if !o.dryRun {
		if err := r.lock(ctx); err != nil {
			return errors.Join(err, r.Close())
		}
	}
	return errors.Join(o.undo(ctx, r, q, id), r.Close())
}

// rootPlace is the place of the data directory itself.
func (r *repair) rootPlace() location {
	path := absolute(r.view.Path)
	switch r.view.Kind {
	case store.KindCluster:
		return location{root: path, quarantine: filepath.Join(path, cluster.QuarantineDir), cluster: true}
	case store.KindMiniKafka:
		return location{root: path, quarantine: path + ".quarantine"}
	case store.KindLogDir:
		return r.place(path)
	}
	return r.placeOf(r.refs[0])
}

func (o *undoOptions) undo(ctx context.Context, r *repair, q recovery.Quarantine, id string) (err error) {
	run, err := q.Run(id)
	if err != nil {
		return err
	}
	if run.Undone {
		return store.Errorf(store.Refused, "INVALID_REQUEST", "run %s is undone already", run.ID).WithHint("logdir undo --list")
	}
	u, err := q.PrepareUndo(ctx, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	if !o.dryRun {
		if err := r.confirm("undo " + run.Command + " of " + run.ID); err != nil {
			return err
		}
		if err := u.Apply(ctx); err != nil {
			return err
		}
	}
	rows := u.Rows(o.dryRun)
	r.env.logUndo(rows)
	return printUndo(r.env, rows)
}

func listRuns(env *Env, q recovery.Quarantine) error {
	runs, err := q.Runs()
	if err != nil {
		return err
	}
	var rows []recovery.UndoRow
	for _, run := range runs {
		if !run.Undone {
			rows = append(rows, run.Rows()...)
		}
	}
	return printUndo(env, rows)
}

func printUndo(env *Env, rows []recovery.UndoRow) error {
	t := render.Table{Columns: []string{"ID", "COMMAND", "FILE", "ACTION", "BYTES"}}
	for _, r := range rows {
		t.Rows = append(t.Rows, []any{r.ID, r.Command, r.File, textOrNil(r.Action), r.Bytes})
	}
	return env.Print(t)
}
