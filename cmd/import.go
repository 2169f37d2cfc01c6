package cmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/live"
	"logdir/cmd/internal/render"
	"logdir/store"
)

// importOptions are the flags of "logdir import".
type importOptions struct {
	clusterFlags
	to, from     string
	offset       flagval.OffsetSpec
	maxBytes     int64
	segmentBytes int64
	dryRun       bool

	topics []string // --topic, instead of arguments
	given  func(flag string) bool
}

func newImportCmd(env *Env) *cobra.Command {
	o := &importOptions{offset: flagval.WholeLog()}
	c := &cobra.Command{
		Use:   "import TOPIC[:PARTS]... --bootstrap-server HOST:PORT --to DIR",
		Short: "copy topics of a running cluster into a new log directory",
		Long: `Copy topics of a running cluster into a new log directory: the same offsets, the same
batches byte for byte (compression, producer ids and control records included), timestamps
and leader epochs. Nothing on the cluster changes, and no group is joined.

What is there when the import begins is what it ends with. Run it again to go on: after a
kill, or for what has come since. With --from it reads JSON Lines instead, as export writes
them.`,
		Example: `  logdir import orders --bootstrap-server kafka:9092 --to home
  logdir import orders:0-3 --bootstrap-server kafka:9092 --to home -o @-1h --max-bytes 1GiB
  logdir import --from orders.jsonl --to home`,
		Annotations: about("0 1 2 3 4 5 7 9 130", "logdir-import(1)", "logdir-export(1)", "logdir help offsets"),
	}
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, append(args, o.topics...)) }
	f := c.Flags()
	o.given = f.Changed
	f.StringVar(&o.to, "to", "", "the log `directory`: a new one, or one that an import left")
	f.StringVar(&o.from, "from", "", "read this `file` of JSON Lines instead of a cluster, - for stdin")
	f.VarP(&o.offset, "offset", "o", "which `range` of each partition: start end N -N +N N:M @TIME @TIME:TIME")
	f.Var(flagval.NewBytes(&o.maxBytes), "max-bytes", "stop after so many bytes of batches in all, 0 for no limit")
	flagGroup(c, "what", "to", "from", "offset", "max-bytes")
	f.Var(flagval.NewBytes(&o.segmentBytes), "segment-bytes", "segment.bytes of the new logs (0: 1073741824)")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be imported, and write nothing")
	o.clusterFlags.addTo(c)
	addTopicFlag(c, &o.topics)
	return c
}

func (o *importOptions) run(ctx context.Context, env *Env, args []string) error {
	targets, err := o.validate(args)
	if err != nil {
		return err
	}
	if o.from != "" {
		return o.importFile(ctx, env, targets)
	}
	return o.importCluster(ctx, env, targets)
}

func (o *importOptions) validate(args []string) ([]store.Target, error) {
	switch {
	case o.to == "":
		return nil, usagef("--to DIR is missing")
	case o.from == "" && o.servers == "" && o.clientConfig == "":
		return nil, usagef("from where? say --bootstrap-server HOST:PORT, or --from FILE")
	case o.from != "" && o.servers != "":
		return nil, usagef("--from and --bootstrap-server are two sources")
	case o.from != "" && (o.given("offset") || o.given("max-bytes") || o.dryRun):
		return nil, usagef("--from takes the whole file: no --offset, --max-bytes and --dry-run")
	case o.from == "" && len(args) == 0:
		return nil, usagef("which topics?")
	case o.offset.From.Kind == flagval.Stored || o.offset.HasTo && o.offset.To.Kind == flagval.Stored:
		return nil, usagef("--offset stored is the committed offset of a group, and there is no group")
	}
	var targets []store.Target
	for _, arg := range args {
		t, err := store.ParseTarget(arg)
		if err != nil {
			return nil, err
		}
		if t.Broker != store.NoBroker {
			return nil, usagef("%s: the leader is read, whichever broker that is: no @BROKER", arg)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// importColumns are those of the report.
var importColumns = []string{"TOPIC", "PARTITION", "LOG-START", "LOG-END", "BATCHES", "BYTES", "STATUS"}

// importFile fills the directory from JSON Lines.
func (o *importOptions) importFile(ctx context.Context, env *Env, targets []store.Target) (err error) {
	in, err := env.openLines(o.from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	dir, err := live.OpenDir(ctx, env.FS, filepath.Clean(o.to), o.dirOptions(env, live.FromFile))
	if err != nil {
		return err
	}
	rows := env.Stream(importColumns)
	lines := live.Lines{Dir: dir, Wants: wants(targets), Done: func(i live.Imported) error { return importedRow(rows.Row, i, i.LogEnd) }}
	err = lines.Run(ctx, in)
	return errors.Join(err, dir.Close(), rows.Close())
}

func (o *importOptions) dirOptions(env *Env, source string) live.DirOptions {
	return live.DirOptions{
		Source: source, SegmentBytes: o.segmentBytes, LockTimeout: env.Global.LockTimeout, Now: env.Now,
	}
}

// wants says which partitions the targets name; nil means all.
func wants(targets []store.Target) func(store.TopicPartition) bool {
	if len(targets) == 0 {
		return nil
	}
	return func(tp store.TopicPartition) bool {
		for _, t := range targets {
			if t.Topic == tp.Topic && t.Has(tp.Partition) {
				return true
			}
		}
		return false
	}
}

// importedRow prints what became of a partition of which everything below to was wanted.
func importedRow(row func(...any) error, i live.Imported, to int64) error {
	status := "done"
	switch {
	case i.Err != nil:
		status = "unfinished"
	case i.LogEnd < to:
		status = "limited"
	}
	return row(i.Topic, i.Partition, render.Known(i.LogStart), render.Known(i.LogEnd), i.Batches, i.Bytes, status)
}

// openLines opens a file to read from front to back, or stdin for "-".
func (e *Env) openLines(name string) (io.ReadCloser, error) {
	part := e.stdinPart()
	if name != "-" {
		part = e.filePart(name, false)
	}
	in, err := part.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.Errorf(store.NotFound, "", "%s is not there", name)
	}
	return in, err
}

// clusterFlags say which cluster is meant, and how it is reached.
type clusterFlags struct {
	servers      string
	clientConfig string
}

func (f *clusterFlags) addTo(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.servers, "bootstrap-server", "", "the cluster: `host:port`, more than one with commas")
	fs.StringVar(&f.clientConfig, "client-config", "", "a `file` of Kafka client properties: security.protocol, sasl.*, ssl.*")
	flagGroup(c, "cluster", "bootstrap-server", "client-config")
}

// addTopicFlag accepts --topic instead of the argument, as Kafka's tools have it.
func addTopicFlag(c *cobra.Command, topics *[]string) {
	c.Flags().StringArrayVarP(topics, "topic", "t", nil, "as the argument TOPIC")
	c.Flags().Lookup("topic").Hidden = true
}

// seeds are the addresses of --bootstrap-server.
func (f *clusterFlags) seeds() []string {
	if f.servers == "" {
		return nil
	}
	return strings.Split(f.servers, ",")
}
