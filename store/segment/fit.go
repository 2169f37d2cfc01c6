package segment

import (
	"logdir/store/corrupt"
	"logdir/store/record"
)

// This file judges what no checksum covers: base offsets and leader epochs. They may jump
// ahead (compaction leaves gaps, elections raise epochs), but never fall. Where they seem
// to fall, one of two batches is wrong, and which one is decided by those behind: the
// batch without which more of them fit is the damage, not the many.

// judgeOffset judges a frame that does not begin at the log end, or leaves the segment.
func (s *Scanner) judgeOffset(base, last int64) {
	switch {
	case last < base:
		s.badOffset("last offset %d is below base offset %d", last, base)
	case base < s.o.Base:
		s.judgeFallen(base, last, "base offset %d is below the segment's %d", base, s.o.Base)
	case base < s.next:
		s.judgeFallen(base, last, "base offset %d goes back, log end is %d", base, s.next)
	case last >= s.w.high && s.o.Limit > 0 && s.w.high == s.o.Limit:
		s.badOffset("last offset %d reaches into the next segment at %d", last, s.o.Limit)
	case last >= s.w.high:
		s.badOffset("last offset %d is too far from the segment's base offset %d", last, s.o.Base)
	case !s.isLast() && !s.leadsOn(last+1) && s.isOutlier(base, last):
		s.badOffset("base offset %d, but the batches behind go on from %d", base, s.next)
	}
}

// judgeFallen judges a frame whose offsets were used already: a second copy behind the end
// of the log is stale, anything else has the wrong offset.
func (s *Scanner) judgeFallen(base, last int64, format string, args ...any) {
	if pos, _ := s.ahead().nextGood(s.w.next, s.next); pos == corrupt.Unknown && s.isStale() {
		s.takeStale()
		return
	}
	s.badOffset(format, args...)
}

func (s *Scanner) badOffset(format string, args ...any) {
	s.bad("baseOffset", format, args...)
}

// bad reports the whole frame for a field outside its checksum.
func (s *Scanner) bad(field, format string, args ...any) {
	err := corrupt.Newf(corrupt.BadOffset, s.w.pos, s.Size(), format, args...)
	err.Field = field
	s.found(describe(err, &s.w.batch))
}

// judgeEpoch judges a frame whose leader epoch is not that of the log so far.
func (s *Scanner) judgeEpoch(epoch int32) {
	switch {
	case epoch == s.epoch:
	case epoch == record.NoLeaderEpoch && !s.epochs:
		return // a log that was never given any
	case epoch < s.epoch:
		s.bad("partitionLeaderEpoch", "leader epoch %d falls, was %d", epoch, s.epoch)
	case s.epochIsOutlier(epoch):
		s.bad("partitionLeaderEpoch", "leader epoch %d, but the batches behind have %d", epoch, s.epoch)
	default:
		s.epoch = epoch
	}
	s.epochs = true
}

// leadsOn says whether the next frame, by what its header claims, follows at offset from or
// later. It settles most gaps without another checksum.
func (s *Scanner) leadsOn(from int64) bool {
	b, ok := s.peekNext()
	return ok && b.BaseOffset() >= from && b.BaseOffset() < s.w.high
}

// peekNext views the header behind the frame, if that is there and plausible.
func (s *Scanner) peekNext() (record.Batch, bool) {
	head := s.w.peek()
	if !record.Plausible(head) {
		return record.Batch{}, false
	}
	b, _, ok := record.ViewHeader(head)
	return b, ok
}

// isLast says whether nothing stands behind the frame, that could make it an outlier.
func (s *Scanner) isLast() bool { return s.w.next == s.w.end }

// epochIsOutlier says whether a higher epoch is this frame's alone.
func (s *Scanner) epochIsOutlier(epoch int32) bool {
	if b, ok := s.peekNext(); s.isLast() || ok && b.LeaderEpoch() >= epoch {
		return false
	}
	var links []link
	for _, f := range s.ahead().frames(s.w.next, s.next) {
		if f.epoch != record.NoLeaderEpoch {
			links = append(links, link{int64(f.epoch), int64(f.epoch)})
		}
	}
	return outlier(link{int64(epoch), int64(epoch)}, links, int64(s.epoch))
}

// isOutlier says whether a frame behind a gap does not belong there.
func (s *Scanner) isOutlier(base, last int64) bool {
	var links []link
	for _, f := range s.ahead().frames(s.w.next, s.next) {
		links = append(links, link{f.base, f.last + 1})
	}
	return outlier(link{base, last + 1}, links, s.next)
}

// link is one frame in a chain: the next link must begin at to or later.
type link struct{ from, to int64 }

// outlier says whether c is in the way of those behind it: whether the longest chain
// from start on has no use for c. In a tie it is c, unless the one behind it fills the
// hole exactly that it would leave.
func outlier(c link, behind []link, start int64) bool {
	with, without := 1+longestChain(behind, c.to), longestChain(behind, start)
	if with != without {
		return without > with
	}
	if width := behind[0].to - behind[0].from; len(behind) > 1 && behind[1].from-c.to == width {
		return false // the first behind c would fill the hole that it leaves
	}
	return true
}

// longestChain is the number of links that can follow each other from start on.
func longestChain(links []link, start int64) int {
	var lengths [lookahead]int
	longest := 0
	for i := len(links) - 1; i >= 0; i-- {
		if links[i].from < start {
			continue
		}
		lengths[i] = 1
		for j := i + 1; j < len(links); j++ {
			if links[j].from >= links[i].to {
				lengths[i] = max(lengths[i], 1+lengths[j])
			}
		}
		longest = max(longest, lengths[i])
	}
	return longest
}
