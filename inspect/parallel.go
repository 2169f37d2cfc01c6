package inspect

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
)

// inOrder runs a worker on every item, GOMAXPROCS of them at a time, and yields the
// results in the order of items, each as soon as it and all before it are there. Each
// worker is made once and serves one goroutine, so it can keep buffers. At most a few
// results per worker wait at any time: memory does not grow with the items.
func inOrder[T, R any](ctx context.Context, items []T, worker func() func(T) R) iter.Seq[R] {
	workers := min(runtime.GOMAXPROCS(0), len(items))
	if workers <= 1 {
		return oneByOne(ctx, items, worker)
	}
	return func(yield func(R) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		slots := make(chan chan R, 4*workers)
		jobs := make(chan job[T, R])
		for range workers {
			work := worker()
			running.Go(func() {
				for j := range jobs {
					j.result <- work(j.item)
				}
			})
		}
		running.Go(func() { hand(ctx, items, jobs, slots) })
		for slot := range slots {
			if !yield(<-slot) {
				return
			}
		}
	}
}

type job[T, R any] struct {
	item   T
	result chan R
}

// hand gives the items to the workers, and the place of each result to the reader
// before its worker starts. The number of slots bounds how far workers run ahead.
func hand[T, R any](ctx context.Context, items []T, jobs chan<- job[T, R], slots chan<- chan R) {
	defer close(slots)
	defer close(jobs)
	for _, item := range items {
		result := make(chan R, 1)
		select {
		case slots <- result:
			jobs <- job[T, R]{item, result}
		case <-ctx.Done():
			return
		}
	}
}

func oneByOne[T, R any](ctx context.Context, items []T, worker func() func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		work := worker()
		for _, item := range items {
			if ctx.Err() != nil || !yield(work(item)) {
				return
			}
		}
	}
}

// guard runs f and turns a panic, which would be a defect of ours, into an error: a
// panic in a goroutine would end the process with code 2, which means bad usage.
func guard(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: internal error: %v", name, p)
		}
	}()
	return f()
}
