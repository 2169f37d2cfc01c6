package inspect

import (
	"path/filepath"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// A cleaner that is interrupted between renaming its result and removing what it was made
// of leaves offsets twice: the new first segment holds what is left of all of them, and the
// old later ones stand behind it. Its batches then reach into the next segment, and are
// good all the same. They are told from a batch whose base offset is hurt by their
// originals, of which at least one still stands in a later segment.

// stranger is a batch whose offsets belong to a later segment.
type stranger struct {
	base, last int64
	crc        uint32
	records    int64
	damage     *corrupt.Error // the finding that it is out of place
}

// isStranger says whether a finding of the scanner is about such a batch.
func isStranger(d *corrupt.Error, b *record.Batch, limit int64) bool {
	return d.Kind == corrupt.BadOffset && b != nil && limit > 0 && b.LastOffset() >= limit && b.CRCValid()
}

// areCopies says whether one of the strangers stands in a segment behind ref byte for byte,
// and all others do as well or fall where those segments have nothing. strangers rise by
// offset.
func areCopies(fsys vfs.ReadFS, ref LogRef, strangers []stranger) (bool, error) {
	listing, err := segment.List(fsys, filepath.Dir(ref.Path))
	if err != nil {
		return false, err
	}
	m := matcher{left: strangers}
	for _, s := range listing.Segments {
		if s.Base < ref.Limit || len(m.left) == 0 || m.conflict {
			continue
		}
		if err := m.match(fsys, filepath.Join(filepath.Dir(ref.Path), s.Log)); err != nil {
			return false, err
		}
	}
	return m.identical && !m.conflict, nil
}

// matcher crosses strangers off that it meets in later segments.
type matcher struct {
	left      []stranger
	identical bool // one was met byte for byte
	conflict  bool // another batch has the offsets of one
	headers   headers
}

func (m *matcher) match(fsys vfs.ReadFS, path string) error {
	file, size, err := open(fsys, path)
	if err != nil {
		return err
	}
	defer file.Close()
	m.headers.reset(file, size)
	for pos := int64(0); len(m.left) > 0 && !m.conflict; {
		b, frame, ok, err := m.headers.at(pos)
		if err != nil || !ok {
			return err
		}
		m.meet(&b)
		pos += frame
	}
	return nil
}

// meet compares the first strangers with a batch of a later segment.
func (m *matcher) meet(b *record.Batch) {
	for len(m.left) > 0 && m.left[0].last < b.BaseOffset() {
		m.left = m.left[1:] // nothing stands there any more
	}
	if len(m.left) == 0 || b.LastOffset() < m.left[0].base {
		return
	}
	s := m.left[0]
	m.left = m.left[1:]
	m.identical = m.identical || b.StoredCRC() == s.crc
	m.conflict = b.BaseOffset() != s.base || b.LastOffset() != s.last
}
