package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/group"
)

// checkOptions are the flags of "logdir check".
type checkOptions struct{ forecast bool }

func newCheckCmd(env *Env) *cobra.Command {
	o := &checkOptions{}
	c := &cobra.Command{
		Use:   "check [TARGET|PATH...]",
		Short: "the verdict on a whole directory",
		Long: `Say whether the data is hurt, and what to do: everything that verify-crc --deep sees, and
indexes, transaction indexes, producer snapshots, checkpoints, epochs, ids, names, leftovers
and committed offsets, each held against the log. Nothing is written.

Several log directories may be named. Identical findings are one row; each ends with the
command to type next. The last line on stderr is the verdict.`,
		Example: `  logdir check
  logdir check -d /var/lib/kafka/data --forecast
  logdir check orders:0 --json
  logdir check /mnt/disk1/kafka /mnt/disk2/kafka`,
		Annotations: about("0 1 2 3 4", "logdir-verify-crc(1)", "logdir-recover(1)"),
		RunE: func(c *cobra.Command, targets []string) error {
			return o.run(c.Context(), env, targets)
		},
	}
	c.Flags().BoolVar(&o.forecast, "forecast", false, "also say what a broker would do at its next start")
	return c
}

func (o *checkOptions) run(ctx context.Context, env *Env, targets []string) error {
	scope, err := env.checkScope(targets)
	if err != nil {
		return err
	}
	logs, err := env.logsOf(scope.Partitions)
	if err != nil {
		return err
	}
	bar := env.progressOf("check", logs)
	report := inspect.Check(ctx, env.FS, scope.CheckScope, inspect.CheckOptions{Now: env.Now(), Progress: bar.Add})
	bar.Close()
	if err := env.Print(checkTable(report)); err != nil {
		return err
	}
	if o.forecast {
		if err := env.printForecast(ctx, scope); err != nil {
			return err
		}
	}
	return errors.Join(append(report.Err, ctx.Err(), env.verdict(report))...)
}

// printForecast says what a broker would do with each partition in scope at its next start.
func (e *Env) printForecast(ctx context.Context, scope checkScope) error {
	named := map[string]bool{}
	for _, r := range scope.Partitions {
		named[r.Dir] = true
	}
	t := render.Table{
		Columns: []string{"TOPIC", "PARTITION", "ACTION", "FROM", "TO", "RECORDS-LOST", "WHY"},
		Extra:   []string{"broker"},
	}
	if len(scope.logDirs) > 1 { // a row alone does not say whose replica it is about
		t.Columns, t.Extra = append(t.Columns, "BROKER"), nil
	}
	for _, l := range scope.logDirs {
		forecasts, err := inspect.ForecastLogDir(ctx, l.dir, l.LogDir, inspect.ForecastOptions{})
		if err != nil {
			return err
		}
		for _, f := range forecasts {
			if f.Topic == "" || named[f.Dir] {
				t.Rows = append(t.Rows, forecastRow(l.Broker, f))
			}
		}
	}
	return e.Print(t)
}

// forecastRow has no topic where it is about the whole log directory.
func forecastRow(broker int32, f inspect.Forecast) []any {
	var topic, partition, why any
	if f.Topic != "" {
		topic, partition = f.Topic, f.Partition
	}
	if f.Why != "" {
		why = f.Why
	}
	return []any{topic, partition, string(f.Action), render.Known(f.From), render.Known(f.To), f.RecordsLost, why, broker}
}

// verdict is the last line on stderr; damage decides the exit code.
func (e *Env) verdict(r *inspect.CheckReport) error {
	switch {
	case len(r.Err) > 0 && r.Damaged():
		return &verdictError{"damaged, and not everything could be read"}
	case len(r.Err) > 0:
		return nil // what was not read is not judged
	case r.Damaged():
		return &verdictError{r.Verdict()}
	}
	e.Tell("%s", r.Verdict())
	return nil
}

// verdictError is damage that the rows have told already: only the verdict is left to say.
type verdictError struct{ verdict string }

func (v *verdictError) Error() string { return v.verdict }

// checkScope is what TARGETs name, and the log directories in which that stands.
type checkScope struct {
	inspect.CheckScope
	logDirs []viewedLogDir
}

// viewedLogDir is a log directory with the data directory through which it was found.
type viewedLogDir struct {
	store.LogDir
	dir *store.Dir
}

// checkScope finds what TARGETs name: log directories in full, or only partitions.
func (e *Env) checkScope(targets []string) (s checkScope, err error) {
	v, err := e.look(targets)
	if err != nil {
		return s, err
	}
	if len(targets) == 0 {
		return s, e.addWhole(&s, v, "", e.namedDataDir())
	}
	for _, t := range targets {
		if err := e.addTarget(&s, v, t); err != nil {
			return s, err
		}
	}
	return s, nil
}

// addTarget adds a log directory that is named by its path, or the partitions of a TARGET.
func (e *Env) addTarget(s *checkScope, v *cluster.View, target string) error {
	if info, err := e.FS.Stat(target); err == nil && info.IsDir() {
		sub, err := cluster.OpenView(e.FS, target)
		if err == nil && sub.Kind != store.KindPartition {
			return e.addWhole(s, sub, target, target)
		}
	}
	refs, err := v.Resolve([]string{target}, true)
	s.Partitions = append(s.Partitions, refs...)
	return errors.Join(err, s.addLogDirs(v, "", e.namedDataDir(), false))
}

// addWhole adds a data directory with all that stands in it: of a cluster also the log
// directories beside the brokers.
func (e *Env) addWhole(s *checkScope, v *cluster.View, name, dataDir string) error {
	err := errors.Join(s.addPartitions(v, name), s.addLogDirs(v, name, dataDir, true), e.addGroups(s, v))
	if v.Kind != store.KindCluster {
		return err
	}
	for _, folder := range []string{cluster.CoordinatorDir, cluster.DLQDir} {
		err = errors.Join(err, e.addBeside(s, v, filepath.Join(name, folder), folder))
	}
	return err
}

// addGroups adds where the logs are of which groups of ours have committed offsets: a cluster's
// in the coordinator's log directory, MiniKafka's in a file.
func (e *Env) addGroups(s *checkScope, v *cluster.View) error {
	dir := v.Path
	switch v.Kind {
	case store.KindCluster:
		dir = filepath.Join(dir, cluster.CoordinatorDir)
	case store.KindMiniKafka:
		groups, err := e.miniKafkaGroups(dir)
		if err != nil {
			return err
		}
		s.Groups = map[string][]*group.Group{dir: groups.Groups()}
	default:
		return nil
	}
	leaders := map[store.TopicPartition]string{}
	for _, t := range v.Meta.Topics {
		for p := range t.Partitions {
			tp := store.TopicPartition{Topic: t.Name, Partition: int32(p)}
			if ref, err := v.Leading(tp); err == nil {
				leaders[tp] = filepath.Dir(ref.Dir)
			}
		}
	}
	s.Leaders = map[string]map[store.TopicPartition]string{dir: leaders}
	return nil
}

// addBeside adds a log directory beside the brokers of a cluster, unless it is not there yet.
// A broker would not start there, so there is nothing to forecast.
func (e *Env) addBeside(s *checkScope, v *cluster.View, name, folder string) error {
	path := filepath.Join(v.Path, folder)
	beside, err := cluster.OpenView(e.FS, path)
	if refused, ok := errors.AsType[*store.Error](err); ok && refused.Class == store.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	first := len(s.Partitions)
	err = s.addPartitions(beside, name)
	for i := range s.Partitions[first:] {
		s.Partitions[first+i].Broker = besideBrokers
	}
	s.DataDirs[beside.Path] = path
	s.LogDirs = append(s.LogDirs, inspect.CheckDir{Path: beside.Path, Name: filepath.ToSlash(name), Whole: true})
	return err
}

// besideBrokers is the broker of logs that belong to none: a queue of dead letters has the
// name of its partition.
const besideBrokers = store.NoBroker - 1

// addPartitions adds all partitions of a data directory that is shown as name.
func (s *checkScope) addPartitions(v *cluster.View, name string) error {
	refs, err := v.AllPartitions()
	for i := range refs {
		refs[i].Rel = filepath.ToSlash(filepath.Join(name, refs[i].Rel))
	}
	s.Partitions = append(s.Partitions, refs...)
	return err
}

// addLogDirs adds the log directories of a data directory that is shown as name, and which a
// command to type next names as dataDir. They are checked themselves only if they are meant
// as a whole.
func (s *checkScope) addLogDirs(v *cluster.View, name, dataDir string, whole bool) error {
	if s.DataDirs == nil {
		s.DataDirs = map[string]string{}
	}
	dirs, err := v.LogDirs()
	for _, d := range dirs {
		s.DataDirs[d.Path] = dataDir
		known := slices.ContainsFunc(s.logDirs, func(l viewedLogDir) bool { return l.Path == d.Path })
		if !known {
			s.logDirs = append(s.logDirs, viewedLogDir{d, v.Dir})
		}
		if whole {
			shown := filepath.ToSlash(filepath.Join(name, v.Rel(d.Path)))
			s.LogDirs = append(s.LogDirs, inspect.CheckDir{Path: d.Path, Name: shown, Whole: true})
		}
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
