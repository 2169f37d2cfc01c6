package startup

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"logdir/store/index"
	"logdir/store/record"
)

// retryOnOverflow is retryOnOffsetOverflow: a segment with an offset that does not fit its
// base is split, and what met it begins anew.
func (l *loader) retryOnOverflow(do func() error) error {
	for {
		err := do()
		if !is(err, offsetOverflow) {
			return err
		}
		l.overflowed.report.Why = err.Error()
		if err := l.split(l.overflowed); err != nil {
			return err
		}
	}
}

// part is one of the segments that another one is split into.
type part struct {
	*segment
	start, size int64 // where it stands in the other one's log, in bytes
	next        int64 // offset behind its last batch
	index       *index.Builder
}

// split is LocalLog.splitOverflowedSegment.
func (l *loader) split(s *segment) error {
	overflows, err := s.hasOverflow()
	if err != nil {
		return err
	}
	if !overflows {
		return throw(illegalArgument, "Split operation is only permitted for segments with overflow, and the problem path is %s", s.name(logSuffix))
	}
	parts, err := l.partsOf(s)
	if err != nil {
		return err
	}
	for _, p := range parts { // onBecomeInactiveSegment
		if err := orderException(p.index.Finish()); err != nil {
			return err
		}
	}
	return l.replace(s, parts)
}

// hasOverflow looks at the last batch only.
func (s *segment) hasOverflow() (bool, error) {
	next, err := s.readNextOffset()
	return next > s.base && next-1-s.base > math.MaxInt32, err
}

// partsOf cuts the log of s before each batch whose last offset does not fit the base of
// the part so far: the base offset of the part's first batch.
func (l *loader) partsOf(s *segment) ([]part, error) {
	var parts []part
	end := int64(0)
	err := s.batches(0, s.size(), func(w *walker, f *frame) (bool, error) {
		if n := len(parts); n == 0 || !parts[n-1].takes(f) {
			p, err := l.newPart(s, w, f)
			if err != nil {
				return false, err
			}
			parts = append(parts, p)
		}
		end = f.pos + f.size
		return true, parts[len(parts)-1].append(f)
	})
	if err == nil && end < s.size() {
		err = throw(noSuchElement, "no batch at byte %d of file %s, behind which %d bytes are to be split", end, s.name(logSuffix), s.size()-end)
	}
	return parts, err
}

// takes says whether the batch can be indexed under the part's base offset.
func (p *part) takes(f *frame) bool {
	relative := f.lastOffset() - p.base
	return relative >= 0 && relative <= math.MaxInt32
}

// newPart is createNewCleanedSegment and the begin of appendFromFile, which takes nothing
// where the first batch does not fit, or where its sum of position and size overflows.
func (l *loader) newPart(s *segment, w *walker, f *frame) (part, error) {
	base, err := w.firstOffset(f)
	if err != nil {
		return part{}, err
	}
	p := part{
		segment: &segment{dir: l.dir, base: base, txnUnopened: true},
		start:   f.pos, index: index.NewBuilder(base, l.o.IndexInterval),
	}
	if !p.takes(f) || f.pos+s.size() > math.MaxInt32 {
		return p, throw(illegalState, "Failed to append records from position %d in %s", f.pos, s.name(logSuffix))
	}
	return p, nil
}

// append is LogSegment.append of one batch. No checksum is looked at, but the batch is read
// as one from a client, whose magic is known and whose header is whole.
func (p *part) append(f *frame) error {
	const timestampEnd = 43
	if magic := int8(f.head[16]); magic < 0 || magic > int8(record.V2) {
		return throw(corruptRecord, "Invalid magic found in record: %d", magic)
	}
	if !f.legacy && f.size < timestampEnd {
		return throw(indexOutOfBounds, "the batch at byte %d has %d bytes", f.pos, f.size)
	}
	span := f.span()
	span.Pos -= p.start
	p.size, p.next = p.size+f.size, f.nextOffset()
	return orderException(p.index.Add(span))
}

// replace is LocalLog.replaceSegments: the parts take their names, over files that have
// them. The old segment only goes if the broker holds it already, which it does not while
// it loads it.
func (l *loader) replace(old *segment, parts []part) error {
	bases := make([]int64, len(parts))
	for i, p := range parts {
		if slices.Contains(bases[:i], p.base) {
			return throw(noSuchFile, "%s: two parts of %s begin with this offset", p.name(logSuffix), old.name(logSuffix))
		}
		bases[i] = p.base
	}
	source, lowest := *l.dir.files[old.name(logSuffix)], slices.Min(bases)
	_, held := l.find(old.base)
	stays := !held && !slices.Contains(bases, old.base)
	l.tellSplit(old, parts, stays)
	for _, p := range parts {
		l.hold(p.segment)
	}
	switch {
	case held:
		l.letGo(old, lowest, bases)
	case stays:
		if err := old.leave(); err != nil {
			return err
		}
	}
	for _, p := range parts {
		p.store(source)
	}
	return nil
}

// letGo removes the files of a segment that was split, and forgets it, unless the lowest
// part has its base. Where another part has it, the broker forgets that one.
func (l *loader) letGo(old *segment, lowest int64, bases []int64) {
	if at, _ := l.find(old.base); old.base != lowest {
		l.segments = slices.Delete(l.segments, at, at+1)
	}
	for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix, txnSuffix} {
		l.dir.remove(old.name(suffix))
	}
	if !slices.Contains(bases, old.base) {
		l.state.drop(old.base) // deleteProducerSnapshotsAsync
	}
}

// remember keeps what a recovery finds of the index files.
func (s *segment) remember() {
	s.before = map[string]*File{}
	for _, x := range indexFiles {
		s.before[x.suffix] = s.dir.files[s.name(x.suffix)]
	}
}

// leave is what becomes of the index files of a segment whose recovery stopped and which
// nobody closes: AbstractIndex.reset has brought them to full size, and the new entries
// stand over whatever was in them.
func (s *segment) leave() error {
	for _, x := range indexFiles {
		data := make([]byte, maxIndexSize/x.width*x.width)
		if old := s.before[x.suffix]; old != nil {
			c, err := s.dir.openFile(old)
			if err != nil {
				return err
			}
			if err := c.readInto(data[:min(c.size, int64(len(data)))]); err != nil {
				return err
			}
		}
		copy(data, s.dir.files[s.name(x.suffix)].Data)
		s.dir.write(s.name(x.suffix), data)
	}
	return nil
}

// store writes the files of a part under their plain names. There is no transaction index.
func (p *part) store(source File) {
	f := &File{Name: p.name(logSuffix), Origin: source.Origin, Start: source.Start + p.start, Size: p.size}
	p.dir.files[f.Name] = f
	p.dir.write(p.name(indexSuffix), p.index.Index())
	p.dir.write(p.name(timeSuffix), p.index.TimeIndex())
}

// find is the place of a segment among those that the broker holds.
func (l *loader) find(base int64) (int, bool) {
	return slices.BinarySearchFunc(l.segments, base, func(s *segment, base int64) int { return cmp.Compare(s.base, base) })
}

// hold adds a segment to those that the broker holds, in place of one with the same base.
func (l *loader) hold(s *segment) {
	at, there := l.find(s.base)
	if there {
		l.segments[at] = s
		return
	}
	l.segments = slices.Insert(l.segments, at, s)
}

// tellSplit reports the split and its parts. A part with the base of another segment
// overwrites it; one that an earlier split of the same segment made stood for the same.
func (l *loader) tellSplit(old *segment, parts []part, stays bool) {
	r := old.report
	r.Split, r.Stays = nil, stays
	for _, p := range parts {
		r.Split = append(r.Split, p.base)
		from := r.Stood()
		from.Pos += p.start
		p.report = &Segment{Base: p.base, From: &from, OldSize: p.size, Valid: p.size, Next: p.base}
		l.tellPart(p.report)
	}
	r.Next = parts[len(parts)-1].next
}

func (l *loader) tellPart(r *Segment) {
	if i := l.told(r.Base); i >= 0 {
		if before := l.reports[i]; before.Stood() == *r.From {
			l.reports = slices.Delete(l.reports, i, i+1)
		} else {
			before.Overwritten, before.Valid = true, 0
			before.Why = fmt.Sprintf("a segment that is split off %020d takes its name", r.From.Base)
		}
	}
	l.reports = append(l.reports, r)
}
