package client

import (
	"math"

	"logdir/store"
	"logdir/store/record"
)

// Batch is one closed batch of a Request.
type Batch struct {
	Size    int // bytes of its frame
	Records int
}

// Request is everything that closed for one partition, in order. It is appended under
// one lock with one write.
type Request struct {
	Partition int
	// Frames are the batches one behind the other, each at base offset 0 and without a
	// leader epoch: the leader assigns both.
	Frames  []byte
	Batches []Batch
}

// first is the request of the first n batches, rest that of all but those.
func (q Request) first(n int) Request {
	q.Frames, q.Batches = q.Frames[:q.size(n)], q.Batches[:n]
	return q
}

func (q Request) rest(n int) Request {
	q.Frames, q.Batches = q.Frames[q.size(n):], q.Batches[n:]
	return q
}

// size is the bytes of the first n batches.
func (q Request) size(n int) int {
	size := 0
	for _, b := range q.Batches[:n] {
		size += b.Size
	}
	return size
}

// result is the outcome of the first batch.
func (q Request) result(a store.Appended, status Status) Result {
	if a.Duplicate && status == Acked {
		status = Duplicate
	}
	if status == Sent {
		a.BaseOffset, a.LastOffset = NoOffset, NoOffset
	}
	return Result{
		Partition: q.Partition, Records: q.Batches[0].Records, Status: status,
		BaseOffset: a.BaseOffset, LastOffset: a.LastOffset, Frame: q.Frames[:q.Batches[0].Size],
	}
}

// moveUp lowers the sequences of all batches by n, to close the gap that diverted
// records left.
func (q Request) moveUp(n int32) {
	if n == 0 {
		return
	}
	for ; len(q.Batches) > 0; q = q.rest(1) {
		frame := q.first(1).Frames
		batch, err := record.View(frame)
		if err != nil || batch.BaseSequence() == record.NoSequence {
			return
		}
		record.SetBaseSequence(frame, (batch.BaseSequence()-n)&math.MaxInt32)
	}
}
