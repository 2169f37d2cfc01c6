package workload

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/record"
)

// run is one run of a plan.
type run struct {
	plan    *Plan
	cluster *cluster.Cluster
	id      int64 // the producer id that stands for it

	placement  client.Placement
	format     record.Format
	maxBatch   int64 // bytes that the topic takes at once
	replicated bool
	starts     [][]int64 // see startAt
	padding    padding

	lanes   []*lane // by partition
	desks   chan *desk
	turn    int // how many messages a producer makes before it leaves its desk
	writers []*writer
	excused excuses
	gave    atomic.Bool  // up: somebody failed
	made    atomic.Int64 // messages of all producers, once they are done

	coordinator *group.Coordinator
	readings    []*reading              // by group
	ends        atomic.Pointer[[]int64] // log ends, once all is written
}

// Run carries a plan out. When ctx ends the producers stop; what they made by then is still
// written, read and held against what it should be. With an error about what the leaders did
// not take, or did not acknowledge, there is an outcome all the same; where the run failed, or
// ctx ended before the first record, it is nil.
func Run(ctx context.Context, c *cluster.Cluster, p *Plan) (*Outcome, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &run{
		plan: p, cluster: c, coordinator: group.NewCoordinator(c),
		excused: excuses{plan: p}, padding: newPadding(p.RecordSize, p.Seed),
	}
	working := context.WithoutCancel(ctx)
	if err := r.prepare(working); err != nil {
		return nil, err
	}
	err := r.joinAll(ctx, working)
	var o *Outcome
	if err == nil {
		o, err = r.perform(ctx, working)
	}
	return o, errors.Join(err, r.leaveAll(working), r.coordinator.Close(working))
}

// perform runs the consumers beside the producers, and waits until they have read it all. The
// end of wanted stops the producers; nothing stops the work on what they made.
func (r *run) perform(wanted, ctx context.Context) (*Outcome, error) {
	during, stop := context.WithCancel(ctx)
	defer stop()
	unhurried, hurry := context.WithCancel(during)
	defer context.AfterFunc(wanted, hurry)()
	var consumers crew
	for _, g := range r.readings {
		for _, c := range g.members {
			consumers.start(func() error { return r.orGiveUp(c.work(ctx, during, unhurried)) })
		}
	}
	o, err := r.produce(wanted, ctx)
	ends, endErr := r.writers[0].topic.LogEnds()
	if endErr == nil {
		r.ends.Store(&ends)
		r.await(during)
	}
	stop()
	err = errors.Join(err, endErr, consumers.wait())
	if r.gaveUp() {
		return nil, err
	}
	for _, g := range r.readings {
		o.Groups = append(o.Groups, g.outcome(r.made.Load(), &r.excused))
	}
	return o, err
}

// prepare looks at the topic and gives every partition a lane and a writer.
func (r *run) prepare(ctx context.Context) error {
	meta := r.cluster.Meta()
	topic, err := meta.Topic(r.plan.Topic)
	if err != nil {
		return err
	}
	settings := meta.Settings(topic)
	if r.plan.Keys == 0 && settings.Compacts() {
		return client.RefuseUnkeyed(r.partition(0)).WithHint("--keys N")
	}
	if r.placement, err = placement(settings, len(topic.Partitions)); err != nil {
		return err
	}
	if r.format = record.V2; settings.Text(cluster.Format) == "mkb1" {
		r.format = record.MKB1
	}
	r.maxBatch = min(settings.Int(cluster.MaxMessageBytes), settings.Int(cluster.SegmentBytes))
	r.replicated = topic.ReplicationFactor() > 1
	identity, err := client.NewIdentities(r.cluster).New(ctx)
	if err != nil {
		return err
	}
	r.id = identity.ProducerID
	if err := r.openLanes(len(topic.Partitions)); err != nil {
		return err
	}
	ends, err := r.writers[0].topic.LogEnds()
	r.starts = starts(ends)
	return err
}

// placement is what the topic's configs say.
func placement(s cluster.Settings, partitions int) (p client.Placement, err error) {
	p.Partitions = partitions
	if p.Hash, err = client.ParsePartitioner(s.Text(cluster.Partitioner)); err != nil {
		return p, err
	}
	p.Unkeyed, err = client.ParseUnkeyed(s.Text(cluster.Unkeyed))
	return p, err
}

func (r *run) openLanes(partitions int) error {
	for range min(partitions, maxWriters) {
		w, err := newWriter(r)
		if err != nil {
			return err
		}
		r.writers = append(r.writers, w)
	}
	for n := range partitions {
		l := newLane(n)
		r.lanes = append(r.lanes, l)
		w := r.writerOf(n)
		w.lanes = append(w.lanes, l)
	}
	return nil
}

func (r *run) writerOf(partition int) *writer { return r.writers[partition%len(r.writers)] }

// starts are log ends that make a Placer begin at each available partition in turn: it
// begins at the lowest, and by the real ones all producers of a run would begin together.
func starts(ends []int64) [][]int64 {
	level := make([]int64, len(ends))
	for n, end := range ends {
		level[n] = min(end, 0) // 0, or Unavailable
	}
	var all [][]int64
	for n, end := range level {
		if end != client.Unavailable {
			start := slices.Clone(level)
			raise(start, n)
			all = append(all, start)
		}
	}
	if len(all) == 0 {
		return [][]int64{ends}
	}
	return all
}

// raise makes all available partitions but one higher than that.
func raise(ends []int64, but int) {
	for n, end := range ends {
		if n != but && end != client.Unavailable {
			ends[n] = 1
		}
	}
}

// startAt are the log ends that one producer is told of.
func (r *run) startAt(producer int) []int64 { return r.starts[producer%len(r.starts)] }

// giveUp breaks the run off: everybody ends as soon as they notice.
func (r *run) giveUp()      { r.gave.Store(true) }
func (r *run) gaveUp() bool { return r.gave.Load() }

// orGiveUp gives up at an error.
func (r *run) orGiveUp(err error) error {
	if err != nil {
		r.giveUp()
	}
	return err
}

// produce runs the producers and writers to their end, or the producers to that of wanted.
func (r *run) produce(wanted, ctx context.Context) (*Outcome, error) {
	began := time.Now()
	r.openDesks()
	var producers, writers crew
	for _, w := range r.writers {
		writers.start(func() error { return w.work(ctx) })
	}
	for n := range r.plan.Producers {
		p := newProducer(r, n)
		producers.start(func() error { return r.orGiveUp(p.work(wanted)) })
	}
	err := producers.wait()
	for _, w := range r.writers {
		close(w.wake)
	}
	err = errors.Join(err, writers.wait())
	o := r.outcome(time.Since(began))
	return o, errors.Join(err, r.closeWriters(ctx))
}

func (r *run) closeWriters(ctx context.Context) error {
	var errs []error
	for _, w := range r.writers {
		errs = append(errs, w.close(ctx))
	}
	return errors.Join(errs...)
}

// outcome sums up what the writers know.
func (r *run) outcome(elapsed time.Duration) *Outcome {
	o := &Outcome{Producers: r.plan.Producers, Made: r.made.Load(), Elapsed: elapsed, Latency: &Latency{}}
	for _, w := range r.writers {
		o.Sent.Written += w.sent.Written
		o.Sent.Diverted += w.sent.Diverted
		o.Sent.Failed += w.sent.Failed
		o.Sent.Bytes += w.sent.Bytes
		o.Latency.merge(&w.latency)
	}
	return o
}

// crew is goroutines that end with an error each.
type crew struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// start runs f. A panic, which is a defect of ours, becomes an error: in a goroutine it
// would end the process as if it had been used wrongly.
func (c *crew) start(f func() error) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.note(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		c.note(f())
	})
}

func (c *crew) note(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// wait waits for all of them.
func (c *crew) wait() error {
	c.wg.Wait()
	return errors.Join(c.errs...)
}
