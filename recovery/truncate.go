package recovery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// MakeTruncate plans to cut a log so that offset is its end. An offset inside a batch is
// refused, or with roundDown cut in front of that batch. The plan has no rows; Lost says
// what goes.
func MakeTruncate(ctx context.Context, fsys vfs.ReadFS, p Partition, offset int64, roundDown bool, interval int) (*Plan, error) {
	list, err := segment.List(fsys, p.Dir)
	if err != nil {
		return nil, err
	}
	m := &maker{
		surveyor: surveyor{ctx: ctx, fs: fsys, dir: p.Dir, o: Options{Policy: Tail, IndexInterval: interval}, list: list},
		plan:     &Plan{Partition: p, Lost: NoLoss()},
		edits:    map[int64][]Edit{},
	}
	if m.before, err = m.survey(nil, nil); err != nil {
		return nil, err
	}
	m.after = m.before
	if m.before.damaged() {
		d := *firstDamaged(m.before)
		return nil, store.Errorf(store.Damage, d.Kind.KafkaName(), "%s is damaged: nothing was cut: %w", p.TopicPartition, plainDamage{&d}).
			WithHint("logdir recover --dry-run %s", m.target())
	}
	return m.plan, m.truncate(offset, roundDown)
}

func (m *maker) truncate(offset int64, roundDown bool) error {
	p := m.plan.Partition
	end := m.before.end()
	var start int64
	if len(m.list.Segments) > 0 {
		start = max(m.list.Segments[0].Base, p.LogStart)
	}
	m.plan.LogStart, m.plan.LogEnd = start, end
	if offset < start || offset > end {
		return store.Errorf(store.NotFound, "OFFSET_OUT_OF_RANGE", "%s has offsets %d to %d, not %d", p.TopicPartition, start, end, offset)
	}
	if offset == end {
		return nil
	}
	at := m.segmentOf(offset)
	pos, err := m.cutPosition(at, offset, roundDown)
	if err != nil {
		return err
	}
	return m.cutAt(at, pos)
}

// segmentOf is the place of the segment that holds offset.
func (m *maker) segmentOf(offset int64) int {
	at := 0
	for i, f := range m.list.Segments {
		if f.Base <= offset {
			at = i
		}
	}
	return at
}

// errFound ends a walk over batches.
var errFound = errors.New("found")

// cutPosition is the first byte of the batch that holds offset or the next one behind it.
func (m *maker) cutPosition(at int, offset int64, roundDown bool) (int64, error) {
	pos := m.before.segments[at].size
	err := m.eachBatch(at, func(s *segment.Scanner) error {
		b := s.Batch()
		if b.LastOffset() < offset {
			return nil
		}
		pos = s.Pos()
		if b.BaseOffset() < offset && !roundDown {
			return store.Errorf(store.Usage, "INVALID_REQUEST", "offset %d is inside the batch %d..%d of %s", offset, b.BaseOffset(), b.LastOffset(), m.plan.Partition.TopicPartition).
				WithHint("--to %d, --to %d, or --round-down", b.BaseOffset(), b.NextOffset())
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return pos, err
}

// eachBatch walks the good batches of a segment as it is on disk.
func (m *maker) eachBatch(at int, do func(*segment.Scanner) error) error {
	g := m.before.segments[at]
	path := filepath.Join(m.dir, g.Log)
	f, err := m.fs.Open(path)
	if err != nil {
		return err
	}
	s := segment.NewScanner(f, g.size, segment.Options{Base: g.Base, Limit: m.limit(at), LogEnd: corrupt.Unknown, SkipCRC: true})
	for err == nil && s.Next() {
		if err = m.ctx.Err(); err == nil && s.Damage() == nil {
			err = do(s)
		}
	}
	return readProblem(path, errors.Join(err, s.Err(), f.Close()))
}

// cutAt plans the cut of one segment and the removal of those behind it, the newest first.
func (m *maker) cutAt(at int, pos int64) error {
	for i := len(m.list.Segments) - 1; i > at; i-- {
		if err := m.dropSegment(i); err != nil {
			return err
		}
	}
	g := m.before.segments[at]
	if err := m.loseFrom(at, pos); err != nil {
		return err
	}
	m.list.Segments = slices.Clone(m.list.Segments[:at+1])
	m.before.resume = nil
	if pos < g.size {
		m.edits[g.Base] = []Edit{{Pos: pos, Size: g.size - pos, Reason: "truncate", Held: m.plan.Lost.span()}}
	}
	var err error
	if m.after, err = m.survey(m.edits, nil); err != nil {
		return err
	}
	m.plan.LogEnd = m.after.end()
	if err := m.derive(); err != nil {
		return err
	}
	for i := range m.plan.Changes {
		if c := &m.plan.Changes[i]; c.Action == "" {
			c.Action = fmt.Sprintf("truncated to %d bytes", pos)
		}
	}
	m.plan.Rows = nil
	return nil
}

func (m *maker) dropSegment(i int) error {
	if err := m.loseFrom(i, 0); err != nil {
		return err
	}
	f := m.list.Segments[i]
	// The log goes last: as long as it is there, there is something to cut.
	for _, name := range []string{f.Index, f.TimeIndex, f.TxnIndex, f.Log} {
		if name != "" {
			m.drops = append(m.drops, Delete(filepath.Join(m.dir, name), "truncate"))
		}
	}
	return nil
}

// loseFrom counts what stands in a segment from byte pos on.
func (m *maker) loseFrom(at int, pos int64) error {
	m.plan.Lost.Bytes += m.before.segments[at].size - pos
	return m.eachBatch(at, func(s *segment.Scanner) error {
		if s.Pos() >= pos {
			m.plan.Lost.batch(s.Batch())
		}
		return nil
	})
}

func (l *Loss) span() *Span {
	if !l.HasOffsets() {
		return nil
	}
	return &Span{l.First, l.Last, l.Records}
}

func firstDamaged(s *survey) *corrupt.Error {
	for _, g := range s.segments {
		for _, d := range g.damages {
			if !d.kept {
				return d.Error
			}
		}
	}
	return nil
}

// Reindexed is one segment whose index files were made anew.
type Reindexed struct {
	Segment int64
	Entries int
}

// MakeReindex plans to make the index files of every segment anew, whatever they hold. Of
// a damaged log the good batches are indexed; the damage is in Left.
func MakeReindex(ctx context.Context, fsys vfs.ReadFS, p Partition, interval int) (*Plan, []Reindexed, error) {
	list, err := segment.List(fsys, p.Dir)
	if err != nil {
		return nil, nil, err
	}
	m := &maker{
		surveyor: surveyor{ctx: ctx, fs: fsys, dir: p.Dir, o: Options{IndexInterval: interval, TrimIndexes: true}, list: list},
		plan:     &Plan{Partition: p, Lost: NoLoss()},
	}
	if m.after, err = m.survey(nil, nil); err != nil {
		return nil, nil, err
	}
	m.plan.LogEnd = m.after.end()
	var rows []Reindexed
	for _, g := range m.after.segments {
		if err := m.reindex(g); err != nil {
			return nil, nil, err
		}
		width := 8
		if g.mkb1 {
			width = 12
		}
		rows = append(rows, Reindexed{g.Base, len(g.index) / width})
	}
	if m.after.damaged() {
		d := *firstDamaged(m.after)
		m.plan.Left = append(m.plan.Left, store.Errorf(store.Damage, d.Kind.KafkaName(), "%s: its log is damaged: %w", p.TopicPartition, plainDamage{&d}).
			WithHint("logdir recover --dry-run %s", m.target()))
	}
	return m.plan, rows, nil
}

func (m *maker) reindex(g *segmentSurvey) error {
	files := []struct {
		suffix, have string
		want         []byte
	}{{segment.IndexSuffix, g.Index, g.index}, {segment.TimeIndexSuffix, g.TimeIndex, g.timeIndex}}
	if g.mkb1 {
		files = files[:1]
	}
	for _, f := range files {
		path := g.path(m.dir, f.suffix)
		if f.have != "" {
			same, err := holds(m.fs, path, f.want)
			if err != nil {
				return err
			}
			if same {
				continue
			}
		}
		c, err := Replace(m.fs, path, f.want, "reindex")
		if err != nil {
			return err
		}
		c.Action = "rebuilt"
		m.plan.Changes = append(m.plan.Changes, c)
	}
	return nil
}
