package cmd

import (
	"context"
	"errors"
	"math"
	"time"

	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// fetchRun is one run of fetch over some replicas.
type fetchRun struct {
	o       *fetchOptions
	env     *Env
	view    *cluster.View
	printer recordPrinter
	filters []recordFilter
	fetcher *client.Fetcher

	ctx     context.Context
	context render.RecordContext
	left    int64   // records still to print
	printed bool    // a record, since follow last looked
	skipped []error // damage that was passed over
}

// maxOffset is the end of a range that has none.
const maxOffset = math.MaxInt64

// fetchPlace is how far one replica was read.
type fetchPlace struct {
	ref   store.PartitionRef
	next  int64 // offset to go on at; -1 before the range is known
	to    int64 // not included; maxOffset for an open range
	ended bool
}

// run reads all replicas once, and again and again if they are to be followed.
func (f *fetchRun) run(ctx context.Context, refs []store.PartitionRef) error {
	places := make([]fetchPlace, len(refs))
	for i, ref := range refs {
		places[i] = fetchPlace{ref: ref, next: -1, to: maxOffset}
	}
	f.limit(ctx, f.o.maxMessages)
	errs := append(f.readAll(ctx, places), f.printer.Close())
	return errors.Join(append(errs, f.skipped...)...)
}

// limit prepares a run of at most so many records, 0 for all.
func (f *fetchRun) limit(ctx context.Context, records int64) {
	f.ctx, f.left = ctx, maxOffset
	if records > 0 {
		f.left = records
	}
}

// readAll reads from the places on, to the end or for as long as it is to follow.
func (f *fetchRun) readAll(ctx context.Context, places []fetchPlace) []error {
	errs := f.pass(ctx, places)
	if f.o.follow {
		errs = append(errs, f.follow(ctx, places))
	}
	return errs
}

// pass reads each replica from where it was left. Each one's error ends only that one.
func (f *fetchRun) pass(ctx context.Context, places []fetchPlace) (errs []error) {
	for i := range places {
		p := &places[i]
		if p.ended || f.enough() || ctx.Err() != nil {
			continue
		}
		if err := f.read(p); err != nil {
			p.ended = true
			errs = append(errs, err)
		}
	}
	return errs
}

// enough tells whether --max-messages is reached.
func (f *fetchRun) enough() bool { return f.left == 0 }

// followInterval is how often a follower looks for new records.
const followInterval = 50 * time.Millisecond

// follow looks again and again, until a time without records is over, all ranges are
// read, or the context ends.
func (f *fetchRun) follow(ctx context.Context, places []fetchPlace) error {
	idle := time.Now()
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	var errs []error
	for !f.enough() && unfinished(places) {
		if err := f.printer.Flush(); err != nil {
			return err
		}
		if f.printed {
			idle, f.printed = time.Now(), false
		}
		if f.o.timeoutMs > 0 && time.Since(idle) >= milliseconds(f.o.timeoutMs) {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(errs...)
		case <-tick.C:
		}
		errs = append(errs, f.look(ctx, places)...)
	}
	return errors.Join(errs...)
}

// look is one more pass, with the metadata as it is now.
func (f *fetchRun) look(ctx context.Context, places []fetchPlace) []error {
	view, err := cluster.OpenView(f.env.FS, f.env.Global.DataDir)
	if err != nil {
		return []error{err}
	}
	f.view = view
	return f.pass(ctx, places)
}

func unfinished(places []fetchPlace) bool {
	for _, p := range places {
		if !p.ended {
			return true
		}
	}
	return false
}

// read prints the records of one replica between where it was left and its end.
func (f *fetchRun) read(p *fetchPlace) error {
	log, err := f.view.Reader(p.ref)
	if err != nil {
		return err
	}
	bounds, err := f.bounds(p, log)
	if err != nil {
		return err
	}
	if p.next < 0 {
		if err := f.begin(p, log, bounds); err != nil {
			return err
		}
	}
	if p.next >= min(p.to, bounds.end) && bounds.damage == nil {
		p.ended = p.next >= p.to
		return nil
	}
	q := client.Fetch{Log: log, From: p.next, To: min(p.to, bounds.end), Damaged: f.damaged(p.ref)}
	if f.o.isolation == readCommitted {
		if q.Isolation, err = readIsolation(f.view, log, p.next, bounds.end); err != nil {
			return err
		}
		q.To = min(q.To, q.Isolation.LastStable)
	}
	f.context = render.RecordContext{
		Topic: p.ref.Topic, Partition: p.ref.Partition, Broker: p.ref.Broker, BaseOffset: client.NoOffset,
	}
	p.next, err = f.fetcher.Run(q, f.record)
	p.ended = p.next >= p.to
	if d, bad := errors.AsType[*corrupt.Error](err); bad {
		return f.damageError(p.ref, d)
	}
	if err == nil && bounds.damage != nil && !f.enough() && p.next >= bounds.damageAt && !p.ended {
		return f.damageError(p.ref, bounds.damage)
	}
	return err
}

// record prints one record that passes the filters.
func (f *fetchRun) record(b *record.Batch, r *record.Record) error {
	for i := range f.filters {
		if !f.filters[i].passes(r) {
			return nil
		}
	}
	if base := b.BaseOffset(); base != f.context.BaseOffset {
		f.context.SetBatch(b)
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	f.context.Record = r
	f.printed = true
	if err := f.printer.Record(&f.context); err != nil {
		return err
	}
	if f.left--; f.enough() {
		return client.ErrStop
	}
	return nil
}

// damaged tells of damage that is passed over, or stops the fetch there.
func (f *fetchRun) damaged(ref store.PartitionRef) func(*corrupt.Error) bool {
	if f.o.onDamage == damageStop {
		return nil
	}
	return func(d *corrupt.Error) bool {
		f.skipped = append(f.skipped, f.damageError(ref, d))
		return true
	}
}
