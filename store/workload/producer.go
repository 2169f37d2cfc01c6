package workload

import (
	"context"
	"math/rand/v2"
	"strconv"

	"logdir/store/client"
	"logdir/store/record"
)

const (
	// batchBytes is Kafka's batch.size.
	batchBytes = 16 << 10
	// openBytes is what the open batches of all producers may take together: many
	// producers make smaller batches.
	openBytes = 6 << 20
)

// producer makes the messages of one producer.
type producer struct {
	run         *run
	number      int
	keys        *rand.Rand // nil: records have no key
	placer      *client.Placer
	accumulator *client.Accumulator
	record      record.Record
	key, value  []byte
}

func newProducer(r *run, number int) *producer {
	p := &producer{run: r, number: number}
	if r.plan.Keys > 0 {
		p.keys = rand.New(rand.NewPCG(r.plan.Seed, uint64(number)+1))
	}
	placement := r.placement
	placement.LogEnds = func() ([]int64, error) { return r.startAt(number), nil }
	p.placer = client.NewPlacer(placement)
	p.accumulator = client.NewAccumulator(client.Batching{
		Partitions: len(r.lanes), Size: r.batchSize(), Linger: -1,
		Format: r.format, Identity: client.NoIdentity,
	}, p.placer.BatchClosed)
	return p
}

// batchSize divides openBytes among all batches that may be open at once, one more for
// each producer: the one that has just closed.
func (r *run) batchSize() int {
	open := 1
	switch {
	case r.plan.Keys > 0:
		open = min(r.plan.Keys, len(r.lanes))
	case r.placement.Unkeyed == client.RoundRobin:
		open = len(r.lanes)
	}
	size := min(batchBytes, openBytes/(r.plan.Producers*(open+1)))
	return max(1, int(min(r.maxBatch, int64(size))))
}

// work makes all messages, or stops with ctx, and puts the last batches into the lanes.
func (p *producer) work(ctx context.Context) error {
	made := 0
	for ; made < p.run.plan.Messages && ctx.Err() == nil; made++ {
		if p.run.gaveUp() {
			return nil
		}
		if err := p.make(made); err != nil {
			return err
		}
		p.ship()
	}
	p.run.made.Add(int64(made))
	if err := p.accumulator.CloseAll(); err != nil {
		return err
	}
	p.ship()
	return nil
}

// make puts one message into an open batch.
func (p *producer) make(sequence int) error {
	m := message{run: p.run.id, producer: p.number, sequence: sequence}
	p.value = p.run.padding.value(p.value[:0], m, p.run.plan.RecordSize)
	now := p.run.cluster.Now()
	p.record.Timestamp, p.record.Value = now.UnixMilli(), p.value
	if p.keys != nil {
		p.key = appendKey(p.key[:0], p.keys.IntN(p.run.plan.Keys))
		p.record.Key = p.key
	}
	return client.Put(p.placer, p.accumulator, &p.record, now)
}

// ship puts what has closed into the lanes.
func (p *producer) ship() {
	if p.accumulator.ReadyBytes() == 0 {
		return
	}
	closed := p.accumulator.Take()
	for _, q := range closed {
		if p.run.lanes[q.Partition].put(q) {
			p.run.writerOf(q.Partition).ring()
		}
	}
	p.accumulator.Recycle(closed)
}

// appendKey appends the text of a key, such as k17.
func appendKey(dst []byte, number int) []byte {
	return strconv.AppendInt(append(dst, 'k'), int64(number), 10)
}

// parseKey is the inverse of appendKey; noKey for anything else.
func parseKey(key []byte) int {
	if len(key) < 2 || key[0] != 'k' {
		return noKey
	}
	n, ok := parseNumber(key[1:])
	if !ok {
		return noKey
	}
	return n
}

const noKey = -1
