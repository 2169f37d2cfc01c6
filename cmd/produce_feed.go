package cmd

import (
	"context"
	"errors"
	"time"

	"logdir/cmd/internal/input"
)

// writeSize is how many bytes of closed batches make a write worthwhile while more
// input is at hand: smaller pieces run at half the speed.
const writeSize = 1 << 20

// patience is how long a smaller write waits for more input: long enough for a reader
// that is at work, too short to be noticed.
const patience = time.Millisecond

// errEnough ends the input before its end, and is no error: --max-messages, --crash-after,
// Ctrl-C, or nowhere left to write to.
var errEnough = errors.New("enough records")

// feed moves records from the input to the accumulator and closed batches to the
// session, until the input ends or there is enough. It stops at ctx's end; what was read
// by then is sent nonetheless.
func (p *producer) feed(ctx, sending context.Context) error {
	parts, err := p.parts()
	if err != nil {
		return err
	}
	in := input.NewReader(parts, p.splitter.Delimiter, time.Now)
	defer in.Stop()
	for err == nil {
		err = p.feedOne(ctx, sending, in)
	}
	switch {
	case errors.Is(err, errEnough) && p.crashes():
		return p.crash(sending)
	case errors.Is(err, errEnough):
		return nil
	}
	return err
}

// feedOne takes the next run of records.
func (p *producer) feedOne(ctx, sending context.Context, in *input.Reader) error {
	if ctx.Err() != nil {
		return errEnough
	}
	run, err := p.next(ctx, sending, in)
	if err != nil {
		return err
	}
	err = p.take(run)
	in.Release(run)
	if err != nil {
		return err
	}
	return p.advance(sending, run.At)
}

// advance closes what has lingered, and sends closed batches when they are worth a write.
func (p *producer) advance(ctx context.Context, now time.Time) error {
	if err := p.accumulator.CloseLingered(now); err != nil {
		return err
	}
	if p.accumulator.ReadyBytes() < writeSize {
		return nil
	}
	if err := p.sender.wait(); err != nil {
		return err
	}
	if p.hopeless() {
		return errEnough
	}
	return p.sender.start(ctx)
}

// hopeless tells whether no partition takes anything more: then there is no use in
// reading on. Nothing may be on its way.
func (p *producer) hopeless() bool {
	if p.o.partition >= 0 {
		return p.session.Failed(int(p.o.partition))
	}
	for n := range p.partitions {
		if !p.session.Failed(n) {
			return false
		}
	}
	return true
}

// next waits for input. While there is none, closed batches are sent and open ones
// close by their age.
func (p *producer) next(ctx, sending context.Context, in *input.Reader) (input.Run, error) {
	if run, ok := p.soon(in); ok {
		return run, nil
	}
	for {
		if err := errors.Join(p.send(sending), p.flush()); err != nil {
			return input.Run{}, err
		}
		if p.hopeless() {
			return input.Run{}, errEnough
		}
		lingered, stop := p.lingerTimer()
		select {
		case run, ok := <-in.Runs():
			stop()
			if !ok {
				return run, atEnd(in)
			}
			return run, nil
		case now := <-lingered:
			if err := p.accumulator.CloseLingered(now); err != nil {
				return input.Run{}, err
			}
		case <-ctx.Done():
			stop()
			return input.Run{}, errEnough
		}
	}
}

// atEnd is why the input came to its end: nothing more, or an error.
func atEnd(in *input.Reader) error {
	if err := in.Err(); err != nil {
		return err
	}
	return errEnough
}

// soon waits a moment for input while closed batches are at hand that would make only a
// small write.
func (p *producer) soon(in *input.Reader) (run input.Run, ok bool) {
	if p.accumulator.ReadyBytes() == 0 {
		return run, false
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case run, ok = <-in.Runs():
	case <-timer.C:
	}
	return run, ok
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
