package segment

import (
	"encoding/binary"

	"logdir/store/record"
)

// hunt is the search for the first frame behind a damaged one. On its way it tries the
// damaged frame with each length that would end it where another frame may begin.
type hunt struct {
	w      *walker
	format record.Format // of the damaged frame
	start  int64         // of the damaged frame
	proved bool          // the damaged frame ends where the hunt ended
	any    bool          // whatever the offset of the frame, and with no end of the damaged one

	provable bool
	stored   uint32
	crc      uint32 // of the damaged frame up to done
	done     int64
}

// newHunt begins a hunt behind the frame at w.pos. An unknown format is taken for v2.
func (w *walker) newHunt(f record.Format) *hunt {
	if f > record.V2 && f != record.MKB1 {
		f = record.V2
	}
	if f == record.MKB1 && w.pos == w.start && record.Plausible(w.far(w.pos)) {
		w.mkb1 = true // it is only damaged
	}
	h := &hunt{w: w, format: f, start: w.pos, done: w.pos + int64(f.ChecksumStart())}
	if w.end-w.pos >= f.MinSize() {
		h.provable, h.stored = true, w.storedCRC(w.pos, f)
	}
	return h
}

// find searches the positions from up to, and not including, to; if to is the end of the
// file, it is tried too, as the end of the damaged frame. Finds must go upwards.
func (h *hunt) find(from, to int64) (pos int64, found bool) {
	w := h.w
	for pos = from; pos < to && !w.exhausted(); {
		b := w.at(pos, record.HeaderSize)
		if len(b) == 0 {
			return 0, false
		}
		n := len(b)
		if pos+int64(len(b)) < w.end {
			n -= record.HeaderSize - 1 // further headers would be cut off
		}
		n = int(min(int64(n), to-pos))
		if i := h.block(b, pos, n); i < n {
			return pos + int64(i), true
		}
		h.extend(b, pos, pos+int64(n))
		pos += int64(n)
	}
	if to == w.end && pos == to && h.endsAt(to) {
		h.proved = true
		return to, true
	}
	return 0, false
}

// findNext is find behind a frame that was found at x, or inside of it.
func (h *hunt) findNext(x, to int64) (pos int64, found bool) {
	h.extend(h.w.at(x, 1), x, x+1)
	return h.find(x+1, to)
}

// proofBehind says where the damaged frame ends if not at x, where a frame was found: that
// may be inside of it, if the checksum proves an end behind. It is not looked for where the
// records told the end, nor far away, nor for ever.
func (h *hunt) proofBehind(r reach, x int64, found bool) int64 {
	w := h.w
	limit := min(w.end, h.start+windowSize)
	if !found || !h.provable || r.end >= 0 || x >= limit || w.doubted > w.size+wasteFloor {
		return x
	}
	w.doubted += limit - x
	for at, found := h.findNext(x, limit); found; at, found = h.findNext(at, limit) {
		if h.proved {
			return at
		}
	}
	return x
}

// block looks at the first n positions of b, which begins at pos; n means that no frame
// begins at any of them.
func (h *hunt) block(b []byte, pos int64, n int) int {
	low, high := uint32(h.w.low>>32), uint32((h.w.high-1)>>32)
	for i := 0; i < n && i+record.PrefixSize <= len(b); i++ {
		top := binary.BigEndian.Uint32(b[i:])
		switch {
		case top == mkb1Word || top == low && !h.any || top == high && !h.any:
		case !h.any || b[i+record.PrefixSize-1] > byte(record.V2):
			continue
		}
		if skip := zeroRun(b[i:]); skip > record.HeaderSize {
			i += skip - record.PrefixSize // a header of zeros begins no frame
			continue
		}
		head := b[i:min(i+record.HeaderSize, len(b))]
		if top != mkb1Word && (h.w.mkb1 || h.format == record.MKB1) {
			continue // what is in the records of MKB1
		}
		if h.any && !record.Plausible(head) || !h.any && !h.w.fits(head) {
			continue
		}
		h.extend(b, pos, pos+int64(i))
		if h.endsAt(pos + int64(i)) {
			h.proved = true
			return i
		}
		if h.w.valid(b[i:], pos+int64(i)) || h.w.hurt(head, pos+int64(i)) {
			return i
		}
	}
	return n
}

// findAny searches for a frame with the right checksum, whatever its offset.
func (w *walker) findAny(from int64) (pos int64, found bool) {
	h := hunt{w: w, any: true}
	if pos, found = h.find(from, w.end); !found {
		pos = w.end
	}
	return pos, found
}

const mkb1Word = 0x4d4b4231 // mkb1Magic as a number

// extend brings the checksum of the damaged frame up to position to, with b at pos.
func (h *hunt) extend(b []byte, pos, to int64) {
	if !h.provable || h.done >= to || h.done < pos {
		return
	}
	h.crc = record.Checksum(h.crc, h.format, b[h.done-pos:to-pos])
	h.done = to
}

// endsAt says whether the damaged frame has the right checksum if it ends at pos.
func (h *hunt) endsAt(pos int64) bool {
	return h.provable && h.done == pos && pos-h.start >= h.format.MinSize() && h.crc == h.stored
}

// fits says whether head can be the header of a frame whose offset lies where the next
// frame's must.
func (w *walker) fits(head []byte) bool {
	if !record.Plausible(head) {
		return false
	}
	b, _, ok := record.ViewHeader(head)
	if !ok { // plausible as far as it goes
		return binary.BigEndian.Uint32(head) == mkb1Word || w.inRange(int64(binary.BigEndian.Uint64(head)))
	}
	return w.inRange(b.BaseOffset())
}

func (w *walker) inRange(offset int64) bool { return offset >= w.low && offset < w.high }

// valid says whether a frame with the right checksum stands at pos, where b begins.
func (w *walker) valid(b []byte, pos int64) bool {
	size, f, ok := record.Peek(b)
	if !ok || size > w.end-pos || w.exhausted() || w.thrifty() && size > pageSize && !w.leads(pos+size) {
		return false
	}
	if size <= int64(len(b)) {
		batch := record.Assume(b[:size], size, f)
		return w.spend(size, batch.CRCValid())
	}
	batch := record.Assume(b, size, f)
	return w.spend(size, batch.StoredCRC() == w.farChecksum(pos, size, f))
}

// hurt says whether head is that of a damaged frame, of which the records tell the end.
func (w *walker) hurt(head []byte, pos int64) bool {
	size, f, ok := record.Peek(head)
	if !ok || w.exhausted() {
		return false
	}
	r := w.reach(pos, size, f)
	return r.proved || r.leads
}

// farChecksum computes a checksum without moving the window. Bytes that cannot be read
// prove nothing.
func (w *walker) farChecksum(pos, size int64, f record.Format) uint32 {
	w.elsewhere(pos, 0)
	crc := w.checksum(&w.aux, 0, f, pos+int64(f.ChecksumStart()), pos+size)
	w.aux.err = nil
	return crc
}

// elsewhere gives the bytes from pos on, n of them if there are so many, without moving
// the window. Nothing is given of what cannot be read.
func (w *walker) elsewhere(pos int64, n int) []byte {
	if w.aux.store == nil {
		w.aux.reset(w.r, w.end)
	}
	b := w.aux.at(pos, n)
	w.aux.err = nil
	return b
}

// spend books the cost of a checksum that proved nothing.
func (w *walker) spend(size int64, ok bool) bool {
	if !ok {
		w.wasted += size
	}
	return ok
}

// thrifty says that much was spent for nothing: a checksum of many bytes is then only computed
// where something else speaks for it.
func (w *walker) thrifty() bool { return w.wasted > w.budget }

// exhausted says that too much was spent to go on searching.
func (w *walker) exhausted() bool { return w.wasted > lastBudget*w.budget }

// leads says whether a frame that ends at pos leads somewhere: to the end of the file, or to
// what looks like the next frame. A few bytes look like anything, and many zeros like a v0
// message, unless its key and value must make up its size.
func (w *walker) leads(pos int64) bool {
	if pos == w.end {
		return true
	}
	head := w.far(pos)
	if !w.fits(head) {
		return false
	}
	size, f, _ := record.Peek(head)
	if f > record.V1 {
		return true
	}
	b := record.Assume(head, size, f)
	_, end := w.recordEnds(pos, &b)
	return end == pos+size
}

// chain says whether valid frames stand one behind the other from pos to end, or across it.
func (w *walker) chain(pos, end int64) bool {
	for pos < end {
		head := w.far(pos)
		size, f, ok := record.Peek(head)
		if !ok || size > w.end-pos || len(head) < record.HeaderSize && size >= record.HeaderSize {
			return false
		}
		b := record.Assume(head, size, f)
		stored := b.StoredCRC()
		if !w.spend(size, stored == w.farChecksum(pos, size, f)) {
			return false
		}
		pos += size
	}
	return true
}
