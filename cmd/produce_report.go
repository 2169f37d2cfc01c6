package cmd

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"logdir/cmd/internal/render"
	"logdir/store/client"
	"logdir/store/record"
)

// The kinds of --report; anything with a percent sign is a record format.
const (
	reportPartition = "partition"
	reportBatch     = "batch"
	reportRecord    = "record"
	reportNone      = "none"
)

func checkReport(kind string) error {
	switch {
	case kind == reportPartition, kind == reportBatch, kind == reportRecord, kind == reportNone:
		return nil
	case strings.Contains(kind, "%"):
		_, err := render.Compile(kind)
		if err != nil {
			return usagef("%w", err)
		}
		return nil
	}
	return usagef("--report %q: want partition, batch, record, none or a record format with %%", kind)
}

// produceReport prints outcomes, in the order in which they come.
type produceReport interface {
	// Batch takes the outcome of one batch.
	Batch(client.Result) error
	// Flush shows what can be shown now, while the producer waits for input.
	Flush() error
	// Close shows the rest.
	Close() error
}

// newProduceReport makes the report that --report asks for. It has passed checkReport.
func newProduceReport(env *Env, topic, kind string) (produceReport, error) {
	switch kind {
	case reportNone:
		return noReport{}, nil
	case reportPartition:
		return &partitionReport{env: env, topic: topic}, nil
	case reportBatch:
		columns := []string{"TOPIC", "PARTITION", "BASE-OFFSET", "LAST-OFFSET", "RECORDS", "STATUS"}
		return &rowReport{stream: env.Stream(columns), topic: topic, rows: batchRow}, nil
	case reportRecord:
		columns := []string{"TOPIC", "PARTITION", "OFFSET", "STATUS"}
		return &rowReport{stream: env.Stream(columns), topic: topic, rows: recordRows}, nil
	}
	format, err := render.Compile(kind)
	return newFormatReport(env.Out, topic, format), err
}

// noReport is --report none.
type noReport struct{}

func (noReport) Batch(client.Result) error { return nil }
func (noReport) Flush() error              { return nil }
func (noReport) Close() error              { return nil }

// partitionReport sums up the session: a row for each partition and status.
type partitionReport struct {
	env   *Env
	topic string
	sums  []sessionSum
}

type sessionSum struct {
	partition, records, batches int
	base, last                  int64
	status                      client.Status
}

func (p *partitionReport) Batch(r client.Result) error {
	same := func(s sessionSum) bool { return s.partition == r.Partition && s.status == r.Status }
	at := slices.IndexFunc(p.sums, same)
	if at < 0 {
		at = len(p.sums)
		p.sums = append(p.sums, sessionSum{partition: r.Partition, status: r.Status, base: r.BaseOffset, last: r.LastOffset})
	}
	s := &p.sums[at]
	s.records, s.batches = s.records+r.Records, s.batches+1
	s.base, s.last = min(s.base, r.BaseOffset), max(s.last, r.LastOffset)
	return nil
}

func (p *partitionReport) Flush() error { return nil }

// Close prints the table, unless nothing was written at all: then the error says why.
func (p *partitionReport) Close() error {
	if !slices.ContainsFunc(p.sums, func(s sessionSum) bool { return s.status != client.NotWritten }) {
		return nil
	}
	slices.SortStableFunc(p.sums, func(a, b sessionSum) int { return cmp.Compare(a.partition, b.partition) })
	t := render.Table{Columns: []string{"TOPIC", "PARTITION", "RECORDS", "BATCHES", "BASE-OFFSET", "LAST-OFFSET", "STATUS"}}
	for _, s := range p.sums {
		t.Rows = append(t.Rows, []any{
			p.topic, s.partition, s.records, s.batches, render.Known(s.base), render.Known(s.last), s.status.String(),
		})
	}
	return p.env.Print(t)
}

// rowReport prints rows for each batch. Batches that were not written wait for one that
// was: alone they are no answer.
type rowReport struct {
	stream  *render.Stream
	topic   string
	rows    func(*render.Stream, string, client.Result) error
	waiting []client.Result
	written bool
}

func (p *rowReport) Batch(r client.Result) error {
	if r.Status == client.NotWritten && !p.written {
		p.waiting = append(p.waiting, r)
		return nil
	}
	p.written = true
	for _, w := range p.waiting {
		if err := p.rows(p.stream, p.topic, w); err != nil {
			return err
		}
	}
	p.waiting = nil
	return p.rows(p.stream, p.topic, r)
}

func (p *rowReport) Flush() error { return p.stream.Flush() }
func (p *rowReport) Close() error { return p.stream.Close() }

func batchRow(s *render.Stream, topic string, r client.Result) error {
	return s.Row(topic, r.Partition, render.Known(r.BaseOffset), render.Known(r.LastOffset), r.Records, r.Status.String())
}

func recordRows(s *render.Stream, topic string, r client.Result) error {
	for i := range r.Records {
		offset := client.NoOffset
		if r.BaseOffset != client.NoOffset {
			offset = r.BaseOffset + int64(i)
		}
		if err := s.Row(topic, r.Partition, render.Known(offset), r.Status.String()); err != nil {
			return err
		}
	}
	return nil
}

// formatReport prints each acknowledged record by a format, as a producer's callback
// would; what was not acknowledged has no line.
type formatReport struct {
	out     *bufio.Writer
	format  *render.Format
	context render.RecordContext
	reader  *record.Reader
	line    []byte
}

func newFormatReport(out io.Writer, topic string, format *render.Format) *formatReport {
	return &formatReport{
		out: bufio.NewWriterSize(out, 64<<10), format: format, reader: record.NewReader(),
		context: render.RecordContext{Topic: topic},
	}
}

func (p *formatReport) Batch(r client.Result) error {
	if r.Status != client.Acked && r.Status != client.Duplicate && r.Status != client.Sent {
		return nil
	}
	batch, bad := record.View(r.Frame)
	if bad != nil {
		return bad
	}
	p.context.SetBatch(&batch)
	p.context.Partition = int32(r.Partition)
	p.context.BaseOffset = r.BaseOffset
	for p.reader.Reset(&batch); p.reader.Next(); {
		if err := p.record(p.reader.Record(), r.BaseOffset-batch.BaseOffset()); err != nil {
			return err
		}
	}
	return p.reader.Err()
}

// record prints one record. shift is what its offset in the frame lacks to the one that
// was acknowledged: a duplicate keeps the offsets of the first time.
func (p *formatReport) record(r *record.Record, shift int64) error {
	acked := *r
	acked.Offset += shift
	if p.context.BaseOffset == client.NoOffset {
		acked.Offset = client.NoOffset
	}
	p.context.Record = &acked
	p.line = p.format.AppendRecord(p.line[:0], &p.context)
	_, err := p.out.Write(p.line)
	return err
}

func (p *formatReport) Flush() error { return p.out.Flush() }
func (p *formatReport) Close() error { return p.out.Flush() }
