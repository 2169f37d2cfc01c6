package deadletter

import (
	"context"
	"errors"
	"log/slog"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/record"
)

// component is the name of this package's lines in the structured log.
const component = "dlq"

// Queue holds the dead letters of one topic, a log for each of its partitions. Logs that
// were written stay open until Close.
type Queue struct {
	cluster *cluster.Cluster
	topic   string
	logs    map[int32]*store.Log

	reader  *record.Reader
	builder *record.Builder
	frame   []byte // reused
}

// Open returns the queue of a topic. It opens no log.
func Open(c *cluster.Cluster, topic string) *Queue {
	return &Queue{
		cluster: c, topic: topic, logs: map[int32]*store.Log{},
		reader: record.NewReader(), builder: record.NewBuilder(),
	}
}

func (q *Queue) partition(p int32) store.TopicPartition {
	return store.TopicPartition{Topic: q.topic, Partition: p}
}

func (q *Queue) log(p int32) *cluster.SideLog { return q.cluster.DeadLetterLog(q.partition(p)) }

// Divert keeps one batch that its partition had no room for, not even after so many
// retries. It implements client.DeadLetters.
func (q *Queue) Divert(ctx context.Context, partition int, frame []byte, retries int) error {
	batch, bad := record.View(frame)
	if bad != nil {
		return bad
	}
	why := Cause{Reason: PartitionFull, Retries: retries}
	if err := q.label(&batch, why); err != nil {
		return err
	}
	return q.put(ctx, int32(partition), why)
}

// DivertRecord keeps one record that a handler failed to deal with.
func (q *Queue) DivertRecord(ctx context.Context, partition int32, r *record.Record, why Cause) error {
	q.begin(record.NoProducer())
	q.add(r, why.headers())
	return q.put(ctx, partition, why)
}

// label fills the builder with the records of a batch and why they are here.
func (q *Queue) label(b *record.Batch, why Cause) error {
	m := record.NoProducer()
	m.Codec = b.Codec()
	q.begin(m)
	for q.reader.Reset(b); q.reader.Next(); {
		q.add(q.reader.Record(), why.headers())
	}
	return q.reader.Err()
}

func (q *Queue) begin(m record.Meta) { q.builder.Reset(m) }

// add appends r with more headers behind its own.
func (q *Queue) add(r *record.Record, more []record.Header) {
	kept := *r
	kept.Offset = int64(q.builder.Len())
	kept.Headers = append(append([]record.Header(nil), r.Headers...), more...)
	q.builder.Append(&kept)
}

// put appends what the builder holds to the queue of a partition.
func (q *Queue) put(ctx context.Context, partition int32, why Cause) (err error) {
	side := q.log(partition)
	lock, err := side.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	log, err := q.opened(ctx, partition)
	if err != nil {
		return err
	}
	if q.frame, err = q.builder.Build(q.frame[:0]); err != nil {
		return err
	}
	if _, err := log.Append(q.frame, 0); err != nil {
		return err
	}
	if err := q.cluster.Failpoint(store.FailDLQ); err != nil {
		return err
	}
	q.info("divert", partition, append([]slog.Attr{slog.Int("records", q.builder.Len())}, why.attrs()...)...)
	return nil
}

// opened is the log of a queue, opened or brought up to date. The caller holds its lock.
func (q *Queue) opened(ctx context.Context, partition int32) (*store.Log, error) {
	if log := q.logs[partition]; log != nil {
		return log, log.Refresh()
	}
	log, err := q.log(partition).Open(ctx)
	if err == nil {
		q.logs[partition] = log
	}
	return log, err
}

// Close syncs what was diverted, unless nothing is to be synced, and closes the logs.
func (q *Queue) Close(ctx context.Context) error {
	var errs []error
	for partition, log := range q.logs {
		errs = append(errs, q.release(ctx, partition, log))
	}
	clear(q.logs)
	return errors.Join(errs...)
}

func (q *Queue) release(ctx context.Context, partition int32, log *store.Log) error {
	lock, err := q.log(partition).Lock(ctx)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	if log.Config().Fsync != store.FsyncNever {
		_, err = log.Flush()
	}
	return errors.Join(err, log.Close(), lock.Close())
}

func (q *Queue) info(what string, partition int32, attrs ...slog.Attr) {
	where := []slog.Attr{slog.String("topic", q.topic), slog.Int("partition", int(partition))}
	q.cluster.Info(component, what, append(where, attrs...)...)
}
