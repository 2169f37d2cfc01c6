package live

import (
	"context"
	"slices"

	"logdir/store"
	"logdir/store/record"
)

// ExportTo makes an export into a cluster under a name.
func (c *Cluster) ExportTo(name string, x *Export) *Export {
	x.to, x.patience = newTransactor(c, name, targetsOf(x.Sources)), c.delivery
	x.worded, x.txnBytes = c.worded, txnBytes
	return x
}

// targetsOf are the names of the topics in the cluster.
func targetsOf(sources []Source) []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.Target)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Preview says what an export would do, without fencing one that runs.
func (c *Cluster) Preview(ctx context.Context, name string, sources []Source) ([]Exported, error) {
	marks, err := c.peek(ctx, name, sources)
	if err != nil {
		return nil, err
	}
	var out []Exported
	for _, s := range sources {
		p, err := parseProgress(markOf(marks, s.to()), s.TopicPartition)
		if err != nil {
			return nil, err
		}
		e := NewExported(s.TopicPartition)
		err = s.Read(max(s.From, p.next), func(_ *record.Batch, r *record.Record) error {
			e.Add(r.Offset, -1)
			return ctx.Err()
		})
		e.Status, e.Err = StatusOf(err, true), err
		out = append(out, e)
	}
	return out, nil
}

// peek reads how far an export is in the topics that are there already.
func (c *Cluster) peek(ctx context.Context, name string, sources []Source) (marks map[store.TopicPartition]mark, err error) {
	topics, err := c.Topics(ctx, targetsOf(sources))
	if err != nil {
		return nil, err
	}
	var of []store.TopicPartition
	for _, s := range sources {
		if topics[s.Target] != nil {
			of = append(of, s.to())
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	err = c.patiently(ctx, func() (err error) {
		marks, err = c.committed(ctx, groupPrefix+name, of, false)
		return err
	})
	return marks, err
}

// Translate says what the offset of a group became: that of the first exported record at or
// behind it, or the end of what is exported where there is none. ok is false if the record
// was exported before anybody asked, and no offset map tells.
func (x *Export) Translate(source store.TopicPartition, offset int64) (target int64, ok bool, err error) {
	at := slices.IndexFunc(x.streams, func(s *stream) bool { return s.TopicPartition == source })
	if at < 0 {
		return 0, false, nil
	}
	p := &x.streams[at].done
	if to, known := p.translated[offset]; known {
		return to, true, nil
	}
	if offset >= p.next && p.end >= 0 {
		return p.end, true, nil
	}
	return x.Map.Translate(source, offset)
}
