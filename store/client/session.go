package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"logdir/store"
)

// Acks is what a producer waits for.
type Acks int8

// Kafka's values of acks.
const (
	AcksAll    Acks = -1
	AcksNone   Acks = 0
	AcksLeader Acks = 1
)

// ParseAcks reads 0, 1, all, or -1 for all.
func ParseAcks(s string) (Acks, error) {
	switch s {
	case "0":
		return AcksNone, nil
	case "1":
		return AcksLeader, nil
	case "all", "-1":
		return AcksAll, nil
	}
	return 0, fmt.Errorf("acks %q: want 0, 1 or all", s)
}

// String is the value as it is typed.
func (a Acks) String() string {
	if a == AcksAll {
		return "all"
	}
	return fmt.Sprint(int8(a))
}

// ErrFull says that a partition takes no more: a limit of the topic is reached.
var ErrFull = errors.New("the partition is full")

// Leader is what a session appends to.
type Leader interface {
	// Append appends the batches of q, in order, under one lock with one write. It
	// answers for a prefix of them; an error is about the first batch without an
	// answer, and wraps ErrFull where waiting may help.
	Append(ctx context.Context, q Request, acks Acks) (Reply, error)
}

// Reply is what a leader answers to a request.
type Reply struct {
	Answers []store.Appended
	// Committed waits until the ISR of the moment of the append has the answered
	// batches. Nil: it has them already, or acks do not ask for it.
	Committed func(context.Context) error
}

// DeadLetters takes the batches that a full partition does not.
type DeadLetters interface {
	// Divert keeps one batch, which was tried once and then retried so many times.
	Divert(ctx context.Context, partition int, frame []byte, retries int) error
}

// Sending says how a session deals with the leader's answers.
type Sending struct {
	Topic string
	Acks  Acks
	// RequestTimeout is how long acks=all waits for the ISR.
	RequestTimeout time.Duration
	// Retries is how often a batch is sent again when its partition is full or its
	// acknowledgement was lost; Backoff is the pause before.
	Retries int
	Backoff time.Duration
	// LoseAcks pretends that so many acknowledgements get lost.
	LoseAcks int
	// DeadLetters may be nil: then a batch that does not fit fails.
	DeadLetters DeadLetters
	// Sleep makes the pauses; nil is time.Sleep.
	Sleep func(time.Duration)
}

// Session sends requests and learns what became of each batch. A partition that fails
// takes nothing more, so that what is in its log stays in order; the others go on.
type Session struct {
	o        Sending
	leader   Leader
	report   func(Result) error
	loseAcks int           // acknowledgements still to lose
	failed   map[int]error // partitions that take nothing more
	skipped  map[int]int32 // sequences that were diverted, by partition
	problems []problem
}

// NewSession returns a session that reports each batch, in the order in which they were
// acknowledged. A report that fails ends the session.
func NewSession(leader Leader, o Sending, report func(Result) error) *Session {
	if o.Sleep == nil {
		o.Sleep = time.Sleep
	}
	return &Session{
		o: o, leader: leader, report: report, loseAcks: o.LoseAcks,
		failed: map[int]error{}, skipped: map[int]int32{},
	}
}

// Send sends requests, one after the other, until each batch has an outcome. The error
// is one of reporting: for what did not get through, see Err.
func (s *Session) Send(ctx context.Context, requests []Request) error {
	for _, q := range requests {
		if err := s.sendOne(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Failed tells whether a partition takes nothing more. Err has the reason.
func (s *Session) Failed(partition int) bool { return s.failed[partition] != nil }

// sendOne sends one request until each of its batches has an outcome.
func (s *Session) sendOne(ctx context.Context, q Request) error {
	q.moveUp(s.skipped[q.Partition])
	retries := 0
	for len(q.Batches) > 0 && s.failed[q.Partition] == nil {
		now := q
		if s.loseAcks > 0 {
			now = q.first(1) // an acknowledgement is that of one batch
		}
		reply, cause := s.leader.Append(ctx, now, s.o.Acks)
		lost := s.loses(reply)
		again := lost || errors.Is(cause, ErrFull) && len(reply.Answers) == 0
		if again && retries < s.o.Retries {
			retries++
			s.o.Sleep(s.o.Backoff)
			continue
		}
		var err error
		if len(reply.Answers) > 0 {
			q, err = s.answered(ctx, q, reply, lost)
		} else {
			q, err = s.refused(ctx, q, cause, retries)
		}
		if err != nil {
			return err
		}
		retries = 0
	}
	return s.conclude(q, NotWritten)
}

// loses tells whether the acknowledgement is one of those to lose.
func (s *Session) loses(reply Reply) bool {
	if s.loseAcks == 0 || len(reply.Answers) == 0 {
		return false
	}
	s.loseAcks--
	return true
}

// answered reports the batches that the leader has, and returns the rest of q.
func (s *Session) answered(ctx context.Context, q Request, reply Reply, lost bool) (Request, error) {
	status := Acked
	switch {
	case s.o.Acks == AcksNone:
		status = Sent
	case lost:
		status = TimedOut
		s.note(problem{partition: q.Partition, status: status, records: records(reply.Answers), cause: errLost})
	case reply.Committed != nil:
		if err := s.await(ctx, reply.Committed); err != nil {
			status = TimedOut
			s.note(problem{partition: q.Partition, status: status, records: records(reply.Answers), cause: err})
		}
	}
	for _, a := range reply.Answers {
		if err := s.report(q.result(a, status)); err != nil {
			return q, err
		}
		q = q.rest(1)
	}
	return q, nil
}

func (s *Session) await(ctx context.Context, committed func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.RequestTimeout)
	defer cancel()
	return committed(ctx)
}

// refused deals with the first batch of q, which is not in the log, and returns the
// rest of q. A full partition's batch is diverted; after any other error, or without a
// dead letter queue, the partition takes nothing more.
func (s *Session) refused(ctx context.Context, q Request, cause error, retries int) (Request, error) {
	if errors.Is(cause, ErrFull) && s.o.DeadLetters != nil {
		cause = s.o.DeadLetters.Divert(ctx, q.Partition, q.first(1).Frames, retries)
		if cause == nil {
			return s.diverted(q)
		}
	}
	s.failed[q.Partition] = cause
	s.note(problem{partition: q.Partition, status: NotWritten, cause: cause})
	return q, nil
}

// diverted reports the first batch of q and returns the rest. Its sequences were not used
// in the log: the batches behind it move up, or the leader would see a gap.
func (s *Session) diverted(q Request) (Request, error) {
	first, rest := q.first(1), q.rest(1)
	n := first.Batches[0].Records
	s.skipped[q.Partition] += int32(n)
	rest.moveUp(int32(n))
	s.note(problem{partition: q.Partition, status: Diverted, records: n})
	return rest, s.conclude(first, Diverted)
}

// conclude reports every batch of q with a status that has no offsets.
func (s *Session) conclude(q Request, status Status) error {
	for len(q.Batches) > 0 {
		none := store.Appended{BaseOffset: NoOffset, LastOffset: NoOffset}
		if err := s.report(q.result(none, status)); err != nil {
			return err
		}
		q = q.rest(1)
	}
	return nil
}
