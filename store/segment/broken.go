package segment

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"logdir/store/corrupt"
	"logdir/store/record"
)

// This file names what is wrong where no good frame stands. Proofs come first: if one
// other length, or the magic 2, makes the stored checksum right, that field is what is
// hurt, and nothing else. Then what follows counts: a length that leads to another frame
// is believed. Last comes what the bytes look like.

// notKnown is no format.
const notKnown record.Format = 0xff

// minZeros is how many zero bytes to the end of the file are a kind of their own.
const minZeros = 12

// broken classifies a place where no whole frame can stand. size and format are what
// the bytes claim, known says whether they can be right at all.
func (w *walker) broken(size int64, f record.Format, known bool) bool {
	left := w.end - w.pos
	switch {
	case w.err != nil:
		return false
	case w.end < w.size && (left < record.PrefixSize || known):
		return false // the scan was to end here
	case w.zerosToEnd(w.pos):
		return w.zeros(left)
	case w.err != nil:
		return false
	case left < record.PrefixSize:
		return w.stub()
	}
	if !known {
		if size, f, ok := w.trueMagic(notKnown); ok {
			return w.badMagic(size, f)
		}
	}
	return w.noFrame(size, f, known)
}

// report makes [w.pos, w.pos+size) a damaged range.
func (w *walker) report(kind corrupt.Kind, size int64, format string, args ...any) bool {
	w.damage = corrupt.Newf(kind, w.pos, size, format, args...)
	w.next = w.pos + size
	return w.err == nil
}

func (w *walker) zeros(left int64) bool {
	if left < minZeros {
		return w.tornUnknown(left)
	}
	return w.report(corrupt.Zeros, left, "%d zero bytes to the end of the file", left)
}

// tornUnknown is a batch of which not even the length is there.
func (w *walker) tornUnknown(left int64) bool {
	return w.report(corrupt.Torn, left, "have %s, need unknown", count(left, "byte"))
}

// count is a number with its noun.
func count(n int64, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "batch":
		noun += "e"
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// stub classifies a rest too short to tell a magic.
func (w *walker) stub() bool {
	rest := w.at(w.pos, record.PrefixSize)
	left := int64(len(rest))
	switch {
	case !w.begins(rest):
		return w.report(corrupt.Garbage, left, "%s not the beginning of a batch", count(left, "byte"))
	case left >= sizeEnd || left >= 8 && string(rest[:4]) == mkb1Magic:
		return w.report(corrupt.Torn, left, "have %d of %d bytes", left, claimedSize(rest))
	}
	return w.tornUnknown(left)
}

// sizeEnd is the first byte behind the size field of Kafka's frames.
const sizeEnd = 12

// claimedSize reads the size of the whole frame from its first 12 bytes.
func claimedSize(head []byte) int64 {
	if string(head[:4]) == mkb1Magic {
		return sizeAs(head, record.MKB1)
	}
	return sizeAs(head, record.V2)
}

const mkb1Magic = "MKB1"

// begins says whether rest, fewer than PrefixSize bytes, can be the first bytes of the
// next batch: its offset not below the log end, its length a sensible one.
func (w *walker) begins(rest []byte) bool {
	if size, ok := bytes.CutPrefix(rest, []byte(mkb1Magic)); ok {
		lo, hi := span(size, 4)
		return hi >= record.MKB1HeaderSize-sizeEnd && lo <= uint64(w.biggest)
	}
	if w.batch.Format() == record.MKB1 { // the log's frame before
		return strings.HasPrefix(mkb1Magic, string(rest))
	}
	lo, hi := span(rest, 8)
	if int64(hi) < w.low || int64(lo) >= w.high || lo > math.MaxInt64 {
		return false
	}
	if len(rest) <= 8 {
		return true
	}
	lo, hi = span(rest[8:], 4)
	return hi >= record.MinLegacySize && lo <= uint64(w.biggest)
}

// span gives the smallest and the largest number of n bytes that begins with b.
func span(b []byte, n int) (lo, hi uint64) {
	for i := range n {
		lo, hi = lo<<8, hi<<8|0xff
		if i < len(b) {
			lo |= uint64(b[i])
			hi = hi&^0xff | uint64(b[i])
		}
	}
	return lo, hi
}

// trueMagic finds the format under which the frame at w.pos, with its magic put right,
// has the right checksum. It need not be the one that it claims.
func (w *walker) trueMagic(claimed record.Format) (size int64, f record.Format, ok bool) {
	head := w.far(w.pos)
	if len(head) < record.PrefixSize {
		return 0, 0, false
	}
	for _, f := range [...]record.Format{record.V2, record.V1, record.V0, record.MKB1} {
		if size := sizeAs(head, f); f != claimed && w.provesMagic(size, f) {
			return size, f, true
		}
	}
	return 0, 0, false
}

// provesMagic says whether the frame of so many bytes is one of format f but for its magic,
// which v0 and v1 have under their checksum.
func (w *walker) provesMagic(size int64, f record.Format) bool {
	if size < f.MinSize() || size > w.end-w.pos || w.exhausted() || !w.plausibleAs(f) {
		return false
	}
	stored, crc, from := w.storedCRC(w.pos, f), uint32(0), f.ChecksumStart()
	if f < record.V2 {
		crc = record.Checksum(crc, f, []byte{byte(f)})
		from++
	}
	return w.spend(size, w.checksum(&w.window, crc, f, w.pos+int64(from), w.pos+size) == stored)
}

// plausibleAs says whether the header at w.pos, with the magic of format f, is one that some
// writer made: if not, a checksum would be computed for nothing.
func (w *walker) plausibleAs(f record.Format) bool {
	var head [record.HeaderSize]byte
	n := copy(head[:], w.far(w.pos))
	if f == record.MKB1 {
		copy(head[:], mkb1Magic)
	} else {
		head[record.PrefixSize-1] = byte(f)
	}
	return record.Plausible(head[:n])
}

// sizeAs reads the size of the whole frame as format f has it.
func sizeAs(head []byte, f record.Format) int64 {
	if f == record.MKB1 {
		return sizeEnd + int64(binary.BigEndian.Uint32(head[4:]))
	}
	return sizeEnd + int64(int32(binary.BigEndian.Uint32(head[8:])))
}

func (w *walker) badMagic(size int64, f record.Format) bool {
	if !w.takeRange(size, f) {
		return false
	}
	raw := w.batch.Raw()
	magic := strconv.Itoa(int(int8(raw[record.PrefixSize-1])))
	if f == record.MKB1 {
		magic = strconv.Quote(string(raw[:len(mkb1Magic)]))
	}
	w.report(corrupt.BadMagic, size, "magic %s, but %s makes the stored checksum match", magic, f)
	w.damage.Field = "magic"
	describe(w.damage, &w.batch)
	return w.err == nil
}

// takeRange makes [w.pos, w.pos+size) the frame of a damaged range, as one of format f.
func (w *walker) takeRange(size int64, f record.Format) bool {
	if size > windowSize {
		return w.takeHead(size, f)
	}
	raw := w.at(w.pos, int(size))
	if w.err != nil {
		return false
	}
	w.take(record.Assume(raw[:size], size, f))
	return true
}

// noFrame classifies a header that claims an impossible frame, or one that the file
// does not hold.
func (w *walker) noFrame(size int64, f record.Format, known bool) bool {
	r := w.reach(w.pos, size, f)
	if r.proved {
		return w.badLength(r.end-w.pos, r.format, true)
	}
	h := w.newHunt(f)
	x, found := h.find(w.pos+1, w.end)
	if !h.proved {
		x, found = w.orEnd(r, x, found)
		x = h.proofBehind(r, x, found)
	}
	torn := known && size <= w.biggest && w.fits(w.at(w.pos, record.PrefixSize)[:record.PrefixSize])
	switch {
	case w.err != nil:
		return false
	case found && h.proved:
		return w.badLength(x-w.pos, h.format, true)
	case found:
		return w.badClaim(x-w.pos, f, known)
	case torn && r.torn:
		return w.torn(w.end-w.pos, size, f)
	}
	return w.noEnd(size, f, known, torn)
}

// noEnd classifies a header behind which no frame fits. A batch in the wrong place does not
// fit, but is more than nothing: what is called torn ends in front of it. Where too much was
// spent to look for one, nothing is called torn, which would be to say that there is none.
func (w *walker) noEnd(size int64, f record.Format, known, torn bool) bool {
	x, found := w.findAny(w.pos + 1)
	switch {
	case w.err != nil:
		return false
	case torn && !w.exhausted():
		return w.torn(x-w.pos, size, f)
	case torn || found:
		return w.badClaim(x-w.pos, f, known)
	}
	return w.garbage()
}

// badClaim blames the header of what stands up to the next frame.
func (w *walker) badClaim(size int64, f record.Format, known bool) bool {
	if known {
		return w.badLength(size, f, false)
	}
	return w.badHeader(size)
}

func (w *walker) garbage() bool {
	left := w.end - w.pos
	return w.report(corrupt.Garbage, left, "no batch in %d bytes to the end of the file", left)
}

func (w *walker) torn(have, size int64, f record.Format) bool {
	w.report(corrupt.Torn, have, "have %d of %d bytes", have, size)
	head := w.at(w.pos, record.HeaderSize)
	if b, _, ok := record.ViewHeader(head[:min(int64(len(head)), have)]); ok {
		describe(w.damage, &b)
	} else if f != record.MKB1 {
		w.damage.BaseOffset = int64(binary.BigEndian.Uint64(w.at(w.pos, record.PrefixSize)))
	}
	return w.err == nil
}

// badLength blames the length of what stands up to the next frame. If the checksum
// proves where the frame ends, the frame is handed out with the range.
func (w *walker) badLength(size int64, f record.Format, proved bool) bool {
	claimed := claimedSize(w.at(w.pos, record.PrefixSize))
	detail := "length %d"
	args := []any{claimed - sizeEnd}
	if proved {
		detail += ", but %d makes the stored checksum match"
		args = append(args, size-sizeEnd)
		if !w.takeRange(size, f) {
			return false
		}
	}
	w.report(corrupt.BadLength, size, detail, args...)
	w.damage.Field = "batchLength"
	if proved {
		describe(w.damage, &w.batch)
	}
	return w.err == nil
}

// badHeader blames whichever field makes the header at w.pos impossible.
func (w *walker) badHeader(size int64) bool {
	_, _, err := record.Sniff(w.at(w.pos, record.PrefixSize))
	if err == nil { // cannot be: known was false
		return w.garbage()
	}
	w.report(err.Kind, size, "%s", err.Detail)
	w.damage.Field = err.Field
	return w.err == nil
}

// wrongCRC classifies the whole frame at w.pos, whose checksum should be crc.
func (w *walker) wrongCRC(crc uint32) bool {
	b := w.batch
	size, f := int64(b.Size()), b.Format()
	w.spend(size, false)
	if size, f, ok := w.trueMagic(f); ok {
		return w.badMagic(size, f)
	}
	w.whole = false
	r := w.reach(w.pos, size, f)
	if r.proved {
		return w.badLength(r.end-w.pos, r.format, true)
	}
	h := w.newHunt(f)
	end := w.pos + size
	x, found := w.findWithin(h, r, end)
	switch {
	case found:
		return w.badLength(x-w.pos, h.format, h.proved)
	case r.end == end || w.leads(end):
		return w.badCRC(size, f, crc)
	}
	return w.wrongCRCAstray(h, size, f, crc)
}

// findWithin finds where the damaged frame at w.pos ends, if not at end, as it claims.
func (w *walker) findWithin(h *hunt, r reach, end int64) (x int64, found bool) {
	x, found = h.find(w.pos+1, end)
	switch {
	case h.proved:
		return x, true
	case r.leads && r.end != end:
		return w.orEnd(r, x, found)
	}
	leads := w.leads(end)
	for found && !h.proved && !w.stands(x, end, leads, r.end == end) {
		x, found = h.findNext(x, end)
	}
	if !h.proved {
		x = h.proofBehind(r, x, found)
	}
	return x, found
}

// wrongCRCAstray is wrongCRC for a frame whose length leads to nothing: either the length
// is hurt as well or alone, or there is more damage behind the frame.
func (w *walker) wrongCRCAstray(h *hunt, size int64, f record.Format, crc uint32) bool {
	believed := w.fits(w.at(w.pos, record.HeaderSize))
	x, found := h.find(w.pos+size, w.end)
	switch {
	case w.err != nil:
		return false
	case found && h.proved:
		return w.badLength(x-w.pos, h.format, true)
	case believed:
		return w.badCRC(size, f, crc)
	case found:
		return w.badLength(x-w.pos, f, false)
	}
	return w.noEnd(size, f, true, false)
}

func (w *walker) badCRC(size int64, f record.Format, crc uint32) bool {
	if !w.takeRange(size, f) {
		return false
	}
	w.report(corrupt.BadCRC, size, "")
	w.damage.Field = "crc"
	w.damage.HasCRC, w.damage.Stored, w.damage.Computed = true, w.batch.StoredCRC(), crc
	describe(w.damage, &w.batch)
	return w.err == nil
}
