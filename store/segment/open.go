package segment

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/vfs"
)

// OpenAppender opens the segment with a base offset, and creates its files and syncs the
// directory if they are not there. It reads the log from the last index entry on, to
// find its end; it refuses, with the *corrupt.Error, to extend a log whose tail is damaged
// or whose index does not lead to a batch, and then has changed nothing. If an index file is
// missing, both are made anew.
func OpenAppender(fsys vfs.FS, dir string, base int64, o AppenderOptions) (*Appender, error) {
	a := &Appender{
		o: o, base: base, next: max(base, o.LogEnd), epoch: o.Epoch, firstTimestamp: record.NoTimestamp,
	}
	made, err := a.openFiles(fsys, dir)
	if err == nil {
		err = a.resume()
	}
	if err == nil && made {
		err = a.makeFiles(fsys, dir)
	}
	if err != nil {
		return nil, errors.Join(namePath(err, dir, base), a.closeFiles())
	}
	return a, nil
}

// openFiles opens log and indexes. It makes the log if it is not there; of the indexes it
// tells if one is missing.
func (a *Appender) openFiles(fsys vfs.FS, dir string) (missing bool, err error) {
	name := path(dir, a.base, LogSuffix)
	a.log, err = fsys.OpenRW(name)
	if errors.Is(err, fs.ErrNotExist) {
		a.log, err = fsys.Create(name)
		missing = true
	}
	if err != nil {
		return missing, err
	}
	if a.offsets, err = openIndex(fsys, path(dir, a.base, IndexSuffix)); err != nil {
		return missing, err
	}
	if !a.o.MKB1 {
		if a.times, err = openIndex(fsys, path(dir, a.base, TimeIndexSuffix)); err != nil {
			return missing, err
		}
	}
	a.anew = slices.ContainsFunc(a.indexes(), func(x *indexFile) bool { return x.file == nil })
	return missing || a.anew, nil
}

// makeFiles makes the index files that are missing, and all entries of both.
func (a *Appender) makeFiles(fsys vfs.FS, dir string) error {
	suffix := IndexSuffix
	for _, x := range a.indexes() {
		if err := x.make(fsys, path(dir, a.base, suffix)); err != nil {
			return err
		}
		suffix = TimeIndexSuffix
	}
	if err := a.flush(); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// closeFiles closes what was opened.
func (a *Appender) closeFiles() error {
	var err error
	if a.log != nil {
		err = a.log.Close()
	}
	for _, x := range []*indexFile{a.offsets, a.times} {
		if x != nil && x.file != nil {
			err = errors.Join(err, x.close())
		}
	}
	return err
}

// resume reads the end of the log, from the last index entry on.
func (a *Appender) resume() error {
	info, err := a.log.Stat()
	if err != nil {
		return err
	}
	state, err := a.indexState()
	if err != nil {
		return err
	}
	a.newBuilder(state)
	if state.Entries == 0 {
		return a.scan(info.Size(), 0)
	}
	if err := a.readFirst(info.Size()); err != nil {
		return err
	}
	return a.scanFrom(info.Size(), state.Last)
}

// indexState reads where the indexes stand, and what of their files are entries.
func (a *Appender) indexState() (index.State, error) {
	if a.anew {
		return a.noEntries()
	}
	if a.o.MKB1 {
		offsets := index.NewMKB1Index(a.offsets.file, a.offsets.size, a.base)
		state, err := index.ReadState(a.base, offsets, nil)
		a.offsets.used = int64(state.Entries) * index.MKB1EntrySize
		return state, err
	}
	offsets := index.NewOffsetIndex(a.offsets.file, a.offsets.size, a.base)
	times := index.NewTimeIndex(a.times.file, a.times.size, a.base)
	state, err := index.ReadState(a.base, offsets, times)
	if state.Entries == 1 && state.Last.Pos == 0 { // zeros: no broker indexes the first batch
		state.Entries = 0
	}
	if err == nil && state.Entries == 0 { // whatever times there are will be made again
		return a.noEntries()
	}
	a.offsets.used = int64(state.Entries) * index.OffsetEntrySize
	a.times.used = int64(state.TimeEntries) * index.TimeEntrySize
	return state, err
}

// noEntries is the state of indexes that have none.
func (a *Appender) noEntries() (index.State, error) {
	return index.ReadState(a.base, index.NewOffsetIndex(nil, 0, a.base), nil)
}

func (a *Appender) newBuilder(state index.State) {
	if a.o.MKB1 {
		a.builder = index.ResumeMKB1Builder(a.base, a.o.interval(), state)
		return
	}
	a.builder = index.ResumeBuilder(a.base, a.o.interval(), state)
}

// readFirst finds the timestamp of the first batch.
func (a *Appender) readFirst(size int64) error {
	if a.o.MKB1 {
		return nil
	}
	head := make([]byte, min(size, record.HeaderSize))
	if n, err := a.log.ReadAt(head, 0); n < len(head) {
		return err
	}
	if b, _, ok := record.ViewHeader(head); ok {
		a.firstTimestamp = b.MaxTimestamp()
	}
	return nil
}

// scanFrom scans from the batch to which the last index entry leads. If it leads to none,
// the log itself decides whether the index is wrong, or the log is damaged there.
func (a *Appender) scanFrom(size int64, last index.OffsetEntry) error {
	err := a.scan(size, last.Pos)
	if _, damaged := errors.AsType[*corrupt.Error](err); !damaged && a.next > last.Offset {
		return err
	}
	s := NewScanner(a.log, size, Options{Base: a.base, LogEnd: a.o.LogEnd, Epoch: a.o.Epoch, StopAtDamage: true})
	for s.Next() && s.Damage() == nil {
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case s.Damage() != nil:
		return s.Damage()
	}
	return corrupt.Newf(corrupt.BadIndex, a.offsets.used-index.OffsetEntrySize, index.OffsetEntrySize,
		"offset %d at byte %d is no batch", last.Offset, last.Pos)
}

// scan feeds the batches from pos on to the index builder.
func (a *Appender) scan(size, pos int64) error {
	o := Options{Base: a.base, Start: pos, StopAtDamage: true}
	if pos == 0 {
		o.LogEnd, o.Epoch = a.o.LogEnd, a.o.Epoch
	}
	s := scanners.Get().(*Scanner)
	defer scanners.Put(s)
	s.Reset(a.log, size, o)
	for s.Next() {
		if s.Damage() != nil {
			return s.Damage()
		}
		a.add(s.Batch(), s.Pos())
	}
	if s.Err() != nil {
		return s.Err()
	}
	return a.err
}

// scanners keeps the buffers of scans that are over: a shell opens the same log a
// thousand times, a program a thousand logs.
var scanners = sync.Pool{New: func() any { return new(Scanner) }}

// namePath adds to damage the file in which it is.
func namePath(err error, dir string, base int64) error {
	if bad, ok := errors.AsType[*corrupt.Error](err); ok && bad.Path == "" {
		suffix := LogSuffix
		if bad.Kind == corrupt.BadIndex {
			suffix = IndexSuffix
		}
		bad.Path = filepath.Join(dir, FileName(base, suffix))
	}
	return err
}
