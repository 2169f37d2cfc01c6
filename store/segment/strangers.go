package segment

import (
	"errors"
	"path/filepath"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
)

// A cleaner that is interrupted between renaming its result and removing what it was made
// of leaves offsets twice: the new first segment holds what is left of all of them, and the
// old later ones stand behind it. Its batches then reach into the next segment, and are
// good all the same. They are told from a batch whose base offset is hurt by their
// originals, of which at least one still stands in a later segment.

// Stranger is a batch whose offsets belong to a later segment.
type Stranger struct {
	// Base and Last are its first and last offset.
	Base, Last int64
	// Pos and Size are its bytes in the segment.
	Pos, Size int64

	crc     uint32
	count   int32 // of records, -1 if the header does not tell
	horizon bool  // the cleaner has written a delete horizon into it
}

// Strangers collects the strangers of one segment. They rise by offset.
type Strangers struct {
	list  []Stranger
	alone []Stranger
}

// Add takes a finding of the scanner and its batch, and says whether it is such a batch.
// limit is the base offset of the next segment, 0 or less if there is none.
func (s *Strangers) Add(d *corrupt.Error, b *record.Batch, limit int64) bool {
	if d.Kind != corrupt.BadOffset || b == nil || limit <= 0 || b.LastOffset() < limit || !b.CRCValid() {
		return false
	}
	x := strangerOf(b)
	x.Pos, x.Size = d.Pos, int64(b.Size())
	s.list = append(s.list, x)
	return true
}

func strangerOf(b *record.Batch) Stranger {
	_, horizon := b.DeleteHorizon()
	return Stranger{
		Base: b.BaseOffset(), Last: b.LastOffset(), crc: b.StoredCRC(), count: b.Count(), horizon: horizon,
	}
}

// AreCopies says whether they are what an interrupted cleaning leaves: at least one of them
// stands byte for byte in a segment behind, and so do all others, but for records that the
// cleaner took out, or they fall where those segments have nothing. path is the segment's log.
func (s *Strangers) AreCopies(fsys vfs.ReadFS, path string, limit int64) (bool, error) {
	if len(s.list) == 0 {
		return false, nil
	}
	dir := filepath.Dir(path)
	listing, err := List(fsys, dir)
	if err != nil {
		return false, err
	}
	m := matcher{left: s.list}
	for _, f := range listing.Segments {
		if f.Base < limit || len(m.left) == 0 || m.conflict {
			continue
		}
		if err := m.match(fsys, filepath.Join(dir, f.Log)); err != nil {
			return false, err
		}
	}
	s.alone = append(m.alone, m.left...)
	return m.identical && !m.conflict, nil
}

// Alone are, once AreCopies has said yes, those that stand in no later segment.
func (s *Strangers) Alone() []Stranger { return s.alone }

// matcher crosses strangers off that it meets in later segments.
type matcher struct {
	left      []Stranger
	alone     []Stranger // those that were not met
	identical bool       // one was met byte for byte
	conflict  bool       // another batch has the offsets of one
	headers   Headers
}

func (m *matcher) match(fsys vfs.ReadFS, path string) (err error) {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	m.headers.Reset(file, info.Size())
	for pos := int64(0); len(m.left) > 0 && !m.conflict; {
		b, frame, ok, err := m.headers.At(pos)
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
	for len(m.left) > 0 && m.left[0].Last < b.BaseOffset() {
		m.alone = append(m.alone, m.left[0])
		m.left = m.left[1:]
	}
	if len(m.left) == 0 || b.LastOffset() < m.left[0].Base {
		return
	}
	original := strangerOf(b)
	m.identical = m.identical || original.crc == m.left[0].crc
	m.conflict = !m.left[0].cleaned(&original)
	m.left = m.left[1:]
}

// cleaned says whether a cleaner can have made the batch of original. It copies one of which
// all records stay as it is, unless it gives it a delete horizon.
func (s *Stranger) cleaned(original *Stranger) bool {
	if s.Base != original.Base || s.Last != original.Last {
		return false
	}
	return s.crc == original.crc || s.count != original.count || s.count < 0 || s.horizon != original.horizon
}
