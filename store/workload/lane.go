package workload

import (
	"sync"

	"logdir/store/client"
)

const (
	// worthwhile is how much has to wait for the writer to be woken: smaller writes cost
	// more than they bring.
	worthwhile = 64 << 10
	// laneBytes is how much waits in a lane before producers wait for the writer.
	laneBytes = 256 << 10
)

// lane is where closed batches of one partition, of all producers, wait for the writer.
type lane struct {
	partition int

	mu      sync.Mutex
	room    sync.Cond // there is some
	waiting cargo
}

// cargo is batches one behind the other.
type cargo struct {
	frames  []byte
	batches []client.Batch
}

func newLane(partition int) *lane {
	l := &lane{partition: partition}
	l.room.L = &l.mu
	return l
}

// put copies the batches of q to the end of the lane, once there is room, and tells whether
// what waits there is worth a write.
func (l *lane) put(q client.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting.frames) >= laneBytes {
		l.room.Wait()
	}
	l.waiting.frames = append(l.waiting.frames, q.Frames...)
	l.waiting.batches = append(l.waiting.batches, q.Batches...)
	return len(l.waiting.frames) >= worthwhile
}

// take takes everything that waits, and leaves the memory of empty for what comes.
func (l *lane) take(empty cargo) cargo {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.waiting
	l.waiting = cargo{empty.frames[:0], empty.batches[:0]}
	l.room.Broadcast()
	return full
}

func (c cargo) request(partition int) client.Request {
	return client.Request{Partition: partition, Frames: c.frames, Batches: c.batches}
}
