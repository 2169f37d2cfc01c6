package live

import (
	"iter"

	"logdir/store"
	"logdir/store/record"
)

// stream is one source on its way.
type stream struct {
	Source
	to       store.TopicPartition
	limit    int   // bytes of a batch
	most     int   // records of a batch
	stop     int64 // offset not to be passed: To, or a record that the cluster refuses
	refusal  error // why stop is not To
	done     progress
	open     progress // as the open transaction will leave it
	opened   Exported // what the open transaction holds
	openRuns []run
	total    Exported
	err      error // what is wrong with the source
	batcher  *batcher
	next     func() (*outgoing, error, bool)
	close    func()
	ended    bool
}

// begin makes the stream ready to be read from where its progress is.
func (s *stream) begin(p progress, producer record.Meta) {
	s.done, s.open = p, p.clone()
	s.opened, s.openRuns, s.ended, s.err = NewExported(s.TopicPartition), nil, false, nil
	s.batcher = &batcher{source: s.Source, to: s.to, limit: s.limit, most: s.most, meta: producer, builder: record.NewBuilder()}
	s.next, s.close = nil, nil
}

// pull reads the next batch; nil at the end.
func (s *stream) pull() *outgoing {
	if s.next == nil {
		s.next, s.close = iter.Pull2(s.batcher.batches(max(s.From, s.done.next), s.stop))
	}
	batch, err, ok := s.next()
	if !ok || err != nil {
		s.ended, s.err = true, err
		s.hangUp()
		return nil
	}
	return batch
}

func (s *stream) hangUp() {
	if s.close != nil {
		s.close()
		s.next, s.close = nil, nil
	}
}

// took notes a batch that stands in the cluster from offset base on.
func (s *stream) took(b *outgoing, base int64, wanted []int64) {
	for _, r := range b.runs {
		r.target += base
		s.opened.addRun(r)
		s.openRuns = appendRun(s.openRuns, r)
		s.open.took(r, wanted)
	}
}
