package corrupt

import "math"

// HoldsNone says that damage of the kind holds no record that could be lost: a batch that
// was never whole, zeros, a second copy, or a file that can be made anew.
func (k Kind) HoldsNone() bool {
	switch k {
	case BadCRC, BadLength, BadMagic, BadOffset, BadRecords, Garbage:
		return false
	}
	return true
}

// CountLost counts the records that go with each of the damaged ranges of one segment,
// which are in order. A batch counts by its header, as far as the good batches around leave
// room for that; a range without a header counts as much as they leave, and so does a torn or
// zero one behind which offsets go on: it was whole once. limit is the base offset of the
// next segment, 0 or less if there is none.
func CountLost(ranges []*Error, limit int64) []int64 {
	lost := make([]int64, len(ranges))
	for i := 0; i < len(ranges); {
		end := i + 1
		for end < len(ranges) && ranges[end].room(limit) == ranges[i].room(limit) {
			end++
		}
		countRoom(ranges[i:end], lost[i:end], limit)
		i = end
	}
	return lost
}

// room is the offsets between the good batches around a range: from prev up to next.
type room struct{ prev, next int64 }

func (e *Error) room(limit int64) room {
	if e.NextOffset != Unknown {
		limit = e.NextOffset
	}
	return room{e.PrevOffset, limit}
}

// countRoom counts ranges between which no good batch stands.
func countRoom(ranges []*Error, lost []int64, limit int64) {
	left, known := int64(math.MaxInt64), false
	if r := ranges[0].room(limit); r.prev != Unknown && r.next > r.prev {
		left, known = r.next-r.prev, true
	}
	for i, e := range ranges {
		switch {
		case e.Kind.HoldsNone() || e.Records <= 0:
		case e.Kind == BadOffset: // the rest of it is right, and where it belongs unknown
			lost[i] = e.Records
			left = max(left-lost[i], 0)
		default:
			lost[i] = min(e.Records, left)
			left -= lost[i]
		}
	}
	for i, e := range ranges {
		if known && (e.Kind == Torn || e.Kind == Zeros || !e.Kind.HoldsNone() && e.Records == Unknown) {
			lost[i], left = left, 0
		}
	}
}
