package index

import (
	"io"
	"iter"
	"slices"
	"sort"
)

// table is a file of entries of one width, read where they stand.
type table struct {
	r     io.ReaderAt
	size  int64
	width int
}

// searchBlock is how many entries a search reads at once when so few are left.
const searchBlock = 64

// readBlock is how many bytes a walk over all entries reads at once.
const readBlock = 16 << 10

// len counts the whole entries in the file.
func (t *table) len() int { return int(t.size / int64(t.width)) }

// read returns entries i to i+n as bytes, in buf if that is large enough.
func (t *table) read(buf []byte, i, n int) ([]byte, error) {
	buf = slices.Grow(buf[:0], n*t.width)[:n*t.width]
	if err := readFull(t.r, buf, int64(i)*int64(t.width)); err != nil {
		return nil, err
	}
	return buf, nil
}

func readFull(r io.ReaderAt, buf []byte, pos int64) error {
	n, err := r.ReadAt(buf, pos)
	if n == len(buf) {
		return nil
	}
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// search finds the first entry in [from, to) for which after is true, or to. after must be
// false for some entries and true for all behind them. The file is read by halves, and at
// the end in one block.
func (t *table) search(from, to int, after func(entry []byte) bool) (int, error) {
	var entry []byte
	var err error
	for to-from > searchBlock {
		mid := from + (to-from)/2
		entry, err = t.read(entry, mid, 1)
		if err != nil {
			return 0, err
		}
		if after(entry) {
			to = mid
		} else {
			from = mid + 1
		}
	}
	block, err := t.read(nil, from, to-from)
	if err != nil {
		return 0, err
	}
	return from + sort.Search(to-from, func(i int) bool { return after(block[i*t.width:]) }), nil
}

// used counts the entries before those that are only padding, which are at the end if there
// are any. Entry 0 is none.
func (t *table) used(isPadding func(entry []byte) bool) (int, error) {
	n := t.len()
	if n <= 1 {
		return n, nil
	}
	last, err := t.read(nil, n-1, 1)
	switch {
	case err != nil:
		return 0, err
	case !isPadding(last):
		return n, nil
	}
	return t.search(1, n-1, isPadding)
}

// entries walks the first n entries. The bytes are valid until the next one.
func (t *table) entries(n int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		perBlock := readBlock / t.width
		block := make([]byte, min(n, perBlock)*t.width)
		for i := 0; i < n; i += perBlock {
			block = block[:min(n-i, perBlock)*t.width]
			if err := readFull(t.r, block, int64(i)*int64(t.width)); err != nil {
				yield(nil, err)
				return
			}
			for at := 0; at < len(block); at += t.width {
				if !yield(block[at:at+t.width], nil) {
					return
				}
			}
		}
	}
}
