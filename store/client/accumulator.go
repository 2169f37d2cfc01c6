package client

import (
	"slices"
	"time"

	"logdir/store/compress"
	"logdir/store/record"
)

// Identity is what an idempotent producer stamps on its batches.
type Identity struct {
	ProducerID int64 // or record.NoProducerID: not idempotent
	Epoch      int32
	// BaseSequence is the sequence of the first record on every partition.
	BaseSequence  int32
	Transactional bool
}

// NoIdentity is the identity of a plain producer.
var NoIdentity = Identity{
	ProducerID: record.NoProducerID, Epoch: record.NoProducerEpoch, BaseSequence: record.NoSequence,
}

// Idempotent tells whether the broker can recognise a repeated batch.
func (i Identity) Idempotent() bool { return i.ProducerID != record.NoProducerID }

// Batching says when a batch closes and what it looks like.
type Batching struct {
	Partitions int // of the topic
	// Size bounds a batch in bytes before compression, header included (batch.size).
	// A batch closes before a record that would exceed it; it always takes one.
	Size int
	// Linger closes a batch that old (linger.ms); negative never does.
	Linger   time.Duration
	Format   record.Format // V2 or MKB1
	Codec    compress.Codec
	Identity Identity
	// Sequences, if not nil, has the first sequence on each partition in the place of the
	// identity's: a session that goes on where another was.
	Sequences []int32
}

// Accumulator gathers records in one open batch per partition and keeps what closed
// until it is taken. Nothing is allocated per record; the memory of requests that come
// back is used again.
type Accumulator struct {
	o      Batching
	closed func(partition int)
	parts  []partition
	order  []int             // partitions with closed batches, the first closed one first
	ready  int               // bytes of closed batches
	free   []Request         // memory for closed batches
	idle   []*record.Builder // those of no open batch
}

// partition is the open batch of one partition and the closed ones behind each other.
type partition struct {
	open     *record.Builder // nil: no batch is open
	since    time.Time       // when the open batch got its first record
	sequence int32           // of the open batch's first record
	frames   []byte
	batches  []Batch
}

// NewAccumulator returns an empty Accumulator. It calls closed whenever an open batch
// closes, so that a sticky run can move on.
func NewAccumulator(o Batching, closed func(partition int)) *Accumulator {
	a := &Accumulator{o: o, closed: closed, parts: make([]partition, o.Partitions)}
	for i := range a.parts {
		a.parts[i].sequence = o.Identity.BaseSequence
		if o.Sequences != nil {
			a.parts[i].sequence = o.Sequences[i]
		}
	}
	return a
}

// Append adds r to the open batch of a partition, closing that before if it does not
// take r and afterwards if nothing more will fit. It copies r; at is when r came.
func (a *Accumulator) Append(partition int, r *record.Record, at time.Time) error {
	taken, err := a.offer(partition, r, at)
	if taken || err != nil {
		return err
	}
	if err := a.Close(partition); err != nil {
		return err
	}
	_, err = a.offer(partition, r, at)
	return err
}

// offer adds r if the open batch takes it; an empty one takes any.
func (a *Accumulator) offer(partition int, r *record.Record, at time.Time) (taken bool, err error) {
	p := &a.parts[partition]
	if p.empty() {
		a.begin(p, at)
	}
	r.Offset = int64(p.open.Len())
	if r.Offset > 0 && p.open.SizeWith(r) > a.o.Size {
		return false, nil
	}
	p.open.Append(r)
	if p.open.Size() >= a.o.Size {
		err = a.Close(partition)
	}
	return true, err
}

func (p *partition) empty() bool { return p.open == nil }

// begin opens a batch.
func (a *Accumulator) begin(p *partition, at time.Time) {
	p.open = a.builder()
	m := record.NoProducer()
	m.Format, m.Codec = a.o.Format, a.o.Codec
	m.ProducerID, m.ProducerEpoch = a.o.Identity.ProducerID, a.o.Identity.Epoch
	m.BaseSequence, m.Transactional = p.sequence, a.o.Identity.Transactional
	p.open.Reset(m)
	p.since = at
}

// builder is one that no open batch uses. A sticky run takes the memory of its batch along
// from partition to partition.
func (a *Accumulator) builder() *record.Builder {
	last := len(a.idle) - 1
	if last < 0 {
		return record.NewBuilder()
	}
	b := a.idle[last]
	a.idle = a.idle[:last]
	return b
}

// Close closes the open batch of a partition, if there is one.
func (a *Accumulator) Close(partition int) error {
	p := &a.parts[partition]
	if p.empty() {
		return nil
	}
	if len(p.batches) == 0 {
		a.lend(p)
	}
	p.makeRoom()
	before, records := len(p.frames), p.open.Len()
	frames, err := p.open.Build(p.frames)
	if err != nil {
		return err
	}
	if len(p.batches) == 0 {
		a.order = append(a.order, partition)
	}
	p.frames = frames
	p.batches = append(p.batches, Batch{Size: len(frames) - before, Records: records})
	p.sequence = record.AddSequence(p.sequence, int32(records))
	a.idle, p.open = append(a.idle, p.open), nil
	a.ready += len(frames) - before
	a.closed(partition)
	return nil
}

// makeRoom lets the memory of closed batches grow in two steps: doubling it would leave
// as much again behind as garbage.
func (p *partition) makeRoom() {
	const small, full = 64 << 10, 5 << 18 // bytes; full is a write of 1 MiB and a bit
	if have := len(p.frames); have > small && have < full && have+p.open.Size() > cap(p.frames) {
		p.frames = slices.Grow(p.frames, full-have)
	}
}

// CloseAll closes every open batch, in the order of the partitions.
func (a *Accumulator) CloseAll() error {
	for i := range a.parts {
		if err := a.Close(i); err != nil {
			return err
		}
	}
	return nil
}

// CloseLingered closes the batches that are as old as the linger allows.
func (a *Accumulator) CloseLingered(now time.Time) error {
	if a.o.Linger < 0 {
		return nil
	}
	for i := range a.parts {
		if p := &a.parts[i]; p.empty() || now.Sub(p.since) < a.o.Linger {
			continue
		}
		if err := a.Close(i); err != nil {
			return err
		}
	}
	return nil
}

// Deadline is when the oldest open batch closes by its age; ok is false if none will.
func (a *Accumulator) Deadline() (at time.Time, ok bool) {
	if a.o.Linger < 0 {
		return at, false
	}
	for i := range a.parts {
		if p := &a.parts[i]; !p.empty() && (!ok || p.since.Before(at)) {
			at, ok = p.since, true
		}
	}
	return at.Add(a.o.Linger), ok
}

// OpenRecords counts the records in open batches: what a crash would lose.
func (a *Accumulator) OpenRecords() int {
	n := 0
	for i := range a.parts {
		if p := &a.parts[i]; !p.empty() {
			n += p.open.Len()
		}
	}
	return n
}

// ReadyBytes counts the bytes of closed batches that were not taken.
func (a *Accumulator) ReadyBytes() int { return a.ready }

// Take hands out everything that closed since the last Take, a request for each
// partition, the one that closed first at the front. Recycle gives them back.
func (a *Accumulator) Take() []Request {
	taken := make([]Request, 0, len(a.order))
	for _, i := range a.order {
		p := &a.parts[i]
		taken = append(taken, Request{Partition: i, Frames: p.frames, Batches: p.batches})
		p.frames, p.batches = nil, nil
	}
	a.order, a.ready = a.order[:0], 0
	return taken
}

// Recycle takes back the memory of requests that are done with.
func (a *Accumulator) Recycle(requests []Request) { a.free = append(a.free, requests...) }

// lend gives a partition memory for its closed batches, the last that came back first.
func (a *Accumulator) lend(p *partition) {
	last := len(a.free) - 1
	if last < 0 {
		return
	}
	p.frames, p.batches = a.free[last].Frames[:0], a.free[last].Batches[:0]
	a.free = a.free[:last]
}
