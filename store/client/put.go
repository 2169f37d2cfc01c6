package client

import (
	"time"

	"logdir/store/record"
)

// Put places r and adds it to the open batch of its partition; at is when r came. A
// sticky run whose batch does not take r moves on first, so that r opens the batch of the
// next partition (KIP-480).
func Put(p *Placer, a *Accumulator, r *record.Record, at time.Time) error {
	n, err := p.Place(r.Key)
	if err != nil {
		return err
	}
	if r.Key != nil || p.o.Unkeyed != Sticky {
		return a.Append(n, r, at)
	}
	taken, err := a.offer(n, r, at)
	if taken || err != nil {
		return err
	}
	if err := a.Close(n); err != nil { // which tells the placer
		return err
	}
	if n, err = p.Place(nil); err != nil {
		return err
	}
	return a.Append(n, r, at)
}
