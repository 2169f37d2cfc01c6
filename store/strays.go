package store

import (
	"cmp"
	"errors"
	"slices"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// A broker serves a segment to its end, whatever offsets stand there, and goes on in the next
// one that has the offset wanted then. So it reads past the batches that an interrupted
// cleaning left in a segment in front of their own (see segment.Stranger), but what it serves
// depends on how much it is asked for at once. A cursor does not: batches that stand twice are
// read in their own segment, and those that stand nowhere else at their place between its
// batches. Each offset comes once, and in order.

// stray is a batch that only a segment in front of its own still holds.
type stray struct {
	segment.Stranger
	path string // of the log that holds it
	in   int64  // the base offset of that segment
}

// strays are those of the segments that a cursor has come through.
type strays struct {
	waiting []stray // by offset
	current *stray  // the batch at which the cursor stands; nil if it is the scan's
	batch   record.Batch
	buf     []byte
	held    bool // what the scan found comes behind current

	judged bool // the strangers of the segment that is open
	copies bool // and they are what an interrupted cleaning leaves
}

// isStray says whether what the scan found is a good batch in a segment in front of its own.
func (c *Cursor) isStray(d *corrupt.Error) bool {
	b := c.scan.Batch()
	if d.Kind != corrupt.BadOffset || b == nil || c.inLast() || b.LastOffset() < c.r.limit(c.next-1) {
		return false
	}
	if s := &c.strays; !s.judged {
		s.judged = true
		s.copies, c.err = c.judgeStrangers(d.Pos)
	}
	return c.strays.copies
}

// judgeStrangers looks at all batches of the open segment from byte pos on that belong to
// later ones.
func (c *Cursor) judgeStrangers(pos int64) (copies bool, err error) {
	o := c.scanOptions(pos)
	o.SkipCRC = false
	scan := scanners.Get().(*segment.Scanner)
	defer scanners.Put(scan)
	var found segment.Strangers
	path := c.seg.path(segment.LogSuffix)
	for scan.Reset(c.seg.log, c.seg.size, o); err == nil && scan.Next(); {
		if d := scan.Damage(); d != nil && found.Add(d, scan.Batch(), o.Limit) && found.Many() {
			err = found.LookFor(c.r.fs, path, o.Limit)
		}
	}
	copies, last := found.AreCopies(c.r.fs, path, o.Limit)
	if err = errors.Join(scan.Err(), err, last); err != nil || !copies {
		return false, err
	}
	var alone []stray
	for _, x := range found.Alone() {
		if x.Last >= c.from {
			alone = append(alone, stray{x, path, c.seg.base})
		}
	}
	c.strays.wait(alone)
	return true, nil
}

// wait adds the batches of a segment, unless one further in front holds their offsets too.
func (s *strays) wait(more []stray) {
	slices.SortStableFunc(more, func(a, b stray) int { return cmp.Compare(a.Base, b.Base) })
	all, front := make([]stray, 0, len(s.waiting)+len(more)), s.waiting
	for _, x := range more {
		for len(front) > 0 && front[0].Last < x.Base {
			all, front = append(all, front[0]), front[1:]
		}
		free := len(front) == 0 || front[0].Base > x.Last
		if free && (len(all) == 0 || all[len(all)-1].Last < x.Base) {
			all = append(all, x)
		}
	}
	s.waiting = append(all, front...)
}

// merge decides whether a batch that waits comes in front of what the scan found, if it
// found something.
func (c *Cursor) merge(found bool) bool {
	s := &c.strays
	for len(s.waiting) > 0 && c.err == nil {
		if d := c.scan.Damage(); found && d != nil && !d.EpochOnly() {
			return true
		}
		x, b := s.waiting[0], c.scan.Batch()
		if found && x.Base > b.LastOffset() {
			return true
		}
		s.waiting = s.waiting[1:]
		if !found || x.Last < b.BaseOffset() {
			s.held = found
			c.err = s.load(c.r.fs, x)
			return c.err == nil
		}
	}
	return found
}

// load makes x the batch at which the cursor stands.
func (s *strays) load(fsys vfs.ReadFS, x stray) error {
	f, err := fsys.Open(x.path)
	if err != nil {
		return err
	}
	s.buf = slices.Grow(s.buf[:0], int(x.Size))[:x.Size]
	_, err = f.ReadAt(s.buf, x.Pos)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	b, d := record.Parse(s.buf)
	if d != nil {
		d.Path, d.Pos = x.path, d.Pos+x.Pos
		return d
	}
	s.batch, s.current = b, &x
	return nil
}
