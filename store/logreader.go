package store

import (
	"logdir/store/corrupt"
	"logdir/store/record"
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
	fs  vfs.ReadFS
	dir string
	o   ReaderOptions
}

// OpenReader lists the segments of the partition directory dir. It opens no file.
func OpenReader(fs vfs.ReadFS, dir string, o ReaderOptions) (*LogReader, error) {
	return &LogReader{fs: fs, dir: dir, o: o}, errNotYet
}

// Start is the log start offset: the first that may be read.
func (r *LogReader) Start() int64 { return 0 }

// End finds the log end offset, from the last index entry on. Damage at the tail is not
// an error: it comes back as a value, and the offset is the end of what is good.
func (r *LogReader) End() (offset int64, damage *corrupt.Error, err error) {
	return 0, nil, errNotYet
}

// From returns a cursor that stands before the batch holding offset, or the first batch
// behind it. Nothing is read before the first Next.
func (r *LogReader) From(offset int64) *Cursor { return &Cursor{r: r} }

// OffsetForTime finds the first record with a timestamp of at least ts (ms). ok is
// false if there is none.
func (r *LogReader) OffsetForTime(ts int64) (offset, timestamp int64, ok bool, err error) {
	return 0, 0, false, errNotYet
}

// Cursor walks the batches of a log across its segments:
//
//	for c := r.From(42); c.Next(); {
//		if d := c.Damage(); d != nil { stop, or go on behind it }
//		use c.Batch()
//	}
//	if err := c.Err(); err != nil { … }
//	c.Close()
//
// Batches come whole: the first may hold records before the offset that was asked for.
type Cursor struct{ r *LogReader }

// Next moves to the next batch, or to the next damaged range. It is false at the end
// and after an error.
func (c *Cursor) Next() bool { return false }

// Batch is the batch, valid until the next call of Next; nil in a damaged range of
// which no whole frame is left.
func (c *Cursor) Batch() *record.Batch { return nil }

// Damage is what is wrong here, nil if nothing is. Path, position and the next good
// offset are filled in.
func (c *Cursor) Damage() *corrupt.Error { return nil }

// Segment is the base offset of the segment, and Pos the position of the batch in it.
func (c *Cursor) Segment() int64 { return 0 }

// Pos is the position of the batch in its segment.
func (c *Cursor) Pos() int64 { return 0 }

// Err is what stopped the cursor: an input/output error, never damage.
func (c *Cursor) Err() error { return nil }

// Close closes the files.
func (c *Cursor) Close() error { return nil }
