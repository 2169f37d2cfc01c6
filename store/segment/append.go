package segment

import "logdir/store/vfs"

// AppenderOptions say how a segment is extended.
type AppenderOptions struct {
	// Interval is index.interval.bytes; 0 means 4096.
	Interval int
	// MKB1 makes the segment one of MiniKafka's: its own index, no time index.
	MKB1 bool
	// LogEnd and Epoch are what is known before the segment, as in Options.
	LogEnd int64
	Epoch  int32
	// MidWrite, if set, is called when half of the bytes of an append are in the file and
	// the other half is not: a failure point. Its error ends the append there, with nothing
	// cleaned up.
	MidWrite func() error
}

// Appender extends the active segment of a partition and keeps its indexes. It takes no
// lock: its caller holds the partition's.
//
// Index entries are kept in memory and written in groups, at Flush, Sync, Finish or Close
// at the latest. A process that dies before loses no more than entries, which are
// made again when the segment is next opened.
type Appender struct{ base int64 }

// OpenAppender opens the segment with a base offset, and creates its files and syncs the
// directory if they are not there. It reads the log from the last index entry on, to
// find its end; it refuses, with the *corrupt.Error, to extend a log whose tail is damaged
// or whose index does not lead to a batch.
func OpenAppender(fs vfs.FS, dir string, base int64, o AppenderOptions) (*Appender, error) {
	return &Appender{base: base}, nil
}

// Append writes whole frames behind the log with one write. Their offsets must follow.
// It gives the position of the first. After an error the file is as it was before, as
// far as that can be done, and the Appender refuses everything but Close.
func (a *Appender) Append(frames []byte) (pos int64, err error) { return 0, nil }

// Base is the segment's base offset.
func (a *Appender) Base() int64 { return a.base }

// Size is the bytes of the .log.
func (a *Appender) Size() int64 { return 0 }

// NextOffset is the log end offset.
func (a *Appender) NextOffset() int64 { return 0 }

// Epoch is the newest leader epoch in the log, or the one given when it was opened.
func (a *Appender) Epoch() int32 { return 0 }

// MaxTimestamp is the largest timestamp of the segment, ms, or -1.
func (a *Appender) MaxTimestamp() int64 { return -1 }

// FirstTimestamp is the largest timestamp of the first batch, ms, or -1: what segment.ms
// counts from.
func (a *Appender) FirstTimestamp() int64 { return -1 }

// IndexFull says whether a broker would roll because its index files are full, if they
// may have indexBytes (segment.index.bytes).
func (a *Appender) IndexFull(indexBytes int) bool { return false }

// Flush writes the index entries that are still in memory.
func (a *Appender) Flush() error { return nil }

// Sync is Flush, and then makes log and indexes survive a power cut.
func (a *Appender) Sync() error { return nil }

// Finish is for a segment that becomes inactive, or a clean stop: it adds the final time
// index entry, writes all entries and cuts the index files to their exact size.
func (a *Appender) Finish() error { return nil }

// Close is Flush and closes the files.
func (a *Appender) Close() error { return nil }
