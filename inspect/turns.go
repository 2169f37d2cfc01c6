package inspect

import "sync"

// turns lets workers take one step each in the order of their numbers, from 0 on.
type turns struct {
	mu     sync.Mutex
	moved  sync.Cond
	next   int
	failed error
}

func newTurns() *turns {
	t := &turns{}
	t.moved.L = &t.mu
	return t
}

// wait returns when it is n's turn, or with the error for which the others gave up.
func (t *turns) wait(n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != n && t.failed == nil {
		t.moved.Wait()
	}
	return t.failed
}

// pass gives the turn to the next number.
func (t *turns) pass() {
	t.mu.Lock()
	t.next++
	t.mu.Unlock()
	t.moved.Broadcast()
}

// fail makes every wait, now and later, return err. The first error stays.
func (t *turns) fail(err error) {
	t.mu.Lock()
	if t.failed == nil {
		t.failed = err
	}
	t.mu.Unlock()
	t.moved.Broadcast()
}

func (t *turns) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}
