package client

import (
	"errors"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// Fetch is what is read of one replica.
type Fetch struct {
	Log *store.LogReader
	// From is the first offset wanted, To the first not wanted. Neither need be there:
	// compaction leaves gaps.
	From, To int64
	// Isolation leaves out what was aborted; nil reads everything.
	Isolation *Isolation
	// Damaged is told of each damaged range that is met, and whether to go on at the
	// next good batch. Nil never goes on.
	Damaged func(*corrupt.Error) (goOn bool)
}

// ErrStop ends a fetch from inside: it is no error.
var ErrStop = errors.New("stop")

// Fetcher reads records as a consumer does: batches come whole from the log, records
// before the first offset and control records are dropped. Its buffers are used again
// for the next fetch.
type Fetcher struct{ records *record.Reader }

// NewFetcher returns a Fetcher.
func NewFetcher() *Fetcher { return &Fetcher{records: record.NewReader()} }

// Run calls each for every record, with its batch. Both are valid during the call. The
// next offset is where another fetch would go on: it moves past batches without records,
// and past damage, but not past a record for which each failed. Damage that ends the fetch is returned as *corrupt.Error.
func (f *Fetcher) Run(q Fetch, each func(*record.Batch, *record.Record) error) (next int64, err error) {
	next = q.From
	if next >= q.To {
		return next, nil
	}
	c := newSource(q.Log.From(next), q.To)
	defer func() { err = errors.Join(err, c.Close()) }()
	for next < q.To && c.Next() {
		if d := c.Damage(); d != nil {
			if q.Damaged == nil || !q.Damaged(d) {
				return next, d
			}
			if !d.EpochOnly() {
				next = max(next, d.NextOffset)
				continue
			}
		}
		next, err = f.batch(&q, c.Batch(), next, each)
		if errors.Is(err, ErrStop) {
			return next, nil
		}
		if d, bad := errors.AsType[*corrupt.Error](err); bad {
			err = q.misread(c, d)
		}
		if err != nil {
			return next, err
		}
	}
	return next, c.Err()
}

// batch hands out the records of one batch from offset next on.
func (f *Fetcher) batch(q *Fetch, b *record.Batch, next int64, each func(*record.Batch, *record.Record) error) (int64, error) {
	if b.IsControl() || q.Isolation.hides(b) {
		return b.NextOffset(), nil
	}
	for f.records.Reset(b); f.records.Next(); {
		r := f.records.Record()
		switch {
		case r.Offset >= q.To:
			return q.To, nil
		case r.Offset < next:
			continue
		}
		err := each(b, r)
		if err == nil || errors.Is(err, ErrStop) {
			next = r.Offset + 1
		}
		if err != nil {
			return next, err
		}
	}
	return max(next, b.NextOffset()), f.records.Err()
}

// misread deals with a batch whose checksum is right and whose records cannot be read.
// The result is nil if the fetch is to go on behind it.
func (q *Fetch) misread(c *source, d *corrupt.Error) error {
	d.Path, d.Pos = c.File(), d.Pos+c.Pos()
	d.NextPos, d.NextOffset = c.Pos()+int64(c.Batch().Size()), c.Batch().NextOffset()
	if q.Damaged != nil && q.Damaged(d) {
		return nil
	}
	return d
}
