package recovery

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// maker plans one partition by a policy of our own.
type maker struct {
	surveyor
	plan   *Plan
	before *survey // the logs as they are
	after  *survey // as they will be
	edits  map[int64][]Edit
	drops  []Change // removals of whole segments
}

func makeOwn(ctx context.Context, fsys vfs.ReadFS, p Partition, o Options) (*Plan, error) {
	list, err := segment.List(fsys, p.Dir)
	if err != nil {
		return nil, err
	}
	m := &maker{
		surveyor: surveyor{ctx: ctx, fs: fsys, dir: p.Dir, o: o, list: list},
		plan:     &Plan{Partition: p, Lost: NoLoss()},
		edits:    map[int64][]Edit{},
	}
	for _, name := range list.BadNames {
		m.plan.note("%s: a broker stops on this name; move it away", p.Show(name))
	}
	if len(list.Segments) == 0 {
		return m.plan, nil
	}
	m.plan.HasLog = true
	return m.plan, m.make()
}

// make surveys, decides, and surveys what the decisions lead to: a plan is only good if
// that is clean.
func (m *maker) make() (err error) {
	if m.before, err = m.survey(nil, nil); err != nil {
		return err
	}
	m.after = m.before
	m.plan.LogStart = max(m.list.Segments[0].Base, m.plan.Partition.LogStart)
	if m.o.Fix {
		if err := m.fix(); err != nil {
			return err
		}
	}
	if m.after.damaged() {
		if err := m.decide(); err != nil {
			return err
		}
	}
	m.tellKept()
	m.plan.LogEnd = m.after.end()
	if m.after.damaged() && len(m.edits) == 0 {
		return nil // nothing is changed beside damage that was refused
	}
	return m.derive()
}

// decide applies the policy to the damage that is there, and looks at the outcome.
func (m *maker) decide() error {
	refused := m.refused()
	if len(refused) > 0 {
		m.plan.Left = append(m.plan.Left, m.refuse(refused)...)
		return nil
	}
	for _, g := range m.after.segments {
		if g.damaged() {
			m.cutOut(g)
		}
	}
	earlier := m.after
	after, err := m.survey(m.edits, earlier)
	if err != nil {
		return err
	}
	if after.damaged() {
		return fmt.Errorf("%s: the plan does not lead to a clean log; nothing was changed: %w", m.dir, firstDamaged(after))
	}
	m.after = after
	m.rowEnds()
	return nil
}

// found is damage and the segment it is in.
type found struct {
	g *segmentSurvey
	damage
	last bool // the segment is the active one
}

// refused lists the damage that the policy does not touch.
func (m *maker) refused() []found {
	if m.o.Policy == Skip {
		return nil
	}
	var out []found
	for i, g := range m.after.segments {
		for _, d := range g.damages {
			f := found{g, d, i == len(m.after.segments)-1}
			if !d.kept && !m.mayCut(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// mayCut is the rule of policy tail: in the last segment, at its end, bytes that hold no
// record; and what was never promised to anybody.
func (m *maker) mayCut(f found) bool {
	switch {
	case !f.last || !f.tail:
		return false
	case f.Kind.HoldsNone():
		return true
	case f.Kind == corrupt.BadCRC || f.Kind == corrupt.Garbage:
		return m.neverSynced(f.before)
	}
	return false
}

// neverSynced says that the recovery point, which every fsync moves up, is known and not
// above the offset, in a directory that was not closed cleanly.
func (m *maker) neverSynced(offset int64) bool {
	p := m.plan.Partition
	return !p.LogDir.Clean && p.RecoveryPoint != corrupt.Unknown && offset >= p.RecoveryPoint
}

// refuse says of each damage why it stays, and what can be done.
func (m *maker) refuse(list []found) []error {
	var out []error
	for _, f := range list {
		d := *f.Error
		d.Path = m.plan.Partition.Show(f.g.Log)
		where := "is damaged in its middle"
		switch {
		case !f.last:
			where = "is closed and damaged"
		case f.tail:
			where = "has a damaged end that may have been promised to a producer"
		}
		out = append(out, store.Errorf(store.Damage, d.Kind.KafkaName(), "segment %020d of %s %s: nothing was changed there: %w",
			f.g.Base, m.plan.Partition.TopicPartition, where, plainDamage{&d}).
			WithHint("choose: recover --fix (put back what can be proved), --policy skip (lose only the bad bytes), --policy kafka (cut there, lose all behind it); first: logdir recover --dry-run --fix %s", m.target()))
	}
	return out
}

// tellKept names the damage that no policy takes away.
func (m *maker) tellKept() {
	for _, g := range m.after.segments {
		for _, d := range g.damages {
			if d.kept && !d.copied {
				e := *d.Error
				e.Path = m.plan.Partition.Show(g.Log)
				m.plan.Left = append(m.plan.Left, store.Errorf(store.Damage, d.Kind.KafkaName(), "the batch stays: %w", plainDamage{&e}).
					WithHint("%s", m.adviceOn(d)))
			}
		}
	}
}

func (m *maker) adviceOn(d damage) string {
	if d.Kind == corrupt.BadRecords {
		return "logdir recover --dry-run --deep --policy skip " + m.target()
	}
	return "logdir recover --dry-run --fix " + m.target()
}

// plainDamage is a corrupt.Error whose text leaves Kafka's name to the one around it.
type plainDamage struct{ damage *corrupt.Error }

// Error leaves out the name in parentheses.
func (p plainDamage) Error() string {
	return strings.TrimSuffix(p.damage.Error(), " ("+p.damage.Kind.KafkaName()+")")
}

// Unwrap gives the damage.
func (p plainDamage) Unwrap() error { return p.damage }

// target is how a command line names the partition.
func (m *maker) target() string { return m.plan.Partition.target() }

// cutOut plans to take all damaged ranges out of a segment, but for batches that are kept.
// The last of them, if they are its tail, are one cut; a row each for the others.
func (m *maker) cutOut(g *segmentSurvey) {
	tail := len(g.damages)
	for tail > 0 && g.damages[tail-1].tail && !g.damages[tail-1].kept {
		tail--
	}
	for _, d := range g.damages[:tail] {
		if d.kept {
			continue
		}
		m.takeOut(g, []damage{d}, d.Size, fmt.Sprintf("freed of %d bytes at %d", d.Size, d.Pos))
	}
	if rest := g.damages[tail:]; len(rest) > 0 {
		m.takeOut(g, rest, g.size-rest[0].Pos, fmt.Sprintf("truncated to %d bytes", rest[0].Pos-m.gone(g)))
	}
}

// gone is how many bytes the edits so far take out of a segment's log.
func (m *maker) gone(g *segmentSurvey) int64 {
	c := Change{Edits: m.edits[g.Base]}
	return -grow(c.cuts())
}

// takeOut plans one cut of size bytes that begins with the first of the ranges.
func (m *maker) takeOut(g *segmentSurvey, ranges []damage, size int64, action string) {
	first := ranges[0]
	loss := NoLoss()
	loss.Bytes = size
	for _, d := range ranges {
		loss.damage(d)
	}
	e := Edit{Pos: first.Pos, Size: size, Reason: string(first.Kind)}
	if loss.HasOffsets() {
		e.Held = &Span{loss.First, loss.Last, loss.Records}
	}
	m.edits[g.Base] = mergeEdit(m.edits[g.Base], e)
	m.plan.Lost.Add(loss)
	row := m.plan.row(g.Base, first.Kind, corrupt.Unknown, "%s", action)
	row.LostBytes, row.LostRecords = size, loss.Records
	m.plan.Rows = append(m.plan.Rows, row)
}

// mergeEdit adds an edit in order of position. One that takes bytes out swallows those
// that would have changed them.
func mergeEdit(edits []Edit, e Edit) []Edit {
	edits = slices.DeleteFunc(slices.Clone(edits), func(o Edit) bool {
		return o.Pos >= e.Pos && o.Pos+o.Size <= e.Pos+e.Size
	})
	at, _ := slices.BinarySearchFunc(edits, e.Pos, func(o Edit, pos int64) int { return int(min(max(o.Pos-pos, -1), 1)) })
	return slices.Insert(edits, at, e)
}

// rowEnds fills in the log end of the segments of rows that cut.
func (m *maker) rowEnds() {
	ends := map[int64]int64{}
	for _, g := range m.after.segments {
		ends[g.Base] = g.next
	}
	for i := range m.plan.Rows {
		if end, ok := ends[m.plan.Rows[i].Segment]; ok {
			m.plan.Rows[i].LogEnd = end
		}
	}
}

// logChanges are the changes of the logs themselves, in the order of the segments.
func (m *maker) logChanges() []Change {
	var out []Change
	for _, base := range slices.Sorted(maps.Keys(m.edits)) {
		g := m.segmentAt(base)
		c := Change{Kind: Modify, Path: filepath.Join(m.dir, g.Log), Edits: m.edits[base]}
		c.Action = m.actionOf(base)
		out = append(out, c)
	}
	return out
}

func (m *maker) segmentAt(base int64) *segmentSurvey {
	i := slices.IndexFunc(m.after.segments, func(g *segmentSurvey) bool { return g.Base == base })
	return m.after.segments[i]
}

// actionOf joins what the rows say about a segment.
func (m *maker) actionOf(base int64) string {
	var words []string
	for _, r := range m.plan.Rows {
		if r.Segment == base {
			words = append(words, r.Action)
		}
	}
	return strings.Join(words, "; ")
}
