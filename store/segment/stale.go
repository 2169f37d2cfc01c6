package segment

import "logdir/store/corrupt"

// isStale says whether the frame, whose offsets were used already, can be done without:
// the log has the same batch, or has a newer leader's instead. A frame that merely claims
// a used offset may be a good one with a damaged offset, and is not stale.
func (s *Scanner) isStale() bool {
	b := &s.w.batch
	if b.LastOffset() >= s.next || b.BaseOffset() < s.o.Base {
		return false
	}
	older := b.LeaderEpoch() >= 0 && b.LeaderEpoch() < s.epoch
	return older && s.ahead().replaced(b) || s.ahead().copyOf(b)
}

// takeStale makes one damaged range of the stale frames that stand one behind the other.
func (s *Scanner) takeStale() {
	start, n := s.w.pos, int64(0)
	first, last := s.w.batch.BaseOffset(), s.w.batch.LastOffset()
	records := int64(0)
	end := s.w.pos
	for s.w.damage == nil && s.isStale() {
		n++
		first, last = min(first, s.w.batch.BaseOffset()), max(last, s.w.batch.LastOffset())
		records += int64(max(s.w.batch.Count(), 0))
		end = s.w.next
		if !s.step() {
			break
		}
	}
	s.w.pos, s.w.next, s.w.whole = start, end, false
	bad := corrupt.Newf(corrupt.Stale, start, end-start, "%s with offsets already used, log end is %d", count(n, "batch"), s.next)
	bad.BaseOffset, bad.LastOffset, bad.Records = first, last, records
	s.found(bad)
}
