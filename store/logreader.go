package store

import (
	"errors"
	"math"
	"slices"
	"sync"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// ReaderOptions say how a log is read.
type ReaderOptions struct {
	// LogStart is the checkpointed log start offset; 0 if there is none.
	LogStart int64
	// Writing tells whether a writer holds the partition's lock just now. What looks
	// torn at the very end is then a batch on its way, not damage. nil: nobody writes.
	Writing func() bool
	// SkipCRC trusts the bytes.
	SkipCRC bool
}

// LogReader is one replica of a partition, open for reading. It takes no lock, writes
// nothing, and sees the segments that stood there when it was opened.
type LogReader struct {
	fs    vfs.ReadFS
	dir   string
	o     ReaderOptions
	bases []int64 // of the segments, ascending
	// swapped are those whose files still have the suffix of a finished compaction.
	swapped map[int64]bool
}

// OpenReader lists the segments of the partition directory dir. It opens no file.
func OpenReader(fs vfs.ReadFS, dir string, o ReaderOptions) (*LogReader, error) {
	bases, swapped, err := present(fs, dir)
	if err != nil {
		return nil, err
	}
	return &LogReader{fs: fs, dir: dir, o: o, bases: bases, swapped: swapped}, nil
}

// open opens segment number at.
func (r *LogReader) open(at int) (*reading, error) {
	suffix := ""
	if r.swapped[r.bases[at]] {
		suffix = segment.SwapSuffix
	}
	return openReading(r.fs, r.dir, r.bases[at], suffix)
}

// at is the number of the segment that holds offset, or would.
func (r *LogReader) at(offset int64) int {
	at, found := slices.BinarySearch(r.bases, offset)
	if !found {
		at = max(at-1, 0)
	}
	return at
}

// Dir is the partition directory.
func (r *LogReader) Dir() string { return r.dir }

// Swapping tells whether a compaction is being moved in place, or died there.
func (r *LogReader) Swapping() bool { return len(r.swapped) > 0 }

// Segments lists the base offsets of the segments.
func (r *LogReader) Segments() []int64 { return r.bases }

// Start is the log start offset: the first that may be read. It is what the checkpoint
// says, but never below the first segment.
func (r *LogReader) Start() int64 {
	if len(r.bases) == 0 {
		return r.o.LogStart
	}
	return max(r.o.LogStart, r.bases[0])
}

// End finds the log end offset, from the last index entry on. Damage at the tail is not
// an error: it comes back as a value, and the offset is the end of what is good.
func (r *LogReader) End() (offset int64, damage *corrupt.Error, err error) {
	if len(r.bases) == 0 {
		return r.o.LogStart, nil, nil
	}
	c := r.cursor(len(r.bases) - 1)
	defer func() { err = errors.Join(err, c.Close()) }()
	c.toLastEntry = true
	offset = r.bases[len(r.bases)-1]
	for c.Next() {
		if d := c.Damage(); d != nil {
			return offset, d, nil
		}
		offset = c.Batch().NextOffset()
	}
	return offset, nil, c.Err()
}

// From returns a cursor that stands before the batch holding offset, or the first batch
// behind it. Nothing is read before the first Next. What an interrupted cleaning left only in
// a segment in front of that one is not looked for, as a broker would not.
func (r *LogReader) From(offset int64) *Cursor {
	c := r.cursor(r.at(offset))
	c.from = offset
	return c
}

// Replay hands on every batch of the log. Damage is passed over and returned.
func (r *LogReader) Replay(each func(*record.Batch)) (damage []*corrupt.Error, err error) {
	c := r.From(r.Start())
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if d := c.Damage(); d != nil {
			damage = append(damage, d)
			continue
		}
		each(c.Batch())
	}
	return damage, c.Err()
}

func (r *LogReader) cursor(at int) *Cursor {
	return &Cursor{r: r, next: at, end: corrupt.Unknown}
}

// limit is the first offset that does not belong in segment number at.
func (r *LogReader) limit(at int) int64 {
	if at+1 < len(r.bases) {
		return r.bases[at+1]
	}
	return math.MaxInt64
}

// Cursor walks the batches of a log across its segments:
//
//	c := r.From(42)
//	defer c.Close()
//	for c.Next() {
//		if d := c.Damage(); d != nil {
//			// stop, or go on: the next call moves behind it
//		}
//		// use c.Batch()
//	}
//	err := c.Err()
//
// Batches come whole: the first may hold records before the offset that was asked for.
type Cursor struct {
	r           *LogReader
	from        int64 // batches that end before it are passed over
	toLastEntry bool  // begin at the last index entry

	next   int      // number of the segment that is opened next
	seg    *reading // open now, nil between segments
	scan   *segment.Scanner
	landed bool  // the scan began at an index entry, and no batch there was good yet
	listed bool  // since seg was opened the segments were seen to be those that r lists
	end    int64 // next offset after the last good batch, or corrupt.Unknown
	missed int   // how often in a row a segment was not there any more
	strays strays
	err    error
}

// Next moves to the next batch, or to the next damaged range. It is false at the end
// and after an error.
func (c *Cursor) Next() bool {
	found := c.strays.held || c.advance()
	c.strays.held, c.strays.current = false, nil
	if len(c.strays.waiting) > 0 {
		return c.merge(found)
	}
	return found
}

// advance moves the scan to what it finds next in the log, one segment after the other.
func (c *Cursor) advance() bool {
	for c.err == nil {
		if c.seg == nil && !c.open() {
			return false
		}
		if !c.scan.Next() {
			c.leave()
			continue
		}
		if c.take() {
			return true
		}
	}
	return false
}

// take judges what the scan found: true if the caller is to see it.
func (c *Cursor) take() bool {
	if d := c.scan.Damage(); d != nil {
		return c.takeDamage(d)
	}
	c.landed = false
	c.end = c.scan.Batch().NextOffset()
	return c.end > c.from
}

func (c *Cursor) takeDamage(d *corrupt.Error) bool {
	switch {
	case c.landed:
		// The index led astray, or the batch is hurt: only the whole way tells.
		c.rescan(0)
		return false
	case d.NextOffset != corrupt.Unknown && d.NextOffset <= c.from:
		return false
	case c.isOutdated():
		return false
	case c.isStray(d) || c.err != nil:
		return false
	case d.NextPos == corrupt.Unknown && c.inLast() && c.stillWritten(d.Pos):
		return false
	}
	d.Path = c.seg.path(segment.LogSuffix)
	return true
}

func (c *Cursor) inLast() bool { return c.next == len(c.r.bases) }

// stillWritten tells damage at the end of the log from a batch on its way. Whether
// somebody writes is asked before the size: a writer that is done by then has left all
// its bytes to be seen.
func (c *Cursor) stillWritten(pos int64) bool {
	writing := c.r.o.Writing != nil && c.r.o.Writing()
	before := c.seg.size
	if c.err = c.seg.measure(); c.err != nil {
		return true
	}
	if c.seg.size != before {
		c.rescan(pos)
		return true
	}
	if writing {
		c.leave()
	}
	return writing
}

// open opens the next segment at the place where the scan is to begin.
func (c *Cursor) open() bool {
	if c.next >= len(c.r.bases) {
		return false
	}
	if c.seg, c.err = c.r.open(c.next); isNotExist(c.err) {
		return c.relist() && c.open()
	}
	if c.err != nil {
		return false
	}
	c.missed = 0
	c.next++
	pos, err := c.begin()
	if c.err = err; err != nil {
		return false
	}
	c.landed, c.listed = pos > 0, false
	c.strays.judged, c.strays.copies = false, false
	c.rescan(pos)
	return true
}

// begin finds the position at which the scan of the segment begins.
func (c *Cursor) begin() (int64, error) {
	switch {
	case c.toLastEntry:
		entry, err := c.seg.last()
		return entry.Pos, err
	case c.from > c.seg.base:
		return c.seg.seek(c.from)
	}
	return 0, nil
}

// rescan starts the scan of the open segment at byte pos.
func (c *Cursor) rescan(pos int64) {
	if pos == 0 {
		c.landed = false
	}
	if c.scan == nil {
		c.scan = scanners.Get().(*segment.Scanner)
	}
	c.scan.Reset(c.seg.log, c.seg.size, c.scanOptions(pos))
}

func (c *Cursor) scanOptions(pos int64) segment.Options {
	return segment.Options{
		Base: c.seg.base, Limit: c.r.limit(c.next - 1), Start: pos,
		LogEnd: max(c.end, 0), Epoch: record.NoLeaderEpoch, SkipCRC: c.r.o.SkipCRC,
	}
}

// scanners keeps the buffers of closed cursors: to list the ends of ten thousand logs
// should not take ten thousand of them.
var scanners = sync.Pool{New: func() any { return new(segment.Scanner) }}

// leave closes the segment that was read to its end.
func (c *Cursor) leave() {
	if err := c.scan.Err(); err != nil {
		c.err = err
	}
	c.err = errors.Join(c.err, c.seg.Close())
	c.seg = nil
}

// Batch is the batch, valid until the next call of Next; nil in a damaged range of
// which no whole frame is left.
func (c *Cursor) Batch() *record.Batch {
	if c.strays.current != nil {
		return &c.strays.batch
	}
	return c.scan.Batch()
}

// Damage is what is wrong here, nil if nothing is. Path, position and the next good
// offset are filled in.
func (c *Cursor) Damage() *corrupt.Error {
	if c.strays.current != nil {
		return nil
	}
	return c.scan.Damage()
}

// Segment is the base offset of the segment.
func (c *Cursor) Segment() int64 {
	if x := c.strays.current; x != nil {
		return x.in
	}
	return c.seg.base
}

// File is the path of the segment's log.
func (c *Cursor) File() string {
	if x := c.strays.current; x != nil {
		return x.path
	}
	return c.seg.path(segment.LogSuffix)
}

// Pos is the position of the batch in its segment.
func (c *Cursor) Pos() int64 {
	if x := c.strays.current; x != nil {
		return x.Pos
	}
	return c.scan.Pos()
}

// Err is what stopped the cursor: an input/output error, never damage.
func (c *Cursor) Err() error { return c.err }

// Close closes the files. The batch is no longer valid then.
func (c *Cursor) Close() error {
	var err error
	if c.seg != nil {
		err = c.seg.Close()
	}
	if c.scan != nil {
		scanners.Put(c.scan)
	}
	c.seg, c.scan, c.next = nil, nil, len(c.r.bases)
	return err
}
