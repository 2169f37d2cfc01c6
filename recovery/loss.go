package recovery

import (
	"context"
	"math"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Loss sums up records that are no longer readable after a repair.
type Loss struct {
	// Records counts them as far as headers tell.
	Records int64
	// First and Last are the smallest and the largest offset; Last below First if there
	// are none.
	First, Last int64
	// From and To are the smallest and the largest timestamp, ms; To below From if unknown.
	From, To int64
	Bytes    int64
}

// NoLoss is the sum of nothing.
func NoLoss() Loss {
	return Loss{First: math.MaxInt64, Last: math.MinInt64, From: math.MaxInt64, To: math.MinInt64}
}

// HasOffsets and HasTimes say whether the ranges are known.
func (l *Loss) HasOffsets() bool { return l.Last >= l.First }

// HasTimes says whether the time range is known.
func (l *Loss) HasTimes() bool { return l.To >= l.From }

// Add adds another sum.
func (l *Loss) Add(o Loss) {
	l.Records += o.Records
	l.Bytes += o.Bytes
	l.First, l.Last = min(l.First, o.First), max(l.Last, o.Last)
	l.From, l.To = min(l.From, o.From), max(l.To, o.To)
}

// offsets widens the range of offsets.
func (l *Loss) offsets(first, last int64) {
	if first >= 0 && last >= first {
		l.First, l.Last = min(l.First, first), max(l.Last, last)
	}
}

// batch counts a batch that goes.
func (l *Loss) batch(b *record.Batch) {
	l.Records += countRecords(b)
	l.offsets(b.BaseOffset(), b.LastOffset())
	if from, to := b.BaseTimestamp(), b.MaxTimestamp(); from >= 0 && to >= from {
		l.From, l.To = min(l.From, from), max(l.To, to)
	}
}

// countRecords counts by the header, or where that does not tell by reading.
func countRecords(b *record.Batch) int64 {
	if n := b.Count(); n >= 0 {
		return int64(n)
	}
	r := record.NewReader()
	r.Reset(b)
	var n int64
	for r.Next() {
		n++
	}
	return max(n, 1)
}

// countLoss walks the bytes [from, size) of a log and counts what is in them. end is the
// log end offset behind them.
func countLoss(ctx context.Context, f vfs.ReadFile, from, size int64, o segment.Options) (loss Loss, end int64, err error) {
	loss = NoLoss()
	loss.Bytes = size - from
	o.Start = from
	s := segment.NewScanner(f, size, o)
	for s.Next() {
		if err := ctx.Err(); err != nil {
			return loss, 0, err
		}
		if d := s.Damage(); d == nil {
			loss.batch(s.Batch())
		} else {
			loss.damage(damage{Error: d, before: corrupt.Unknown})
		}
	}
	return loss, s.NextOffset(), s.Err()
}

// damage counts a damaged range by what its header claims, as far as the offsets around it
// leave room for that. Ranges that hold no record count for nothing.
func (l *Loss) damage(d damage) {
	if d.holdsNone() {
		return
	}
	n, first, last := max(d.Records, 0), d.BaseOffset, d.LastOffset
	if d.before != corrupt.Unknown && d.NextOffset != corrupt.Unknown {
		first, last = d.before, d.NextOffset-1
	}
	if last >= first {
		n = min(n, last-first+1)
	}
	l.Records += n
	l.offsets(first, last)
}
