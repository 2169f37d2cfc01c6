package store

import "logdir/store/record"

// OffsetOfMaxTimestamp finds the record with the largest timestamp, of those from the log
// start on and below end; the first of several. ok is false if none has a timestamp. It is
// Kafka's ListOffsets with MAX_TIMESTAMP.
//
// Damage on the way ends the search with a *corrupt.Error.
func (r *LogReader) OffsetOfMaxTimestamp(end int64) (offset, timestamp int64, ok bool, err error) {
	best := dated{timestamp: record.NoTimestamp}
	for at := len(r.bases) - 1; at >= 0; at-- { // mostly the newest, and then indexes rule out the others
		if r.bases[at] >= end {
			continue
		}
		from, maybe, err := r.timeStart(at, best.timestamp)
		if err != nil {
			return 0, 0, false, err
		}
		if !maybe {
			continue
		}
		own, err := r.newestOf(at, from, end)
		if err != nil {
			return 0, 0, false, err
		}
		if own.timestamp != record.NoTimestamp && own.timestamp >= best.timestamp {
			best = own
		}
	}
	return best.offset, best.timestamp, best.timestamp != record.NoTimestamp, nil
}

// dated is a record's place and time.
type dated struct{ offset, timestamp int64 }

// newestOf is the first record with the largest timestamp in segment number at, below end;
// what stands before from is older than others. Only batches that could hold it are read.
func (r *LogReader) newestOf(at int, from, end int64) (best dated, err error) {
	best.timestamp = record.NoTimestamp
	records := record.NewReader()
	err = r.scanSegment(at, from, func(b *record.Batch) (more bool, err error) {
		if b.BaseOffset() >= end {
			return false, nil
		}
		if b.MaxTimestamp() > best.timestamp || b.Format() == record.MKB1 {
			best, err = newestIn(records, b, best, r.Start(), end)
		}
		return true, err
	})
	return best, err
}

// newestIn is the newest record of a batch, if it is newer than best.
func newestIn(records *record.Reader, b *record.Batch, best dated, from, end int64) (dated, error) {
	records.Reset(b)
	for records.Next() {
		if rec := records.Record(); rec.Timestamp > best.timestamp && rec.Offset >= from && rec.Offset < end {
			best = dated{rec.Offset, rec.Timestamp}
		}
	}
	return best, records.Err()
}
