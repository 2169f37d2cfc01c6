package client

import (
	"context"
	"errors"

	"logdir/store"
)

// errLost is the cause where every retry's acknowledgement was lost on purpose.
var errLost = errors.New("every acknowledgement was lost")

// problem is why records of one partition did not get through.
type problem struct {
	partition int
	status    Status // TimedOut, Diverted or NotWritten
	records   int
	cause     error
}

// note remembers a problem, or counts it to one that is known.
func (s *Session) note(p problem) {
	for i := range s.problems {
		if known := &s.problems[i]; known.partition == p.partition && known.status == p.status {
			known.records += p.records
			return
		}
	}
	s.problems = append(s.problems, p)
}

// Err joins an error for each partition and way in which records did not get through,
// in the order in which that began; nil if all did.
func (s *Session) Err() error {
	var all []error
	for _, p := range s.problems {
		all = append(all, s.problemError(p))
	}
	return errors.Join(all...)
}

func (s *Session) problemError(p problem) error {
	tp := store.TopicPartition{Topic: s.o.Topic, Partition: int32(p.partition)}
	switch {
	case p.status == Diverted:
		return store.Errorf(store.Diverted, "POLICY_VIOLATION",
			"%s is full: %d record(s) went to the dead letter queue", tp, p.records).
			WithHint("logdir dlq show %s", tp)
	case p.status == NotWritten:
		return p.cause
	case errors.Is(p.cause, context.DeadlineExceeded):
		return store.Errorf(store.NotAcked, "REQUEST_TIMED_OUT",
			"%s: %d record(s) are on the leader, and the in-sync replicas did not have them within %s",
			tp, p.records, s.o.RequestTimeout).
			WithHint("logdir replicate %s", tp)
	case errors.Is(p.cause, errLost):
		return store.Errorf(store.NotAcked, "REQUEST_TIMED_OUT",
			"%s: %d record(s) are on the leader, and %w", tp, p.records, p.cause)
	}
	return p.cause
}

// records is the sum over all answers.
func records(answers []store.Appended) int {
	n := 0
	for _, a := range answers {
		n += int(a.Records)
	}
	return n
}
