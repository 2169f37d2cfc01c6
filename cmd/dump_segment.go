package cmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/inspect"
	"logdir/store"
	"logdir/store/corrupt"
)

// dumpOptions are the flags of "logdir dump-segment".
type dumpOptions struct {
	files                    []string
	deep, printData          bool
	skipMetadata, hex        bool
	verifyOnly, sanityOnly   bool
	maxBytes, maxMessageSize int
	offset                   flagval.OffsetSpec
	keyDecoder, valueDecoder string
	decoders                 dumpDecoders

	// What validate made of them.
	from, to             int64
	keyClass, valueClass inspect.DecoderClass
}

func newDumpSegmentCmd(env *Env) *cobra.Command {
	o := &dumpOptions{}
	c := &cobra.Command{
		Use:   "dump-segment FILE...|TARGET...",
		Short: "print the content of log, index and state files",
		Long: `Print segment files line for line as Kafka's own dump tool does: .log, .index,
.timeindex, .txnindex, .snapshot, KRaft's .checkpoint, and beyond that tool the
*-checkpoint files and other state. A TARGET stands for the logs of its leader.

Damage does not stop the dump: what is good behind it follows, and the exit code is 4.`,
		Example: `  logdir dump-segment orders:0 --print-data-log
  logdir dump-segment broker-1/orders-0/00000000000000000000.index
  logdir dump-segment orders:0 --offset 4:6 --deep-iteration --json
  logdir dump-segment orders:0 --offset 4 --hex`,
		Annotations: about("0 1 2 3 4 5 141", "logdir-segment(5)", "logdir-verify-crc(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.validate(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), env, append(args, o.files...))
		},
	}
	o.addFlags(c)
	return c
}

func (o *dumpOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.files, "files", nil, "`files`, in Kafka's spelling: A,B")
	f.BoolVar(&o.deep, "deep-iteration", false, "print the records too")
	f.BoolVar(&o.printData, "print-data-log", false, "print the records with keys and values")
	f.BoolVar(&o.skipMetadata, "skip-record-metadata", false, "print only keys and values of records")
	f.BoolVar(&o.hex, "hex", false, "print each frame as hex with its fields named")
	f.Var(&o.offset, "offset", "only batches that touch these `offsets`: N, N:M, N: or :M")
	f.IntVar(&o.maxBytes, "max-bytes", math.MaxInt32, "read only the first `bytes` of a log")
	f.IntVar(&o.maxMessageSize, "max-message-size", inspect.DefaultMaxMessageSize, "the largest batch, in `bytes`, looked at behind an index entry")
	f.BoolVar(&o.verifyOnly, "verify-index-only", false, "check index entries without printing them")
	f.BoolVar(&o.sanityOnly, "index-sanity-check", false, "make only the checks of a broker's start")
	f.StringVar(&o.keyDecoder, "key-decoder-class", "", "decoder `class` of keys: String, Integer, Long or Default")
	f.StringVar(&o.valueDecoder, "value-decoder-class", "", "decoder `class` of values")
	flagGroup(c, "records", "deep-iteration", "print-data-log", "skip-record-metadata", "hex")
	flagGroup(c, "decoder classes", "key-decoder-class", "value-decoder-class")
	flagGroup(c, "indexes", "verify-index-only", "index-sanity-check", "max-message-size")
	o.decoders.addFlags(c)
}

func (o *dumpOptions) validate(c *cobra.Command, args []string) (err error) {
	if len(args)+len(o.files) == 0 {
		return &usageError{cmd: c, msg: "logdir dump-segment needs a file or a target"}
	}
	if o.maxBytes < 1 || o.maxMessageSize < 1 {
		return usagef("--max-bytes and --max-message-size must be at least 1")
	}
	if o.from, o.to, err = dumpRange(o.offset); err != nil {
		return err
	}
	if o.keyClass, err = decoderClass("key", o.keyDecoder); err != nil {
		return err
	}
	o.valueClass, err = decoderClass("value", o.valueDecoder)
	return err
}

// dumpRange is --offset as a half-open range; both ends are 0 without it.
func dumpRange(o flagval.OffsetSpec) (from, to int64, err error) {
	if o == (flagval.OffsetSpec{}) {
		return 0, 0, nil
	}
	isStart := o.From.Kind == flagval.Start && o.From.N == 0
	if o.From.Kind != flagval.Exact && !isStart || o.HasTo && o.To.Kind != flagval.Exact {
		return 0, 0, usagef("--offset %q: want N, N:M, N: or :M", o.String())
	}
	from, to = o.From.N, math.MaxInt64
	switch {
	case o.HasTo:
		to = o.To.N
	case !isStart && !strings.HasSuffix(o.String(), ":"):
		to = from + 1
	}
	return from, to, nil
}

func decoderClass(of, name string) (inspect.DecoderClass, error) {
	class, ok := inspect.ParseDecoderClass(name)
	if !ok {
		return class, usagef("--%s-decoder-class %q: only Kafka's String, Integer, Long and Default are known", of, name)
	}
	return class, nil
}

func (o *dumpOptions) run(ctx context.Context, env *Env, targets []string) error {
	files, leaderless, err := env.dumpFiles(targets)
	if err != nil {
		return err
	}
	render.EnlargePipe(env.Out)
	d := inspect.Dumper{FS: env.FS, Out: env.Out, Printer: o.printer(env), Options: o.reading()}
	var failed []error
	for _, f := range files {
		if err := d.File(ctx, f.path, f.name); err != nil {
			if isClosedPipe(err) || ctx.Err() != nil {
				return err
			}
			failed = append(failed, readError(f.name, err))
		}
	}
	if report := render.AppendDumpReport(nil, &d.Report); len(report) > 0 {
		env.Err.Write(report)
	}
	return errors.Join(append(failed, damageError(d.Report.Damage), leaderless)...)
}

func (o *dumpOptions) reading() inspect.DumpOptions {
	r := inspect.DumpOptions{
		Deep: o.records(),
		From: o.from, To: o.to,
		MaxMessageSize: o.maxMessageSize, VerifyIndexOnly: o.verifyOnly, SanityOnly: o.sanityOnly,
	}
	if o.maxBytes != math.MaxInt32 {
		r.MaxBytes = int64(o.maxBytes)
	}
	return r
}

// records says whether records are read: every option about them means that they are.
func (o *dumpOptions) records() bool {
	return o.deep || o.printData || o.skipMetadata || o.decoders.any() || o.hasClass()
}

func (o *dumpOptions) hasClass() bool { return o.keyDecoder != "" || o.valueDecoder != "" }

func (o *dumpOptions) printer(env *Env) inspect.Printer {
	switch {
	case env.JSON():
		return &render.DumpJSON{Records: o.records(), NewDecoder: o.decoder(true)}
	case o.hex:
		return &render.DumpHex{}
	}
	return &render.DumpText{
		Records: o.records(), PrintData: o.printData || o.hasClass(),
		SkipMetadata: o.skipMetadata, NewDecoder: o.decoder(false),
	}
}

// decoder chooses how keys and values are decoded; nil is as text.
func (o *dumpOptions) decoder(json bool) func(*inspect.DumpFile) inspect.Decoder {
	switch {
	case o.decoders.any():
		return o.decoders.choose
	case o.hasClass():
		return func(*inspect.DumpFile) inspect.Decoder { return inspect.NewClassDecoder(o.keyClass, o.valueClass) }
	case json:
		return o.decoders.choose
	}
	return nil
}

// dumpFile is a file to dump and what the dump calls it.
type dumpFile struct{ path, name string }

// dumpFiles finds the files that TARGETs name: each file itself, the logs of the leader
// of each partition.
func (e *Env) dumpFiles(targets []string) (files []dumpFile, leaderless, err error) {
	v, err := e.look(targets)
	if err != nil {
		return nil, nil, err
	}
	refs, leaderless, err := resolve(v, targets, false)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range refs {
		if r.File != "" {
			files = append(files, dumpFile{filepath.Join(r.Dir, r.File), r.Show(r.File)})
			continue
		}
		logs, err := e.logsOf([]store.PartitionRef{r})
		if err != nil {
			return nil, nil, err
		}
		for _, l := range logs {
			files = append(files, dumpFile{l.Path, l.Name})
		}
	}
	return files, leaderless, nil
}

// damageError sums up what is damaged; nil if nothing is.
func damageError(damage []*corrupt.Error) error {
	if len(damage) == 0 {
		return nil
	}
	first := damage[0]
	what := withoutName(first)
	if len(damage) > 1 {
		what = fmt.Sprintf("%d damaged places, the first: %s", len(damage), what)
	}
	return store.Errorf(store.Damage, first.Kind.KafkaName(), "%s", what).
		WithHint("%s", nextCommand(first))
}

// nextCommand is what to type about a damaged file.
func nextCommand(d *corrupt.Error) string {
	switch d.Kind {
	case corrupt.BadIndex, corrupt.BadTxnIndex:
		return "logdir reindex --dry-run " + filepath.Dir(d.Path)
	case corrupt.BadSnapshot, corrupt.BadCheckpoint, corrupt.BadMetadata:
		return "logdir check " + filepath.Dir(d.Path)
	}
	return "logdir verify-crc -v " + d.Path
}
