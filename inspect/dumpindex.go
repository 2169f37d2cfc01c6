package inspect

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// neighbour is the log beside an index.
type neighbour struct {
	segment.Headers
	file vfs.ReadFile
	mkb1 bool
}

// logBeside opens the log of an index file. Without one, entries are shown unchecked.
func (d *Dumper) logBeside(f *DumpFile) (*neighbour, error) {
	src, size, err := open(d.FS, beside(f, ".log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := &neighbour{file: src}
	n.Reset(src, size)
	b, _, ok, err := n.At(0)
	n.mkb1 = ok && b.Format() == record.MKB1
	return n, err
}

// beside is the path of another file of the same segment.
func beside(f *DumpFile, suffix string) string {
	stem, _, _ := strings.Cut(f.Base, ".")
	return strings.TrimSuffix(f.Path, f.Base) + stem + suffix
}

func (n *neighbour) close() {
	if n != nil {
		n.file.Close()
	}
}

// offsetIndex dumps a .index.
func (d *Dumper) offsetIndex(f *DumpFile, src io.ReaderAt, size int64) error {
	log, err := d.logBeside(f)
	if err != nil {
		return err
	}
	defer log.close()
	x := index.NewOffsetIndex(src, size, f.BaseOffset)
	width := int64(index.OffsetEntrySize)
	if log != nil && log.mkb1 {
		x, width = index.NewMKB1Index(src, size, f.BaseOffset), index.MKB1EntrySize
	}
	if done, err := d.sanity(f, x, size, width); done || err != nil {
		return err
	}
	pos, last := int64(0), int64(-1)
	for e, err := range x.All() {
		if err != nil {
			return err
		}
		if err := d.checkOffsetEntry(f, log, e, pos, last); err != nil {
			return err
		}
		if !d.Options.VerifyIndexOnly {
			d.out = d.Printer.Row(d.out, f, []Field{number("offset", e.Offset), number("position", e.Pos)})
		}
		if err := d.spill(); err != nil {
			return err
		}
		pos, last = pos+width, e.Offset
	}
	return nil
}

// sanity makes the cheap checks that a broker makes. It is done if there is nothing to
// show, or if nothing else was asked for. Of an empty time index Kafka's tool has nothing
// to say, and its checks pass.
func (d *Dumper) sanity(f *DumpFile, x entryFile, size, width int64) (done bool, err error) {
	if x.Len() == 0 && size == 0 && f.Kind != TimeIndexFile {
		d.out = d.Printer.Line(d.out, f, f.Name+" is empty.")
		return true, nil
	}
	if rest := size % width; rest != 0 {
		d.damaged(corrupt.Newf(corrupt.BadIndex, size-rest, rest, "%d bytes are not a multiple of %d", size, width), f.Name)
	} else if d.Options.SanityOnly {
		d.out = d.Printer.Line(d.out, f, f.Name+" passed sanity check.")
	}
	return d.Options.SanityOnly, nil
}

// entryFile is what the index files have in common.
type entryFile interface{ Len() int }

// checkOffsetEntry compares the entry e, at byte pos behind one of offset last, with the
// log. What older brokers wrote is told as a mismatch, but is not damage: the first
// offset of the batch, or the last one of a group of batches that begins there.
func (d *Dumper) checkOffsetEntry(f *DumpFile, log *neighbour, e index.OffsetEntry, pos, last int64) error {
	if pos > 0 && e.Offset <= last {
		d.badEntry(f, pos, "offset %d does not rise from %d", e.Offset, last)
	}
	if log == nil {
		return nil
	}
	b, size, ok, err := log.At(e.Pos)
	if err != nil {
		return err
	}
	if !ok || size > int64(d.Options.MaxMessageSize) {
		d.Report.IndexMismatches = append(d.Report.IndexMismatches, IndexMismatch{f.Name, e.Offset, -1})
		d.badEntry(f, pos, "offset %d: no batch at byte %d of the log", e.Offset, e.Pos)
		return nil
	}
	want := b.LastOffset()
	if log.mkb1 {
		want = b.BaseOffset()
	}
	if e.Offset != want {
		d.Report.IndexMismatches = append(d.Report.IndexMismatches, IndexMismatch{f.Name, e.Offset, want})
	}
	if e.Offset < b.BaseOffset() && b.Format() >= record.V2 {
		d.badEntry(f, pos, "offset %d: the batch at byte %d of the log begins at %d", e.Offset, e.Pos, b.BaseOffset())
	}
	return nil
}

func (d *Dumper) badEntry(f *DumpFile, pos int64, format string, args ...any) {
	width := int64(index.OffsetEntrySize)
	if f.Kind == TimeIndexFile {
		width = index.TimeEntrySize
	}
	d.damaged(corrupt.Newf(corrupt.BadIndex, pos, width, format, args...), f.Name)
}

// timeIndex dumps a .timeindex.
func (d *Dumper) timeIndex(f *DumpFile, src io.ReaderAt, size int64) error {
	log, err := d.logBeside(f)
	if err != nil {
		return err
	}
	defer log.close()
	x := index.NewTimeIndex(src, size, f.BaseOffset)
	if done, err := d.sanity(f, x, size, index.TimeEntrySize); done || err != nil {
		return err
	}
	walk := timeWalk{Dumper: d, file: f, log: log}
	if log != nil {
		closeIndex, err := walk.openIndex(f)
		if err != nil {
			return err
		}
		defer closeIndex()
	}
	for e, err := range x.All() {
		if err != nil {
			return err
		}
		if err := walk.check(e); err != nil {
			return err
		}
		if !d.Options.VerifyIndexOnly {
			d.out = d.Printer.Row(d.out, f, []Field{number("timestamp", e.Timestamp), number("offset", e.Offset)})
		}
		if err := d.spill(); err != nil {
			return err
		}
	}
	return nil
}

// timeWalk compares the entries of a time index, in order, with the log.
type timeWalk struct {
	*Dumper
	file   *DumpFile
	log    *neighbour
	lookup *index.OffsetIndex // nil: the log is walked from its start

	n    int64           // entries seen
	prev index.TimeEntry // the one before
	at   int64           // where the log was left
}

func (w *timeWalk) openIndex(f *DumpFile) (closeIndex func(), err error) {
	src, size, err := open(w.FS, beside(f, ".index"))
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	w.lookup = index.NewOffsetIndex(src, size, f.BaseOffset)
	return func() { src.Close() }, nil
}

func (w *timeWalk) check(e index.TimeEntry) error {
	pos := w.n * index.TimeEntrySize
	if w.n > 0 && e.Offset < w.prev.Offset {
		w.badEntry(w.file, pos, "offset %d falls from %d", e.Offset, w.prev.Offset)
		w.at = 0
	}
	if w.n > 0 && e.Timestamp <= w.prev.Timestamp {
		w.Report.TimeDisorders = append(w.Report.TimeDisorders, TimeDisorder{w.file.Name, e.Timestamp, w.prev.Timestamp})
		w.badEntry(w.file, pos, "timestamp %d does not rise from %d", e.Timestamp, w.prev.Timestamp)
	}
	w.n++
	w.prev = e
	if w.log == nil {
		return nil
	}
	return w.compare(e, pos)
}

// compare looks for the batch of entry e. An entry somewhere inside a batch is what
// brokers before 4.0 may have written, and no damage.
func (w *timeWalk) compare(e index.TimeEntry, pos int64) error {
	b, found, err := w.find(e.Offset)
	switch {
	case err != nil:
		return err
	case !found:
		w.Report.OffsetsNotFound = append(w.Report.OffsetsNotFound, IndexMismatch{w.file.Name, e.Offset, -1})
		w.badEntry(w.file, pos, "offset %d is beyond the end of the log", e.Offset)
	case b.LastOffset() != e.Offset:
		w.Report.OffsetsNotFound = append(w.Report.OffsetsNotFound, IndexMismatch{w.file.Name, e.Offset, b.LastOffset()})
	case b.MaxTimestamp() != e.Timestamp:
		w.Report.TimeMismatches = append(w.Report.TimeMismatches, TimeMismatch{w.file.Name, e.Timestamp, b.MaxTimestamp()})
		w.badEntry(w.file, pos, "timestamp %d, the batch with offset %d has %d", e.Timestamp, e.Offset, b.MaxTimestamp())
	}
	return nil
}

// find goes to the first batch whose last offset is at least offset, from where it left
// off, or from where the offset index leads.
func (w *timeWalk) find(offset int64) (b record.Batch, found bool, err error) {
	if w.lookup != nil {
		e, _, err := w.lookup.Lookup(offset)
		if err != nil {
			return b, false, err
		}
		w.at = max(w.at, e.Pos)
	}
	for {
		b, size, ok, err := w.log.At(w.at)
		if err != nil || !ok {
			return b, false, err
		}
		if b.LastOffset() >= offset {
			return b, true, nil
		}
		w.at += size
	}
}
