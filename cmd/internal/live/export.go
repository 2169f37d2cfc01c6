package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"logdir/store"
)

// How much goes into what.
const (
	batchBytes = 1 << 20 // of one batch; less where the topic takes less
	roundBytes = 8 << 20 // in flight at once
	txnBytes   = 64 << 20
	txnTime    = 3 * time.Second
	maxStreams = 16 // partitions that are read in turn
)

// Export sends sources into a cluster.
type Export struct {
	Sources []Source
	// Rate is records per second at most; 0 is no limit.
	Rate int64
	// Wanted are offsets at which groups stand in a source, whose translation is asked for.
	Wanted map[store.TopicPartition][]int64
	// BatchLimit is what a topic of the cluster takes as one batch, bytes; 0 is not known.
	BatchLimit func(topic string) int
	// Map, if it is set, keeps which offset became which.
	Map *OffsetMap
	// Begun is told, once, how many offsets are left to export.
	Begun func(left int64)
	// Moved is told how many records each transaction has committed.
	Moved func(records int64)

	to       transactions
	worded   func(error) error
	txnBytes int           // of one transaction
	patience time.Duration // how long errors may go on without any progress
	pace     Pace
	begun    bool
	streams  []*stream
	waiting  []*stream // those that are read in turn, and then the others
}

// Run exports everything, and goes on after errors that pass. The result is in the order of
// the sources, whatever the error.
func (x *Export) Run(ctx context.Context) ([]Exported, error) {
	x.pace = NewPace(x.Rate)
	for _, s := range x.Sources {
		x.streams = append(x.streams, x.newStream(s))
	}
	return x.results(x.insist(ctx))
}

func (x *Export) newStream(s Source) *stream {
	n := &stream{
		Source: s, to: s.to(),
		limit: batchBytes, most: 1 << 30, stop: s.To, total: NewExported(s.TopicPartition),
	}
	if x.BatchLimit != nil {
		if limit := x.BatchLimit(s.Target); limit > 0 {
			n.limit = min(n.limit, limit)
		}
	}
	return n
}

// insist tries until all is done, as long as there is progress now and then.
func (x *Export) insist(ctx context.Context) error {
	last, wait := time.Now(), 50*time.Millisecond
	for {
		before := x.records()
		err := x.attempt(ctx)
		x.hangUp()
		if err == nil {
			return nil
		}
		if r, ok := errors.AsType[*rejected](err); ok && x.adapt(r) {
			continue
		}
		if x.records() > before {
			last, wait = time.Now(), 50*time.Millisecond
		}
		if !retriable(err) || time.Since(last) > x.patience {
			return err
		}
		if sleep(ctx, wait) != nil {
			return err
		}
		wait = min(2*wait, 2*time.Second)
	}
}

func (x *Export) records() (n int64) {
	for _, s := range x.streams {
		n += s.total.Records
	}
	return n
}

// adapt makes do with what a broker refuses: smaller batches where one is too large, else
// everything up to the record.
func (x *Export) adapt(r *rejected) bool {
	if retriable(r.err) {
		return false
	}
	at := slices.IndexFunc(x.streams, func(s *stream) bool { return s.to == r.batch.to })
	s := x.streams[at]
	switch {
	case isTooLarge(r.err) && r.batch.records > 1:
		s.limit, s.most = max(s.limit/2, 1), max(r.batch.records/2, 1)
		return true
	case !isAboutRecords(r.err):
		s.stop = s.done.next
	case r.at >= 0 && r.at < r.batch.records:
		s.stop = r.batch.source(r.at)
	case r.batch.records > 1:
		s.most = max(r.batch.records/2, 1)
		return true
	default:
		s.stop = r.batch.runs[0].first
	}
	s.refusal = s.refused(r.err)
	return true
}

// attempt fences, asks how far the export is, and goes on from there.
func (x *Export) attempt(ctx context.Context) error {
	if err := x.to.open(ctx); err != nil {
		return err
	}
	if err := x.resume(ctx); err != nil {
		return err
	}
	x.waiting = slices.Clone(x.streams)
	for {
		more, err := x.transaction(ctx)
		if err != nil {
			return err
		}
		if !more {
			return x.settle(ctx)
		}
	}
}

// settle waits until the last transaction is visible: its end is decided, but the markers
// that let consumers read on may still be on their way. Opening once more waits for them.
func (x *Export) settle(ctx context.Context) error {
	if x.records() == 0 {
		return nil
	}
	if err := x.to.open(ctx); err != nil && retriable(err) {
		return err
	}
	return nil
}

// resume asks the cluster how far it is, and settles whether the transaction before, if
// its end is not known, was committed.
func (x *Export) resume(ctx context.Context) error {
	of := make([]store.TopicPartition, len(x.streams))
	for i, s := range x.streams {
		of[i] = s.to
	}
	marks, err := x.to.committed(ctx, of)
	if err != nil {
		return err
	}
	left, moved := int64(0), int64(0)
	for _, s := range x.streams {
		p, err := parseProgress(markOf(marks, s.to), s.TopicPartition)
		if err != nil {
			return err
		}
		if s.opened.Records > 0 && p.next >= s.open.next {
			moved += s.opened.Records
			s.total.add(s.opened)
		}
		s.begin(p, x.to.producer())
		left += max(s.To-max(s.From, p.next), 0)
	}
	if x.Begun != nil && !x.begun {
		x.Begun(left)
	}
	x.begun = true
	if moved > 0 && x.Moved != nil {
		x.Moved(moved)
	}
	return x.Map.cut(x.streams)
}

func (x *Export) hangUp() {
	for _, s := range x.streams {
		s.hangUp()
	}
}

// transaction exports some rounds of batches and commits them. While one round is on its
// way the next is encoded.
func (x *Export) transaction(ctx context.Context) (more bool, err error) {
	var flying *flight
	size, start := 0, time.Now()
	for size < x.txnBytes && time.Since(start) < txnTime && ctx.Err() == nil {
		round := x.round()
		if len(round) == 0 {
			break
		}
		if x.pace.Wait(ctx, recordsOf(round)) != nil {
			break // stopped: what is on its way is committed, the round is left
		}
		if err = x.land(flying); err != nil {
			return false, err
		}
		flying = x.launch(ctx, round)
		size += bytesOf(round)
	}
	if err = x.land(flying); err == nil {
		err = x.commit(context.WithoutCancel(ctx))
	}
	if err == nil {
		err = ctx.Err()
	}
	return size > 0, err
}

// round takes one batch of each partition in turn.
func (x *Export) round() []*outgoing {
	var round []*outgoing
	size, records, share := 0, 0, x.pace.share()
	for i := 0; i < min(len(x.waiting), maxStreams) && size < roundBytes && records < share; {
		s := x.waiting[i]
		s.batcher.most = min(s.most, share)
		batch := s.pull()
		if batch == nil {
			x.waiting = slices.Delete(x.waiting, i, i+1)
			continue
		}
		round = append(round, batch)
		size, records = size+len(batch.frame), records+batch.records
		i++
	}
	// Those that were not served this time come first the next.
	turns := x.waiting[:min(len(x.waiting), maxStreams)]
	copy(turns, slices.Concat(turns[min(len(round), len(turns)):], turns))
	return round
}

func bytesOf(round []*outgoing) (n int) {
	for _, b := range round {
		n += len(b.frame)
	}
	return n
}

func recordsOf(round []*outgoing) (n int) {
	for _, b := range round {
		n += b.records
	}
	return n
}

// flight is a round on its way.
type flight struct {
	round []*outgoing
	bases []int64
	err   error
	done  chan struct{}
}

func (x *Export) launch(ctx context.Context, round []*outgoing) *flight {
	f := &flight{round: round, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.bases, f.err = x.to.produce(context.WithoutCancel(ctx), round)
	}()
	return f
}

// land waits for a round and notes where its records are.
func (x *Export) land(f *flight) error {
	if f == nil {
		return nil
	}
	<-f.done
	if f.err != nil {
		return f.err
	}
	for i, b := range f.round {
		at := slices.IndexFunc(x.streams, func(s *stream) bool { return s.to == b.to })
		x.streams[at].took(b, f.bases[i], x.Wanted[x.streams[at].TopicPartition])
	}
	return nil
}

// commit writes the offset map, and then makes the transaction visible.
func (x *Export) commit(ctx context.Context) error {
	marks := map[store.TopicPartition]mark{}
	for _, s := range x.streams {
		if s.opened.Records > 0 {
			marks[s.to] = s.open.mark()
		}
	}
	if len(marks) == 0 {
		return nil
	}
	if err := x.Map.add(x.streams); err != nil {
		return err
	}
	if err := x.to.commit(ctx, marks); err != nil {
		return err
	}
	moved := int64(0)
	for _, s := range x.streams {
		moved += s.opened.Records
		s.total.add(s.opened)
		s.done = s.open.clone()
		s.opened, s.openRuns = NewExported(s.TopicPartition), nil
	}
	if x.Moved != nil {
		x.Moved(moved)
	}
	return nil
}

// results says what became of each source, and joins what was wrong with them.
func (x *Export) results(err error) ([]Exported, error) {
	if err != nil {
		err = x.worded(err)
	}
	errs := []error{err}
	out := make([]Exported, len(x.streams))
	for i, s := range x.streams {
		mine := errors.Join(s.err, s.refusal)
		if mine == nil && s.ended {
			mine = s.Open
		}
		out[i] = s.total
		out[i].Status, out[i].Err = StatusOf(mine, false), mine
		if err != nil && mine == nil && !(s.ended && s.opened.Records == 0) {
			out[i].Status, out[i].Err = statusLeft, err
		}
		errs = append(errs, mine)
	}
	return out, errors.Join(errs...)
}
