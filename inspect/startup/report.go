package startup

import (
	"cmp"
	"slices"
)

// Segment is what the start does to one segment.
type Segment struct {
	Base int64
	// Recovered says that its batches were walked.
	Recovered bool
	// OldSize is the size of the .log on disk, Valid its size afterwards, in bytes.
	OldSize, Valid int64
	// Next is the offset behind its last batch, where Recovered is set; else the base.
	Next int64
	// Emptied says that all of it goes, because its batches cannot be indexed.
	Emptied bool
	// Removed says that the segment is deleted.
	Removed bool
	// Why is what made the broker cut, empty, remove or split it.
	Why string

	// Split are the bases of the segments that its batches are copied to, in their order,
	// because an offset does not fit its base. It goes then, unless Stays is set: of a
	// segment that is split while it is loaded, and whose base is none of those, the broker
	// does not think any more.
	Split []int64
	Stays bool
	// From is where its batches stood before, if it comes from such a split. OldSize is then
	// the size with which it comes.
	From *Place
	// Overwritten says that its files are replaced by those of one that comes from a split.
	Overwritten bool
}

// Place is a byte in the log of a segment.
type Place struct{ Base, Pos int64 }

// Gone says that all batches of the segment are in others.
func (s *Segment) Gone() bool { return len(s.Split) > 0 && !s.Stays }

// alive says that the segment still has its name.
func (s *Segment) alive() bool { return !s.Gone() && !s.Removed && !s.Overwritten }

// Stood is where the first byte of the segment stood before the start.
func (s *Segment) Stood() Place {
	if s.From != nil {
		return *s.From
	}
	return Place{Base: s.Base}
}

// BaseBehind is the lowest base offset above base among the segments that were loaded, 0 if
// there is none.
func (o *Outcome) BaseBehind(base int64) (behind int64) {
	for _, s := range o.Segments {
		if s.Base > base && (behind == 0 || s.Base < behind) {
			behind = s.Base
		}
	}
	return behind
}

// tellOf begins the report of a segment, or goes on with the one of the same name.
func (l *loader) tellOf(s *segment) {
	if i := l.told(s.base); i >= 0 {
		s.report = l.reports[i]
		return
	}
	l.reports = append(l.reports, s.report)
}

// told is the place of the report about a segment that has its name; -1 without one.
func (l *loader) told(base int64) int {
	return slices.IndexFunc(l.reports, func(r *Segment) bool { return r.Base == base && r.alive() })
}

// report is what is told of all segments, by base; of one that is split before its parts.
func (l *loader) report() []Segment {
	slices.SortStableFunc(l.reports, func(a, b *Segment) int { return cmp.Compare(a.Base, b.Base) })
	out := make([]Segment, len(l.reports))
	for i, r := range l.reports {
		out[i] = *r
	}
	return out
}
