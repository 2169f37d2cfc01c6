package cmd

import (
	"context"
	"errors"
	"slices"
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
	targets   []string
	allTopics bool // those in which the group has committed
	allGroups bool
	to        flagval.OffsetSpec
	places    int // how often the place was said
	dryRun    bool
}

func newGroupResetCmd(env *Env) *cobra.Command {
	o := &groupResetOptions{}
	c := &cobra.Command{
		Use:   "reset-offsets GROUP",
		Short: "set the committed offsets of a group without members",
		Long: `Set the committed offsets of partitions, all to the same place: for reading again, or for
passing over. With a sign the place counts from the committed offset. Only a group without
members can be reset; one that is not there yet is made. It asks, unless --yes is given.
In MiniKafka's directory this is the one change to groups, since a repair may call for it.`,
		Example: `  logdir group reset-offsets billing -t orders --to start --yes
  logdir group reset-offsets billing -t orders:0 --to -10 --dry-run
  logdir group reset-offsets billing -t orders --to-datetime 2026-01-01T00:00:00Z`,
		Annotations: about("0 1 2 3 4 5 9 99", "logdir-group(1)", "logdir help offsets"),
		Args:        func(_ *cobra.Command, args []string) error { return o.takeGroups(args) },
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			if v, err := cluster.OpenView(env.FS, env.Global.DataDir); err == nil && v.Kind == store.KindMiniKafka {
				return o.resetMiniKafka(env, v)
			}
			return env.onCoordinator(c.Context(), func(cl *cluster.Cluster, co *group.Coordinator) error {
				return o.reset(c.Context(), env, cl, co)
			})
		},
	}
	o.groupFlag(c)
	o.addFlags(c.Flags())
	flagGroup(c, "where to, in Kafka's spelling", "to-earliest", "to-latest", "to-offset", "shift-by", "to-datetime", "by-duration")
	return c
}

func (o *groupResetOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&o.targets, "topic", "t", nil, "what to reset: a `target` TOPIC[:PARTS] (repeatable)")
	fs.BoolVar(&o.allTopics, "all-topics", false, "all partitions in which the group has committed")
	fs.BoolVar(&o.allGroups, "all-groups", false, "all groups, instead of one")
	fs.BoolVar(&o.dryRun, "dry-run", false, "show what would be set, but write nothing")
	fs.Var(o.place(asIs), "to", "where to, an `offset`: start end N @TIME stored, or -N +N from the committed one")
	o.addKafkaPlaces(fs)
}

// addKafkaPlaces are the flags of kafka-consumer-groups that say where to.
func (o *groupResetOptions) addKafkaPlaces(fs *pflag.FlagSet) {
	for _, fixed := range []struct{ name, at string }{{"to-earliest", "start"}, {"to-latest", "end"}, {"to-current", "stored"}} {
		fs.Var(o.place(func(string) (string, error) { return fixed.at, nil }), fixed.name, "as --to "+fixed.at)
		fs.Lookup(fixed.name).NoOptDefVal = fixed.at
	}
	fs.Lookup("to-current").Hidden = true
	fs.Var(o.place(asIs), "to-offset", "as --to `number`")
	fs.Var(o.place(signed), "shift-by", "as --to -N or +N: a `number`")
	fs.Var(o.place(func(s string) (string, error) { return "@" + s, nil }), "to-datetime", "as --to @`time`")
	fs.Var(o.place(ago), "by-duration", "so long before now: a `duration` such as PT1H30M")
}

func asIs(s string) (string, error) { return s, nil }

// signed puts a plus before a number that has no sign.
func signed(s string) (string, error) {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		return "+" + strconv.FormatUint(n, 10), nil
	}
	return s, nil
}

// ago is the moment that lies an ISO 8601 duration before now, the end if that is none.
func ago(s string) (string, error) {
	d, err := flagval.ParseISODuration(s)
	if err != nil || d == 0 {
		return "end", err
	}
	return "@-" + d.String(), nil
}

// place is a flag that says where to reset to, after spelling it our way.
func (o *groupResetOptions) place(spell func(string) (string, error)) pflag.Value {
	return &resetPlace{o, spell}
}

type resetPlace struct {
	o     *groupResetOptions
	spell func(string) (string, error)
}

func (p *resetPlace) String() string { return "" }
func (p *resetPlace) Type() string   { return "offset" }
func (p *resetPlace) Set(s string) error {
	p.o.places++
	s, err := p.spell(s)
	if err != nil {
		return err
	}
	return p.o.to.Set(s)
}

// takeGroups wants one group, or --all-groups.
func (o *groupResetOptions) takeGroups(args []string) error {
	switch {
	case !o.allGroups:
		return o.takeGroup(args)
	case len(args) > 0 || o.group != "":
		return errors.New("one group, or --all-groups")
	}
	return nil
}

func (o *groupResetOptions) validate() error {
	switch {
	case len(o.targets) == 0 && !o.allTopics:
		return usagef("which topic? name it with --topic, or say --all-topics")
	case len(o.targets) > 0 && o.allTopics:
		return usagef("--topic names some, --all-topics means all: give one of them")
	case o.places != 1:
		return usagef("say once where to: --to SPEC, or one of Kafka's spellings of it")
	case o.to.HasTo:
		return usagef("--to %s: want one offset, not a range", &o.to)
	}
	return nil
}

var resetColumns = []string{"GROUP", "TOPIC", "PARTITION", "OLD-OFFSET", "NEW-OFFSET"}

func (o *groupResetOptions) reset(ctx context.Context, env *Env, c *cluster.Cluster, co *group.Coordinator) error {
	partitions, err := namedPartitions(c.Meta(), o.targets)
	if err != nil {
		return err
	}
	groups, err := o.groups(co)
	if err != nil {
		return err
	}
	if err := o.confirm(ctx, env, co, groups, len(partitions)); err != nil {
		return err
	}
	view, err := cluster.OpenView(env.FS, c.Path())
	if err != nil {
		return err
	}
	t := render.Table{Columns: resetColumns}
	var errs []error
	for _, name := range groups {
		rows, err := o.resetOne(ctx, env, view, co, name, partitions)
		t.Rows, errs = append(t.Rows, rows...), append(errs, err)
	}
	return errors.Join(append(errs, env.Print(t))...)
}

// groups are those to reset, by name.
func (o *groupResetOptions) groups(co *group.Coordinator) (names []string, err error) {
	if !o.allGroups {
		return []string{o.group}, nil
	}
	all, err := co.Groups()
	return idsOf(all), err
}

// resetOne resets one group and returns its rows.
func (o *groupResetOptions) resetOne(ctx context.Context, env *Env, v *cluster.View, co *group.Coordinator, name string, partitions []store.TopicPartition) (rows [][]any, err error) {
	err = co.ResetOffsets(ctx, name, o.dryRun, func(g *group.Group) (positions []group.Position, err error) {
		positions, rows, err = o.positions(env, v, g, name, partitions)
		return positions, err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// positions are where the partitions of a group, which may not be there yet, are reset to,
// with a row each.
func (o *groupResetOptions) positions(env *Env, v *cluster.View, g *group.Group, name string, partitions []store.TopicPartition) (positions []group.Position, rows [][]any, err error) {
	if o.allTopics {
		partitions = committedPartitions(g)
	}
	if len(partitions) == 0 && !o.allGroups {
		return nil, nil, store.Errorf(store.NotFound, "GROUP_ID_NOT_FOUND", "group %s has committed nothing", name)
	}
	for _, tp := range partitions {
		to, err := o.target(env, v, g, tp)
		if err != nil {
			return nil, nil, err
		}
		var old any
		if c, err := committedOffset(g, tp); err == nil {
			old = c.Offset
		}
		positions = append(positions, group.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: to, LeaderEpoch: -1})
		rows = append(rows, []any{name, tp.Topic, tp.Partition, old, to})
	}
	return positions, rows, nil
}

// committedPartitions are those in which a group, which may not be there yet, has committed.
func committedPartitions(g *group.Group) (list []store.TopicPartition) {
	if g == nil {
		return nil
	}
	for _, c := range g.Offsets() {
		list = append(list, store.TopicPartition{Topic: c.Topic, Partition: c.Partition})
	}
	slices.SortFunc(list, store.TopicPartition.Compare)
	return list
}

// confirm asks, but not about a group that would be refused anyway. No lock is held
// meanwhile.
func (o *groupResetOptions) confirm(ctx context.Context, env *Env, co *group.Coordinator, groups []string, partitions int) error {
	if o.dryRun || len(groups) == 0 {
		return nil
	}
	if o.allGroups {
		return env.Confirm(o.question(len(groups), partitions))
	}
	nothing := func(*group.Group) ([]group.Position, error) { return nil, nil }
	if err := co.ResetOffsets(ctx, o.group, true, nothing); err != nil {
		return err
	}
	return env.Confirm(o.question(1, partitions))
}

// question is what is asked before so many groups are reset in so many partitions.
func (o *groupResetOptions) question(groups, partitions int) string {
	if o.allGroups {
		return "reset the offsets of " + strconv.Itoa(groups) + " group(s)"
	}
	where := strconv.Itoa(partitions) + " partition(s)"
	if o.allTopics {
		where = "all its partitions"
	}
	return "reset the offsets of group " + o.group + " in " + where
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
