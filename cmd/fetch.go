package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/corrupt"
)

// fetchOptions are the flags of "logdir fetch".
type fetchOptions struct {
	target      string
	partitions  string
	offset      flagval.OffsetSpec
	maxMessages int64

	format       string
	keyDelimiter string
	delimiter    string
	null         string
	meta         bool
	console      render.Console  // of the formatter properties
	formatter    *textProperties // of Kafka's console consumer

	upTo      string // upToHW or upToLEO, "" for the directory's default
	grep      []string
	onDamage  string
	isolation string

	group    string
	member   string
	noCommit bool
	reset    string

	follow    bool
	timeoutMs int64

	given func(flag string) bool
}

// The values of --up-to, --on-damage and --isolation-level.
const (
	upToHW          = "hw"
	upToLEO         = "leo"
	damageStop      = "stop"
	damageSkip      = "skip"
	readUncommitted = "read_uncommitted"
	readCommitted   = "read_committed"
)

func newFetchCmd(env *Env) *cobra.Command {
	o := &fetchOptions{}
	c := &cobra.Command{
		Use:     "fetch TOPIC[:PARTS][@BROKER]",
		Aliases: []string{"consume"},
		Short:   "print the records of a topic",
		Long: `Print records, one value a line: partitions in number order, offsets in order within
each. It stops at the high watermark and ends; see --up-to and --follow. Nothing is
committed, nothing is written, no lock is taken; but with --group it joins that group, reads
what it is assigned from the committed offsets on, commits, and leaves.`,
		Example: `  logdir fetch orders
  logdir fetch orders:1 -o -10 -f '%o %d{iso} %k=%v\n'
  logdir fetch orders -g billing
  logdir fetch orders -o @2026-01-01:@2026-01-02 -J --grep 'k:^alice$'`,
		Args:        o.checkArgs,
		Annotations: about("0 1 2 3 4 5 6 9 130", "logdir-fetch(1)", "logdir help offsets", "logdir help format"),
	}
	o.addFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), env, args) }
	return c
}

func (o *fetchOptions) checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 && o.target == "":
		return errors.New("which topic?")
	case len(args) > 1 || len(args) == 1 && o.target != "":
		return errors.New("one topic at a time")
	}
	return nil
}

func (o *fetchOptions) addFlags(c *cobra.Command) {
	fs := c.Flags()
	o.offset, o.onDamage, o.isolation = flagval.WholeLog(), damageStop, readUncommitted
	fs.StringVarP(&o.partitions, "partition", "p", "", "the `partitions`, as in TOPIC:N,N (default all)")
	fs.VarP(&o.offset, "offset", "o", "where to begin, or a `range`: start end N -N +N N:M @TIME @TIME:TIME")
	fs.Int64VarP(&o.maxMessages, "max-messages", "c", 0, "stop after so many records: a `number`, 0 for all")
	flagGroup(c, "which records", "partition", "offset", "max-messages")

	o.addOutputFlags(c)
	fs.Var(flagval.Enum(&o.upTo, upToHW, upToLEO), "up-to", "`end`: hw (high watermark; default in a cluster) or leo (log end; default elsewhere)")
	fs.StringArrayVar(&o.grep, "grep", nil, "only records that match: a `filter` k:RE, v:RE or h:NAME=RE; ! before it negates")
	fs.Var(flagval.Enum(&o.onDamage, damageStop, damageSkip), "on-damage", "`what` to do at damage: stop there, or skip to the next good batch")
	fs.Var(flagval.Enum(&o.isolation, readUncommitted, readCommitted), "isolation-level", "`level`: read_uncommitted or read_committed")
	flagGroup(c, "filters", "up-to", "grep", "on-damage", "isolation-level")

	o.addGroupFlags(c)
	fs.BoolVarP(&o.follow, "follow", "F", false, "keep looking for new records")
	fs.Int64Var(&o.timeoutMs, "timeout-ms", 0, "keep looking, but give up after so many `ms` without a record; 0 never")
	flagGroup(c, "following", "follow", "timeout-ms")
	o.addKafkaSpellings(c)
}

// addOutputFlags are the flags of every command that prints records.
func (o *fetchOptions) addOutputFlags(c *cobra.Command) {
	fs := c.Flags()
	o.given, o.delimiter = fs.Changed, "\n"
	fs.StringVarP(&o.format, "format", "f", "", `a record `+"`format`"+` (default '%v\n')`)
	fs.VarP(flagval.NewEscaped(&o.keyDelimiter), "key-delimiter", "K", "print the key and this `text` before the value")
	fs.VarP(flagval.NewEscaped(&o.delimiter), "delimiter", "D", "the `text` behind each record")
	fs.StringVar(&o.null, "null", "", "the `text` for a null key or value")
	fs.BoolVar(&o.meta, "meta", false, "with --json: also leader epoch, producer, sequence and broker")
	o.console = render.NewConsole()
	o.formatter = newTextProperties("formatter", o.defineFormatter)
	fs.Var(o.formatter, "property", "print as Kafka's console consumer with this formatter property")
	fs.Lookup("property").Hidden = true
	flagGroup(c, "output", "format", "key-delimiter", "delimiter", "null", "meta")
}

// defineFormatter defines the properties of the formatter of Kafka's console consumer.
func (o *fetchOptions) defineFormatter(fs *pflag.FlagSet) {
	f := &o.console
	fs.BoolVar(&f.Timestamp, "print.timestamp", f.Timestamp, "")
	fs.BoolVar(&f.Partition, "print.partition", f.Partition, "")
	fs.BoolVar(&f.Offset, "print.offset", f.Offset, "")
	fs.BoolVar(&f.Epoch, "print.epoch", f.Epoch, "")
	fs.BoolVar(&f.Headers, "print.headers", f.Headers, "")
	fs.BoolVar(&f.Key, "print.key", f.Key, "")
	fs.BoolVar(&f.Value, "print.value", f.Value, "")
	fs.Var(flagval.NewEscaped(&f.KeySeparator), "key.separator", "")
	fs.Var(flagval.NewEscaped(&f.LineSeparator), "line.separator", "")
	fs.Var(flagval.NewEscaped(&f.HeadersSeparator), "headers.separator", "")
	fs.StringVar(&f.NullLiteral, "null.literal", f.NullLiteral, "")
	for _, of := range []string{"key", "value", "headers"} {
		fs.Var(plainBytes{}, of+".deserializer", "")
	}
}

// addKafkaSpellings accepts what other consumers need to be told and this one does anyway.
func (o *fetchOptions) addKafkaSpellings(c *cobra.Command) {
	fs := c.Flags()
	fs.VarP(flagval.NewOnce(&o.target), "topic", "t", "as the argument TOPIC")
	fs.Var(&properties{kind: "consumer", known: consumerPropertyFlags, flags: fs}, "consumer-property", "a flag by Kafka's name")
	fs.Var(plainBytes{}, "key-deserializer", "that of bytes")
	fs.Var(plainBytes{}, "value-deserializer", "that of bytes")
	for _, name := range []string{"topic", "consumer-property", "key-deserializer", "value-deserializer"} {
		fs.Lookup(name).Hidden = true
	}
}

func (o *fetchOptions) run(ctx context.Context, env *Env, args []string) error {
	if len(args) == 1 {
		o.target = args[0]
	}
	if err := o.validate(env); err != nil {
		return err
	}
	filters, err := parseFilters(o.grep)
	if err != nil {
		return err
	}
	if o.group != "" {
		return o.runGroup(ctx, env, filters)
	}
	view, err := cluster.OpenView(env.FS, env.Global.DataDir)
	if err != nil {
		return err
	}
	refs, leaderless, err := o.resolve(view)
	if err != nil {
		return err
	}
	printer, err := o.printer(env)
	if err != nil {
		return err
	}
	f := &fetchRun{
		o: o, env: env, view: view, printer: printer, filters: filters,
		fetcher: client.NewFetcher(),
	}
	return errors.Join(f.run(ctx, refs), leaderless)
}

func (o *fetchOptions) validate(env *Env) error {
	switch {
	case o.partitions != "" && strings.Contains(o.target, ":"):
		return usagef("%s names partitions already: no --partition", o.target)
	case o.group == "" && (o.offset.From.Kind == flagval.Stored || o.offset.HasTo && o.offset.To.Kind == flagval.Stored):
		return usagef("--offset stored is the committed offset of a group: name it with --group")
	case o.maxMessages < 0 || o.timeoutMs < 0:
		return usagef("numbers of records and times are not negative")
	}
	o.follow = o.follow || o.timeoutMs > 0 // as in Kafka's console consumer
	if err := o.validateGroup(); err != nil {
		return err
	}
	return o.validateOutput(env)
}

func (o *fetchOptions) validateOutput(env *Env) error {
	switch {
	case o.format != "" && (o.given("key-delimiter") || o.given("delimiter")):
		return usagef("--format says everything: no --key-delimiter and no --delimiter")
	case o.formatter.given && (o.format != "" || o.given("key-delimiter") || o.given("delimiter") || o.null != ""):
		return usagef("--property says how a record is printed: no --format, --key-delimiter, --delimiter and --null")
	case o.meta && !env.JSON():
		return usagef("--meta adds to --json")
	}
	return nil
}

// resolve finds the replicas to read. In a cluster the metadata decides whether a topic
// is there, not its folders.
func (o *fetchOptions) resolve(view *cluster.View) (refs []store.PartitionRef, leaderless, err error) {
	target := o.target
	if o.partitions != "" {
		topic, broker, hasBroker := strings.Cut(target, "@")
		if target = topic + ":" + o.partitions; hasBroker {
			target += "@" + broker
		}
	}
	if view.Meta != nil && !store.LooksLikePath(target) {
		t, err := store.ParseTarget(target)
		if err != nil {
			return nil, nil, err
		}
		if _, err := view.Meta.Topic(t.Topic); err != nil {
			return nil, nil, err
		}
	}
	return resolve(view, []string{target}, false)
}

// tailKinds are the kinds of damage behind which nothing comes.
var tailKinds = []corrupt.Kind{corrupt.Torn, corrupt.Zeros, corrupt.Garbage}

// damageError is damage as the command's error: with the path as it is shown, and the
// way on.
func (f *fetchRun) damageError(ref store.PartitionRef, d *corrupt.Error) error {
	shown := *d
	shown.Path = f.view.Rel(d.Path)
	name := d.Kind.KafkaName()
	e := store.Errorf(store.Damage, name, "%s", strings.TrimSuffix(shown.Error(), " ("+name+")"))
	switch {
	case f.o.onDamage == damageSkip && d.NextOffset != corrupt.Unknown:
		e.Msg += fmt.Sprintf(": skipped to offset %d", d.NextOffset)
	case f.o.onDamage == damageStop && !slices.Contains(tailKinds, d.Kind):
		return e.WithHint("see what is behind it with --on-damage skip, or: logdir recover --dry-run -d %s %s", f.view.Path, ref.TopicPartition)
	}
	return e.WithHint("logdir recover --dry-run -d %s %s", f.view.Path, ref.TopicPartition)
}
