package cmd

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
)

func newInfoCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "tell what the data directory is",
		Long: `Tell the kind of the data directory and what it holds. clean says whether the last broker
to use it stopped cleanly (.kafka_cleanshutdown is there), running whether one uses it now.`,
		Example: `  logdir info -d /var/lib/kafka/data
  logdir info --json`,
		Args:        cobra.NoArgs,
		Annotations: about("0 1 2 3", "logdir-check(1)", "logdir-data-dir(5)"),
		RunE: func(*cobra.Command, []string) error {
			v, err := cluster.OpenView(env.FS, env.Global.DataDir)
			if err != nil {
				return err
			}
			i := info{view: v}
			if err := i.collect(); err != nil {
				return err
			}
			return env.Print(i.report())
		},
	}
}

// info is what is counted of a data directory.
type info struct {
	view           *cluster.View
	dirs           []store.LogDir
	topics         int
	partitions     int
	bytes          int64
	clean, running bool
}

func (i *info) collect() error {
	var err error
	if i.dirs, err = i.view.LogDirs(); err != nil {
		return err
	}
	if err := i.marks(); err != nil {
		return err
	}
	return i.count()
}

// marks looks at the brokers: clean if all were stopped cleanly, running if any runs.
func (i *info) marks() error {
	i.clean = len(i.dirs) > 0
	for _, d := range i.dirs {
		_, clean, err := checkpoint.ReadCleanShutdown(i.view.FS, d.Path)
		if err != nil {
			return err
		}
		running, err := store.BrokerRuns(i.view.FS, d.Path)
		if err != nil {
			return err
		}
		i.clean, i.running = i.clean && clean, i.running || running
	}
	return nil
}

// count counts topics and partitions once however many replicas there are, bytes as
// they lie on the disk.
func (i *info) count() error {
	refs, err := i.view.AllPartitions()
	if err != nil {
		return err
	}
	topics, partitions := map[string]bool{}, map[store.TopicPartition]bool{}
	for _, ref := range refs {
		if !ref.PutAside() {
			topics[ref.Topic], partitions[ref.TopicPartition] = true, true
		}
		size, err := dirSize(i.view, ref)
		if err != nil {
			return err
		}
		i.bytes += size
	}
	i.topics, i.partitions = len(topics), len(partitions)
	return nil
}

// dirSize is the bytes of the files in a partition directory, or of the one file.
func dirSize(v *cluster.View, ref store.PartitionRef) (int64, error) {
	entries, err := v.FS.ReadDir(ref.Dir)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range entries {
		if e.IsDir() || ref.File != "" && e.Name() != ref.File {
			continue
		}
		stat, err := v.FS.Stat(filepath.Join(ref.Dir, e.Name()))
		if err != nil {
			return 0, err
		}
		total += stat.Size()
	}
	return total, nil
}

func (i *info) report() render.Report {
	brokers := make([]int32, len(i.dirs))
	for n, d := range i.dirs {
		brokers[n] = d.Broker
	}
	fields := render.Fields{
		{Name: "data-dir", Value: i.view.Path},
		{Name: "kind", Value: string(i.view.Kind)},
	}
	switch {
	case i.view.Clustered():
		fields = append(fields, render.Field{Name: "brokers", Value: brokers})
	case len(brokers) == 1:
		fields = append(fields, render.Field{Name: "broker", Value: brokers[0]})
	}
	return append(fields,
		render.Field{Name: "topics", Value: i.topics},
		render.Field{Name: "partitions", Value: i.partitions},
		render.Field{Name: "bytes", Value: i.bytes},
		render.Field{Name: "clean", Value: yesNo(i.clean)},
		render.Field{Name: "running", Value: yesNo(i.running)},
	)
}

// yesNo is a bool that a table shows as a word.
func yesNo(b bool) render.Both {
	if b {
		return render.Both{Text: "yes", JSON: true}
	}
	return render.Both{Text: "no", JSON: false}
}
