package store

import (
	"maps"
	"slices"

	"logdir/store/corrupt"
)

// A cursor goes by the segments that stood there when its log was opened. While it reads, a
// compaction may put others in their place, and retention may take some.

// relist looks where a segment went that is not there any more: a compaction joined it to
// another, or retention took it. It is false if that does not explain it.
func (c *Cursor) relist() bool {
	r, err := OpenReader(c.r.fs, c.r.dir, c.r.o)
	if err != nil {
		c.err = err
		return false
	}
	from := max(c.from, c.end)
	c.missed++
	switch {
	case c.missed > patience || c.r.lists(r):
		return false
	case len(r.bases) == 0 || from < r.bases[0] && c.r.bases[0] < r.bases[0] && !c.toLastEntry:
		c.err = Errorf(NotFound, "OFFSET_OUT_OF_RANGE", "%s: offset %d was deleted meanwhile, the log starts at %d now", c.r.dir, from, r.Start())
		return false
	}
	c.err = nil
	c.goOn(r)
	return true
}

// isOutdated tells, where something is wrong, whether the segments are others now: the one
// that is open may have been put in the place of those that were listed. The cursor then
// goes on by a new list. If they are the same it is one of them, whatever comes later.
func (c *Cursor) isOutdated() bool {
	if c.listed {
		return false
	}
	r, err := OpenReader(c.r.fs, c.r.dir, c.r.o)
	if err != nil || c.r.lists(r) {
		c.err, c.listed = err, true
		return err != nil
	}
	c.leave()
	c.goOn(r)
	return true
}

// goOn lets the cursor go on where it is, by a new list of the segments.
func (c *Cursor) goOn(r *LogReader) {
	c.from, c.end = max(c.from, c.end), corrupt.Unknown
	c.r, c.next = r, r.at(c.from)
	if c.toLastEntry {
		c.next = len(r.bases) - 1
	}
}

// lists tells whether another reader of the same log lists the same segments.
func (r *LogReader) lists(o *LogReader) bool {
	return slices.Equal(r.bases, o.bases) && maps.Equal(r.swapped, o.swapped)
}
