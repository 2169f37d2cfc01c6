package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/vfs"
)

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

func (o *AppenderOptions) interval() int {
	if o.Interval <= 0 {
		return index.DefaultInterval
	}
	return o.Interval
}

// Appender extends the active segment of a partition and keeps its indexes. It takes no
// lock: its caller holds the partition's.
//
// Index entries are kept in memory and written in groups, at Flush, Sync, Finish or Close
// at the latest. A process that dies before loses no more than entries, which are
// made again when the segment is next opened.
type Appender struct {
	o    AppenderOptions
	base int64
	log  vfs.File

	offsets, times *indexFile // times is nil for MKB1
	anew           bool       // the index files are being made anew
	builder        *index.Builder

	size, next     int64
	epoch          int32
	firstTimestamp int64
	err            error // of a failed write, after which nothing is written any more
}

// pendingIndex is how many bytes of index entries are kept back before they are written.
const pendingIndex = 4096

// Append writes whole frames behind the log with one write. Their offsets must follow.
// It gives the position of the first. After an error the file is as it was before, as
// far as that can be done, and the Appender refuses everything but Close.
func (a *Appender) Append(frames []byte) (pos int64, err error) {
	if a.err != nil {
		return 0, a.err
	}
	if err := a.check(frames); err != nil {
		return 0, err
	}
	if err := a.write(frames); err != nil {
		a.err = err
		return 0, err
	}
	pos = a.size
	a.count(frames)
	if len(a.builder.Index()) >= pendingIndex {
		return pos, a.Flush()
	}
	return pos, nil
}

// check refuses frames that cannot stand behind the log.
func (a *Appender) check(frames []byte) error {
	next := a.next
	for rest := frames; len(rest) > 0; {
		b, err := firstFrame(rest)
		if err != nil {
			return err
		}
		switch {
		case (b.Format() == record.MKB1) != a.o.MKB1:
			return fmt.Errorf("append of a frame with magic %s to a segment of another format", b.Format())
		case b.BaseOffset() < next:
			return fmt.Errorf("append of offset %d below the log end %d", b.BaseOffset(), next)
		case b.LastOffset()-a.base > math.MaxInt32:
			return fmt.Errorf("append of offset %d to the segment that begins at %d", b.LastOffset(), a.base)
		}
		next = b.NextOffset()
		rest = rest[b.Size():]
	}
	return nil
}

// firstFrame views the frame at the start of frames.
func firstFrame(frames []byte) (record.Batch, error) {
	size, _, err := record.Sniff(frames)
	if err != nil {
		return record.Batch{}, err
	}
	b, err := record.View(frames[:min(size, int64(len(frames)))])
	if err != nil {
		return record.Batch{}, err
	}
	return b, nil
}

// write puts frames behind the log, or takes back what it could write of them.
func (a *Appender) write(frames []byte) error {
	first := len(frames)
	if a.o.MidWrite != nil {
		first /= 2
	}
	_, err := a.log.WriteAt(frames[:first], a.size)
	if err == nil && a.o.MidWrite != nil {
		if err := a.o.MidWrite(); err != nil {
			return err
		}
		_, err = a.log.WriteAt(frames[first:], a.size+int64(first))
	}
	if err == nil {
		return nil
	}
	if back := a.log.Truncate(a.size); back != nil {
		return errors.Join(err, fmt.Errorf("cut back to %d bytes: %w", a.size, back))
	}
	return err
}

// count takes frames that are in the file into account.
func (a *Appender) count(frames []byte) {
	for len(frames) > 0 {
		b, err := firstFrame(frames)
		if err != nil { // cannot be: check saw the same bytes
			a.err = err
			return
		}
		a.add(&b, a.size)
		frames = frames[b.Size():]
	}
}

// add takes one frame into account that stands at pos, the end of the log so far.
func (a *Appender) add(b *record.Batch, pos int64) {
	span := index.SpanOf(b, pos)
	if err := a.builder.Add(span); err != nil {
		a.err = err
	}
	if pos == 0 {
		a.firstTimestamp = span.MaxTimestamp
	}
	a.size, a.next = pos+span.Size, b.NextOffset()
	if e := b.LeaderEpoch(); e != record.NoLeaderEpoch {
		a.epoch = e
	}
}

// Stat tells how the .log stands on the disk: a caller that lets go of its lock can see
// by it whether others wrote meanwhile.
func (a *Appender) Stat() (fs.FileInfo, error) { return a.log.Stat() }

// Base is the segment's base offset.
func (a *Appender) Base() int64 { return a.base }

// Size is the bytes of the .log.
func (a *Appender) Size() int64 { return a.size }

// NextOffset is the log end offset.
func (a *Appender) NextOffset() int64 { return a.next }

// Epoch is the newest leader epoch in the log, or the one given when it was opened.
func (a *Appender) Epoch() int32 { return a.epoch }

// MaxTimestamp is the largest timestamp of the segment, ms, or -1.
func (a *Appender) MaxTimestamp() int64 { return a.builder.State().Max.Timestamp }

// FirstTimestamp is the largest timestamp of the first batch, ms, or -1: what segment.ms
// counts from.
func (a *Appender) FirstTimestamp() int64 { return a.firstTimestamp }

// IndexFull says whether a broker would roll because its index files are full, if they
// may have indexBytes (segment.index.bytes).
func (a *Appender) IndexFull(indexBytes int) bool { return a.builder.Full(indexBytes) }

// Flush writes the index entries that are still in memory.
func (a *Appender) Flush() error {
	if a.err != nil {
		return a.err
	}
	a.err = a.flush()
	return a.err
}

// flush writes times first: where an offset index is ahead of its time index, nobody
// would notice that times are missing.
func (a *Appender) flush() error {
	var err error
	if a.times != nil {
		err = a.times.add(a.builder.TimeIndex())
	}
	if err == nil {
		err = a.offsets.add(a.builder.Index())
	}
	a.builder.Drain()
	return err
}

// Sync is Flush, and then makes log and indexes survive a power cut.
func (a *Appender) Sync() error {
	if err := a.Flush(); err != nil {
		return err
	}
	a.err = a.log.Sync()
	for _, x := range a.indexes() {
		if a.err == nil {
			a.err = x.sync()
		}
	}
	return a.err
}

// Finish is for a segment that becomes inactive, or a clean stop: it adds the final time
// index entry, writes all entries and cuts the index files to their exact size.
func (a *Appender) Finish() error {
	if a.err != nil {
		return a.err
	}
	if err := a.builder.Finish(); err != nil {
		a.err = err
		return err
	}
	if err := a.Flush(); err != nil {
		return err
	}
	for _, x := range a.indexes() {
		if a.err == nil {
			a.err = x.trim()
		}
	}
	return a.err
}

// Close is Flush and closes the files.
func (a *Appender) Close() error {
	err := a.Flush()
	err = errors.Join(err, a.log.Close())
	for _, x := range a.indexes() {
		err = errors.Join(err, x.close())
	}
	return err
}

// indexes are the index files that the segment has.
func (a *Appender) indexes() []*indexFile {
	if a.times == nil {
		return []*indexFile{a.offsets}
	}
	return []*indexFile{a.offsets, a.times}
}

// path is the name of one of the segment's files in dir.
func path(dir string, base int64, suffix string) string {
	return filepath.Join(dir, FileName(base, suffix))
}
