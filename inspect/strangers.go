package inspect

import (
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
)

// Strangers collects the batches of one segment whose offsets belong to a later one.
type Strangers struct{ list []stranger }

// Add takes a finding of the scanner and its batch, and says whether it is such a batch.
// limit is the base offset of the next segment.
func (s *Strangers) Add(d *corrupt.Error, b *record.Batch, limit int64) bool {
	if !isStranger(d, b, limit) {
		return false
	}
	s.list = append(s.list, stranger{base: b.BaseOffset(), last: b.LastOffset(), crc: b.StoredCRC(), damage: d})
	return true
}

// AreCopies says whether they are what an interrupted cleaning leaves: second copies of
// batches that stand in later segments. path is the segment's log.
func (s *Strangers) AreCopies(fsys vfs.ReadFS, path string, limit int64) (bool, error) {
	if len(s.list) == 0 {
		return false, nil
	}
	return areCopies(fsys, LogRef{Path: path, Limit: limit}, s.list)
}
