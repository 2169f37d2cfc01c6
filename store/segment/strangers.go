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
	list  []Stranger // those that were not looked for yet
	found bool       // there was one
	alone []Stranger
	later later
}

// Add takes a finding of the scanner and its batch, and says whether it is such a batch.
// limit is the base offset of the next segment, 0 or less if there is none.
func (s *Strangers) Add(d *corrupt.Error, b *record.Batch, limit int64) bool {
	if d.Kind != corrupt.BadOffset || b == nil || limit <= 0 || b.LastOffset() < limit || !b.CRCValid() {
		return false
	}
	x := strangerOf(b)
	x.Pos, x.Size = d.Pos, int64(b.Size())
	s.list, s.found = append(s.list, x), true
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
	if !s.found {
		return false, nil
	}
	err := errors.Join(s.LookFor(fsys, path, limit), s.later.close())
	return err == nil && s.later.identical && !s.later.conflict, err
}

// many strangers are what LookFor is worth being called for.
const many = 4096

// Many says that so many were added that it is time for LookFor.
func (s *Strangers) Many() bool { return len(s.list) >= many }

// LookFor looks for those that were added so far, so that they need not be kept. AreCopies
// must follow in any case, with the same arguments: until then a file is open.
func (s *Strangers) LookFor(fsys vfs.ReadFS, path string, limit int64) error {
	if err := s.later.list(fsys, path, limit); err != nil {
		return err
	}
	for i := range s.list {
		if s.later.conflict {
			break
		}
		met, err := s.later.meet(&s.list[i])
		if err != nil {
			return err
		}
		if !met {
			s.alone = append(s.alone, s.list[i])
		}
	}
	s.list = s.list[:0]
	return nil
}

// Alone are, once AreCopies has said yes, those that stand in no later segment.
func (s *Strangers) Alone() []Stranger { return s.alone }

// later walks over the batches of the segments behind, and holds strangers against them.
type later struct {
	fs     vfs.ReadFS
	paths  []string // of the logs that were not opened yet
	listed bool

	file    vfs.ReadFile // nil between two logs
	headers Headers
	pos     int64 // of the next batch
	at      Stranger
	here    bool // there is a batch at which it stands

	identical bool // one was met byte for byte
	conflict  bool // another batch has the offsets of one
}

func (l *later) list(fsys vfs.ReadFS, path string, limit int64) error {
	if l.listed {
		return nil
	}
	dir := filepath.Dir(path)
	listing, err := List(fsys, dir)
	if err != nil {
		return err
	}
	for _, f := range listing.Segments {
		if f.Base >= limit {
			l.paths = append(l.paths, filepath.Join(dir, f.Log))
		}
	}
	l.fs, l.listed = fsys, true
	return nil
}

// meet goes on to the first batch that does not end in front of a stranger, and says whether
// the two have offsets in common.
func (l *later) meet(x *Stranger) (bool, error) {
	for !l.here || l.at.Last < x.Base {
		if ok, err := l.next(); err != nil || !ok {
			return false, err
		}
	}
	if x.Last < l.at.Base {
		return false, nil
	}
	l.identical = l.identical || l.at.crc == x.crc
	l.conflict = !x.cleaned(&l.at)
	l.here = false
	return true, nil
}

// next moves to the next batch, if there is one.
func (l *later) next() (bool, error) {
	for l.here = false; l.file != nil || len(l.paths) > 0; {
		if err := l.open(); err != nil {
			return false, err
		}
		b, size, ok, err := l.headers.At(l.pos)
		if err != nil {
			return false, err
		}
		if ok {
			l.pos += size
			l.at, l.here = strangerOf(&b), true
			return true, nil
		}
		if err := l.close(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// open opens the next log, unless one is open.
func (l *later) open() error {
	if l.file != nil {
		return nil
	}
	file, err := l.fs.Open(l.paths[0])
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.paths, l.pos = file, l.paths[1:], 0
	l.headers.Reset(file, info.Size())
	return nil
}

func (l *later) close() error {
	file := l.file
	l.file = nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// cleaned says whether a cleaner can have made the batch of original. It copies one of which
// all records stay as it is, unless it gives it a delete horizon.
func (s *Stranger) cleaned(original *Stranger) bool {
	if s.Base != original.Base || s.Last != original.Last {
		return false
	}
	return s.crc == original.crc || s.count != original.count || s.count < 0 || s.horizon != original.horizon
}
