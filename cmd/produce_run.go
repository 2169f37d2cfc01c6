package cmd

import (
	"bufio"
	"context"
	"errors"
	"time"

	"logdir/cmd/internal/input"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/replica"
)

// producer is one session of produce: input, placer, accumulator and session put
// together.
type producer struct {
	o       *produceOptions
	env     *Env
	cluster *cluster.Cluster

	topic       *client.Topic
	followers   *replica.Fetcher // of --replicate, else nil
	placer      *client.Placer
	accumulator *client.Accumulator
	session     *client.Session
	sender      sender
	report      produceReport

	splitter   input.Splitter
	parser     *render.RecordParser // of --input json, else nil
	key        []byte               // of --key, else nil
	headers    []record.Header      // of --header
	partitions int                  // of the topic
	byEnvelope bool                 // a JSON record's own partition counts
	tee        *bufio.Writer        // of --tee, else nil

	record  record.Record   // reused
	added   []record.Header // reused: a record's own headers and those of --header
	records int64           // read so far
}

// writeSize is how many bytes of closed batches make a write worthwhile while more
// input is at hand: smaller pieces run at half the speed.
const writeSize = 1 << 20

// patience is how long a smaller write waits for more input: long enough for a reader
// that is at work, too short to be noticed.
const patience = time.Millisecond

// run reads the input to its end, or to the first Ctrl-C, and closes the session.
func (p *producer) run(ctx context.Context) error {
	// What was read is sent even after Ctrl-C; the second one ends the process.
	sending := context.WithoutCancel(ctx)
	err := p.feed(ctx, sending)
	if _, crashed := errors.AsType[*crashError](err); !crashed {
		err = errors.Join(p.finish(sending), err)
	}
	return errors.Join(err, p.session.Err(), p.cluster.Close())
}

// finish sends what is still open, syncs it, and prints the rest of the report.
func (p *producer) finish(ctx context.Context) error {
	err := p.accumulator.CloseAll()
	if err == nil {
		err = p.send(ctx)
	}
	if p.followers != nil {
		err = errors.Join(err, p.followers.Close(ctx))
	}
	return errors.Join(err, p.topic.Close(ctx), p.flush(), p.report.Close())
}

// errEnough ends the input before its end: --max-messages or --crash-after.
var errEnough = errors.New("enough records")

// feed moves records from the input to the accumulator and closed batches to the
// session, until the input ends or ctx does.
func (p *producer) feed(ctx, sending context.Context) error {
	parts, err := p.parts()
	if err != nil {
		return err
	}
	in := input.NewReader(parts, p.splitter.Delimiter, time.Now)
	defer in.Stop()
	for {
		run, ok, err := p.next(ctx, sending, in)
		if !ok || err != nil {
			return errors.Join(err, in.Err())
		}
		err = p.take(run)
		in.Release(run)
		switch {
		case errors.Is(err, errEnough) && p.crashes():
			return p.crash(sending)
		case errors.Is(err, errEnough):
			return nil
		case err == nil:
			err = p.advance(sending, run.At)
		}
		if err != nil {
			return err
		}
	}
}

// advance closes what has lingered, and sends closed batches when they are worth a write.
func (p *producer) advance(ctx context.Context, now time.Time) error {
	if err := p.accumulator.CloseLingered(now); err != nil {
		return err
	}
	if p.accumulator.ReadyBytes() < writeSize {
		return nil
	}
	return p.sender.start(ctx)
}

// next waits for input. While there is none, closed batches are sent and open ones
// close by their age. ok is false at the end of the input.
func (p *producer) next(ctx, sending context.Context, in *input.Reader) (run input.Run, ok bool, err error) {
	if run, ok, came := p.soon(in); came {
		return run, ok, nil
	}
	for {
		if err := errors.Join(p.send(sending), p.flush()); err != nil {
			return run, false, err
		}
		lingered, stop := p.lingerTimer()
		select {
		case run, ok = <-in.Runs():
			stop()
			return run, ok, nil
		case now := <-lingered:
			if err := p.accumulator.CloseLingered(now); err != nil {
				return run, false, err
			}
		case <-ctx.Done():
			stop()
			return run, false, nil
		}
	}
}

// soon waits a moment for input while closed batches are at hand that would make only a
// small write.
func (p *producer) soon(in *input.Reader) (run input.Run, ok, came bool) {
	if p.accumulator.ReadyBytes() == 0 {
		return run, false, false
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case run, ok = <-in.Runs():
		return run, ok, true
	case <-timer.C:
		return run, false, false
	}
}

// lingerTimer fires when the oldest open batch is to be closed; never, if none is.
func (p *producer) lingerTimer() (<-chan time.Time, func()) {
	at, ok := p.accumulator.Deadline()
	if !ok {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(at))
	return timer.C, func() { timer.Stop() }
}

// send sends what has closed, and waits for the outcome.
func (p *producer) send(ctx context.Context) error {
	if err := p.sender.start(ctx); err != nil {
		return err
	}
	return p.sender.wait()
}

// flush shows what was acknowledged and copied so far.
func (p *producer) flush() error {
	if p.tee != nil {
		if err := p.tee.Flush(); err != nil {
			return err
		}
	}
	return p.report.Flush()
}

// crashes tells whether --crash-after is reached.
func (p *producer) crashes() bool { return p.o.crashAfter > 0 && p.records >= p.o.crashAfter }

// crash sends what had closed, and dies with the rest: nothing is synced.
func (p *producer) crash(ctx context.Context) error {
	if err := errors.Join(p.send(ctx), p.flush(), p.report.Close()); err != nil {
		return err
	}
	return p.env.Crash("%d unsent record(s) lost", p.accumulator.OpenRecords())
}

// take adds the records of a run to the accumulator.
func (p *producer) take(run input.Run) error {
	stamp := p.env.Now().UnixMilli()
	if run.Whole {
		return p.takeOne(run.Data, stamp, run.At)
	}
	for rest := run.Data; len(rest) > 0; {
		var text []byte
		text, rest = p.splitter.Next(rest)
		if err := p.takeOne(text, stamp, run.At); err != nil {
			return err
		}
	}
	return nil
}

// takeOne makes a record of a piece of the input and adds it.
func (p *producer) takeOne(text []byte, stamp int64, at time.Time) error {
	if p.tee != nil {
		p.tee.Write(text)
		p.tee.Write(p.splitter.Delimiter) // a failure stays for flush
	}
	p.records++
	wanted, err := p.parse(text, stamp)
	if err != nil {
		return err
	}
	if err := p.put(wanted, at); err != nil {
		return err
	}
	if p.records == p.o.maxMessages || p.crashes() {
		return errEnough
	}
	return nil
}

// put adds p.record to its partition: the one of --partition or of its envelope, or
// the one that the placer chooses.
func (p *producer) put(wanted int, at time.Time) error {
	if wanted < 0 {
		return client.Put(p.placer, p.accumulator, &p.record, at)
	}
	return p.accumulator.Append(wanted, &p.record, at)
}

// parse makes p.record of a piece of the input. The partition is -1 if the placer is to
// choose it.
func (p *producer) parse(text []byte, stamp int64) (partition int, err error) {
	r := &p.record
	r.Timestamp, r.Headers = stamp, p.headers
	partition = int(p.o.partition)
	if p.parser != nil {
		partition, err = p.parseJSON(text)
		if err != nil {
			return 0, err
		}
	} else {
		r.Key, r.Value = p.splitter.Key(text)
		if p.o.tombstone && len(r.Value) == 0 {
			r.Value = nil
		}
	}
	if p.key != nil {
		r.Key = p.key
	}
	return partition, nil
}

// parseJSON makes p.record of a line that fetch -J printed. What the line does not say
// stays as it is.
func (p *producer) parseJSON(line []byte) (partition int, err error) {
	parsed, err := p.parser.Parse(line)
	if err != nil {
		return 0, store.Errorf(store.Failed, "INVALID_RECORD", "record %d of the input: %w", p.records, err).
			WithHint("the records before it were sent")
	}
	r := &p.record
	r.Key, r.Value = parsed.Key, parsed.Value
	if parsed.HasTimestamp {
		r.Timestamp = parsed.Timestamp
	}
	p.added = append(append(p.added[:0], parsed.Headers...), p.headers...)
	r.Headers = p.added
	if n := int(parsed.Partition); p.byEnvelope && n >= 0 && n < p.partitions {
		return n, nil
	}
	return int(p.o.partition), nil
}

// parts are the pieces of the input: the files, or stdin.
func (p *producer) parts() ([]input.Part, error) {
	var parts []input.Part
	for _, name := range p.o.files {
		parts = append(parts, p.env.filePart(name, true))
	}
	for _, name := range p.o.lines {
		parts = append(parts, p.env.filePart(name, false))
	}
	if len(parts) > 0 {
		return parts, nil
	}
	if p.env.StdinIsTTY {
		p.env.Note("one record per line; Ctrl-D ends the input")
	}
	return []input.Part{p.env.stdinPart()}, nil
}
