package replica

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
)

// Status is how a log stands to the one it is compared with.
type Status string

// The states of a comparison.
const (
	IsLeader Status = "leader" // the one that the others are compared with
	Same     Status = "same"
	Behind   Status = "behind"   // the same as far as it goes
	Diverged Status = "diverged" // different somewhere, longer, or damage hides whether it is the same
)

// Range is offsets: From is the first of them, To the first behind.
type Range struct{ From, To int64 }

// Compared is one log of a comparison.
type Compared struct {
	// LogEnd is its log end offset, behind all damage; Epochs its history of leader epochs.
	LogEnd int64
	Epochs checkpoint.Epochs
	// SameUpTo is the offset below which every batch is the reference's, byte for byte.
	SameUpTo int64
	Status   Status
	// Different are the offsets where it has another batch than the reference, or one of the
	// two has none; Hidden those where damage of one of the two hides that. Everywhere else
	// they are the same, up to the end of this one. Both rise.
	Different, Hidden []Range
	// Damage is what was met in it, in the order of the log.
	Damage []*corrupt.Error
}

// Reference is the side that others are compared with, as a row of the comparison. Its
// damage is what those comparisons have met.
func (s *Side) Reference() Compared {
	return Compared{LogEnd: s.end, Epochs: s.epochs, SameUpTo: s.end, Status: IsLeader, Damage: s.Damage()}
}

// Compare holds a side against the reference, batch by batch, from the higher of the two
// log starts on to the end of the side. Behind damage it goes on with the next good batch.
func Compare(reference, own *Side) (c Compared, err error) {
	c = Compared{LogEnd: own.end, Epochs: own.epochs, SameUpTo: max(reference.start, own.start)}
	w := walk{result: &c}
	a, err := reference.batches(c.SameUpTo)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := own.batches(c.SameUpTo)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	w.reference, w.own = lane{batches: a, side: reference, walk: &w}, lane{batches: b, side: own, walk: &w}
	if err := w.run(); err != nil {
		return c, err
	}
	end := max(reference.end, own.end)
	c.Different, c.Hidden = settle(c.Different, end), settle(c.Hidden, end)
	c.Damage = own.Damage()
	switch {
	case len(c.Different) > 0 || len(c.Hidden) > 0 || len(c.Damage) > 0:
		c.Status = Diverged
	case own.end < reference.end:
		c.Status = Behind
	default:
		c.Status = Same
	}
	return c, nil
}

// walk goes over two logs side by side.
type walk struct {
	reference, own lane
	result         *Compared
}

// lane is one of the two.
type lane struct {
	batches
	side    *Side
	walk    *walk
	at      Range // of the batch at which it stands
	suspect bool  // which has a leader epoch that cannot be right
	ok      bool  // there is one
}

// next moves to the next good batch. What damage in front of it held is hidden.
func (l *lane) next() error {
	from := int64(math.MaxInt64)
	for l.ok = l.Next(); l.ok; l.ok = l.Next() {
		d := l.Damage()
		l.suspect = d != nil && d.EpochOnly()
		if d != nil {
			l.side.note(d)
			if !l.suspect {
				from = min(from, d.PrevOffset)
				continue
			}
		}
		l.at = Range{l.Batch().BaseOffset(), l.Batch().NextOffset()}
		l.walk.hide(from, l.at.From)
		if l.suspect {
			l.walk.hide(l.at.From, l.at.To)
		}
		return nil
	}
	l.walk.hide(from, math.MaxInt64)
	return l.Err()
}

// run compares to the end of the own log. What the reference has behind it is of no account.
func (w *walk) run() error {
	if err := errors.Join(w.reference.next(), w.own.next()); err != nil {
		return err
	}
	for w.own.ok {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// step judges the batches at which the two stand, and leaves the one that ends first, or both.
func (w *walk) step() error {
	r, o := &w.reference, &w.own
	switch {
	case !r.ok || o.at.To <= r.at.From:
		w.alone(o.at)
		return o.next()
	case r.at.To <= o.at.From:
		w.alone(r.at)
		return r.next()
	}
	w.meet()
	ends := cmp.Compare(r.at.To, o.at.To)
	if ends < 0 {
		return r.next()
	}
	if ends > 0 {
		return o.next()
	}
	return errors.Join(r.next(), o.next())
}

// meet judges two batches that have offsets in common.
func (w *walk) meet() {
	r, o, c := &w.reference, &w.own, w.result
	if bytes.Equal(r.Batch().Raw(), o.Batch().Raw()) {
		if len(c.Different) == 0 && len(c.Hidden) == 0 {
			c.SameUpTo = o.at.To
		}
		return
	}
	if !r.suspect && !o.suspect {
		c.Different = join(c.Different, Range{min(r.at.From, o.at.From), max(r.at.To, o.at.To)})
	}
}

// alone judges a batch that only one of the two has, unless damage of the other is the reason.
func (w *walk) alone(at Range) {
	c := w.result
	if !slices.ContainsFunc(c.Hidden, func(h Range) bool { return h.From < at.To && at.From < h.To }) {
		c.Different = join(c.Different, at)
	}
}

// hide notes that damage leaves offsets unknown.
func (w *walk) hide(from, to int64) {
	if from < to {
		w.result.Hidden = join(w.result.Hidden, Range{from, to})
	}
}

// join adds a range to a list, to the last one if the two touch.
func join(list []Range, r Range) []Range {
	if n := len(list); n > 0 && r.From <= list[n-1].To && list[n-1].From <= r.To {
		last := &list[n-1]
		last.From, last.To = min(last.From, r.From), max(last.To, r.To)
		return list
	}
	return append(list, r)
}

// settle brings ranges in order and cuts off what lies beyond the end of both logs.
func settle(list []Range, end int64) []Range {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	var out []Range
	for _, r := range list {
		if r.To = min(r.To, end); r.From < r.To {
			out = join(out, r)
		}
	}
	return out
}

// cmpDamage orders damage as it stands in a log: by file, then by byte.
func cmpDamage(a, b *corrupt.Error) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Pos, b.Pos))
}
