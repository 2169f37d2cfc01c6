package index

import (
	"bytes"
	"math"

	"logdir/store/corrupt"
)

// item is entry i of an index file. Entries are fed by their key: the position in an offset
// index, the offset in a time index. The value is the other number.
type item struct {
	key, value int64
	i          int
	ok         bool
}

// never is a key that no batch reaches, and that of no entry.
const never = math.MaxInt64

// lane feeds the entries of an index file to a judge, with one entry of look-ahead. It
// leaves out preallocated zeros and reports what is wrong with the file as such.
type lane struct {
	table
	parse  func(entry []byte) (key, value int64)
	padded bool // whether trailing zeros may be preallocated space

	report *Report
	cur    item
	ahead  item
	next   int    // the entry behind ahead
	block  []byte // entries read, from entry at on
	at     int
	err    error
}

// open reads the first two entries and judges the file's length.
func (l *lane) open(r *Report) {
	l.report = r
	l.cur = l.load()
	l.ahead = l.load()
	if n := l.len(); l.size%int64(l.width) != 0 {
		pos := int64(n) * int64(l.width)
		err := corrupt.Newf(corrupt.BadIndex, pos, l.size-pos, "%d bytes is no multiple of an entry's %d", l.size, l.width)
		err.Field = "length"
		r.bad(err, 1)
	}
}

// soon is the smaller of their keys: nothing happens before it is reached.
func (l *lane) soon() int64 { return min(l.cur.key, l.ahead.key) }

// due says whether the current entry has a key of at most at.
func (l *lane) due(at int64) bool { return l.cur.ok && l.cur.key <= at }

// take removes the current entry.
func (l *lane) take() item {
	it := l.cur
	l.report.Entries++
	l.cur, l.ahead = l.ahead, l.load()
	return it
}

// untangle settles which of two entries is wrong if the one ahead stands before the
// current one by its key: once that key is reached, fits tells whether it is right there.
// The wrong one is removed and returned.
func (l *lane) untangle(at int64, fits func(item) bool) (wrong item, found bool) {
	if !l.ahead.ok || l.ahead.key > at || l.ahead.key > l.cur.key {
		return wrong, false
	}
	wrong, found = l.ahead, true
	if l.cur.key > at && fits(l.ahead) {
		wrong, l.cur = l.cur, l.ahead
	}
	l.report.Entries++
	l.ahead = l.load()
	return wrong, found
}

// load reads the next entry that is none of preallocated zeros.
func (l *lane) load() item {
	raw := l.raw(l.next)
	if l.padded && raw != nil && isZero(raw) {
		raw = l.passZeros()
	}
	if raw == nil {
		return item{key: never}
	}
	it := item{i: l.next, ok: true}
	it.key, it.value = l.parse(raw)
	l.next++
	return it
}

// passZeros goes on behind the zeros that begin at the next entry. To the end of the file
// they are padding. Before further entries they are damage, but for entry 0, where zeros
// may stand for the first offset at the start of the log.
func (l *lane) passZeros() []byte {
	from := l.next
	to := l.endOfZeros(from)
	switch {
	case to < 0:
		l.report.Padding = l.size - int64(from)*int64(l.width)
		l.next = l.len()
		return nil
	case from == 0 && to == 1:
		return l.raw(0)
	}
	l.report.bad(l.badEntry(from, "", "%d entries of zeros before entry %d", to-from, to), to-from)
	l.report.Entries += to - from
	l.next = to
	return l.raw(to)
}

// endOfZeros finds the first entry from i on that is not all zeros, or -1.
func (l *lane) endOfZeros(i int) int {
	end := int64(l.len()) * int64(l.width)
	buf := make([]byte, zeroBlock)
	for pos := int64(i) * int64(l.width); pos < end; pos += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), end-pos)]
		if l.err = readFull(l.r, buf, pos); l.err != nil {
			return -1
		}
		if at := firstNonZero(buf); at >= 0 {
			return int((pos + int64(at)) / int64(l.width))
		}
	}
	return -1
}

// raw returns the bytes of entry i, or nil behind the last one. They are valid until the
// next call.
func (l *lane) raw(i int) []byte {
	if i >= l.len() || l.err != nil {
		return nil
	}
	if i < l.at || i >= l.at+len(l.block)/l.width {
		n := min(l.len()-i, readBlock/l.width)
		if l.block, l.err = l.read(l.block, i, n); l.err != nil {
			return nil
		}
		l.at = i
	}
	return l.block[(i-l.at)*l.width:][:l.width]
}

// badEntry reports a field of entry i, or the whole entry if field is empty.
func (l *lane) badEntry(i int, field, format string, args ...any) *corrupt.Error {
	format = "entry %d: " + format
	err := corrupt.Newf(corrupt.BadIndex, int64(i)*int64(l.width), int64(l.width), format, append([]any{i}, args...)...)
	err.Field = field
	return err
}

// zeroBlock is how many bytes are looked at at once where only zeros are expected.
const zeroBlock = 64 << 10

var zeros [4 << 10]byte

// firstNonZero finds the first byte that is not zero, or -1.
func firstNonZero(buf []byte) int {
	at := 0
	for len(buf)-at >= len(zeros) && bytes.Equal(buf[at:at+len(zeros)], zeros[:]) {
		at += len(zeros)
	}
	for i, b := range buf[at:] {
		if b != 0 {
			return at + i
		}
	}
	return -1
}

func isZero(entry []byte) bool { return bytes.Equal(entry, zeros[:len(entry)]) }
