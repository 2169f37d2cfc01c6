package segment

import (
	"logdir/store/corrupt"
	"logdir/store/record"
)

// lookahead is how many frames behind a doubtful one have a say.
const lookahead = 16

// scout walks where the Scanner is not: ahead, to see how the log goes on, and back, to
// compare. It is made when it is first needed, since it has a buffer of its own.
type scout struct {
	s    *Scanner
	w    walker
	open bool // w is on this file

	// The last answer of nextGood, good for every from up to goodPos.
	goodFrom, goodPos, goodOffset, goodLow int64

	seen []frame

	past               walker // for holding
	pastOpen           bool
	pastBase, pastLast int64 // offsets of the frame where past stands
	restarts           int
}

// frame is what is remembered of a good frame.
type frame struct {
	pos, base, last int64
	epoch           int32
}

// ahead gives the scout, made if need be.
func (s *Scanner) ahead() *scout {
	if s.scout == nil {
		s.scout = &scout{s: s}
		s.scout.reset()
	}
	return s.scout
}

func (c *scout) reset() {
	c.open, c.pastOpen, c.restarts = false, false, 0
	c.goodFrom, c.goodPos, c.goodLow = 1, 0, 0 // no answer yet
}

// seek puts the scout in front of pos.
func (c *scout) seek(pos, low int64) {
	if !c.open {
		c.w.reset(c.s.w.r, c.s.w.size, &c.s.o)
		c.open = true
	}
	c.w.next, c.w.err, c.w.mkb1 = pos, nil, c.s.w.mkb1
	c.w.low, c.w.high = low, c.s.w.high
}

// step goes to the next frame that fits at offset low or later. An I/O error ends the
// walk like the end of the file: the Scanner will come to it.
func (c *scout) step(low int64) (frame, bool) {
	for c.w.step() {
		if c.w.damage != nil {
			continue
		}
		b := &c.w.batch
		f := frame{c.w.pos, b.BaseOffset(), b.LastOffset(), b.LeaderEpoch()}
		if f.base >= low && f.last >= f.base && f.last < c.w.high {
			return f, true
		}
	}
	return frame{}, false
}

// frames gives the next frames behind pos that fit at offset low or later. The list is valid
// until the next call.
func (c *scout) frames(pos, low int64) []frame {
	c.seek(pos, low)
	c.seen = c.seen[:0]
	for len(c.seen) < lookahead {
		f, ok := c.step(low)
		if !ok {
			break
		}
		c.seen = append(c.seen, f)
	}
	return c.seen
}

// nextGood is the next good frame at or behind pos, with its base offset, or Unknown.
func (c *scout) nextGood(pos, low int64) (int64, int64) {
	if pos >= c.s.w.end {
		return corrupt.Unknown, corrupt.Unknown
	}
	known := low == c.goodLow && pos >= c.goodFrom && (pos <= c.goodPos || c.goodPos == corrupt.Unknown)
	if !known {
		c.seek(pos, low)
		c.goodFrom, c.goodLow, c.goodPos, c.goodOffset = pos, low, corrupt.Unknown, corrupt.Unknown
		if f, ok := c.step(low); ok {
			c.goodPos, c.goodOffset = f.pos, f.base
		}
	}
	return c.goodPos, c.goodOffset
}

// copyOf says whether the log has b already: the same offset, size and checksum. It walks
// the log from the start of the scan; as long as the offsets asked for rise, once.
func (c *scout) copyOf(b *record.Batch) bool {
	if !c.holding(b.BaseOffset()) {
		return false
	}
	p := &c.past.batch
	return c.pastBase == b.BaseOffset() && p.Size() == b.Size() && p.StoredCRC() == b.StoredCRC()
}

// replaced says whether batches of a newer leader hold every offset of b.
func (c *scout) replaced(b *record.Batch) bool {
	for want := b.BaseOffset(); want <= b.LastOffset(); want = c.past.batch.LastOffset() + 1 {
		if !c.holding(want) || c.past.batch.LeaderEpoch() <= b.LeaderEpoch() {
			return false
		}
	}
	return true
}

// holding puts the walk over the log so far on the frame that holds the offset, if there is
// one.
func (c *scout) holding(offset int64) bool {
	if !c.pastOpen || c.pastBase > offset {
		if c.restarts++; c.restarts > maxRestarts {
			return false
		}
		c.openPast()
	}
	for c.past.pos < c.s.w.pos && c.pastLast < offset {
		if !c.past.step() {
			return false
		}
		if c.past.whole {
			c.pastBase, c.pastLast = c.past.batch.BaseOffset(), c.past.batch.LastOffset()
		}
	}
	return c.past.whole && c.pastBase <= offset && c.pastLast >= offset && c.past.pos < c.s.w.pos
}

func (c *scout) openPast() {
	o := c.s.o
	o.SkipCRC = true
	c.past.reset(c.s.w.r, c.s.w.size, &o)
	c.past.low, c.past.high = o.Base, c.s.w.high
	c.pastOpen, c.pastBase, c.pastLast = true, o.Base-1, o.Base-1
}

// maxRestarts bounds how often copyOf begins anew: stale bytes of a log are in order.
const maxRestarts = 16
