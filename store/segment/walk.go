package segment

import (
	"io"

	"logdir/store/corrupt"
	"logdir/store/record"
)

// walker steps from frame to frame. It judges what stands in a frame's own bytes: length,
// magic and checksum. Whether offsets and epochs fit is left to the Scanner.
type walker struct {
	window
	start   int64 // where the walk begins
	size    int64 // of the file, which may go on behind end
	trust   bool  // no checksums
	biggest int64 // the largest frame whose torn beginning is believed
	mkb1    bool  // the log has frames of MKB1, and so no others

	// low and high bound the base offset of a frame that a search may find.
	low, high int64

	pos, next int64          // the frame or damaged range is [pos, next)
	batch     record.Batch   // set if a whole frame was found
	whole     bool           // whether batch is set
	damage    *corrupt.Error // nil for a good frame

	large []byte // a frame beyond the window
	aux   window // for frames at far places
	// head and farHead are the header of a large frame, and one out of sight.
	head, farHead [record.HeaderSize]byte

	wasted, budget int64 // bytes of checksums that came to nothing, and how many may
	doubted        int64 // bytes behind frames that may be inside of others
}

func (w *walker) reset(r io.ReaderAt, size int64, o *Options) {
	w.window.reset(r, size)
	if o.End > 0 && o.End < size {
		w.end = o.End
	}
	w.start, w.size, w.trust, w.mkb1 = o.Start, size, o.SkipCRC, false
	w.biggest = int64(o.maxBatch())
	w.pos, w.next, w.batch, w.whole, w.damage = o.Start, o.Start, record.Batch{}, false, nil
	if w.aux.store != nil {
		w.aux.reset(r, w.end)
	}
	w.wasted, w.budget, w.doubted = 0, wasteFactor*size+wasteFloor, 0
}

// A search in hostile bytes meets headers that claim much and hold nothing. What is spent
// on them is bounded by the size of the file, times a factor that no accident reaches.
const (
	wasteFactor = 8
	wasteFloor  = 64 << 20
	lastBudget  = 8 // so often is the budget spent before the search ends
)

// step goes to the next frame or damaged range. It is false at the end, and at an I/O error.
func (w *walker) step() bool {
	w.pos, w.whole, w.damage = w.next, false, nil
	if i := w.next - w.window.pos; !w.trust && uint64(i) < uint64(len(w.buf)) {
		if b, ok := record.Good(w.buf[i:]); ok {
			w.take(b)
			return true
		}
	}
	return w.stepSlowly()
}

// stepSlowly is step for all but a good v2 frame that the window holds.
func (w *walker) stepSlowly() bool {
	left := w.end - w.pos
	if left <= 0 {
		return false
	}
	raw := w.at(w.pos, record.PrefixSize)
	size, f, ok := record.Peek(raw)
	if !ok || size > left {
		return w.broken(size, f, ok)
	}
	if w.thrifty() && size > pageSize && !w.trust {
		if end, ok := w.tooLong(size, f); ok {
			return w.badLength(end-w.pos, f, false)
		}
	}
	if size > int64(len(raw)) {
		if size > windowSize {
			return w.stepLarge(size, f)
		}
		if raw = w.at(w.pos, int(size)); raw == nil {
			return false
		}
	}
	w.take(record.Assume(raw[:size], size, f))
	if !w.trust && !w.batch.CRCValid() {
		return w.wrongCRC(w.batch.ComputeCRC())
	}
	return w.checkHeader()
}

// take makes b the frame at w.pos.
func (w *walker) take(b record.Batch) {
	w.batch, w.whole, w.next = b, true, w.pos+int64(b.Size())
}

// checkHeader finishes a frame with the right checksum: if its header is wrong all the
// same, it was written so.
func (w *walker) checkHeader() bool {
	w.mkb1 = w.mkb1 || w.batch.Format() == record.MKB1
	if err := w.batch.Check(); err != nil {
		err.Pos += w.pos
		w.damage = describe(err, &w.batch)
	}
	return true
}

// stepLarge is step for a frame that does not fit into the window. It is loaded only once
// its checksum has proved its length; and before much is read for that, a length that
// leads nowhere must survive the search for one that does.
func (w *walker) stepLarge(size int64, f record.Format) bool {
	if w.trust {
		return w.takeHead(size, f)
	}
	if !w.leads(w.pos + size) {
		if r := w.reach(w.pos, size, f); r.proved {
			return w.badLength(r.end-w.pos, r.format, true)
		}
		h := w.newHunt(f)
		if x, found := h.find(w.pos+1, w.pos+size); found && h.proved {
			return w.badLength(x-w.pos, f, true)
		}
		if end, ok := w.tooLong(size, f); ok {
			return w.badLength(end-w.pos, f, false)
		}
	}
	stored, crc := w.storedCRC(w.pos, f), w.checksum(&w.window, 0, f, w.pos+int64(f.ChecksumStart()), w.pos+size)
	switch {
	case w.err != nil:
		return false
	case crc != stored:
		return w.takeHead(size, f) && w.wrongCRC(crc)
	}
	return w.load(size, f) && w.checkHeader()
}

// takeHead makes the header of a large frame the frame at w.pos.
func (w *walker) takeHead(size int64, f record.Format) bool {
	head := w.at(w.pos, record.HeaderSize)
	if w.err != nil {
		return false
	}
	w.take(record.Assume(append(w.head[:0], head[:record.HeaderSize]...), size, f))
	return true
}

// load reads the large frame at w.pos.
func (w *walker) load(size int64, f record.Format) bool {
	if int64(cap(w.large)) < size {
		w.large = make([]byte, size)
	}
	w.large = w.large[:size]
	if n, err := w.r.ReadAt(w.large, w.pos); int64(n) < size {
		w.fail(w.pos+int64(n), size-int64(n), err)
		return false
	}
	w.take(record.Assume(w.large, size, f))
	return true
}

// storedCRC reads the checksum field of a frame at pos, of which at least the header is there.
func (w *walker) storedCRC(pos int64, f record.Format) uint32 {
	head := w.at(pos, record.HeaderSize)
	if w.err != nil {
		return 0
	}
	b := record.Assume(head, int64(len(head)), f)
	return b.StoredCRC()
}

// checksum goes on with a checksum over the bytes [from, to), through the window win.
func (w *walker) checksum(win *window, crc uint32, f record.Format, from, to int64) uint32 {
	for from < to {
		b := win.at(from, 1)
		if len(b) == 0 {
			return 0
		}
		b = b[:min(int64(len(b)), to-from)]
		crc = record.Checksum(crc, f, b)
		from += int64(len(b))
	}
	return crc
}

// peek gives the header behind the frame, or what is left of the file, and keeps the frame.
func (w *walker) peek() []byte {
	if i := w.next - w.window.pos; i >= 0 && i+record.HeaderSize <= int64(len(w.buf)) {
		return w.buf[i : i+record.HeaderSize]
	}
	return w.far(w.next)
}

// far gives HeaderSize bytes at any place, or what is left there, and keeps the window.
// An I/O error gives nothing: who comes there in earnest will meet it again.
func (w *walker) far(pos int64) []byte {
	n := max(0, min(w.end-pos, record.HeaderSize))
	head := w.farHead[:n]
	if got, _ := w.r.ReadAt(head, pos); int64(got) < n {
		return nil
	}
	return head
}

// describe adds to err what the header of a frame claims.
func describe(err *corrupt.Error, b *record.Batch) *corrupt.Error {
	err.BaseOffset, err.LastOffset, err.Records = b.BaseOffset(), b.LastOffset(), int64(b.Count())
	if b.Count() < 0 && b.CodecBits() == 0 {
		err.Records = 1 // a v0 or v1 message that wraps no others
	}
	return err
}
