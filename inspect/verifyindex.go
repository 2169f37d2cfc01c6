package inspect

import (
	"errors"
	"io/fs"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// indexCheck holds the index files of a segment against its log while that is scanned.
// The zero value of checker checks nothing.
type indexCheck struct {
	fs      vfs.ReadFS
	log     *Verified
	files   []vfs.ReadFile
	checker *index.Checker
	missing []string // suffixes of index files that are not there
	stamped bool     // the log has timestamps to index
}

// open opens what is there. A Kafka segment has two index files, an MKB1 segment one.
func (c *indexCheck) open() error {
	format, err := c.format()
	if err != nil {
		return err
	}
	src, size, err := c.file(segment.IndexSuffix)
	if err != nil {
		return err
	}
	var offsets *index.OffsetIndex
	var times *index.TimeIndex
	switch {
	case src == nil:
	case format == record.MKB1:
		offsets = index.NewMKB1Index(src, size, c.log.Base)
	default:
		offsets = index.NewOffsetIndex(src, size, c.log.Base)
	}
	if format != record.MKB1 {
		if src, size, err = c.file(segment.TimeIndexSuffix); err != nil {
			return err
		}
		if src != nil {
			times = index.NewTimeIndex(src, size, c.log.Base)
		}
	}
	c.checker = index.NewChecker(c.log.Base, offsets, times)
	return nil
}

// format is that of the log's first frame.
func (c *indexCheck) format() (record.Format, error) {
	src, size, err := open(c.fs, c.log.Path)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	var h segment.Headers
	h.Reset(src, size)
	b, _, ok, err := h.At(0)
	if !ok {
		return record.V2, err
	}
	return b.Format(), err
}

// file opens an index file, or notes that it is missing.
func (c *indexCheck) file(suffix string) (vfs.ReadFile, int64, error) {
	src, size, err := open(c.fs, withSuffix(c.log.Path, suffix))
	if errors.Is(err, fs.ErrNotExist) {
		c.missing = append(c.missing, suffix)
		return nil, 0, nil
	}
	if err == nil {
		c.files = append(c.files, src)
	}
	return src, size, err
}

func (c *indexCheck) add(b *record.Batch, pos int64) {
	if c.checker == nil {
		return
	}
	s := index.SpanOf(b, pos)
	c.stamped = c.stamped || s.MaxTimestamp >= 0
	c.checker.Add(s)
}

func (c *indexCheck) damage() {
	if c.checker != nil {
		c.checker.Damage()
	}
}

// finish adds what is wrong with the index files to the verdict.
func (c *indexCheck) finish() error {
	if c.checker == nil {
		return nil
	}
	offsets, times, err := c.checker.Finish()
	if err != nil {
		return err
	}
	c.log.Offsets, c.log.Times = offsets, times
	c.found(offsets.Bad, segment.IndexSuffix)
	c.found(times.Bad, segment.TimeIndexSuffix)
	if c.log.Size == 0 {
		return nil // an empty log needs no index, but one with entries is wrong
	}
	for _, suffix := range c.missing {
		// A log without timestamps needs no time index, and old brokers made none.
		if suffix == segment.IndexSuffix || c.stamped {
			c.found(corrupt.New(corrupt.MissingIndex, 0, 0, "can be rebuilt from the log"), suffix)
		}
	}
	return nil
}

func (c *indexCheck) found(d *corrupt.Error, suffix string) {
	if d != nil {
		d.Path = withSuffix(c.log.Name, suffix)
		c.log.Damage = append(c.log.Damage, d)
	}
}

func (c *indexCheck) close() {
	for _, f := range c.files {
		f.Close()
	}
}
