package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/record"
)

// fakeCluster is the part of a cluster that an export sees: partitions, transactions of one
// producer, and committed offsets. It fails one call, before or after it has done what was
// asked.
type fakeCluster struct {
	t     *testing.T
	epoch int16
	logs  map[store.TopicPartition][]entry
	marks map[store.TopicPartition]mark

	sequences map[store.TopicPartition]int32
	open      map[store.TopicPartition][]entry
	refuse    func(outgoing, record.Record) error

	calls  int
	failAt int // number of the call that fails; 0 never
	after  bool
	err    error
}

// entry is a record in a log, or nil for the marker that ends a transaction.
type entry *record.Record

func newFake(t *testing.T) *fakeCluster {
	return &fakeCluster{t: t, logs: map[store.TopicPartition][]entry{}, marks: map[store.TopicPartition]mark{}}
}

// call counts a call, and does it, unless it is the one that fails.
func (f *fakeCluster) call(do func() error) error {
	f.calls++
	fails := f.calls == f.failAt
	if fails && !f.after {
		return f.err
	}
	if err := do(); err != nil {
		return err
	}
	if fails {
		return f.err
	}
	return nil
}

func (f *fakeCluster) openTxn(context.Context) error {
	return f.call(func() error {
		f.epoch++
		f.end(false)
		f.sequences = map[store.TopicPartition]int32{}
		return nil
	})
}

// end ends the open transaction: what was aborted still takes up offsets.
func (f *fakeCluster) end(commit bool) {
	for tp, entries := range f.open {
		for _, e := range entries {
			if !commit {
				e = nil
			}
			f.logs[tp] = append(f.logs[tp], e)
		}
		f.logs[tp] = append(f.logs[tp], nil)
	}
	f.open = map[store.TopicPartition][]entry{}
}

func (f *fakeCluster) committed(_ context.Context, of []store.TopicPartition) (map[store.TopicPartition]mark, error) {
	out := map[store.TopicPartition]mark{}
	err := f.call(func() error {
		for _, tp := range of {
			m, ok := f.marks[tp]
			if !ok {
				m.offset = -1
			}
			out[tp] = m
		}
		return nil
	})
	return out, err
}

func (f *fakeCluster) producer() record.Meta {
	m := record.NoProducer()
	m.ProducerID, m.ProducerEpoch, m.Transactional = 7, int32(f.epoch), true
	return m
}

func (f *fakeCluster) produce(_ context.Context, batches []*outgoing) ([]int64, error) {
	bases := make([]int64, len(batches))
	err := f.call(func() error {
		for i, b := range batches {
			base, err := f.append(b)
			if err != nil {
				return err
			}
			bases[i] = base
		}
		return nil
	})
	return bases, err
}

// append takes a batch as a broker does: it must be this producer's next.
func (f *fakeCluster) append(b *outgoing) (base int64, err error) {
	batch, damage := record.Parse(b.frame)
	switch {
	case damage != nil:
		return 0, damage
	case !batch.CRCValid() || !batch.IsTransactional() || batch.BaseOffset() != 0:
		return 0, errors.New("not a batch that a broker takes")
	case batch.ProducerEpoch() != int32(f.epoch):
		return 0, kerr.InvalidProducerEpoch
	case batch.BaseSequence() != f.sequences[b.to]:
		return 0, kerr.OutOfOrderSequenceNumber
	case int(batch.Count()) != b.records || batch.LastOffset() != int64(b.records-1):
		return 0, kerr.InvalidRecord
	}
	base = int64(len(f.logs[b.to]) + len(f.open[b.to]))
	var taken []entry
	r := record.NewReader()
	for r.Reset(&batch); r.Next(); {
		if f.refuse != nil {
			if err := f.refuse(*b, *r.Record()); err != nil {
				return 0, &rejected{batch: b, err: err, at: -1}
			}
		}
		taken = append(taken, cloneRecord(r.Record()))
	}
	f.open[b.to] = append(f.open[b.to], taken...)
	f.sequences[b.to] = nextSequence(f.sequences[b.to], b.records)
	return base, r.Err()
}

func cloneRecord(r *record.Record) entry {
	return &record.Record{Timestamp: r.Timestamp, Key: cloneBytes(r.Key), Value: cloneBytes(r.Value)}
}

func cloneBytes(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

func (f *fakeCluster) commit(_ context.Context, marks map[store.TopicPartition]mark) error {
	return f.call(func() error {
		maps.Copy(f.marks, marks)
		f.end(true)
		return nil
	})
}

// adapter gives the fake the names of the interface.
type adapter struct{ *fakeCluster }

func (a adapter) open(ctx context.Context) error { return a.openTxn(ctx) }

// fakeSource is a partition whose records stand at the given offsets; each value is the
// name of its record.
func fakeSource(topic string, partition int32, offsets ...int64) Source {
	tp := store.TopicPartition{Topic: topic, Partition: partition}
	s := Source{TopicPartition: tp, Target: topic}
	if n := len(offsets); n > 0 {
		s.To = offsets[n-1] + 1
	}
	s.Read = func(from int64, each func(*record.Batch, *record.Record) error) error {
		plain := plainBatch()
		for _, offset := range offsets {
			if offset < from {
				continue
			}
			r := record.Record{Offset: offset, Timestamp: 1000 + offset, Value: fmt.Appendf(nil, "%s@%d", tp, offset)}
			if offset%3 == 0 {
				r.Key = []byte{}
			}
			if err := each(plain, &r); err != nil {
				if errors.Is(err, client.ErrStop) {
					return nil
				}
				return err
			}
		}
		return nil
	}
	return s
}

// plainBatch is what says that records are not compressed.
func plainBatch() *record.Batch {
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	batch, _ := record.View(b.BuildEmpty(nil, 0))
	return &batch
}

type (
	recordOf   = record.Record
	eachRecord = func(*record.Batch, *record.Record) error
)

// wantName collects the values of records.
func wantName(into *[]string) eachRecord {
	return func(_ *record.Batch, r *record.Record) error {
		*into = append(*into, string(r.Value))
		return nil
	}
}
