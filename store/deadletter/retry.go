package deadletter

import (
	"context"
	"errors"
	"log/slog"

	"logdir/store"
	"logdir/store/record"
)

// Run is a number of batches to deliver, one behind the other, each at base offset 0.
type Run struct {
	Frames  []byte
	Batches []Batch
	ends    []int64 // the offset behind each batch in the queue
}

// Batch is one batch of a Run.
type Batch struct{ Size, Records int }

// Deliver appends the batches of a run to their partition, in order, and syncs them. It tells
// how many of them the partition has now; an error is about the first that it has not.
type Deliver func(ctx context.Context, run Run) (delivered int, err error)

// runBytes is how much is delivered at once. A crash between the delivery of a run and the
// note of it makes the next retry deliver that run again.
const runBytes = 1 << 20

// Retry delivers the pending batches of a partition's queue in order, as they were when
// they were diverted, in the format of the topic. It stops at the first that is not taken;
// that one and all behind it stay. One retry at a time works on a queue.
func (q *Queue) Retry(ctx context.Context, partition int32, format record.Format, deliver Deliver) (records int, err error) {
	lock, err := q.cluster.Locks().Named(ctx, "retry."+q.partition(partition).Dir())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := q.log(partition).Reader()
	if log == nil || err != nil {
		return 0, err
	}
	c := log.From(log.Start())
	defer func() { err = errors.Join(err, c.Close()) }()
	for more := true; more; {
		var run Run
		var met error
		run, more, met = q.gather(c, format)
		n, err := q.deliver(ctx, partition, run, deliver)
		records += n
		if err = errors.Join(err, q.Damaged(partition, met)); err != nil {
			return records, err
		}
	}
	return records, nil
}

// gather makes a run of what the cursor reads next; more is false at the end of the queue. What
// is before damage is in the run.
func (q *Queue) gather(c *store.Cursor, format record.Format) (run Run, more bool, err error) {
	for len(run.Frames) < runBytes {
		if !c.Next() {
			return run, false, c.Err()
		}
		if d := c.Damage(); d != nil {
			return run, false, d
		}
		if err := q.restore(&run, c.Batch(), format); err != nil {
			return run, false, err
		}
	}
	return run, true, nil
}

// restore adds a batch to the run as it was before it came here.
func (q *Queue) restore(run *Run, b *record.Batch, format record.Format) error {
	m := record.NoProducer()
	if m.Format = format; format != record.MKB1 {
		m.Codec = b.Codec()
	}
	q.begin(m)
	for q.reader.Reset(b); q.reader.Next(); {
		r := q.reader.Record()
		strip(r)
		q.add(r, nil)
	}
	if err := q.reader.Err(); err != nil {
		return err
	}
	before := len(run.Frames)
	frames, err := q.builder.Build(run.Frames)
	if err != nil {
		return err
	}
	run.Frames = frames
	run.Batches = append(run.Batches, Batch{Size: len(frames) - before, Records: q.builder.Len()})
	run.ends = append(run.ends, b.NextOffset())
	return nil
}

// deliver hands out a run and notes how far that went.
func (q *Queue) deliver(ctx context.Context, partition int32, run Run, deliver Deliver) (records int, err error) {
	if len(run.Batches) == 0 {
		return 0, nil
	}
	n, err := deliver(ctx, run)
	for _, b := range run.Batches[:n] {
		records += b.Records
	}
	if n == 0 {
		return 0, err
	}
	q.info("retry", partition, slog.Int("records", records))
	return records, errors.Join(err, q.dealtWith(ctx, partition, run.ends[n-1]))
}

// dealtWith moves the start of the pending records, under the queue's lock.
func (q *Queue) dealtWith(ctx context.Context, partition int32, offset int64) error {
	side := q.log(partition)
	lock, err := side.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(side.SetStart(ctx, offset), lock.Close())
}
