package cleaner

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Options say what is cleaned, and how.
type Options struct {
	// HighWatermark bounds the pass: transactions that end beyond it are not over.
	HighWatermark int64
	// FirstDirty is the cleaner's checkpoint: how far the last pass came.
	FirstDirty int64
	// DeleteRetentionMs is delete.retention.ms, SegmentBytes segment.bytes, IndexInterval
	// index.interval.bytes.
	DeleteRetentionMs int64
	SegmentBytes      int64
	IndexInterval     int
	// Now is the time by which horizons are set and tombstones expire, ms.
	Now int64
	// Keep tells records that stay although newer ones have their keys; nil: there are none.
	Keep func(*record.Record) bool
	// Keys bounds the keys of one pass; 0 is what Kafka's buffer of 128 MiB takes. What
	// does not fit is left for the next pass.
	Keys int
	// DryRun only counts.
	DryRun bool
}

// Result is what a pass came to.
type Result struct {
	// Records and bytes of the whole log, its active segment included.
	RecordsBefore, RecordsAfter int64
	BytesBefore, BytesAfter     int64
	// FirstDirty is where the next pass goes on; Advanced says that this one did not know yet.
	FirstDirty int64
	Advanced   bool
	// Changed says that there are segments to be put in the place of others: Promote, and
	// then the moves.
	Changed bool

	fs      vfs.FS
	dir     string
	sources []source // what the pass read, in order
	outputs []*output
}

// Clean makes one pass over a log. Beside it, it writes .cleaned files, unless DryRun; the
// log itself stays as it is, and nobody else may change its closed segments meanwhile; see
// Result.Unchanged. Damage in the log is an error, a *corrupt.Error.
func Clean(ctx context.Context, fsys vfs.FS, log *store.LogReader, o Options) (*Result, error) {
	if o.IndexInterval <= 0 {
		o.IndexInterval = index.DefaultInterval
	}
	s, err := look(ctx, fsys, log, o)
	if err != nil {
		return nil, err
	}
	p := &pass{
		ctx: ctx, fs: fsys, o: o, survey: s,
		Result: &Result{
			RecordsBefore: s.records, RecordsAfter: s.records, BytesBefore: s.bytes, BytesAfter: s.bytes,
			FirstDirty: s.firstDirty(o.FirstDirty), fs: fsys, dir: log.Dir(),
		},
	}
	if err := p.run(); err != nil {
		return nil, errors.Join(err, p.Discard())
	}
	return p.Result, nil
}

// pass is one run of the cleaner.
type pass struct {
	*Result
	ctx    context.Context
	fs     vfs.FS
	o      Options
	survey *survey
	filter *filter
}

func (p *pass) run() error {
	known, end, err := p.noteKeys()
	if err != nil {
		return err
	}
	p.FirstDirty = max(p.FirstDirty, end)
	p.filter = &filter{
		o: p.o, keys: known, end: p.FirstDirty, txns: newTxns(p.survey.aborted), last: p.survey.last,
		records: record.NewReader(), builder: record.NewBuilder(),
	}
	p.sources = p.survey.cleanable()
	if n := slices.IndexFunc(p.sources, func(g source) bool { return g.base >= p.FirstDirty }); n >= 0 {
		p.sources = p.sources[:n]
	}
	for _, g := range groups(p.sources, p.o.SegmentBytes) {
		if err := p.clean(g); err != nil {
			return err
		}
	}
	p.RecordsAfter -= p.filter.dropped
	return p.settle()
}

// settle finds out whether anything changed. If not, nothing is left behind.
func (p *pass) settle() error {
	for _, out := range p.outputs {
		p.BytesAfter += out.size
		p.Changed = p.Changed || out.changed
	}
	for _, g := range p.sources {
		p.BytesAfter -= g.size
	}
	p.Changed = p.Changed || len(p.outputs) != len(p.sources)
	p.Advanced = p.FirstDirty != p.o.FirstDirty
	if p.Changed {
		return nil
	}
	err := p.Discard()
	p.outputs, p.sources = nil, nil
	return err
}

// noteKeys reads the dirty part. end is the offset up to which keys were noted.
func (p *pass) noteKeys() (known *keys, end int64, err error) {
	known = newKeys(p.o.Keys)
	dirty := slices.DeleteFunc(slices.Clone(p.survey.cleanable()), func(g source) bool { return g.next <= p.FirstDirty })
	if len(dirty) == 0 {
		return known, end, nil
	}
	txns, records := newTxns(p.survey.abortedSince(dirty[0].base)), record.NewReader()
	for _, g := range dirty {
		full := false
		err := p.read(g, func(b *record.Batch) (bool, error) {
			ok, err := p.noteBatch(known, txns, records, b)
			if full = !ok; ok && b.NextOffset() > p.FirstDirty {
				end = b.NextOffset()
			}
			return ok, err
		})
		if full || err != nil {
			return known, end, err
		}
		end = g.next // there may be a gap at the end of a segment
	}
	return known, end, nil
}

// noteBatch notes the keys of a batch; it is false if there is no more room.
func (p *pass) noteBatch(known *keys, txns *txns, records *record.Reader, b *record.Batch) (bool, error) {
	if aborted := txns.take(b); aborted || b.IsControl() {
		return true, nil
	}
	for records.Reset(b); records.Next(); {
		r := records.Record()
		if r.Key == nil || r.Offset < p.FirstDirty {
			continue
		}
		if !known.put(r.Key, r.Offset) {
			return false, nil
		}
	}
	return true, records.Err()
}

// read hands out the batches of a segment, until take is false.
func (p *pass) read(g source, take func(*record.Batch) (bool, error)) (err error) {
	name := filepath.Join(p.dir, segment.FileName(g.base, segment.LogSuffix))
	f, err := p.fs.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	scan := segment.NewScanner(f, g.size, segment.Options{Base: g.base, Limit: g.next})
	for scan.Next() {
		if d := scan.Damage(); d != nil {
			d.Path = name
			return d
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if more, err := take(scan.Batch()); !more || err != nil {
			return err
		}
	}
	return scan.Err()
}

// groups joins neighbours that fit one segment together.
func groups(sources []source, segmentBytes int64) [][]source {
	var out [][]source
	var sum source
	for i := range sources {
		g := &sources[i]
		if i > 0 && fits(&sum, g, segmentBytes) {
			out[len(out)-1] = append(out[len(out)-1], *g)
			sum.size, sum.indexSize, sum.timeSize = sum.size+g.size, sum.indexSize+g.indexSize, sum.timeSize+g.timeSize
			continue
		}
		out, sum = append(out, []source{*g}), *g
	}
	return out
}

// maxIndexBytes is Kafka's segment.index.bytes.
const maxIndexBytes = 10 << 20

// fits tells whether g fits behind the segments of sum: by size, by the indexes' size, and
// by the distance of its last offset from their base.
func fits(sum, g *source, segmentBytes int64) bool {
	return sum.size+g.size <= segmentBytes &&
		sum.indexSize+g.indexSize <= maxIndexBytes && sum.timeSize+g.timeSize <= maxIndexBytes &&
		(g.size == 0 || g.next-1-sum.base <= index.MaxRelativeOffset)
}

// clean makes one new segment of a group of old ones.
func (p *pass) clean(group []source) error {
	out, err := newOutput(p.fs, p.dir, p.o, group[0].base)
	if err != nil {
		return err
	}
	p.outputs = append(p.outputs, out)
	out.changed = len(group) > 1
	for _, g := range group {
		p.filter.keepLegacy = p.keepsLegacy(g)
		if err := p.read(g, func(b *record.Batch) (bool, error) { return true, p.copyBatch(out, b) }); err != nil {
			return errors.Join(err, out.close())
		}
	}
	for _, t := range p.filter.txns.kept {
		out.aborted = index.AppendAbortedTxn(out.aborted, t)
	}
	p.filter.txns.kept = nil
	return out.finish(group[len(group)-1].mtime)
}

// copyBatch puts what stays of a batch into the new segment.
func (p *pass) copyBatch(out *output, b *record.Batch) error {
	frame, err := p.filter.take(b)
	if err != nil {
		return err
	}
	if frame == nil || &frame[0] != &b.Raw()[0] {
		out.changed = true
	}
	if frame == nil {
		return nil
	}
	return out.add(frame)
}

// keepsLegacy tells whether tombstones of before Kafka 0.11 stay in a segment: if it is
// younger than the youngest clean one less delete.retention.ms.
func (p *pass) keepsLegacy(g source) bool {
	var youngest int64
	for _, c := range p.survey.sources {
		if c.base < p.survey.firstDirty(p.o.FirstDirty) {
			youngest = c.mtime.UnixMilli() - p.o.DeleteRetentionMs
		}
	}
	return g.mtime.UnixMilli() > youngest
}
