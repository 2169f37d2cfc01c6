package segment

import "logdir/store/record"

// This file asks the records of a damaged batch where it ends. Each begins with its own
// length, so that they tell it once more, and whole frames between their first and their
// last byte are what somebody stored in a record, and no batches of this log.

// reach is how far the records of a frame go.
type reach struct {
	format record.Format
	end    int64 // behind the last of them, -1 if that is not known
	proved bool  // the stored checksum is right for so many bytes
	leads  bool  // if it is not: a frame may begin there, or the file ends
	torn   bool  // a record ends behind the file, and not behind the frame
}

// reach follows the records of the frame at pos, which claims size bytes.
func (w *walker) reach(pos, size int64, f record.Format) reach {
	if f > record.V2 && f != record.MKB1 {
		f = record.V2
	}
	r := reach{format: f, end: -1}
	head := w.far(pos)
	if int64(len(head)) < f.MinSize() {
		return r
	}
	b := record.Assume(head, int64(len(head)), f)
	if !w.inRange(b.BaseOffset()) {
		return r
	}
	stored := b.StoredCRC()
	ends, last := w.recordEnds(pos, &b)
	r.torn = last > w.end && last <= pos+size && b.CodecBits() == 0
	for _, end := range ends {
		if end < pos+f.MinSize() || end > w.end || r.proved || r.leads {
			continue
		}
		n := end - pos
		r.proved = n != size && w.spend(n, stored == w.farChecksum(pos, n, f))
		// A v0 message around what stands behind a torn header would lead there as well.
		r.leads = !r.proved && (f == record.V2 || n == size) && w.leads(end)
		if r.proved || r.leads || n == size {
			r.end = end
		}
	}
	w.spend((min(last, w.end)-pos)/8, r.end >= 0) // a walk is cheaper than a checksum
	return r
}

// recordEnds are the positions behind as many records of the frame at pos as each of its
// counts says, -1 where they do not reach so far. last is where the walk ended.
func (w *walker) recordEnds(pos int64, b *record.Batch) (ends [2]int64, last int64) {
	start, counts := b.Parts()
	at, before := pos+int64(start), int32(-1)
	ends = [2]int64{-1, -1}
	for n := int64(0); ; n++ {
		for i, count := range counts {
			if n == count {
				ends[i] = at
			}
		}
		if n >= max(counts[0], counts[1]) || at >= w.end || w.thrifty() && at-pos > windowSize {
			return ends, at
		}
		size, delta, ok := record.PartSize(b.Format(), w.elsewhere(at, record.PartHead))
		if !ok || b.Format() == record.V2 && delta <= before {
			return ends, at
		}
		at, before = at+size, delta
	}
}

// orEnd is the end of the records instead of a frame that was found at x, if they tell one:
// unless from x to there stand frames of their own.
func (w *walker) orEnd(r reach, x int64, found bool) (int64, bool) {
	if !r.leads || found && x < r.end && w.chain(x, r.end) {
		return x, found
	}
	return r.end, true
}

// tooLong says whether a frame that claims much ends somewhere else, by what is cheaper than its
// checksum: its records end there, or the log goes on within it. Where that is in doubt, the
// checksum will tell.
func (w *walker) tooLong(size int64, f record.Format) (end int64, ok bool) {
	if r := w.reach(w.pos, size, f); r.leads {
		return r.end, r.end < w.pos+size
	}
	if w.leads(w.pos + size) {
		return 0, false
	}
	h := w.newHunt(f)
	x, found := h.find(w.pos+1, w.pos+min(size, windowSize))
	return x, found && !h.proved && w.goesOn(x) && w.several(x)
}

// several says whether some frames stand one behind the other from x on.
func (w *walker) several(x int64) bool {
	for range 3 {
		if x == w.end {
			return true
		}
		size, f, ok := record.Peek(w.far(x))
		if !ok || size > w.end-x {
			return false
		}
		head := w.far(x)
		b := record.Assume(head, int64(len(head)), f)
		stored := b.StoredCRC()
		if !w.spend(size, stored == w.farChecksum(x, size, f)) {
			return false
		}
		x += size
	}
	return true
}

// stands says whether the frame found at x, within a damaged one that claims to reach to end,
// is one of this log. agreed: the records of the damaged one reach to end, too. leads:
// what stands there looks like a frame.
func (w *walker) stands(x, end int64, leads, agreed bool) bool {
	switch {
	case w.chain(x, end):
		return true
	case agreed:
		return !leads && w.goesOn(x)
	case !leads:
		return true
	}
	return w.fitsBetween(x, end)
}

// goesOn says whether the frame at x begins where the log ends, or where the damaged one
// begins or ends: there a broker appends after a crash, and there stands what was swallowed.
func (w *walker) goesOn(x int64) bool {
	first, last, _ := w.offsetsAt(w.pos)
	base, _, ok := w.offsetsAt(x)
	return ok && (base == w.low || base == first || base == last+1)
}

// fitsBetween says whether the frame at x lies, by its offsets, behind the damaged one and
// before the one at end. What a damaged one claims of its own may be damaged, too.
func (w *walker) fitsBetween(x, end int64) bool {
	_, before, _ := w.offsetsAt(w.pos)
	base, last, _ := w.offsetsAt(x)
	next, _, more := w.offsetsAt(end)
	return !more || last < next && (base > before || before >= next || w.goesOn(x))
}

// offsetsAt reads the offsets in the header at pos.
func (w *walker) offsetsAt(pos int64) (base, last int64, ok bool) {
	b, _, ok := record.ViewHeader(w.far(pos))
	if !ok {
		return 0, 0, false
	}
	return b.BaseOffset(), b.LastOffset(), true
}
