package workload

import (
	"context"
	"errors"
	"time"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/deadletter"
	"logdir/store/record"
	"logdir/store/replica"
)

// maxWriters is how many partitions are written at once; others take turns. More would
// only hold more files open.
const maxWriters = 8

// writer appends what waits in some lanes, each time all that has closed by then.
type writer struct {
	run       *run
	lanes     []*lane
	wake      chan struct{} // something waits; closed: nothing more will come
	topic     *client.Topic
	session   *client.Session
	followers *replica.Fetcher // of a replicated topic, else nil
	dlq       *deadletter.Queue
	spare     cargo // memory for the next that is taken

	sent    Sent
	latency Latency
}

// The defaults of produce.
const (
	requestTimeout = 1500 * time.Millisecond
	retries        = 3
	retryBackoff   = 100 * time.Millisecond
)

func newWriter(r *run) (*writer, error) {
	w := &writer{run: r, wake: make(chan struct{}, 1), dlq: deadletter.Open(r.cluster, r.plan.Topic)}
	o := client.TopicOptions{LeaderEpoch: client.AnyEpoch, Sync: true}
	if r.replicated {
		w.followers = replica.NewFetcher(r.cluster, replica.Options{Sync: true})
		o.Followers = w.followers
	}
	var err error
	if w.topic, err = client.OpenTopic(r.cluster, r.plan.Topic, o); err != nil {
		return nil, err
	}
	w.session = client.NewSession(w.topic, client.Sending{
		Topic: r.plan.Topic, Acks: r.plan.Acks, RequestTimeout: requestTimeout,
		Retries: retries, Backoff: retryBackoff, DeadLetters: w.dlq,
	}, w.report)
	return w, nil
}

// ring tells the writer that something waits.
func (w *writer) ring() {
	select {
	case w.wake <- struct{}{}:
	default: // it was told already
	}
}

// work writes until nothing more comes. After an error it takes what comes all the same,
// so that no producer waits for ever.
func (w *writer) work(ctx context.Context) error {
	var failed error
	for open := true; open; {
		_, open = <-w.wake
		for _, l := range w.lanes {
			err := w.run.orGiveUp(w.clear(ctx, l, failed != nil))
			failed = errors.Join(failed, err)
		}
	}
	return errors.Join(failed, w.session.Err())
}

// clear sends what waits in a lane, until nothing does.
func (w *writer) clear(ctx context.Context, l *lane, drop bool) error {
	for {
		full := l.take(w.spare)
		if w.spare = full; len(full.batches) == 0 {
			return nil
		}
		if drop {
			continue
		}
		if err := w.session.Send(ctx, []client.Request{full.request(l.partition)}); err != nil {
			return err
		}
		if err := w.follow(ctx, l.partition); err != nil {
			return err
		}
	}
}

// follow lets the followers have what was written, so that consumers may see it. With
// acks=all that has happened.
func (w *writer) follow(ctx context.Context, partition int) error {
	if w.followers == nil || w.run.plan.Acks == client.AcksAll || w.session.Failed(partition) {
		return nil
	}
	return w.followers.Round(ctx, w.run.partition(partition))
}

// report takes the outcome of one batch.
func (w *writer) report(r client.Result) error {
	n := int64(r.Records)
	switch r.Status {
	case client.Diverted:
		w.sent.Diverted += n
		return w.run.excused.add(r.Frame)
	case client.NotWritten:
		w.sent.Failed += n
		return w.run.excused.add(r.Frame)
	}
	w.sent.Written += n
	w.sent.Bytes += n * int64(w.run.plan.RecordSize)
	b, bad := record.View(r.Frame)
	if bad != nil {
		return bad
	}
	since := time.UnixMilli(b.BaseTimestamp())
	w.latency.add(w.run.cluster.Now().Sub(since), n)
	return nil
}

// close syncs what was written, and lets the followers have the rest of it.
func (w *writer) close(ctx context.Context) error {
	err := errors.Join(w.topic.Close(ctx), w.dlq.Close(ctx))
	if w.followers != nil {
		err = errors.Join(err, w.catchUp(ctx), w.followers.Close(ctx))
	}
	return err
}

// catchUp lets the followers have the rest: a round brings only so many bytes.
func (w *writer) catchUp(ctx context.Context) error {
	for _, l := range w.lanes {
		for behind := true; behind; {
			moved, err := w.followers.Fetch(ctx, w.run.partition(l.partition))
			if err != nil {
				return err
			}
			behind = false
			for _, f := range moved {
				behind = behind || f.Behind() && f.To > f.From
			}
		}
	}
	return nil
}

func (r *run) partition(n int) store.TopicPartition {
	return store.TopicPartition{Topic: r.plan.Topic, Partition: int32(n)}
}
