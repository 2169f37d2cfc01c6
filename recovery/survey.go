package recovery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// damage is one damaged range of a log.
type damage struct {
	*corrupt.Error
	// tail says that nothing valid stands behind it in its segment.
	tail bool
	// kept says that the range is a batch that no policy takes out; copied, that it is a
	// second copy of one in a later segment, and no damage at all.
	kept, copied bool
	// before is the log end in front of it, or corrupt.Unknown; epoch the leader epoch there,
	// or -1. after is where offsets go on behind it, here or in the next segment, or
	// corrupt.Unknown.
	before int64
	after  int64
	epoch  int32
	// lost is how many records go with it; uncounted are the bytes that do not tell.
	lost, uncounted int64
}

// keeps says whether damage is a batch that stays: one that is wrong in its leader epoch
// only, or whose records do not parse although its checksum is right, unless asked for.
func (o *Options) keeps(d *corrupt.Error) bool {
	return d.EpochOnly() || d.Kind == corrupt.BadRecords && !o.Deep
}

// segmentSurvey is what one pass over a segment found out.
type segmentSurvey struct {
	segment.Files
	size  int64
	mtime int64 // ns, to see whether it changed while it was read
	// next is the log end offset behind the last good batch, here or before.
	next    int64
	batches int64
	mkb1    bool

	damages   []damage
	strangers segment.Strangers
	// offsets and times are the verdicts on the index files; index and timeIndex what they
	// should hold.
	offsets, times   index.Report
	index, timeIndex []byte
	indexed          bool // these two are made; they may be empty
	aborted          []index.AbortedTxn
	// producers is the state in front of the segment, if its snapshot may have to be made.
	producers []producer.Entry
}

// path is where one of the segment's files stands.
func (s *segmentSurvey) path(dir, suffix string) string {
	name := segment.FileName(s.Base, suffix)
	for _, have := range []string{s.Log, s.Index, s.TimeIndex, s.TxnIndex} {
		if have != "" && filepath.Ext(have) == suffix {
			name = have
		}
	}
	return filepath.Join(dir, name)
}

// survey is what one pass over a partition found out.
type survey struct {
	listing  segment.Listing
	segments []*segmentSurvey
	epochs   checkpoint.Epochs // as the batches tell them
	// epochEnds are the offsets behind the last batch of each epoch.
	epochEnds []int64
	state     *producer.State // behind the last batch
	complete  bool            // the state is right: it began at offset 0, or with a snapshot
	notes     []string

	// resume is where a second pass can begin: in front of the first damaged segment.
	resume *standing
}

// standing is what a pass knows in front of a segment.
type standing struct {
	at        int
	next      int64
	epoch     int32
	epochs    checkpoint.Epochs
	epochEnds []int64 // the log end where each of them but the last ended
	producers []producer.Entry
}

// end is the log end offset.
func (s *survey) end() int64 {
	if len(s.segments) == 0 {
		return 0
	}
	return s.segments[len(s.segments)-1].next
}

// damaged says whether a policy has to decide about anything.
func (s *survey) damaged() bool {
	return slices.ContainsFunc(s.segments, (*segmentSurvey).damaged)
}

func (s *segmentSurvey) damaged() bool {
	return slices.ContainsFunc(s.damages, func(d damage) bool { return !d.kept })
}

// surveyor makes surveys of one partition. It reads each log once; with edits it reads
// them as they would be with these made.
type surveyor struct {
	ctx  context.Context
	fs   vfs.ReadFS
	dir  string
	o    Options
	list segment.Listing

	scanner segment.Scanner
	state   *producer.State
	now     standing
}

// survey walks the segments. edits are by base offset, in positions of the files on disk.
// Of an earlier survey whatever stands in front of its first damage is taken over.
func (v *surveyor) survey(edits map[int64][]Edit, earlier *survey) (*survey, error) {
	out := &survey{listing: v.list, complete: true}
	if err := v.begin(out, earlier); err != nil {
		return nil, err
	}
	for i := v.now.at; i < len(v.list.Segments); i++ {
		before := v.now
		before.at, before.producers = i, v.state.Entries()
		before.epochs, before.epochEnds = slices.Clone(v.now.epochs), slices.Clone(v.now.epochEnds)
		g, err := v.segment(i, edits[v.list.Segments[i].Base], out)
		if err != nil {
			return nil, err
		}
		if edits != nil || v.unreadable(g.Snapshot) {
			g.producers = before.producers
		}
		out.segments = append(out.segments, g)
		if len(g.damages) > 0 && out.resume == nil {
			out.resume = &before
		}
	}
	out.epochs, out.state = v.now.epochs, v.state
	out.epochEnds = append(v.now.epochEnds, v.now.next)
	return out, nil
}

// begin stands in front of the first segment that is to be walked.
func (v *surveyor) begin(out, earlier *survey) error {
	v.state = producer.NewState(0)
	if earlier != nil && earlier.resume != nil {
		v.now = *earlier.resume
		v.now.epochs, v.now.epochEnds = slices.Clone(v.now.epochs), slices.Clone(v.now.epochEnds)
		v.state.Restore(v.now.producers)
		out.segments = slices.Clone(earlier.segments[:v.now.at])
		out.complete, out.resume = earlier.complete, earlier.resume
		return nil
	}
	v.now = standing{next: corrupt.Unknown, epoch: record.NoLeaderEpoch}
	if len(v.list.Segments) == 0 || v.list.Segments[0].Base == 0 {
		return nil
	}
	return v.restore(out, v.list.Segments[0])
}

// restore loads the snapshot at the start of a log that does not begin at offset 0. Without
// it transactions and producers from before are not known.
func (v *surveyor) restore(out *survey, first segment.Files) error {
	if first.Snapshot == "" {
		out.complete = false
		return nil
	}
	entries, err := producer.ReadSnapshot(v.fs, filepath.Join(v.dir, first.Snapshot))
	if _, bad := errors.AsType[*corrupt.Error](err); bad {
		out.complete = false
		return nil
	}
	v.state.Restore(entries)
	return err
}

// unreadable says that a snapshot is there and damaged.
func (v *surveyor) unreadable(snapshot string) bool {
	if snapshot == "" {
		return false
	}
	_, err := producer.ReadSnapshot(v.fs, filepath.Join(v.dir, snapshot))
	_, bad := errors.AsType[*corrupt.Error](err)
	return bad
}

// limit is the base offset of the segment behind i, 0 if there is none.
func (v *surveyor) limit(i int) int64 {
	if i+1 < len(v.list.Segments) {
		return v.list.Segments[i+1].Base
	}
	return 0
}

// scanOptions are what is known in front of segment i.
func (v *surveyor) scanOptions(i int) segment.Options {
	return segment.Options{
		Base: v.list.Segments[i].Base, Limit: v.limit(i), LogEnd: v.now.next, Epoch: v.now.epoch, Deep: v.o.Deep,
	}
}

// segment walks one segment.
func (v *surveyor) segment(i int, edits []Edit, out *survey) (*segmentSurvey, error) {
	g := &segmentSurvey{Files: v.list.Segments[i]}
	f, err := v.fs.Open(filepath.Join(v.dir, g.Log))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		g.size, g.mtime = info.Size(), info.ModTime().UnixNano()
		c := Change{Edits: edits}
		log := c.Patched(f, g.size)
		err = v.walk(g, i, log, len(edits) > 0, out)
	}
	if err == nil {
		err = stillAs(f, g)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, readProblem(filepath.Join(v.dir, g.Log), err)
	}
	return g, nil
}

// stillAs makes sure that a log did not change while it was read.
func stillAs(f vfs.ReadFile, g *segmentSurvey) error {
	info, err := f.Stat()
	if err == nil && (info.Size() != g.size || info.ModTime().UnixNano() != g.mtime) {
		err = store.Errorf(store.Busy, "", "changed while it was read: it is in use, not corrupt")
	}
	return err
}

// readProblem says what an I/O error means: not corruption.
func readProblem(path string, err error) error {
	if r, ok := errors.AsType[*segment.ReadError](err); ok {
		return store.Errorf(store.Failed, "KAFKA_STORAGE_ERROR", "%s: %w; this is no corruption, nothing was changed", path, r).
			WithHint("make an image of the disk and work on that, or: logdir salvage %s --to DIR", filepath.Dir(path))
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		return store.Errorf(e.Class, e.Name, "%s: %w", path, err).WithHint("%s", e.Hint)
	}
	return err
}

// walk is the one pass over the bytes of a log: batches to the indexes, the producers and
// the epochs, damage to the list.
func (v *surveyor) walk(g *segmentSurvey, i int, log Patched, edited bool, out *survey) error {
	g.mkb1 = isMKB1(log, log.Size(), g.Base)
	indexes, err := v.openIndexes(g)
	if err != nil {
		return err
	}
	checker := indexes.checker(g)
	builder := v.builderFor(g, edited)
	v.scanner.Reset(log, log.Size(), v.scanOptions(i))
	if err := v.scan(g, v.limit(i), checker, builder, out); err != nil {
		return errors.Join(err, indexes.close())
	}
	v.now.next, v.now.epoch = max(v.scanner.NextOffset(), g.Base), v.scanner.Epoch()
	g.next = v.now.next
	countLost(g.damages, v.limit(i))
	if err := v.settleCopies(g, i, out); err != nil {
		return errors.Join(err, indexes.close())
	}
	if builder != nil {
		builder.Finish()
		g.index, g.timeIndex, g.indexed = builder.Index(), builder.TimeIndex(), true
	}
	g.offsets, g.times, err = checker.Finish()
	return errors.Join(err, indexes.close())
}

// settleCopies finds the batches that an interrupted cleaning has left twice. They do no
// harm, and stay.
func (v *surveyor) settleCopies(g *segmentSurvey, i int, out *survey) error {
	ok, err := g.strangers.AreCopies(v.fs, filepath.Join(v.dir, g.Log), v.limit(i))
	if err != nil || !ok {
		return err
	}
	n := 0
	for j := range g.damages {
		if d := &g.damages[j]; d.copied {
			d.kept = true
			n++
		}
	}
	out.notes = append(out.notes, fmt.Sprintf("%s: %d of its batches belong to later segments: an interrupted cleaning left them twice", g.Log, n))
	return nil
}

// builderFor makes the index files anew along with the scan, where it is known beforehand
// that they are wanted. Those that turn out to be wrong are made by a scan of their own.
func (v *surveyor) builderFor(g *segmentSurvey, edited bool) *index.Builder {
	if !edited && !v.o.TrimIndexes && g.Index != "" && (g.mkb1 || g.TimeIndex != "") {
		return nil
	}
	return newBuilder(g, v.o.IndexInterval)
}

// scan hands good batches to everybody and puts damage on the list.
func (v *surveyor) scan(g *segmentSurvey, limit int64, checker *index.Checker, builder *index.Builder, out *survey) error {
	s := &v.scanner
	for before, epoch := s.NextOffset(), s.Epoch(); s.Next(); before, epoch = s.NextOffset(), s.Epoch() {
		d := s.Damage()
		if d == nil {
			v.take(g, checker, builder, out)
			switch e := s.Epoch(); {
			case g.batches == 1: // before may be the segment's base, above the end of the last
				v.assignEpoch(s.Batch(), max(v.now.next, 0))
			case e != epoch:
				v.assignEpoch(s.Batch(), before)
			}
		} else {
			kept := s.Batch() != nil && v.o.keeps(d)
			if kept {
				v.take(g, checker, builder, out)
			} else {
				checker.Damage()
			}
			copied := g.strangers.Add(d, s.Batch(), limit)
			g.damages = append(g.damages, damage{Error: d, tail: !kept, kept: kept, copied: copied, before: before, epoch: epoch})
		}
		if g.batches%ctxBatches == 0 {
			if err := v.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return s.Err()
}

// ctxBatches is how many batches are looked at between two looks at the context.
const ctxBatches = 1 << 12

func newBuilder(g *segmentSurvey, interval int) *index.Builder {
	if g.mkb1 {
		return index.NewMKB1Builder(g.Base, interval)
	}
	return index.NewBuilder(g.Base, interval)
}

// take hands the batch at which the scan stands to everybody.
func (v *surveyor) take(g *segmentSurvey, c *index.Checker, x *index.Builder, out *survey) {
	b, pos := v.scanner.Batch(), v.scanner.Pos()
	for i := len(g.damages) - 1; i >= 0 && g.damages[i].tail; i-- {
		g.damages[i].tail = false
	}
	g.batches++
	c.AddBatch(b, pos)
	if x != nil {
		if err := x.Add(index.SpanOf(b, pos)); err != nil {
			out.notes = append(out.notes, fmt.Sprintf("%s: %v", g.Log, err))
		}
	}
	if b.ProducerID() > record.NoProducerID {
		v.produced(g, b, pos, out)
	}
}

// produced hands a producer's batch to the state of the producers.
func (v *surveyor) produced(g *segmentSurvey, b *record.Batch, pos int64, out *survey) {
	ended, err := v.state.Update(b)
	if err != nil {
		out.notes = append(out.notes, fmt.Sprintf("%s at byte %d: %v", g.Log, pos, err))
	}
	if ended != nil && ended.Aborted {
		g.aborted = append(g.aborted, ended.AbortedTxn)
	}
}

// assignEpoch follows the leader epochs as a broker's recovery does.
func (v *surveyor) assignEpoch(b *record.Batch, before int64) {
	epoch := b.LeaderEpoch()
	last, ok := v.now.epochs.Latest()
	if epoch < 0 || ok && epoch <= last.Epoch {
		return
	}
	if v.now.epochs.Assign(epoch, b.BaseOffset()); ok {
		v.now.epochEnds = append(v.now.epochEnds, before)
	}
}
