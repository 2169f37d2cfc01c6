package cmd

import (
	"errors"

	"logdir/cmd/internal/live"
	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/corrupt"
	"logdir/store/record"
)

// exportPlan is what an export takes from the directory.
type exportPlan struct {
	fetch   *fetchRun // finds bounds and words damage as fetch does
	view    *cluster.View
	sources []*exportSource
	failed  []error // of partitions that cannot even begin
}

// exportSource is a partition that is exported.
type exportSource struct {
	live.Source
	ref       store.PartitionRef
	log       *store.LogReader
	isolation *client.Isolation
	tail      *corrupt.Error // damage that stands at To
	skipped   map[skippedAt]error
	order     []skippedAt
}

// skippedAt is where damage was passed over: an export that begins a transaction anew
// meets it again.
type skippedAt struct {
	file string
	pos  int64
}

func (o *exportOptions) plan(env *Env, targets []string) (*exportPlan, error) {
	view, err := env.look(targets)
	if err != nil {
		return nil, err
	}
	refs, leaderless, err := o.refs(env, view, targets)
	if err != nil {
		return nil, err
	}
	if err := o.checkMap(refs); err != nil {
		return nil, err
	}
	p := &exportPlan{view: view, fetch: &fetchRun{
		o: &fetchOptions{offset: o.offset, onDamage: o.onDamage}, env: env, view: view,
	}}
	if leaderless != nil {
		p.failed = append(p.failed, leaderless)
	}
	for _, ref := range refs {
		s, err := p.source(o, ref)
		if err != nil {
			p.failed = append(p.failed, err)
			continue
		}
		p.sources = append(p.sources, s)
	}
	return p, nil
}

// refs are the replicas that are read: one of each partition, and without a TARGET none of
// Kafka's own topics.
func (o *exportOptions) refs(env *Env, view *cluster.View, targets []string) (refs []store.PartitionRef, leaderless, err error) {
	all, leaderless, err := resolve(view, targets, false)
	if err != nil {
		return nil, nil, err
	}
	taken := map[store.TopicPartition]bool{}
	for _, ref := range all {
		switch {
		case ref.File != "":
			return nil, nil, usagef("%s is one file: name the partition", ref.Show(ref.File))
		case len(targets) == 0 && store.InternalTopic(ref.Topic):
			continue
		case taken[ref.TopicPartition]:
			env.Note("%s: the replica on broker %d is not used", ref.TopicPartition, ref.Broker)
			continue
		}
		taken[ref.TopicPartition] = true
		refs = append(refs, ref)
	}
	return refs, leaderless, nil
}

// source finds the range of one partition, and what hides in it.
func (p *exportPlan) source(o *exportOptions, ref store.PartitionRef) (*exportSource, error) {
	s := &exportSource{ref: ref, skipped: map[skippedAt]error{}}
	s.TopicPartition, s.Target, s.Read = ref.TopicPartition, o.target(ref.Topic), p.reader(s)
	var err error
	if s.log, err = p.view.Reader(ref); err != nil {
		return nil, err
	}
	place := fetchPlace{ref: ref}
	bounds, err := p.fetch.bounds(&place, s.log)
	if err != nil {
		return nil, err
	}
	if err := p.fetch.begin(&place, s.log, bounds); err != nil {
		return nil, err
	}
	s.From, s.To = place.next, min(place.to, bounds.end)
	if place.to > bounds.damageAt {
		s.tail = bounds.damage
	}
	if o.isolation == readCommitted {
		err = s.stabilise(p.view, bounds.end)
	}
	return s, err
}

// stabilise finds what was aborted, and where the first open transaction begins: nobody
// knows yet whether its records count.
func (s *exportSource) stabilise(view *cluster.View, end int64) error {
	var err error
	s.isolation, err = readIsolation(view, s.log, s.From, end)
	if err != nil || s.isolation.LastStable >= s.To {
		return err
	}
	s.To, s.tail = max(s.isolation.LastStable, s.From), nil
	s.Open = store.Errorf(store.Refused, "INVALID_TXN_STATE",
		"%s: a transaction is open from offset %d on: nobody knows whether its records count", s.ref.TopicPartition, s.isolation.LastStable).
		WithHint("--isolation-level read_uncommitted takes them all")
	return nil
}

// reader reads the records of a partition from an offset on. Damage that ends it, or that
// stands behind the last record, is the error.
func (p *exportPlan) reader(s *exportSource) live.ReadFunc {
	return func(from int64, each func(*record.Batch, *record.Record) error) error {
		q := client.Fetch{Log: s.log, From: from, To: s.To, Isolation: s.isolation}
		if p.fetch.o.onDamage == damageSkip {
			q.Damaged = func(d *corrupt.Error) bool { return p.skip(s, d) }
		}
		stopped := false
		_, err := client.NewFetcher().Run(q, func(b *record.Batch, r *record.Record) error {
			err := each(b, r)
			stopped = errors.Is(err, client.ErrStop)
			return err
		})
		if d, bad := errors.AsType[*corrupt.Error](err); bad {
			return p.fetch.damageError(s.ref, d)
		}
		if err == nil && !stopped && s.tail != nil {
			return p.fetch.damageError(s.ref, s.tail)
		}
		return err
	}
}

// skip notes damage that is passed over, once.
func (p *exportPlan) skip(s *exportSource, d *corrupt.Error) bool {
	at := skippedAt{d.Path, d.Pos}
	if s.skipped[at] == nil {
		s.order = append(s.order, at)
		s.skipped[at] = p.fetch.damageError(s.ref, d)
	}
	return true
}

// errs is everything that was wrong with the source.
func (p *exportPlan) errs() []error {
	errs := p.failed
	for _, s := range p.sources {
		for _, at := range s.order {
			errs = append(errs, s.skipped[at])
		}
	}
	return errs
}

// live are the sources without what only the command knows of them.
func (p *exportPlan) live() []live.Source {
	out := make([]live.Source, len(p.sources))
	for i, s := range p.sources {
		out[i] = s.Source
	}
	return out
}
