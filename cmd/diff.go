package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
their bytes are. Of two the first is the reference and reads as leader. Damage is named, and
the comparison goes on behind it.`,
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
	d.rows = env.Stream([]string{"TOPIC", "PARTITION", "BROKER", "LOG-END", "EPOCHS", "SAME-UP-TO", "STATUS"}, "path", "different", "hidden", "damage")
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
	list := make([]replica.Compared, len(g.refs))
	for i, ref := range g.refs {
		if i == g.reference {
			continue
		}
		if list[i], err = d.against(reference, ref); err != nil {
			return err
		}
	}
	list[g.reference] = reference.Reference()
	for i, ref := range g.refs {
		if err := d.row(ref, list[i]); err != nil {
			return err
		}
		d.judge(g, ref, list[i])
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
	damage := make([]damageJSON, len(c.Damage))
	for i, x := range c.Damage {
		x.Path = d.view.Rel(x.Path)
		damage[i] = damageJSON{x.Path, x.Kind, x.Pos, render.Known(x.Size), render.Known(x.NextOffset)}
	}
	return d.rows.Row(ref.Topic, render.Known(ref.Partition), render.Known(ref.Broker), c.LogEnd,
		epochsCell(c.Epochs), c.SameUpTo, string(c.Status), ref.Show(ref.File),
		pairsOf(c.Different), pairsOf(c.Hidden), damage)
}

// damageJSON is a damaged range as JSON has it.
type damageJSON struct {
	File       string       `json:"file"`
	Kind       corrupt.Kind `json:"kind"`
	Position   int64        `json:"position"`
	Bytes      any          `json:"bytes"`
	NextOffset any          `json:"next_good_offset"`
}

// pairsOf are ranges as JSON has them: [[4,6]] is the offsets 4 and 5.
func pairsOf(ranges []replica.Range) [][2]int64 {
	list := make([][2]int64, len(ranges))
	for i, r := range ranges {
		list[i] = [2]int64{r.From, r.To}
	}
	return list
}

// judge collects what makes the exit code 4: damage, and logs that are not as the
// reference.
func (d *diff) judge(g diffGroup, ref store.PartitionRef, c replica.Compared) {
	for _, x := range c.Damage {
		d.failed = append(d.failed, damageError([]*corrupt.Error{x}))
	}
	who, whom := "the second", "the first"
	if g.replicas {
		who, whom = "broker "+strconv.Itoa(int(ref.Broker)), "the leader"
	}
	if len(c.Different) == 0 {
		if len(c.Hidden) > 0 {
			d.env.Note("%s: %s is as %s but for what damage hides, %s", ref.TopicPartition, who, whom, places(c.Hidden, c.LogEnd))
		}
		return
	}
	if len(c.Hidden) > 0 {
		d.env.Note("%s: damage hides whether %s is as %s %s", ref.TopicPartition, who, whom, places(c.Hidden, c.LogEnd))
	}
	e := store.Errorf(store.Damage, "", "%s: %s differs from %s %s", ref.TopicPartition, who, whom, places(c.Different, c.LogEnd))
	if g.replicas {
		e = e.WithHint("%s", d.env.retype("logdir replicate --dry-run", []string{ref.String()}))
	}
	d.failed = append(d.failed, e)
}

// manyPlaces is how many ranges are named in a sentence.
const manyPlaces = 5

// places says where: "at offsets 4..6, 9 and from 12 on".
func places(ranges []replica.Range, end int64) string {
	var list []string
	for _, r := range ranges[:min(len(ranges), manyPlaces)] {
		switch {
		case r.To >= end && len(list) == 0:
			return fmt.Sprintf("from offset %d on", r.From)
		case r.To >= end:
			return fmt.Sprintf("at offsets %s and from %d on", strings.Join(list, ", "), r.From)
		case r.To-r.From == 1:
			list = append(list, strconv.FormatInt(r.From, 10))
		default:
			list = append(list, fmt.Sprintf("%d..%d", r.From, r.To-1))
		}
	}
	if more := len(ranges) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more places", more))
	}
	if len(ranges) == 1 && ranges[0].To-ranges[0].From == 1 {
		return "at offset " + list[0]
	}
	return "at offsets " + strings.Join(list, ", ")
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
