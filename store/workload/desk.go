package workload

import (
	"runtime"

	"logdir/store/client"
	"logdir/store/record"
)

const (
	// crowd is how many producers are too many to go on all at once: then a few have their
	// turn, and the others wait.
	crowd = 32
	// turnBytes is how much a producer makes in its turn.
	turnBytes = 32 << 10
)

// desk is where a producer makes its messages: the batches that are open, and the memory
// of one message. A thousand producers that each kept theirs would find none of it in the
// processor's cache any more, and have room for a few records in a batch. So a crowd shares
// a few desks, and leaves them empty: what is open when a turn ends is closed.
type desk struct {
	run         *run
	placer      *client.Placer // of the producer that is here
	accumulator *client.Accumulator
	record      record.Record
	key, value  []byte
}

// openDesks gives each producer a desk, or a crowd two for each processor, so that one is
// made use of while another producer waits for room in a lane.
func (r *run) openDesks() {
	n := r.plan.Producers
	r.turn = r.plan.Messages
	if n > crowd {
		n = 2 * runtime.GOMAXPROCS(0)
		r.turn = max(1, turnBytes/r.plan.RecordSize)
	}
	r.desks = make(chan *desk, n)
	for range n {
		r.desks <- newDesk(r, n)
	}
}

// newDesk is one of n.
func newDesk(r *run, n int) *desk {
	d := &desk{run: r}
	d.accumulator = client.NewAccumulator(client.Batching{
		Partitions: len(r.lanes), Size: r.batchSize(n), Linger: -1,
		Format: r.format, Identity: client.NoIdentity,
	}, func(partition int) { d.placer.BatchClosed(partition) })
	return d
}

// batchSize divides openBytes among all batches that may be open at once, one more for
// each desk: the one that has just closed.
func (r *run) batchSize(desks int) int {
	open := 1
	switch {
	case r.plan.Keys > 0:
		open = min(r.plan.Keys, len(r.lanes))
	case r.placement.Unkeyed == client.RoundRobin:
		open = len(r.lanes)
	}
	size := min(batchBytes, openBytes/(desks*(open+1)))
	return max(1, int(min(r.maxBatch, int64(size))))
}

// clear closes what is open and puts it into the lanes.
func (d *desk) clear() error {
	if err := d.accumulator.CloseAll(); err != nil {
		return err
	}
	d.ship()
	return nil
}

// ship puts what has closed into the lanes.
func (d *desk) ship() {
	if d.accumulator.ReadyBytes() == 0 {
		return
	}
	closed := d.accumulator.Take()
	for _, q := range closed {
		if d.run.lanes[q.Partition].put(q) {
			d.run.writerOf(q.Partition).ring()
		}
	}
	d.accumulator.Recycle(closed)
}
