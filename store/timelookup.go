package store

import (
	"errors"

	"logdir/store/record"
)

// OffsetForTime finds the first record, in log order, with a timestamp of at least ts
// (ms) and not before the log start offset. ok is false if there is none. Timestamps may
// be out of order: a time index entry holds the largest so far, so everything before the
// entry that is followed is older.
//
// Damage on the way ends the search with a *corrupt.Error.
func (r *LogReader) OffsetForTime(ts int64) (offset, timestamp int64, ok bool, err error) {
	for at := range r.bases {
		from, maybe, err := r.timeStart(at, ts)
		if err != nil {
			return 0, 0, false, err
		}
		if !maybe {
			continue
		}
		offset, timestamp, ok, err = r.firstSince(at, from, ts)
		if ok || err != nil {
			return offset, timestamp, ok, err
		}
	}
	return 0, 0, false, nil
}

// timeStart asks the time index where in segment number at the search begins; maybe is
// false if the index proves that everything there is older. Only a closed segment's index
// can prove that: its last entry carries the largest timestamp.
func (r *LogReader) timeStart(at int, ts int64) (from int64, maybe bool, err error) {
	s, err := r.open(at)
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	from = max(r.Start(), s.base)
	times, err := s.times()
	if err != nil || times == nil {
		return from, true, err
	}
	closed := at+1 < len(r.bases)
	last, any, err := times.Last()
	if err != nil || closed && any && last.Timestamp < ts {
		return from, false, err
	}
	entry, found, err := times.Lookup(ts)
	if found && entry.Offset < r.limit(at) {
		from = max(from, entry.Offset)
	}
	return from, true, err
}

// firstSince scans segment number at from offset on.
func (r *LogReader) firstSince(at int, from, ts int64) (offset, timestamp int64, ok bool, err error) {
	records := record.NewReader()
	err = r.scanSegment(at, from, func(b *record.Batch) (more bool, err error) {
		if b.MaxTimestamp() < ts && b.Format() != record.MKB1 {
			return true, nil
		}
		offset, timestamp, ok, err = firstRecordSince(records, b, r.Start(), ts)
		return !ok, err
	})
	return offset, timestamp, ok, err
}

// scanSegment hands on the batches of segment number at, from offset on, as long as more are
// wanted. Damage ends it with a *corrupt.Error.
func (r *LogReader) scanSegment(at int, from int64, each func(*record.Batch) (more bool, err error)) (err error) {
	c := r.cursor(at)
	c.from = from
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() && c.Segment() == r.bases[at] {
		if d := c.Damage(); d != nil {
			return d
		}
		if more, err := each(c.Batch()); !more || err != nil {
			return err
		}
	}
	return c.Err()
}

func firstRecordSince(records *record.Reader, b *record.Batch, from, ts int64) (offset, timestamp int64, ok bool, err error) {
	records.Reset(b)
	for records.Next() {
		if rec := records.Record(); rec.Timestamp >= ts && rec.Offset >= from {
			return rec.Offset, rec.Timestamp, true, nil
		}
	}
	return 0, 0, false, records.Err()
}
