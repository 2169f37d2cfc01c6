package cmd

import (
	"context"
	"runtime"
	"sync"

	"logdir/recovery"
)

// planned is the plan of one replica, or why there is none.
type planned struct {
	plan *recovery.Plan
	err  error
}

// planAll plans the replicas, one worker a core, and answers in their order.
func planAll(ctx context.Context, partitions []recovery.Partition, plan func(recovery.Partition) (*recovery.Plan, error)) []planned {
	out := make([]planned, len(partitions))
	next := make(chan int)
	var running sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(partitions)) {
		running.Go(func() {
			for i := range next {
				out[i].plan, out[i].err = plan(partitions[i])
			}
		})
	}
	for i := range partitions {
		if ctx.Err() != nil {
			out[i].err = ctx.Err()
			continue
		}
		next <- i
	}
	close(next)
	running.Wait()
	return out
}
