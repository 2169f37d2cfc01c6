package cmd

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/replica"
)

func newDiffCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "diff TOPIC[:PARTS] | PATH PATH",
		Short: "compare replicas, or two logs, batch by batch",
		Long: `Compare the replicas of partitions with their leader's, or one log with another: a replica, a
partition directory, a whole log directory or one .log file. Batches are the same if all
their bytes are. Of two the first is the reference and reads as leader.`,
		Example: `  logdir diff orders:0
  logdir diff /backup/orders-0 /var/lib/kafka/data/orders-0
  logdir diff orders:0@1 orders:0@2`,
		Args:        cobra.RangeArgs(1, 2),
		Annotations: about("0 1 2 3 4 5", "logdir-replicate(1)", "logdir-verify-crc(1)"),
		RunE: func(c *cobra.Command, args []string) error {
			return runDiff(c.Context(), env, args)
		},
	}
}

func runDiff(ctx context.Context, env *Env, args []string) error {
	v, err := env.look(args)
	if err != nil {
		return err
	}
	d := &diff{env: env, view: v}
	groups, err := d.groups(args)
	if err != nil {
		return err
	}
	d.rows = env.Stream([]string{"TOPIC", "PARTITION", "BROKER", "LOG-END", "EPOCHS", "SAME-UP-TO", "STATUS"}, "path")
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.compare(g); err != nil {
			d.failed = append(d.failed, err)
		}
	}
	return errors.Join(append(d.failed, d.rows.Close())...)
}

// diff is one run of the command.
type diff struct {
	env    *Env
	view   *cluster.View
	rows   *render.Stream
	failed []error
}

// diffGroup is the logs that are compared with one of them. They are shown in this order.
type diffGroup struct {
	refs      []store.PartitionRef
	reference int // -1 if the reference is missing
	replicas  bool
}

func (d *diff) groups(args []string) ([]diffGroup, error) {
	if len(args) == 1 {
		return d.replicaGroups(args[0])
	}
	a, err := d.view.Resolve(args[:1], false)
	if err != nil {
		return nil, err
	}
	b, err := d.view.Resolve(args[1:], false)
	if err != nil {
		return nil, err
	}
	if len(a) == 1 && len(b) == 1 {
		return []diffGroup{{refs: []store.PartitionRef{a[0], b[0]}}}, nil
	}
	return pairs(a, b), nil
}

// replicaGroups are all replicas of each partition, held against the leader's.
func (d *diff) replicaGroups(target string) ([]diffGroup, error) {
	if d.view.Meta == nil {
		return nil, store.Errorf(store.Usage, "INVALID_REQUEST", "only a cluster has replicas to compare: name two logs").
			WithHint("logdir diff PATH PATH")
	}
	if store.LooksLikePath(target) {
		return nil, usagef("%s: with what? name a second log, or TOPIC:P", target)
	}
	refs, err := d.view.Resolve([]string{target}, true)
	if err != nil {
		return nil, err
	}
	var groups []diffGroup
	for len(refs) > 0 {
		n := slices.IndexFunc(refs, func(r store.PartitionRef) bool { return r.TopicPartition != refs[0].TopicPartition })
		if n < 0 {
			n = len(refs)
		}
		groups = append(groups, diffGroup{refs: refs[:n], reference: d.reference(refs[:n]), replicas: true})
		refs = refs[n:]
	}
	return groups, nil
}

// reference is the leader's replica; of a partition without a leader that of the first in
// the ISR, which could become it.
func (d *diff) reference(refs []store.PartitionRef) int {
	tp := refs[0].TopicPartition
	_, p, err := d.view.Meta.Partition(tp)
	if err != nil {
		return 0
	}
	has := func(broker int32) int {
		return slices.IndexFunc(refs, func(r store.PartitionRef) bool { return r.Broker == broker })
	}
	if at := has(p.LeaderID()); at >= 0 {
		return at
	}
	for _, broker := range p.Replicas {
		if at := has(broker); at >= 0 && p.InSync(broker) {
			d.env.Note("%s has no leader: compared with broker %d, which is in the ISR", tp, broker)
			return at
		}
	}
	return 0
}

// pairs matches two lists of logs by topic and partition. One that the first has alone is
// missing in the second; one that the second has alone has no reference.
func pairs(a, b []store.PartitionRef) []diffGroup {
	var groups []diffGroup
	rest := slices.Clone(b)
	for _, ref := range a {
		g := diffGroup{refs: []store.PartitionRef{ref}}
		if at := slices.IndexFunc(rest, func(r store.PartitionRef) bool { return r.TopicPartition == ref.TopicPartition }); at >= 0 {
			g.refs = append(g.refs, rest[at])
			rest = slices.Delete(rest, at, at+1)
		}
		groups = append(groups, g)
	}
	for _, ref := range rest {
		groups = append(groups, diffGroup{refs: []store.PartitionRef{ref}, reference: -1})
	}
	return groups
}

// compare prints the rows of one group.
func (d *diff) compare(g diffGroup) error {
	if g.reference < 0 {
		return d.extra(g.refs[0])
	}
	reference, err := d.side(g.refs[g.reference])
	if err != nil {
		return err
	}
	if len(g.refs) == 1 && !g.replicas {
		d.env.Note("%s: only the first has it", g.refs[0].TopicPartition)
	}
	for i, ref := range g.refs {
		c := reference.Reference()
		if i != g.reference {
			if c, err = d.against(reference, ref); err != nil {
				return err
			}
		}
		if err := d.row(ref, c); err != nil {
			return err
		}
		d.judge(g, ref, c)
	}
	return nil
}

// extra is a log that has no reference.
func (d *diff) extra(ref store.PartitionRef) error {
	s, err := d.side(ref)
	if err != nil {
		return err
	}
	c := s.Reference()
	c.Status, c.SameUpTo = replica.Diverged, 0
	if err := d.row(ref, c); err != nil {
		return err
	}
	return store.Errorf(store.Damage, "", "%s: only the second has it", ref.TopicPartition)
}

func (d *diff) side(ref store.PartitionRef) (*replica.Side, error) {
	s, err := replica.OpenSide(d.env.FS, ref, d.view.Reader)
	return s, readError(ref.Show(ref.File), err)
}

func (d *diff) against(reference *replica.Side, ref store.PartitionRef) (replica.Compared, error) {
	own, err := d.side(ref)
	if err != nil {
		return replica.Compared{}, err
	}
	c, err := replica.Compare(reference, own)
	return c, readError(ref.Show(ref.File), err)
}

func (d *diff) row(ref store.PartitionRef, c replica.Compared) error {
	return d.rows.Row(ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker), c.LogEnd,
		epochsCell(c.Epochs), c.SameUpTo, string(c.Status), ref.Show(ref.File))
}

// judge collects what makes the exit code 4: damage, and logs that are not as the
// reference.
func (d *diff) judge(g diffGroup, ref store.PartitionRef, c replica.Compared) {
	if c.Damage != nil {
		c.Damage.Path = d.view.Rel(c.Damage.Path)
		d.failed = append(d.failed, damageError([]*corrupt.Error{c.Damage}))
		return
	}
	if c.Status != replica.Diverged {
		return
	}
	what := "the second differs from the first"
	if g.replicas {
		what = "broker " + strconv.Itoa(int(ref.Broker)) + " differs from the leader"
	}
	e := store.Errorf(store.Damage, "", "%s: %s from offset %d on", ref.TopicPartition, what, c.SameUpTo)
	if g.replicas {
		e = e.WithHint("%s", d.env.retype("logdir replicate --dry-run", []string{ref.String()}))
	}
	d.failed = append(d.failed, e)
}

// epochsCell is the history of leader epochs: 0@0 1@17, in JSON [[0,0],[1,17]].
func epochsCell(h checkpoint.Epochs) any {
	text, list := []byte(nil), make([][2]int64, len(h))
	for i, e := range h {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(e.Epoch), 10)
		text = append(text, '@')
		text = strconv.AppendInt(text, e.StartOffset, 10)
		list[i] = [2]int64{int64(e.Epoch), e.StartOffset}
	}
	return render.Both{Text: string(text), JSON: list}
}
