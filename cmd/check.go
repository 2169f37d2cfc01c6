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
)

func newCheckCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check [TARGET|PATH...]",
		Short: "the verdict on a whole directory",
		Long: `Say whether the data is hurt, and what to do: everything that verify-crc --deep sees, and
indexes, transaction indexes, producer snapshots, checkpoints, epochs, ids, names, leftovers
and committed offsets, each held against the log. Nothing is written.

Several log directories may be named. Identical findings are one row; each ends with the
command to type next. The last line on stderr is the verdict.`,
		Example: `  logdir check
  logdir check -d /var/lib/kafka/data
  logdir check orders:0 --json
  logdir check /mnt/disk1/kafka /mnt/disk2/kafka`,
		Annotations: about("0 1 2 3 4", "logdir-verify-crc(1)", "logdir-recover(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return runCheck(c.Context(), env, targets)
		},
	}
}

func runCheck(ctx context.Context, env *Env, targets []string) error {
	scope, err := env.checkScope(targets)
	if err != nil {
		return err
	}
	logs, err := env.logsOf(scope.Partitions)
	if err != nil {
		return err
	}
	bar := env.progressOf("check", logs)
	report := inspect.Check(ctx, env.FS, scope, inspect.CheckOptions{Now: env.Now(), Progress: bar.Add})
	bar.Close()
	if err := env.Print(checkTable(report)); err != nil {
		return err
	}
	return errors.Join(append(report.Err, ctx.Err(), env.verdict(report))...)
}

// verdict is the last line on stderr; damage decides the exit code.
func (e *Env) verdict(r *inspect.CheckReport) error {
	if len(r.Err) > 0 {
		return nil // what was not read is not judged
	}
	if r.Damaged() {
		return &verdictError{r.Verdict()}
	}
	e.Tell("%s", r.Verdict())
	return nil
}

// verdictError is damage that the rows have told already: only the verdict is left to say.
type verdictError struct{ verdict string }

func (v *verdictError) Error() string { return v.verdict }

// checkScope is what TARGETs name: log directories in full, or only partitions.
func (e *Env) checkScope(targets []string) (inspect.CheckScope, error) {
	v, err := e.look(targets)
	if err != nil {
		return inspect.CheckScope{}, err
	}
	var scope inspect.CheckScope
	if len(targets) == 0 {
		scope.Partitions, err = v.AllPartitions()
		return scope, errors.Join(err, addLogDirs(&scope, v, ""))
	}
	for _, t := range targets {
		if err := e.addTarget(&scope, v, t); err != nil {
			return scope, err
		}
	}
	return scope, nil
}

// addTarget adds a log directory that is named by its path, or the partitions of a TARGET.
func (e *Env) addTarget(scope *inspect.CheckScope, v *cluster.View, target string) error {
	if info, err := e.FS.Stat(target); err == nil && info.IsDir() {
		sub, err := cluster.OpenView(e.FS, target)
		if err == nil && sub.Kind != store.KindPartition {
			refs, err := sub.AllPartitions()
			for i := range refs {
				refs[i].Rel = filepath.ToSlash(filepath.Join(target, refs[i].Rel))
			}
			scope.Partitions = append(scope.Partitions, refs...)
			return errors.Join(err, addLogDirs(scope, sub, target))
		}
	}
	refs, err := v.Resolve([]string{target}, true)
	scope.Partitions = append(scope.Partitions, refs...)
	return err
}

// addLogDirs adds the log directories of a data directory that is shown as name.
func addLogDirs(scope *inspect.CheckScope, v *cluster.View, name string) error {
	dirs, err := v.LogDirs()
	for _, d := range dirs {
		shown := filepath.ToSlash(filepath.Join(name, v.Rel(d.Path)))
		scope.LogDirs = append(scope.LogDirs, inspect.CheckDir{Path: d.Path, Name: shown, Whole: true})
	}
	return err
}

func checkTable(r *inspect.CheckReport) render.Report {
	t := render.Table{
		Columns: []string{"SEVERITY", "KIND", "COUNT", "WHERE", "DETAIL", "NEXT"},
		Extra:   []string{"files", "position", "bytes"},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		var detail, next, pos, size any
		if text := findingDetail(f.Error); text != "" {
			detail = text
		}
		if f.Next != "" {
			next = f.Next
		}
		if f.Severity == inspect.Damage {
			pos, size = render.Known(f.Pos), render.Known(f.Size)
		}
		t.Rows = append(t.Rows, []any{f.Severity.String(), string(f.Kind), f.Count, f.Where(), detail, next, f.Files, pos, size})
	}
	return t
}

// findingDetail says in words what is wrong, with both checksums where there are two.
func findingDetail(d *corrupt.Error) string {
	if d.HasCRC {
		return verifyDetail(d)
	}
	return d.Detail
}
