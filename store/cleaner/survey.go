package cleaner

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// source is a segment as it was when the pass began.
type source struct {
	base, next          int64 // next: the base offset of the following segment
	size                int64 // of the .log, bytes
	indexSize, timeSize int64
	mtime               time.Time // of the .log
}

// survey is what one walk over the whole log tells.
type survey struct {
	sources []source // all but the active segment
	active  source
	records int64 // of data
	bytes   int64 // of all logs
	aborted []index.AbortedTxn
	// stable is the last stable offset.
	stable int64
	// last are the producers that are remembered, by id.
	last map[int64]producer.Entry
}

// look walks over the log, and holds every batch to its checksum: damage is an error, as
// what is wrong must not be written anew with a right checksum.
func look(ctx context.Context, fsys vfs.ReadFS, r *store.LogReader, o Options) (*survey, error) {
	s := &survey{last: map[int64]producer.Entry{}}
	if err := s.list(fsys, r.Dir(), r.Segments()); err != nil {
		return nil, err
	}
	state := producer.NewState(producer.DefaultWindow)
	state.SetHighWatermark(o.HighWatermark)
	if err := s.walk(ctx, r, state); err != nil {
		return nil, err
	}
	slices.SortFunc(s.aborted, func(a, b index.AbortedTxn) int { return int(min(max(a.FirstOffset-b.FirstOffset, -1), 1)) })
	s.stable = state.LastStable(o.HighWatermark)
	state.Expire(o.Now, producer.DefaultExpirationMS)
	for _, e := range state.Entries() {
		s.last[e.ProducerID] = e
	}
	return s, nil
}

// list measures the segments.
func (s *survey) list(fsys vfs.ReadFS, dir string, bases []int64) error {
	for i, base := range bases {
		g := source{base: base}
		var err error
		if g.size, g.mtime, err = measure(fsys, filepath.Join(dir, segment.FileName(base, segment.LogSuffix))); err != nil {
			return err
		}
		if g.indexSize, _, err = measure(fsys, filepath.Join(dir, segment.FileName(base, segment.IndexSuffix))); err != nil {
			return err
		}
		if g.timeSize, _, err = measure(fsys, filepath.Join(dir, segment.FileName(base, segment.TimeIndexSuffix))); err != nil {
			return err
		}
		s.bytes += g.size
		if i+1 == len(bases) {
			s.active = g
			break
		}
		g.next = bases[i+1]
		s.sources = append(s.sources, g)
	}
	return nil
}

// measure tells size and modification time; a file that is not there has none.
func measure(fsys vfs.ReadFS, name string) (int64, time.Time, error) {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// walk feeds all batches to state, and counts records and aborted transactions.
func (s *survey) walk(ctx context.Context, r *store.LogReader, state *producer.State) (err error) {
	c := r.From(0) // also what lies below the log start
	defer func() { err = errors.Join(err, c.Close()) }()
	records := record.NewReader()
	for c.Next() {
		if d := c.Damage(); d != nil {
			return d
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b := c.Batch()
		n, err := count(records, b)
		if err != nil {
			return err
		}
		s.records += n
		ended, err := state.Update(b)
		if err != nil {
			return err
		}
		if ended != nil && ended.Aborted {
			s.aborted = append(s.aborted, ended.AbortedTxn)
		}
	}
	return c.Err()
}

// count is the records of data in a batch. Those of old formats must be read to be counted.
func count(records *record.Reader, b *record.Batch) (n int64, err error) {
	switch {
	case b.IsControl():
		return 0, nil
	case b.Count() >= 0:
		return int64(b.Count()), nil
	}
	for records.Reset(b); records.Next(); n++ {
	}
	return n, records.Err()
}

// firstDirty is the cleaner's checkpoint, if the log is as long: one that was cut since
// begins from the start.
func (s *survey) firstDirty(checkpointed int64) int64 {
	if checkpointed > s.active.base {
		return 0
	}
	return max(checkpointed, 0)
}

// abortedSince are the aborted transactions whose marker stands at offset or behind. Those
// that ended before must not be taken for transactions that are still going on there.
func (s *survey) abortedSince(offset int64) []index.AbortedTxn {
	return slices.DeleteFunc(slices.Clone(s.aborted), func(t index.AbortedTxn) bool { return t.LastOffset < offset })
}

// cleanable are the segments that may be cleaned: closed, and wholly below the last
// stable offset.
func (s *survey) cleanable() []source {
	n := slices.IndexFunc(s.sources, func(g source) bool { return g.next > s.stable })
	if n < 0 {
		return s.sources
	}
	return s.sources[:n]
}
