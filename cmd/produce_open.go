package cmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"logdir/cmd/internal/input"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/compress"
	"logdir/store/deadletter"
	"logdir/store/record"
	"logdir/store/replica"
	"logdir/store/vfs"
)

// open finds the topic and makes the parts of the producer.
func (p *producer) open(ctx context.Context, fsync store.Fsync) error {
	if err := p.checkPartition(); err != nil {
		return err
	}
	topic, err := p.cluster.Meta().Topic(p.o.topic)
	if err != nil {
		return err
	}
	p.partitions = len(topic.Partitions)
	acks, err := p.o.acksWanted()
	if err != nil {
		return err
	}
	o := client.TopicOptions{LeaderEpoch: p.o.leaderEpoch, Sync: fsync != store.FsyncNever}
	if p.drives(topic, acks) {
		p.followers = replica.NewFetcher(p.cluster, replica.Options{Sync: o.Sync})
		o.Followers = p.followers
	}
	if p.topic, err = client.OpenTopic(p.cluster, p.o.topic, o); err != nil {
		return err
	}
	if p.report, err = newProduceReport(p.env, p.o.topic, p.o.report); err != nil {
		return err
	}
	p.session = client.NewSession(p.leader(), p.sending(acks), p.report.Batch)
	p.openInput()
	return p.openBatching(ctx, p.cluster.Meta().Settings(topic))
}

// checkPartition refuses a --partition that the topic does not have.
func (p *producer) checkPartition() error {
	if p.o.partition < 0 {
		return nil
	}
	_, _, err := p.cluster.Meta().Partition(store.TopicPartition{Topic: p.o.topic, Partition: p.o.partition})
	return err
}

// drives tells whether the producer moves the followers itself while acks=all waits. A
// topic of one replica has none.
func (p *producer) drives(topic *cluster.Topic, acks client.Acks) bool {
	wanted := p.o.replicate || p.cluster.Meta().AutoReplicate
	return wanted && acks == client.AcksAll && topic.ReplicationFactor() > 1
}

func (p *producer) sending(acks client.Acks) client.Sending {
	s := client.Sending{
		Topic: p.o.topic, Acks: acks, LoseAcks: p.o.loseAcks,
		RequestTimeout: milliseconds(p.o.requestTimeout),
		Retries:        p.o.retries, Backoff: milliseconds(p.o.retryBackoff), Sleep: p.backOff,
	}
	if !p.o.noDLQ {
		p.deadLetters = deadletter.Open(p.cluster, p.o.topic)
		s.DeadLetters = p.deadLetters
	}
	return s
}

// backOff is the pause before a retry.
func (p *producer) backOff(d time.Duration) {
	p.cluster.Info("producer", "retry", slog.String("topic", p.o.topic), slog.Duration("after", d))
	time.Sleep(d)
}

// openInput prepares the reading of records.
func (p *producer) openInput() {
	p.splitter = input.Splitter{Delimiter: []byte(p.o.delimiter), KeyDelimiter: []byte(p.o.keyDelimiter)}
	if p.o.input == inputJSON {
		p.parser = &render.RecordParser{}
		p.byEnvelope = p.o.partition < 0 && !p.o.given("partitioner") && !p.o.given("unkeyed")
	}
	if p.o.given("key") {
		p.key = append([]byte{}, p.o.key...)
	}
	p.headers = parseHeaders(p.o.headers)
	if p.o.tee {
		p.tee = bufio.NewWriterSize(p.env.Out, 64<<10)
	}
}

// parseHeaders reads name=value, or a name alone for a null value.
func parseHeaders(texts []string) []record.Header {
	var headers []record.Header
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		h := record.Header{Key: []byte(name)}
		if ok {
			h.Value = []byte(value)
		}
		headers = append(headers, h)
	}
	return headers
}

// openBatching prepares placement and batching by the flags, and by the topic's configs
// where a flag says nothing.
func (p *producer) openBatching(ctx context.Context, settings cluster.Settings) error {
	placement, err := p.placement(settings)
	if err != nil {
		return err
	}
	codec, err := compress.ParseCodec(p.o.compression)
	if err != nil {
		return err
	}
	format := formatOf(settings)
	if format == record.MKB1 && codec != compress.None {
		return store.Errorf(store.Refused, "UNSUPPORTED_COMPRESSION_TYPE", "%s has %s=mkb1, and MKB1 frames are not compressed", p.o.topic, cluster.Format)
	}
	identity, err := p.identity(ctx)
	if err != nil {
		return err
	}
	sequences, err := p.sequences(ctx)
	if err != nil {
		return err
	}
	p.placer = client.NewPlacer(placement)
	p.accumulator = client.NewAccumulator(client.Batching{
		Partitions: p.partitions, Size: p.o.batchSize, Linger: milliseconds(p.o.lingerMs),
		Format: format, Codec: codec, Identity: identity, Sequences: sequences,
	}, p.placer.BatchClosed)
	p.sender = sender{session: p.session, accumulator: p.accumulator}
	return nil
}

func (p *producer) placement(settings cluster.Settings) (client.Placement, error) {
	hash, err := client.ParsePartitioner(orElse(p.o.partitioner, settings.Text(cluster.Partitioner)))
	if err != nil {
		return client.Placement{}, err
	}
	unkeyed, err := client.ParseUnkeyed(orElse(p.o.unkeyed, settings.Text(cluster.Unkeyed)))
	return client.Placement{
		Partitions: p.partitions, Hash: hash, Unkeyed: unkeyed, LogEnds: p.logEnds,
	}, err
}

// logEnds looks at the logs when nothing of ours is on its way into them.
func (p *producer) logEnds() ([]int64, error) {
	if err := p.sender.wait(); err != nil {
		return nil, err
	}
	return p.topic.LogEnds()
}

func orElse(flag, otherwise string) string {
	if flag != "" {
		return flag
	}
	return otherwise
}

// formatOf is the record format of a topic's logdir.format.
func formatOf(settings cluster.Settings) record.Format {
	if settings.Text(cluster.Format) == "mkb1" {
		return record.MKB1
	}
	return record.V2
}

// sequences are those with which a transaction goes on, on each partition; nil elsewhere.
func (p *producer) sequences(ctx context.Context) ([]int32, error) {
	if p.o.transaction == nil {
		return nil, nil
	}
	return p.o.transaction.Sequences(ctx, p.o.topic, p.partitions)
}

// leader is what the session appends to: the topic, or the topic through a transaction.
func (p *producer) leader() client.Leader {
	if p.o.transaction == nil {
		return p.topic
	}
	return p.o.transaction.Leader(p.o.topic, p.topic)
}

// identity is what the batches are stamped with.
func (p *producer) identity(ctx context.Context) (client.Identity, error) {
	switch ids := client.NewIdentities(p.cluster); {
	case p.o.transaction != nil:
		return p.o.transaction.Identity(), nil
	case p.o.transactionalID != "":
		return ids.Named(ctx, p.o.transactionalID)
	case p.o.idempotent:
		return ids.New(ctx)
	case p.o.given("producer-id"):
		return client.Identity{ProducerID: p.o.producerID, Epoch: p.o.producerEpoch, BaseSequence: p.o.baseSequence}, nil
	}
	return client.NoIdentity, nil
}

// stdinPart is standard input as a part of records.
func (e *Env) stdinPart() input.Part {
	return input.Part{Name: "stdin", Open: func() (io.ReadCloser, error) { return io.NopCloser(e.In), nil }}
}

// filePart is a file as a part: one record, or lines.
func (e *Env) filePart(name string, whole bool) input.Part {
	return input.Part{Name: name, Whole: whole, Open: func() (io.ReadCloser, error) {
		f, err := e.FS.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noInput(name, whole)
		}
		if err != nil {
			return nil, err
		}
		return &fileReader{file: f}, nil
	}}
}

// noInput is the error about a file that is not there. Who names a text instead is told
// where texts come from.
func noInput(name string, whole bool) error {
	e := store.Errorf(store.Failed, "KAFKA_STORAGE_ERROR", "%s: %w", name, fs.ErrNotExist)
	if whole {
		return e.WithHint("a FILE holds one record; values as such come on standard input: echo %s |", store.ShellWord(name))
	}
	return e
}

// fileReader reads a vfs file from its start.
type fileReader struct {
	file vfs.ReadFile
	pos  int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.pos)
	r.pos += int64(n)
	return n, err
}

func (r *fileReader) Close() error { return r.file.Close() }
