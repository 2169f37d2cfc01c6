package recovery

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// derive plans everything that follows from the logs, and last the logs themselves: as long as
// a log is as it was, whoever finds what a crash in between left plans the same again.
func (m *maker) derive() error {
	for _, step := range []func() error{m.indexes, m.txnIndexes, m.snapshots, m.leaderEpochs, m.leftovers} {
		if err := step(); err != nil {
			return err
		}
	}
	m.plan.Changes = slices.Concat(m.plan.Changes, m.drops, m.logChanges())
	m.plan.Notes = append(m.plan.Notes, m.after.notes...)
	return nil
}

// cut says whether the log is another one afterwards.
func (m *maker) cut() bool { return len(m.edits) > 0 || len(m.drops) > 0 }

// indexes plans the index files of each segment.
func (m *maker) indexes() error {
	for _, g := range m.after.segments {
		if err := m.indexesOf(g); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) indexesOf(g *segmentSurvey) error {
	edited := len(m.edits[g.Base]) > 0
	if !g.indexed && (g.offsets.Bad != nil || g.times.Bad != nil) {
		if err := m.buildIndexes(g); err != nil {
			return err
		}
	}
	offsets, err := m.indexFile(g, segment.IndexSuffix, g.Index, g.index, g.offsets, edited)
	if err != nil {
		return err
	}
	var times indexWork
	if !g.mkb1 {
		if times, err = m.indexFile(g, segment.TimeIndexSuffix, g.TimeIndex, g.timeIndex, g.times, edited); err != nil {
			return err
		}
	}
	m.indexRow(g, offsets, times)
	return nil
}

// buildIndexes makes the index files of a segment whose own turned out to be wrong.
func (m *maker) buildIndexes(g *segmentSurvey) error {
	path := filepath.Join(m.dir, g.Log)
	f, err := m.fs.Open(path)
	if err != nil {
		return err
	}
	x := newBuilder(g, m.o.IndexInterval)
	s := segment.NewScanner(f, g.size, segment.Options{Base: g.Base, LogEnd: corrupt.Unknown})
	for s.Next() {
		if d := s.Damage(); d == nil || s.Batch() != nil && m.o.keeps(d) {
			x.Add(index.SpanOf(s.Batch(), s.Pos()))
		}
	}
	x.Finish()
	g.index, g.timeIndex, g.indexed = x.Index(), x.TimeIndex(), true
	return readProblem(path, errors.Join(s.Err(), f.Close()))
}

// indexWork is what is to be done to one index file.
type indexWork struct {
	kind   corrupt.Kind // why there is a row; "" for none
	change *Change
}

// indexFile plans one index file. An edited log always gets the index that is made from
// it; any other only if its own is missing or wrong.
func (m *maker) indexFile(g *segmentSurvey, suffix, have string, want []byte, verdict index.Report, edited bool) (indexWork, error) {
	var w indexWork
	switch {
	case have == "" && g.size == 0:
		return w, nil // a fresh segment, for which there is nothing to index
	case have == "":
		w.kind = corrupt.MissingIndex
	case edited:
	case verdict.Bad != nil:
		w.kind = corrupt.BadIndex
	case !m.o.TrimIndexes || verdict.Padding == 0:
		return w, nil
	}
	path := g.path(m.dir, suffix)
	if have != "" {
		same, err := holds(m.fs, path, want)
		if err != nil || same {
			return indexWork{}, err
		}
	}
	c, err := Replace(m.fs, path, slices.Clone(want), string(w.kind))
	c.Action = "rebuilt"
	w.change = &c
	return w, err
}

// holds says whether a file holds exactly data.
func holds(fsys vfs.ReadFS, path string, data []byte) (bool, error) {
	size, err := vfs.Size(fsys, path)
	if err != nil || size != int64(len(data)) {
		return false, err
	}
	have, err := vfs.ReadAll(fsys, path, size)
	return bytes.Equal(have, data), err
}

// indexRow puts the work on both index files into one row, if it is not the mere
// consequence of a cut.
func (m *maker) indexRow(g *segmentSurvey, offsets, times indexWork) {
	var words []string
	var kind corrupt.Kind
	for _, w := range []struct {
		indexWork
		name string
	}{{offsets, "index"}, {times, "time index"}} {
		if w.change == nil {
			continue
		}
		m.plan.Changes = append(m.plan.Changes, *w.change)
		if w.kind == "" {
			continue
		}
		words = append(words, w.name)
		if kind == "" || w.kind == corrupt.BadIndex {
			kind = w.kind
		}
	}
	if len(words) > 0 {
		m.plan.Rows = append(m.plan.Rows, m.plan.row(g.Base, kind, g.next, "rebuilt %s", strings.Join(words, " and ")))
	}
}

// snapshots plans the producer snapshots: damaged ones and those beyond the log end go or
// are made anew; behind a change of the log all are held against it.
func (m *maker) snapshots() error {
	known := m.knownStates()
	for _, s := range m.list.Snapshots {
		if err := m.snapshot(s, known); err != nil {
			return err
		}
	}
	return m.endSnapshot(known)
}

// knownStates are the producers at the offsets where a snapshot may stand and the survey
// knows the state.
func (m *maker) knownStates() map[int64][]producer.Entry {
	known := map[int64][]producer.Entry{}
	if !m.after.complete {
		return known
	}
	for _, g := range m.after.segments {
		if g.producers != nil {
			known[g.Base] = g.producers
		}
	}
	known[m.after.end()] = m.after.state.Entries()
	return known
}

func (m *maker) snapshot(s segment.Name, known map[int64][]producer.Entry) error {
	path := filepath.Join(m.dir, s.Name)
	have, err := producer.ReadSnapshot(m.fs, path)
	_, bad := errors.AsType[*corrupt.Error](err)
	if err != nil && !bad {
		return err
	}
	beyond := s.Base > m.after.end()
	stale := m.cut() && s.Base > m.firstEdited()
	want, isKnown := known[s.Base]
	switch {
	case !bad && !beyond && !stale, stale && !bad && isKnown && sameEntries(have, want):
		return nil
	case isKnown && !beyond:
		c, err := Replace(m.fs, path, producer.AppendSnapshot(nil, want), string(corrupt.BadSnapshot))
		if err != nil {
			return err
		}
		c.Action = "rebuilt"
		m.plan.Changes = append(m.plan.Changes, c)
	case bad || beyond || stale:
		m.plan.Changes = append(m.plan.Changes, Delete(path, string(corrupt.BadSnapshot)))
	}
	m.snapshotRow(s, bad, beyond, isKnown)
	return nil
}

// snapshotRow shows what is not the mere consequence of a cut.
func (m *maker) snapshotRow(s segment.Name, bad, beyond, rebuilt bool) {
	if m.cut() && !bad {
		return
	}
	action := "removed snapshot " + s.Name
	if rebuilt && !beyond {
		action = "rebuilt snapshot " + s.Name
	}
	m.plan.Rows = append(m.plan.Rows, m.plan.row(corrupt.Unknown, corrupt.BadSnapshot, m.after.end(), "%s", action))
}

// firstEdited is the base of the first segment whose log is changed, or behind which
// segments are dropped.
func (m *maker) firstEdited() int64 {
	first := m.list.Segments[len(m.list.Segments)-1].Base
	for base := range m.edits {
		first = min(first, base)
	}
	return first
}

// sameEntries compares two states, whatever their order.
func sameEntries(a, b []producer.Entry) bool {
	byID := func(x, y producer.Entry) int { return int(min(max(x.ProducerID-y.ProducerID, -1), 1)) }
	return reflect.DeepEqual(append([]producer.Entry{}, slices.SortedFunc(slices.Values(a), byID)...),
		append([]producer.Entry{}, slices.SortedFunc(slices.Values(b), byID)...))
}

// endSnapshot keeps the producers' state at the new log end, so that a broker that trusts
// the directory does not take a state from before the cut.
func (m *maker) endSnapshot(known map[int64][]producer.Entry) error {
	end := m.after.end()
	entries, ok := known[end]
	if !m.cut() || !ok || len(entries) == 0 || end <= 0 || m.hasSnapshot(end) || m.mkb1() {
		return nil
	}
	c, err := Replace(m.fs, filepath.Join(m.dir, producer.FileName(end)), producer.AppendSnapshot(nil, entries), "state at the new log end")
	m.plan.Changes = append(m.plan.Changes, c)
	return err
}

func (m *maker) hasSnapshot(offset int64) bool {
	return slices.ContainsFunc(m.list.Snapshots, func(s segment.Name) bool { return s.Base == offset })
}

func (m *maker) mkb1() bool {
	return slices.ContainsFunc(m.after.segments, func(g *segmentSurvey) bool { return g.mkb1 })
}

// leaderEpochs plans leader-epoch-checkpoint. A partition without the file has none made.
func (m *maker) leaderEpochs() error {
	path := filepath.Join(m.dir, checkpoint.EpochFile)
	data, err := vfs.ReadAll(m.fs, path, maxEpochFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	problems := checkpoint.CheckEpochs(data, m.after.end())
	have, _ := checkpoint.ParseEpochs(data)
	if len(problems) == 0 && m.agrees(have) && !m.cut() {
		return nil
	}
	want := m.wantedEpochs(have, len(problems) == 0)
	if slices.Equal(have, want) && len(problems) == 0 {
		return nil
	}
	c, err := Replace(m.fs, path, checkpoint.AppendEpochs(nil, want), string(corrupt.BadCheckpoint))
	if err != nil {
		return err
	}
	c.Action = "rebuilt from the log"
	m.plan.Changes = append(m.plan.Changes, c)
	if len(problems) > 0 || !m.cut() {
		m.plan.Rows = append(m.plan.Rows, m.plan.row(corrupt.Unknown, corrupt.BadCheckpoint, m.after.end(), "rebuilt %s", checkpoint.EpochFile))
	}
	return nil
}

// maxEpochFile bounds what is read of a leader-epoch-checkpoint, in bytes.
const maxEpochFile = 16 << 20

// agrees says whether every epoch that the batches tell stands in the file, at or before
// the offset where its first batch is. The file may know more: epochs in which nothing was
// written, or whose records are gone. And it may begin later than the log: what lies below
// the log start offset is dropped from it before the segments are.
func (m *maker) agrees(have checkpoint.Epochs) bool {
	if len(have) == 0 {
		return len(m.after.epochs) == 0
	}
	for i, e := range m.after.epochs {
		first, last := max(e.StartOffset, have[0].StartOffset), m.after.epochEnds[i]-1
		if first <= last && (have.EpochAt(first) != e.Epoch || have.EpochAt(last) != e.Epoch) {
			return false
		}
	}
	return true
}

// wantedEpochs is the history as it should be. A file that parses and agrees keeps what it
// knows more; behind a cut, no epoch begins at or beyond the log end.
func (m *maker) wantedEpochs(have checkpoint.Epochs, sound bool) checkpoint.Epochs {
	want := slices.Clone(m.after.epochs)
	if sound {
		cutBack := slices.Clone(have)
		if m.cut() {
			cutBack.TruncateFromEnd(m.after.end())
		}
		if m.agrees(cutBack) {
			want = cutBack
		}
	}
	if start := m.plan.Partition.LogStart; start > 0 {
		want.TruncateFromStart(start)
	}
	return want
}

// leftovers plans to clear what interrupted work has left and a broker would remove: files
// marked as deleted, a cleaner's unfinished output, index files without a log.
func (m *maker) leftovers() error {
	for _, n := range m.list.Leftovers {
		// Before the .cleaned files, whose presence says that these are not finished either.
		if strings.HasSuffix(n.Name, segment.SwapSuffix) && m.unfinished(n.Base) {
			m.remove(n, "removed leftover "+n.Name)
		}
	}
	for _, n := range m.list.Leftovers {
		switch {
		case strings.HasSuffix(n.Name, segment.SwapSuffix) && m.unfinished(n.Base):
		case strings.HasSuffix(n.Name, segment.SwapSuffix):
			m.plan.note("%s: a replacement that waits to be moved in place; left alone (recover --policy kafka completes it)", m.plan.Partition.Show(n.Name))
		case strings.HasSuffix(n.Name, ".checkpoint"+segment.DeletedSuffix):
		default:
			m.remove(n, "removed leftover "+n.Name)
		}
	}
	for _, n := range m.list.Orphans {
		m.remove(n, "removed orphaned "+n.Name)
	}
	return nil
}

// unfinished tells whether a replacement is not to be moved in place: a part of what a cleaner
// wrote with it, or below it, is still a .cleaned file.
func (m *maker) unfinished(base int64) bool {
	return slices.ContainsFunc(m.list.Leftovers, func(n segment.Name) bool {
		return strings.HasSuffix(n.Name, segment.CleanedSuffix) && n.Base <= base
	})
}

func (m *maker) remove(n segment.Name, action string) {
	c := Delete(filepath.Join(m.dir, n.Name), "leftover")
	m.plan.Changes = append(m.plan.Changes, c)
	m.plan.Rows = append(m.plan.Rows, m.plan.row(n.Base, "", m.after.end(), "%s", action))
}
