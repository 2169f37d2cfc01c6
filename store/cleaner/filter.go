package cleaner

import (
	"logdir/store/producer"
	"logdir/store/record"
)

// filter decides, batch by batch, what stays (Kafka: Cleaner's RecordFilter).
type filter struct {
	o    Options
	keys *keys
	// end is the first offset that was not looked at for keys: from there all records stay.
	end  int64
	txns *txns
	last map[int64]producer.Entry

	// keepLegacy says that tombstones of before Kafka 0.11 stay in the current segment.
	keepLegacy bool

	records *record.Reader
	builder *record.Builder
	frame   []byte // reused
	dropped int64  // records of data that went
}

// verdict is what is known of the records of one batch.
type verdict struct {
	drop  bool // all of them go: an aborted transaction, or a marker past its horizon
	empty bool // if none is left the batch stays without
	stamp bool // a marker of which nothing is left
}

// take returns the frame that takes the place of b, nil if none does. It is valid until
// the next call.
func (f *filter) take(b *record.Batch) ([]byte, error) {
	v := f.judge(b)
	all, kept, tombstones, err := f.count(b, v)
	if err != nil {
		return nil, err
	}
	if !b.IsControl() {
		f.dropped += int64(all - kept)
	}
	switch {
	case kept == 0 && all == 0 && v.empty:
		return b.Raw(), nil
	case kept == 0:
		return f.emptied(b, v), nil
	}
	_, stamped := b.DeleteHorizon()
	stamp := b.Format() == record.V2 && (tombstones || v.stamp) && !stamped
	if kept == all && !stamp && b.Format() == record.V2 {
		return b.Raw(), nil
	}
	return f.rewrite(b, stamp)
}

// judge looks at the batch as a whole.
func (f *filter) judge(b *record.Batch) verdict {
	discard := f.txns.take(b)
	v := verdict{drop: discard, empty: f.lastOfProducer(b) || b.NextOffset() == f.o.HighWatermark}
	if b.IsControl() {
		horizon, stamped := b.DeleteHorizon()
		v.drop, v.stamp = discard && stamped && horizon <= f.o.Now, discard
	}
	if b.Format() < record.V2 {
		v.empty = false // there is no such batch
	}
	return v
}

// lastOfProducer tells whether the batch holds the last sequence of a producer that is
// remembered, or, where there was only a marker, the last epoch.
func (f *filter) lastOfProducer(b *record.Batch) bool {
	e, ok := f.last[b.ProducerID()]
	switch {
	case !ok || b.ProducerID() < 0:
		return false
	case e.LastOffset >= 0:
		return b.LastOffset() == e.LastOffset
	}
	return b.IsControl() && b.ProducerEpoch() == int32(e.ProducerEpoch)
}

// count reads the records once, to see how many there are, how many stay, and whether a
// tombstone does.
func (f *filter) count(b *record.Batch, v verdict) (all, kept int, tombstones bool, err error) {
	for f.records.Reset(b); f.records.Next(); all++ {
		r := f.records.Record()
		if v.drop || !f.stays(b, r) {
			continue
		}
		kept++
		tombstones = tombstones || r.Value == nil
	}
	return all, kept, tombstones, f.records.Err()
}

// stays tells whether one record stays.
func (f *filter) stays(b *record.Batch, r *record.Record) bool {
	switch {
	case b.IsControl() || r.Offset >= f.end:
		return true
	case r.Key == nil:
		return false
	case f.keys.newer(r.Key, r.Offset):
		return f.o.Keep != nil && f.o.Keep(r)
	case r.Value != nil:
		return true
	case b.Format() < record.V2:
		return f.keepLegacy
	}
	horizon, stamped := b.DeleteHorizon()
	return !stamped || f.o.Now < horizon
}

// emptied is what stays of a batch without records.
func (f *filter) emptied(b *record.Batch, v verdict) []byte {
	if !v.empty {
		return nil
	}
	f.builder.Reset(b.Meta())
	f.frame = f.builder.BuildEmpty(f.frame[:0], b.MaxTimestamp())
	return f.frame
}

// rewrite makes the batch anew from the records that stay.
func (f *filter) rewrite(b *record.Batch, stamp bool) ([]byte, error) {
	m := b.Meta()
	if stamp {
		m.HasDeleteHorizon, m.DeleteHorizon = true, f.o.Now+f.o.DeleteRetentionMs
	}
	begun := false
	for f.records.Reset(b); f.records.Next(); {
		r := f.records.Record()
		if !f.stays(b, r) {
			continue
		}
		if !begun {
			f.begin(b, m, r.Offset)
			begun = true
		}
		f.builder.Append(r)
	}
	if err := f.records.Err(); err != nil {
		return nil, err
	}
	var err error
	f.frame, err = f.builder.Build(f.frame[:0])
	return f.frame, err
}

// begin begins the new batch. One of an old format begins at the first record that stays:
// before, only its last offset was known.
func (f *filter) begin(b *record.Batch, m record.Meta, first int64) {
	if b.Format() < record.V2 {
		m.BaseOffset = first
	}
	f.builder.Reset(m)
}
