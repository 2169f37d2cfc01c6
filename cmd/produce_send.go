package cmd

import (
	"context"
	"runtime/debug"

	"logdir/store/client"
)

// sender lets a session send while the producer goes on reading and encoding. One send
// is on its way at a time, so the order of a partition holds.
type sender struct {
	session     *client.Session
	accumulator *client.Accumulator
	requests    []client.Request // on their way
	done        chan error       // nil: nothing is on its way
}

// start sends what has closed, once the send before is done.
func (s *sender) start(ctx context.Context) error {
	if err := s.wait(); err != nil {
		return err
	}
	s.requests = s.accumulator.Take()
	if len(s.requests) == 0 {
		return nil
	}
	s.done = make(chan error, 1)
	go func() { s.done <- guarded(func() error { return s.session.Send(ctx, s.requests) }) }()
	return nil
}

// guarded runs f and turns a panic, which is a defect of ours, into an error: in a
// goroutine it would end the process with Go's exit code 2, which means bad usage here.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return f()
}

// wait waits for the send that is on its way, if there is one.
func (s *sender) wait() error {
	if s.done == nil {
		return nil
	}
	err := <-s.done
	s.accumulator.Recycle(s.requests)
	s.done = nil
	return err
}
