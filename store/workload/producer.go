package workload

import (
	"context"
	"math/rand/v2"
	"strconv"

	"logdir/store/client"
)

const (
	// batchBytes is Kafka's batch.size.
	batchBytes = 16 << 10
	// openBytes is what all open batches may take together: many producers make smaller
	// batches.
	openBytes = 6 << 20
)

// producer makes the messages of one producer.
type producer struct {
	run    *run
	number int
	made   int
	keys   *rand.Rand // nil: records have no key
	placer *client.Placer
}

func newProducer(r *run, number int) *producer {
	p := &producer{run: r, number: number}
	if r.plan.Keys > 0 {
		p.keys = rand.New(rand.NewPCG(r.plan.Seed, uint64(number)+1))
	}
	placement := r.placement
	placement.LogEnds = func() ([]int64, error) { return r.startAt(number), nil }
	p.placer = client.NewPlacer(placement)
	return p
}

// work makes all messages, turn by turn, or stops with ctx.
func (p *producer) work(ctx context.Context) error {
	defer func() { p.run.made.Add(int64(p.made)) }()
	for p.made < p.run.plan.Messages && ctx.Err() == nil && !p.run.gaveUp() {
		if err := p.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// turn waits for a desk and makes some messages there.
func (p *producer) turn(ctx context.Context) error {
	d := <-p.run.desks
	defer func() { p.run.desks <- d }()
	d.placer = p.placer
	for range min(p.run.turn, p.run.plan.Messages-p.made) {
		if ctx.Err() != nil {
			break
		}
		if p.run.gaveUp() {
			return nil
		}
		if err := p.make(d); err != nil {
			return err
		}
		d.ship()
	}
	return d.clear()
}

// make puts the next message into an open batch.
func (p *producer) make(d *desk) error {
	m := message{run: p.run.id, producer: p.number, sequence: p.made}
	d.value = p.run.padding.value(d.value[:0], m, p.run.plan.RecordSize)
	now := p.run.cluster.Now()
	d.record.Timestamp, d.record.Value = now.UnixMilli(), d.value
	if p.keys != nil {
		d.key = appendKey(d.key[:0], p.keys.IntN(p.run.plan.Keys))
		d.record.Key = d.key
	}
	p.made++
	return client.Put(p.placer, d.accumulator, &d.record, now)
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
