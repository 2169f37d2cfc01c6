package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"logdir/cmd/internal/input"
	"logdir/cmd/internal/render"
	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/record"
)

// Lines imports JSON Lines, as export writes them, into a Dir.
type Lines struct {
	Dir *Dir
	// Wants says which partitions are imported; nil means all.
	Wants func(store.TopicPartition) bool
	// Done is called for each partition with what was appended.
	Done func(Imported) error

	parser render.RecordParser
	open   []*filling // the last used stands last
	known  map[store.TopicPartition]*Imported
	order  []*Imported
}

// Imported is what became of one partition.
type Imported struct {
	store.TopicPartition
	LogStart, LogEnd int64 // -1 where the import did not come so far as to look
	Batches, Bytes   int64
	// Err is why it is not finished; nil if it is.
	Err error

	resumed int64 // records below it are there from an earlier run
}

const (
	// maxFilling bounds the logs, and with them the files, that are open at once.
	maxFilling = 64
	// lineBatch is how many bytes of records go into one batch, and lineEpoch the leader
	// epoch of all: a file tells none.
	lineBatch = 64 << 10
	lineEpoch = 0
	// maxSpan bounds the offsets of one batch: a gap is better left between batches.
	maxSpan = 1 << 20
)

// filling is a partition that gets records.
type filling struct {
	*Partition
	builder *record.Builder
	base    int64 // of the batch
	next    int64 // offset behind the last record
	resumed int64 // as Imported's
}

// Run reads all lines. An error tells the line; what came before it is kept.
func (l *Lines) Run(ctx context.Context, in io.Reader) error {
	l.known = map[store.TopicPartition]*Imported{}
	err := l.read(ctx, in)
	for _, f := range slices.Clone(l.open) {
		err = errors.Join(err, l.close(f))
	}
	slices.SortFunc(l.order, func(a, b *Imported) int { return a.Compare(b.TopicPartition) })
	for _, i := range l.order {
		err = errors.Join(err, l.Done(*i))
	}
	return err
}

func (l *Lines) read(ctx context.Context, in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 1<<20), input.MaxRecord)
	for number := 1; s.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(s.Bytes()) == 0 {
			continue
		}
		if err := l.line(s.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return input.ErrTooLong
	}
	return s.Err()
}

// line imports one record.
func (l *Lines) line(line []byte) error {
	p, err := l.parser.Parse(line)
	if err != nil {
		return badLine("%w", err)
	}
	if p.Topic == nil || p.Partition < 0 || p.Offset < 0 {
		return badLine("it does not say topic, partition and offset")
	}
	tp := store.TopicPartition{Topic: string(p.Topic), Partition: p.Partition}
	if l.Wants != nil && !l.Wants(tp) {
		return nil
	}
	f, err := l.fill(tp)
	if err != nil {
		return err
	}
	return f.add(&p.Record)
}

func badLine(format string, args ...any) error {
	return store.Errorf(store.Usage, "INVALID_RECORD", format, args...)
}

// fill is the partition of a line, opened if it is not.
func (l *Lines) fill(tp store.TopicPartition) (*filling, error) {
	if n := len(l.open); n > 0 && l.open[n-1].TopicPartition == tp {
		return l.open[n-1], nil
	}
	at := slices.IndexFunc(l.open, func(f *filling) bool { return f.TopicPartition == tp })
	if at >= 0 {
		f := l.open[at]
		l.open = append(slices.Delete(l.open, at, at+1), f)
		return f, nil
	}
	return l.begin(tp)
}

func (l *Lines) begin(tp store.TopicPartition) (*filling, error) {
	if err := store.ValidateTopic(tp.Topic); err != nil {
		return nil, err
	}
	if len(l.open) >= maxFilling {
		if err := l.close(l.open[0]); err != nil {
			return nil, err
		}
	}
	p, err := l.Dir.Open(tp, checkpoint.ZeroUUID)
	if err != nil {
		return nil, err
	}
	f := &filling{Partition: p, builder: record.NewBuilder(), next: p.End()}
	if l.known[tp] == nil {
		l.known[tp] = &Imported{TopicPartition: tp, resumed: p.End()}
		l.order = append(l.order, l.known[tp])
	}
	f.resumed = l.known[tp].resumed
	l.open = append(l.open, f)
	return f, nil
}

// close ends the batch and the partition.
func (l *Lines) close(f *filling) error {
	l.open = slices.DeleteFunc(l.open, func(o *filling) bool { return o == f })
	err := f.flush()
	i := l.known[f.TopicPartition]
	i.LogStart, i.LogEnd = f.Start(), f.End()
	i.Batches, i.Bytes = i.Batches+f.Batches, i.Bytes+f.Bytes
	return errors.Join(err, f.Close(f.Start()))
}

// add puts a record behind the others of its partition.
func (f *filling) add(r *record.Record) error {
	switch {
	case r.Offset < f.resumed:
		return nil
	case r.Offset < f.next:
		return badLine("%s: offset %d stands behind offset %d", f.TopicPartition, r.Offset, f.next-1)
	}
	if f.builder.Len() > 0 && (f.builder.SizeWith(r) > lineBatch || r.Offset-f.base > maxSpan) {
		if err := f.flush(); err != nil {
			return err
		}
	}
	if f.builder.Len() == 0 {
		m := record.NoProducer()
		m.BaseOffset, m.LeaderEpoch = r.Offset, lineEpoch
		f.base = r.Offset
		f.builder.Reset(m)
	}
	f.builder.Append(r)
	f.next = r.Offset + 1
	return nil
}

// flush appends the batch so far.
func (f *filling) flush() error {
	if f.builder.Len() == 0 {
		return nil
	}
	frame, err := f.builder.Build(nil)
	if err != nil {
		return err
	}
	f.builder.Reset(record.NoProducer())
	return f.Append(frame)
}
