package recovery

import (
	"errors"
	"io"
	"math"
	"path/filepath"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// indexFiles are the open index files of a segment; nil where there is none.
type indexFiles struct {
	base          int64
	offsets       vfs.ReadFile
	times         vfs.ReadFile
	offsetsSize   int64
	timesSize     int64
	offsetsFormat bool // MKB1
}

func (v *surveyor) openIndexes(g *segmentSurvey) (*indexFiles, error) {
	x := &indexFiles{base: g.Base, offsetsFormat: g.mkb1}
	var err error
	if x.offsets, x.offsetsSize, err = v.openIndex(g.Index); err != nil {
		return nil, err
	}
	if x.times, x.timesSize, err = v.openIndex(g.TimeIndex); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

func (v *surveyor) openIndex(name string) (vfs.ReadFile, int64, error) {
	if name == "" {
		return nil, 0, nil
	}
	f, err := v.fs.Open(filepath.Join(v.dir, name))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (x *indexFiles) checker(g *segmentSurvey) *index.Checker {
	var offsets *index.OffsetIndex
	var times *index.TimeIndex
	switch {
	case x.offsets == nil:
	case g.mkb1:
		offsets = index.NewMKB1Index(x.offsets, x.offsetsSize, x.base)
	default:
		offsets = index.NewOffsetIndex(x.offsets, x.offsetsSize, x.base)
	}
	if x.times != nil {
		times = index.NewTimeIndex(x.times, x.timesSize, x.base)
	}
	return index.NewChecker(x.base, offsets, times)
}

func (x *indexFiles) close() error {
	var errs []error
	for _, f := range []vfs.ReadFile{x.offsets, x.times} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// isMKB1 tells the format of a segment of so many bytes from its first header, or if that
// may be damaged from its first good batch: an MKB1 header with a damaged magic can look like
// one of v0 or v1.
func isMKB1(log io.ReaderAt, size, base int64) bool {
	var head [record.PrefixSize]byte
	if _, err := log.ReadAt(head[:], 0); err != nil {
		return false
	}
	_, f, ok := record.Peek(head[:])
	switch offset := record.PeekOffset(head[:], record.V2); {
	case ok && f == record.MKB1:
		return true
	case ok && f == record.V2 && offset >= base && offset-base <= math.MaxInt32:
		return false
	}
	s := segment.NewScanner(log, size, segment.Options{Base: base, LogEnd: corrupt.Unknown})
	for s.Next() {
		if s.Damage() == nil {
			return s.Batch().Format() == record.MKB1
		}
	}
	return false
}
