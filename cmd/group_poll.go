package cmd

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/flagval"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/group"
)

// groupPollOptions are the flags of "logdir group poll".
type groupPollOptions struct {
	oneMember
	records fetchOptions // how records are read and printed
	commit  bool
	stale   bool
	exec    string
	retries int
	backoff int64 // ms
	given   func(string) bool
}

func newGroupPollCmd(env *Env) *cobra.Command {
	o := &groupPollOptions{}
	c := &cobra.Command{
		Use:   "poll GROUP",
		Short: "read what a member has not read yet",
		Long: `Take over the newest assignment, read the member's partitions from its positions up to the
high watermark, and move the positions. With --commit they are committed, too. With --stale
the member goes on with the assignment that it knows, as one does that has not heard of a
new generation: what it commits then is refused.

With --exec the records are not printed, but handed to a command, one run each: the value on
standard input, RECORD_TOPIC, RECORD_PARTITION, RECORD_OFFSET and RECORD_KEY in the
environment. A record that fails goes to the dead letter queue, and the position moves on.`,
		Example: `  logdir group poll billing --member a --commit
  logdir group poll billing --member a -c 1 -f '%p/%o=%v\n'
  logdir group poll billing --member a --commit --exec 'curl -fsS --data-binary @- localhost:8080'`,
		Annotations: about("0 1 2 3 4 5 6 8 9 99 130", "logdir-group(1)", "logdir-dlq(1)", "logdir help format"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(env); err != nil {
				return err
			}
			return env.onCoordinator(c.Context(), func(cl *cluster.Cluster, co *group.Coordinator) error {
				return o.run(c.Context(), env, cl, co)
			})
		},
	}
	o.addFlags(c)
	return c
}

func (o *groupPollOptions) addFlags(c *cobra.Command) {
	o.oneMember.addFlags(c)
	fs := c.Flags()
	o.given = fs.Changed
	o.records.onDamage, o.records.isolation, o.records.upTo = damageStop, readUncommitted, upToHW
	fs.BoolVar(&o.commit, "commit", false, "commit the positions afterwards")
	fs.BoolVar(&o.stale, "stale", false, "go on with the assignment that the member knows, be it an old one")
	fs.Int64VarP(&o.records.maxMessages, "max-messages", "c", 0, "stop after so many records: a `number`, 0 for all")
	fs.Var(flagval.Enum(&o.records.isolation, readUncommitted, readCommitted), "isolation-level", "`level`: read_uncommitted or read_committed")
	flagGroup(c, "which records", "commit", "stale", "max-messages", "isolation-level")
	fs.StringVar(&o.exec, "exec", "", "run this `command` of the shell for each record")
	fs.IntVar(&o.retries, "retries", 3, "with --exec: run it again so many `times` when it fails")
	fs.Int64Var(&o.backoff, "retry-backoff-ms", 100, "with --exec: wait so many `ms` before each retry")
	flagGroup(c, "handling", "exec", "retries", "retry-backoff-ms")
	o.records.addOutputFlags(c)
}

func (o *groupPollOptions) validate(env *Env) error {
	printing := o.records.format != "" || o.given("key-delimiter") || o.given("delimiter") || o.records.meta
	switch {
	case o.records.maxMessages < 0 || o.retries < 0 || o.backoff < 0:
		return usagef("numbers of records, retries and times are not negative")
	case o.exec == "" && (o.given("retries") || o.given("retry-backoff-ms")):
		return usagef("--retries and --retry-backoff-ms need --exec")
	case o.exec != "" && printing:
		return usagef("--exec hands records to the command instead of printing them")
	}
	return o.records.validateOutput(env)
}

func (o *groupPollOptions) run(ctx context.Context, env *Env, c *cluster.Cluster, co *group.Coordinator) error {
	v, err := o.view(ctx, co)
	if err != nil {
		return err
	}
	p, err := env.newPoll(ctx, c, co, &o.records, v)
	if err != nil {
		return err
	}
	if o.exec == "" {
		return p.run(ctx, o.commit)
	}
	h := o.handler(ctx, env, c)
	p.fetch.printer = h
	return errors.Join(p.run(ctx, o.commit), h.outcome())
}

// view is what the member goes by.
func (o *groupPollOptions) view(ctx context.Context, co *group.Coordinator) (*group.View, error) {
	if o.stale {
		return co.Recall(ctx, o.group, o.member)
	}
	return co.Refresh(ctx, o.group, o.member)
}

// poll is one poll of a member. The group's lock is not held while records are read,
// printed or handled.
type poll struct {
	env     *Env
	cluster *cluster.Cluster
	co      *group.Coordinator
	fetch   *fetchRun
	view    *group.View
	leaves  bool // the member does not outlive the command
}

func (e *Env) newPoll(ctx context.Context, c *cluster.Cluster, co *group.Coordinator, o *fetchOptions, v *group.View) (*poll, error) {
	view, err := cluster.OpenView(e.FS, c.Path())
	if err != nil {
		return nil, err
	}
	printer, err := o.printer(e)
	if err != nil {
		return nil, err
	}
	f := &fetchRun{o: o, env: e, view: view, printer: printer, fetcher: client.NewFetcher()}
	f.limit(ctx, o.maxMessages)
	return &poll{env: e, cluster: c, co: co, fetch: f, view: v}, nil
}

// run reads each partition once. An error in one does not keep it from the others.
func (p *poll) run(ctx context.Context, commit bool) error {
	var errs []error
	for i := range p.view.Positions {
		if p.fetch.enough() || ctx.Err() != nil {
			break
		}
		errs = append(errs, p.read(&p.view.Positions[i]))
	}
	return errors.Join(append(errs, p.finish(ctx, commit))...)
}

// follow reads on and on, with the assignment that it has, until the fetch is to end. An
// error in one partition does not keep it from the others.
func (p *poll) follow(ctx context.Context, commit bool) error {
	places := make([]fetchPlace, 0, len(p.view.Positions))
	var errs []error
	for i := range p.view.Positions {
		at := &p.view.Positions[i]
		place, err := p.place(at)
		if err != nil {
			place = fetchPlace{next: at.Offset, ended: true}
		}
		places, errs = append(places, place), append(errs, err)
	}
	errs = append(errs, p.fetch.readAll(ctx, places)...)
	for i := range places {
		p.moved(&p.view.Positions[i], places[i].next)
	}
	return errors.Join(append(errs, p.finish(ctx, commit))...)
}

// finish writes down how far reading went, unless the output did not get through: what is
// not written down is read again.
func (p *poll) finish(ctx context.Context, commit bool) error {
	if err := p.fetch.printer.Close(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what was handled counts, even after Ctrl-C
	if !commit {
		return p.co.Moved(ctx, p.view)
	}
	_, err := p.co.MovedAndCommit(ctx, p.view)
	return err
}

// read reads one partition and moves its position.
func (p *poll) read(at *group.Position) error {
	place, err := p.place(at)
	if err != nil {
		return err
	}
	err = p.fetch.read(&place)
	if p.fetch.context.BaseOffset != client.NoOffset {
		at.LeaderEpoch = p.fetch.context.LeaderEpoch
	}
	p.moved(at, place.next)
	return err
}

// place is where a position lies.
func (p *poll) place(at *group.Position) (fetchPlace, error) {
	ref, err := p.fetch.view.Leading(at.TopicPartition())
	if err != nil {
		return fetchPlace{}, err
	}
	if err := p.inRange(ref, at); err != nil {
		return fetchPlace{}, err
	}
	return fetchPlace{ref: ref, next: at.Offset, to: maxOffset}, nil
}

func (p *poll) moved(at *group.Position, next int64) {
	if next > at.Offset {
		p.info(at, next)
		at.Offset = next
	}
}

// inRange makes sure that the log has the position: retention may have taken the records
// there, an unclean election the end. Then the reset policy decides.
func (p *poll) inRange(ref store.PartitionRef, at *group.Position) error {
	marks, err := p.fetch.view.Offsets(ref)
	if err != nil {
		return err
	}
	switch {
	case at.Offset >= marks.LogStart && at.Offset <= marks.LogEnd:
		return nil
	case at.Offset == group.Unset && p.view.Reset == group.NoReset:
		return p.noOffset(at)
	case p.view.Reset == group.NoReset:
		return outOfRange(at.TopicPartition(), at.Offset, marks.LogStart, marks.LogEnd)
	}
	to := marks.LogStart
	if p.view.Reset == group.Latest {
		to = max(marks.HighWatermark, marks.LogStart)
	}
	if at.Offset != group.Unset {
		p.env.Note("%s: the log goes from %d to %d: %s goes on at %d (OFFSET_OUT_OF_RANGE)",
			at.TopicPartition(), marks.LogStart, marks.LogEnd, p.view.Member, to)
	}
	at.Offset, at.LeaderEpoch = to, -1
	return nil
}

func (p *poll) noOffset(at *group.Position) error {
	e := store.Errorf(store.NotFound, "NO_OFFSET_FOR_PARTITION", "%s: group %s has committed nothing, and %s joined with --reset none",
		at.TopicPartition(), p.view.Group, p.view.Member)
	if p.leaves {
		return e.WithHint("logdir group reset-offsets %s -t %s --to start", p.view.Group, at.TopicPartition())
	}
	return e.WithHint("logdir group seek %s --member %s -t %s --to start", p.view.Group, p.view.Member, at.TopicPartition())
}

func outOfRange(tp store.TopicPartition, offset, start, end int64) error {
	return store.Errorf(store.NotFound, "OFFSET_OUT_OF_RANGE",
		"%s: offset %d is out of range: the log goes from %d to %d", tp, offset, start, end).
		WithHint("logdir offsets %s", tp)
}

func (p *poll) info(at *group.Position, next int64) {
	p.cluster.Info("consumer", "poll",
		slog.String("group", p.view.Group), slog.String("member", p.view.Member),
		slog.String("topic", at.Topic), slog.Int("partition", int(at.Partition)),
		slog.Int64("from", at.Offset), slog.Int64("to", next))
}
