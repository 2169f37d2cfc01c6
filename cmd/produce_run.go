package cmd

import (
	"bufio"
	"context"
	"errors"
	"log/slog"

	"logdir/cmd/internal/input"
	"logdir/cmd/internal/render"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/deadletter"
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
	followers   *replica.Fetcher  // of --replicate, else nil
	deadLetters *deadletter.Queue // nil with --no-dlq
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
	err := errors.Join(p.accumulator.CloseAll(), p.send(ctx))
	if p.followers != nil {
		err = errors.Join(err, p.followers.Close(ctx))
	}
	if p.deadLetters != nil {
		err = errors.Join(err, p.deadLetters.Close(ctx))
	}
	p.cluster.Info("producer", "close", slog.String("topic", p.o.topic), slog.Int64("records", p.records))
	return errors.Join(err, p.topic.Close(ctx), p.flush(), p.report.Close())
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
