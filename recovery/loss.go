package recovery

import (
	"context"
	"math"

	"logdir/inspect"
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
	// Uncounted is the bytes at the end of a log which do not tell how many records they held.
	Uncounted int64
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
	l.Uncounted += o.Uncounted
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
	l.Records += inspect.CountRecords(b)
	l.offsets(b.BaseOffset(), b.LastOffset())
	if from, to := b.BaseTimestamp(), b.MaxTimestamp(); from >= 0 && to >= from {
		l.From, l.To = min(l.From, from), max(l.To, to)
	}
}

// countLoss walks the bytes [from, size) of a log and counts what is in them. end is the
// log end offset behind them, limit the base offset of the next segment, 0 if there is none.
func countLoss(ctx context.Context, f vfs.ReadFile, from, size int64, o segment.Options, limit int64) (loss Loss, end int64, err error) {
	loss = NoLoss()
	loss.Bytes = size - from
	o.Start = from
	var damages []damage
	s := segment.NewScanner(f, size, o)
	for s.Next() {
		if err := ctx.Err(); err != nil {
			return loss, 0, err
		}
		if d := s.Damage(); d == nil {
			loss.batch(s.Batch())
		} else {
			damages = append(damages, damage{Error: d, before: d.PrevOffset})
		}
	}
	countLost(damages, limit)
	for _, d := range damages {
		loss.damage(d)
	}
	return loss, s.NextOffset(), s.Err()
}

// countLost fills in how many records go with each damaged range of a segment. limit is the
// base offset of the next one, 0 if there is none.
func countLost(damages []damage, limit int64) {
	ranges := make([]*corrupt.Error, len(damages))
	for i, d := range damages {
		ranges[i] = d.Error
	}
	if limit == 0 {
		limit = corrupt.Unknown
	}
	for i, n := range corrupt.CountLost(ranges, limit) {
		d := &damages[i]
		if d.lost, d.after = n, d.NextOffset; d.after == corrupt.Unknown {
			d.after = limit
		}
		if d.Records == corrupt.Unknown && d.NextOffset == corrupt.Unknown && limit == corrupt.Unknown {
			d.uncounted = d.Size
		}
	}
}

// damage counts a damaged range. Ranges that hold no record count for nothing.
func (l *Loss) damage(d damage) {
	if d.Kind.HoldsNone() && d.lost == 0 {
		return
	}
	first, last := d.BaseOffset, d.LastOffset
	if d.before != corrupt.Unknown && d.after != corrupt.Unknown {
		first, last = d.before, d.after-1
	}
	l.Records += d.lost
	l.Uncounted += d.uncounted
	l.offsets(first, last)
}
