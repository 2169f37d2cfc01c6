package live

import (
	"iter"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/compress"
	"logdir/store/record"
)

// batcher encodes the records of one source as batches of a transactional producer. It
// keeps the codec of the source, and begins a new batch where that changes.
type batcher struct {
	source   Source
	to       store.TopicPartition
	limit    int // bytes of a batch before compression
	most     int // records of a batch
	meta     record.Meta
	sequence int32

	builder *record.Builder
	runs    []run
}

// batches reads from offset from on, up to offset to.
func (b *batcher) batches(from, to int64) iter.Seq2[*outgoing, error] {
	return func(yield func(*outgoing, error) bool) {
		stopped := false
		emit := func() error {
			batch, err := b.build()
			if err == nil && !yield(batch, nil) {
				stopped, err = true, client.ErrStop
			}
			return err
		}
		err := b.source.Read(from, func(src *record.Batch, r *record.Record) error {
			if r.Offset >= to {
				return client.ErrStop
			}
			if b.full(src.Codec(), r) {
				if err := emit(); err != nil {
					return err
				}
			}
			b.append(src.Codec(), r)
			return nil
		})
		if stopped {
			return
		}
		if len(b.runs) > 0 && emit() != nil {
			return
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// full says that r belongs in the next batch.
func (b *batcher) full(codec compress.Codec, r *record.Record) bool {
	if len(b.runs) == 0 {
		return false
	}
	return codec != b.meta.Codec || b.builder.Len() >= b.most || b.builder.Size()+record.RecordSize(r) > b.limit
}

// append adds a record. In the batch offsets count from 0 without gaps: the broker gives
// the real ones.
func (b *batcher) append(codec compress.Codec, r *record.Record) {
	if len(b.runs) == 0 {
		b.meta.Codec, b.meta.BaseSequence = codec, b.sequence
		b.builder.Reset(b.meta)
	}
	out, n := *r, int64(b.builder.Len())
	out.Offset = n
	b.builder.Append(&out)
	b.runs = appendRun(b.runs, run{r.Offset, r.Offset, n})
}

// build ends the batch.
func (b *batcher) build() (*outgoing, error) {
	frame, err := b.builder.Build(make([]byte, 0, b.builder.Size()))
	if err != nil {
		return nil, err
	}
	o := &outgoing{to: b.to, frame: frame, records: b.builder.Len(), runs: b.runs}
	b.sequence = nextSequence(b.sequence, o.records)
	b.runs = nil
	return o, nil
}

// nextSequence is the sequence behind n records; behind the largest comes 0.
func nextSequence(s int32, n int) int32 { return int32((int64(s) + int64(n)) & (1<<31 - 1)) }
