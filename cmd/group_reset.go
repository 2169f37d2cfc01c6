package cmd

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"logdir/cmd/internal/flagval"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupResetOptions are the flags of "logdir group reset-offsets".
type groupResetOptions struct {
	oneMember
	targets []string
	to      flagval.OffsetSpec
	places  int // how often the place was said
	dryRun  bool
}

func newGroupResetCmd(env *Env) *cobra.Command {
	o := &groupResetOptions{}
	c := &cobra.Command{
		Use:   "reset-offsets GROUP",
		Short: "set the committed offsets of a group without members",
		Long: `Set the committed offsets of partitions, all to the same place: for reading again, or for
passing over. With a sign the place counts from the committed offset. Only a group without
members can be reset; one that is not there yet is made. It asks, unless --yes is given.`,
		Example: `  logdir group reset-offsets billing -t orders --to start --yes
  logdir group reset-offsets billing -t orders:0 --to -10 --dry-run
  logdir group reset-offsets billing -t orders --to-datetime 2026-01-01T00:00:00Z`,
		Annotations: about("0 1 2 3 4 5 9 99", "logdir-group(1)", "logdir help offsets"),
		Args:        func(_ *cobra.Command, args []string) error { return o.takeGroup(args) },
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return env.onCoordinator(c.Context(), func(cl *cluster.Cluster, co *group.Coordinator) error {
				return o.reset(c.Context(), env, cl, co)
			})
		},
	}
	o.groupFlag(c)
	o.addFlags(c.Flags())
	flagGroup(c, "where to, in Kafka's spelling", "to-earliest", "to-latest", "to-offset", "shift-by", "to-datetime")
	return c
}

func (o *groupResetOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&o.targets, "topic", "t", nil, "what to reset: a `target` TOPIC[:PARTS] (repeatable)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "show what would be set, but write nothing")
	fs.Var(o.place(func(s string) string { return s }), "to", "where to, an `offset`: start end N @TIME stored, or -N +N from the committed one")
	fs.Var(o.place(func(s string) string { return s }), "to-offset", "as --to `number`")
	fs.Var(o.place(signed), "shift-by", "as --to -N or +N: a `number`")
	fs.Var(o.place(func(s string) string { return "@" + s }), "to-datetime", "as --to @`time`")
	for name, at := range map[string]string{"to-earliest": "start", "to-latest": "end", "to-current": "stored"} {
		fs.Var(o.place(func(string) string { return at }), name, "as --to "+at)
		fs.Lookup(name).NoOptDefVal = at
	}
	fs.Lookup("to-current").Hidden = true
}

// signed puts a plus before a number that has no sign.
func signed(s string) string {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		return "+" + strconv.FormatUint(n, 10)
	}
	return s
}

// place is a flag that says where to reset to, after spelling it our way.
func (o *groupResetOptions) place(spell func(string) string) pflag.Value {
	return &resetPlace{o, spell}
}

type resetPlace struct {
	o     *groupResetOptions
	spell func(string) string
}

func (p *resetPlace) String() string { return "" }
func (p *resetPlace) Type() string   { return "offset" }
func (p *resetPlace) Set(s string) error {
	p.o.places++
	return p.o.to.Set(p.spell(s))
}

func (o *groupResetOptions) validate() error {
	switch {
	case len(o.targets) == 0:
		return usagef("which topic? name it with --topic")
	case o.places != 1:
		return usagef("say once where to: --to SPEC, or one of Kafka's spellings of it")
	case o.to.HasTo:
		return usagef("--to %s: want one offset, not a range", &o.to)
	}
	return nil
}

func (o *groupResetOptions) reset(ctx context.Context, env *Env, c *cluster.Cluster, co *group.Coordinator) error {
	partitions, err := namedPartitions(c.Meta(), o.targets)
	if err != nil {
		return err
	}
	if err := o.confirm(ctx, env, co, len(partitions)); err != nil {
		return err
	}
	view, err := cluster.OpenView(env.FS, c.Path())
	if err != nil {
		return err
	}
	t := render.Table{Columns: []string{"GROUP", "TOPIC", "PARTITION", "OLD-OFFSET", "NEW-OFFSET"}}
	err = co.ResetOffsets(ctx, o.group, o.dryRun, func(g *group.Group) (positions []group.Position, err error) {
		for _, tp := range partitions {
			to, err := o.target(env, view, g, tp)
			if err != nil {
				return nil, err
			}
			var old any
			if c, err := committedOffset(g, tp); err == nil {
				old = c.Offset
			}
			positions = append(positions, group.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: to, LeaderEpoch: -1})
			t.Rows = append(t.Rows, []any{o.group, tp.Topic, tp.Partition, old, to})
		}
		return positions, nil
	})
	if err != nil {
		return err
	}
	return env.Print(t)
}

// confirm asks, but not about a group that would be refused anyway. No lock is held
// meanwhile.
func (o *groupResetOptions) confirm(ctx context.Context, env *Env, co *group.Coordinator, partitions int) error {
	if o.dryRun {
		return nil
	}
	nothing := func(*group.Group) ([]group.Position, error) { return nil, nil }
	if err := co.ResetOffsets(ctx, o.group, true, nothing); err != nil {
		return err
	}
	return env.Confirm("reset the offsets of group " + o.group + " in " + strconv.Itoa(partitions) + " partition(s)")
}

// target is where one partition is reset to.
func (o *groupResetOptions) target(env *Env, v *cluster.View, g *group.Group, tp store.TopicPartition) (int64, error) {
	if !o.to.From.Relative {
		return env.groupOffset(v, g, tp, o.to)
	}
	c, err := committedOffset(g, tp)
	if err != nil {
		return 0, err
	}
	ref, err := v.Leading(tp)
	if err != nil {
		return 0, err
	}
	to := c.Offset + o.to.From.Shift()
	return to, env.withinRange(v, ref, to)
}
