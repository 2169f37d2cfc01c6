package startup

import "slices"

// rebuildProducers is UnifiedLog.rebuildProducerState: state becomes that at offset end.
func (l *loader) rebuildProducers(state *producerManager, start, end int64, clean bool) error {
	bases := l.bases()
	marks := append(slices.Clone(bases[max(0, len(bases)-2):]), end)
	if len(state.snapshots) == 0 && clean {
		for _, offset := range marks {
			state.mapEnd = offset
			state.take()
		}
		return nil
	}
	empty := len(state.producers) == 0 && state.mapEnd >= end
	if err := state.truncateAndReload(start, end); err != nil {
		return err
	}
	if end > state.mapEnd && !empty {
		if err := l.replay(state, start, end, marks); err != nil {
			return err
		}
	}
	state.mapEnd = end
	state.take()
	return nil
}

// replay feeds state the batches from where it stands to end.
func (l *loader) replay(state *producerManager, start, end int64, marks []int64) error {
	first, last := l.between(state.mapEnd, end)
	for i := first; i < last; i++ {
		s := l.segments[i]
		state.mapEnd = max(s.base, state.mapEnd, start)
		if slices.Contains(marks, s.base) {
			state.take()
		}
		holdsEnd := s.base <= end && (i+1 == len(l.segments) || l.segments[i+1].base > end)
		if err := l.replaySegment(state, s, end, holdsEnd); err != nil {
			return err
		}
	}
	return nil
}

// between is LogSegments.values(from, to): from the segment that holds from, up to those
// whose base is below to.
func (l *loader) between(from, to int64) (first, last int) {
	for i, s := range l.segments {
		if s.base <= from {
			first = i
		}
		if s.base < to {
			last = i + 1
		}
	}
	return first, last
}

func (l *loader) replaySegment(state *producerManager, s *segment, end int64, holdsEnd bool) error {
	limit := s.size()
	if holdsEnd {
		f, err := s.translate(end)
		if err != nil {
			return err
		}
		if f != nil {
			limit = f.pos
		}
	}
	from, err := s.translate(state.mapEnd)
	if err != nil || from == nil {
		return err
	}
	if limit < from.pos {
		return throw(illegalArgument, "Invalid size: %d", limit-from.pos)
	}
	state.replaying = true
	err = s.batches(from.pos, limit, func(w *walker, f *frame) (bool, error) {
		stands := state.mapEnd
		_, err := state.update(w, f)
		state.mapEnd = stands // a replay moves it by segments only
		return true, err
	})
	return join(err, state.endReplay())
}

// seekUnstable is maybeIncrementFirstUnstableOffset: the broker looks up where the oldest
// unstable transaction begins, and stops where it cannot read there. That there is no such
// offset is no matter.
func (l *loader) seekUnstable(start, end int64) error {
	first, ok := l.state.firstUnstable()
	offset := max(first, start)
	if !ok || offset >= end || offset < l.segments[0].base {
		return nil
	}
	from, _ := l.between(offset, offset)
	for _, s := range l.segments[from:] {
		if f, err := s.translate(offset); err != nil || f != nil {
			return err
		}
	}
	return nil
}
