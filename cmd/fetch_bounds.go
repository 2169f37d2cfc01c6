package cmd

import (
	"errors"

	"logdir/cmd/internal/flagval"
	"logdir/store"
	"logdir/store/corrupt"
)

// bounds are the offsets between which a replica may be read.
type bounds struct {
	start, end int64
	// marked says that the log goes on behind end, which is the high watermark.
	marked bool
	// damage is what stands at the tail, and damageAt the offset before it; nil if
	// nothing does, or if reading ends before.
	damage   *corrupt.Error
	damageAt int64
}

// bounds finds them for one replica. With --on-damage skip the end lies behind the
// damage, if a good batch does.
func (f *fetchRun) bounds(p *fetchPlace, log *store.LogReader) (bounds, error) {
	end, damage, err := log.End()
	if err != nil {
		return bounds{}, err
	}
	b := bounds{start: log.Start(), end: end, damage: damage, damageAt: end}
	if damage != nil && f.o.onDamage == damageSkip {
		if err := b.goBehind(log); err != nil {
			return b, err
		}
	}
	if f.upTo(p.ref) == upToLEO {
		return b, nil
	}
	mark, known, err := f.view.HighWatermark(p.ref, b.start, b.end)
	if known && mark < b.end {
		b.end, b.damage, b.marked = mark, nil, true
	}
	return b, err
}

// upTo is --up-to. In a cluster the high watermark of a replica is known; of a lone
// folder it is a guess, since nothing there names the in-sync replicas.
func (f *fetchRun) upTo(ref store.PartitionRef) string {
	switch {
	case f.o.upTo != "":
		return f.o.upTo
	case f.view.Clustered() && ref.Broker != store.NoBroker:
		return upToHW
	}
	return upToLEO
}

// goBehind moves the end behind the last good batch, whatever damage stands between: that
// is met on the way. What stands behind the new end is not.
func (b *bounds) goBehind(log *store.LogReader) (err error) {
	c := log.From(b.end)
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if d := c.Damage(); d != nil && !d.EpochOnly() {
			tail := *d
			b.damage = &tail
			continue
		}
		b.end, b.damage = c.Batch().NextOffset(), nil
	}
	b.damageAt = b.end
	return c.Err()
}

// begin turns --offset into the range of one replica.
func (f *fetchRun) begin(p *fetchPlace, log *store.LogReader, b bounds) error {
	spec := f.o.offset
	from, err := f.locate(spec.From, log, b)
	if err != nil {
		return err
	}
	p.to = maxOffset
	if spec.HasTo {
		if p.to, err = f.locate(spec.To, log, b); err != nil {
			return err
		}
	}
	if from >= b.start && from <= b.end {
		p.next = from
		return nil
	}
	if b.damage != nil && from > b.end {
		return f.damageError(p.ref, b.damage)
	}
	return store.Errorf(store.NotFound, "OFFSET_OUT_OF_RANGE",
		"%s: offset %d is out of range: the log goes from %d to %d%s", p.ref.TopicPartition, from, b.start, b.end, b.endName()).
		WithHint("logdir offsets %s", p.ref.TopicPartition)
}

// endName says of an end that is not the log's which it is.
func (b *bounds) endName() string {
	if b.marked {
		return ", its high watermark"
	}
	return ""
}

// locate finds one end of a range. A distance from either end stops at the other one,
// as tail's does; a time after the last record is the end.
func (f *fetchRun) locate(o flagval.Offset, log *store.LogReader, b bounds) (int64, error) {
	switch o.Kind {
	case flagval.Start:
		return min(b.start+o.N, max(b.start, b.end)), nil
	case flagval.End:
		return max(b.end-o.N, b.start), nil
	case flagval.AtTime:
		offset, _, found, err := log.OffsetForTime(o.Time.At(f.env.Now()))
		if !found || err != nil {
			return b.end, err
		}
		return min(offset, b.end), nil
	}
	return o.N, nil
}
