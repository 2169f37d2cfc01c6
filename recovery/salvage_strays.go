package recovery

import (
	"errors"
	"math"

	"logdir/store/record"
	"logdir/store/segment"
)

// stray is a batch that an interrupted cleaning left in a segment in front of its own, and that
// stands nowhere else any more. It is written where it belongs: see placeStrays.
type stray struct {
	segment.Stranger
	path string // of the log that holds it
}

// settleCopies takes back that batches of later segments were lost: most stand there as well,
// the others are yet to be written.
func (c *copier) settleCopies(path string, limit int64) error {
	ok, err := c.strangers.AreCopies(c.v.Source, path, limit)
	if err != nil || !ok {
		return err
	}
	alone := map[int64]bool{} // by position
	for _, x := range c.strangers.Alone() {
		alone[x.Pos] = true
		c.v.strays = append(c.v.strays, stray{x, path})
	}
	for _, i := range c.copies {
		l := &c.v.out.Left[i]
		c.v.out.LostBytes -= l.Bytes
		l.Bytes = 0
		if alone[l.Position] {
			l.Detail += "; it was written behind those before it"
			continue
		}
		l.Detail += "; it stands in a later segment as well"
	}
	return nil
}

// placeStrays writes those that end below limit, the next offset of the segment. What has
// their offsets already makes them superfluous.
func (c *copier) placeStrays(limit int64) error {
	v := c.v
	for len(v.strays) > 0 && v.strays[0].Last < limit {
		x := v.strays[0]
		v.strays = v.strays[1:]
		if x.Base < c.next {
			continue
		}
		if err := c.placeStray(x); err != nil {
			return err
		}
		c.next = x.Last + 1
	}
	return nil
}

func (c *copier) placeStray(x stray) error {
	f, err := c.v.Source.Open(x.path)
	if err != nil {
		return err
	}
	raw := make([]byte, x.Size) // a whole frame of the file, as the scan has found
	_, err = f.ReadAt(raw, x.Pos)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	b, d := record.Parse(raw)
	if d != nil {
		return d
	}
	if err := c.take(&b); err != nil {
		return err
	}
	c.assign(&b)
	return nil
}

// endOfStrays is the offset up to which a segment takes strays: all that is left, in the last.
func endOfStrays(limit int64) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return limit
}
