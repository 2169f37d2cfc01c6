package inspect

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Missing stands for the number of entries of an index that is not there.
const Missing = -1

// PartitionDir names a partition directory to list.
type PartitionDir struct {
	// Path opens it; Name is what reports call it.
	Path, Name string
}

// SegmentInfo is what a listing says of one segment.
type SegmentInfo struct {
	Base   int64
	Name   string // of the .log, as reports call it
	Active bool
	// NextOffset is the offset behind the last batch; the base offset of an empty segment.
	NextOffset int64
	Batches    int64
	Size       int64 // bytes of the .log
	// IndexEntries counts the entries of the .index without preallocated ones, or is
	// Missing.
	IndexEntries int
	// Damage is what the walk over the batch headers met. Checksums are not looked at.
	Damage []*corrupt.Error
}

// PartitionInfo is the listing of one partition directory.
type PartitionInfo struct {
	Segments []SegmentInfo
	// Err is an error of reading; the segments before it are there.
	Err error
}

// Segments lists the segments of partitions, in parallel, and yields them in the order
// of dirs. Only the headers of batches are read.
func Segments(ctx context.Context, fsys vfs.ReadFS, dirs []PartitionDir) iter.Seq[PartitionInfo] {
	return inOrder(ctx, dirs, func() func(PartitionDir) PartitionInfo {
		l := lister{fs: fsys}
		return l.partition
	})
}

// lister lists one partition after the other and keeps its buffers.
type lister struct {
	fs      vfs.ReadFS
	headers segment.Headers
}

func (l *lister) partition(dir PartitionDir) (p PartitionInfo) {
	p.Err = guard(dir.Name, func() error {
		listing, err := segment.List(l.fs, dir.Path)
		if err != nil {
			return err
		}
		p.Segments = make([]SegmentInfo, 0, len(listing.Segments))
		for i, files := range listing.Segments {
			info, err := l.segment(dir, files)
			if err != nil {
				return err
			}
			info.Active = i == len(listing.Segments)-1
			p.Segments = append(p.Segments, info)
		}
		return nil
	})
	return p
}

func (l *lister) segment(dir PartitionDir, files segment.Files) (SegmentInfo, error) {
	info := SegmentInfo{
		Base: files.Base, Name: filepath.Join(dir.Name, files.Log),
		NextOffset: files.Base, IndexEntries: Missing,
	}
	format, err := l.walk(filepath.Join(dir.Path, files.Log), &info)
	if err != nil || files.Index == "" {
		return info, err
	}
	info.IndexEntries, err = l.indexEntries(filepath.Join(dir.Path, files.Index), files.Base, format)
	return info, err
}

// walk counts the batches of a log by their headers. It returns the format of the first.
func (l *lister) walk(path string, info *SegmentInfo) (format record.Format, err error) {
	file, size, err := open(l.fs, path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info.Size = size
	l.headers.Reset(file, size)
	format = record.V2
	before := place{next: info.Base}
	for pos := int64(0); pos < size; {
		b, frame, ok, err := l.headers.At(pos)
		if err != nil {
			return format, err
		}
		if !ok || b.LastOffset() < info.NextOffset {
			if pos, err = info.skipDamage(file, size, before); err != nil {
				return format, err
			}
			before = place{pos, info.NextOffset}
			continue
		}
		if pos == 0 {
			format = b.Format()
		}
		before = place{pos, info.NextOffset}
		info.NextOffset = b.NextOffset()
		info.Batches++
		pos += frame
	}
	return format, nil
}

// place is where a batch begins, and the offset that comes next there.
type place struct{ pos, next int64 }

// skipDamage asks the scanner what is wrong where the headers do not go on, and where they
// do: at the next good batch, or at the end. It begins with the batch before, whose length
// may be what led astray.
func (s *SegmentInfo) skipDamage(file vfs.ReadFile, size int64, before place) (next int64, err error) {
	if now, err := file.Stat(); err != nil || now.Size() > size {
		return size, err // somebody appends: what looks torn was being written
	}
	scan := segment.NewScanner(file, size, segment.Options{Base: s.Base, Start: before.pos, LogEnd: before.next})
	for scan.Next() {
		d := scan.Damage()
		if d == nil {
			continue
		}
		if d.Pos == before.pos && s.NextOffset > before.next {
			s.Batches--
			s.NextOffset = before.next
		}
		d.Path = s.Name
		s.Damage = append(s.Damage, d)
		if d.NextPos > d.Pos {
			return d.NextPos, nil
		}
		return size, nil
	}
	return size, scan.Err()
}

// indexEntries counts the entries of an offset index.
func (l *lister) indexEntries(path string, base int64, format record.Format) (int, error) {
	src, size, err := open(l.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Missing, nil
	}
	if err != nil {
		return 0, err
	}
	defer src.Close()
	if format == record.MKB1 {
		return index.NewMKB1Index(src, size, base).EffectiveLen()
	}
	return index.NewOffsetIndex(src, size, base).EffectiveLen()
}
