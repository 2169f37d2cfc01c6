package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"logdir/inspect"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// salvager copies one partition.
type salvager struct {
	Salvage
	ctx    context.Context
	p      Partition
	to     string
	out    Salvaged
	state  *producer.State
	epochs checkpoint.Epochs
	next   int64 // log end so far, or corrupt.Unknown
	epoch  int32
	strays []stray // that are yet to be written, by offset
}

func (s Salvage) partition(ctx context.Context, p Partition, to string) (Salvaged, error) {
	v := &salvager{
		Salvage: s, ctx: ctx, p: p, to: to, state: producer.NewState(0),
		next: corrupt.Unknown, epoch: record.NoLeaderEpoch,
		out: Salvaged{TopicPartition: p.TopicPartition, checkpointedStart: p.LogStart},
	}
	list, err := segment.List(s.Source, p.Dir)
	if err != nil {
		return v.out, err
	}
	if err := s.Target.Mkdir(to); err != nil {
		return v.out, err
	}
	if err := v.segments(list); err != nil {
		return v.out, err
	}
	return v.out, v.finish(list)
}

func (v *salvager) segments(list segment.Listing) error {
	written := 0
	for i, f := range list.Segments {
		limit := int64(0)
		if i+1 < len(list.Segments) {
			limit = list.Segments[i+1].Base
		}
		kept, err := v.segment(f, limit)
		if err != nil {
			return err
		}
		if kept {
			if written == 0 {
				v.out.firstBase = f.Base
			}
			written++
		}
	}
	if written > 0 {
		return nil
	}
	base := int64(0)
	if len(list.Segments) > 0 {
		base = list.Segments[0].Base
	}
	v.out.firstBase, v.next = base, base
	return v.writeIndexes(base, index.NewBuilder(base, v.IndexInterval), nil, true)
}

// segment copies the good batches of a segment. It answers false if there were none, and
// then makes no file.
func (v *salvager) segment(f segment.Files, limit int64) (bool, error) {
	from := filepath.Join(v.p.Dir, f.Log)
	in, err := v.Source.Open(from)
	if err != nil {
		v.leave(f.Log, corrupt.New(Unreadable, 0, corrupt.Unknown, err.Error()))
		return false, nil
	}
	info, err := in.Stat()
	if err != nil {
		return false, errors.Join(err, in.Close())
	}
	r := &patientReader{r: in, size: info.Size()}
	c := v.newCopier(f, r)
	err = c.copy(r, limit)
	if err == nil {
		err = c.settleCopies(from, limit)
	}
	for _, bad := range r.bad {
		v.leave(f.Log, corrupt.New(Unreadable, bad.from, bad.to-bad.from, bad.err.Error()))
	}
	err = errors.Join(err, c.close(info.ModTime()), in.Close())
	if err != nil || c.out == nil {
		return false, err
	}
	if err := v.snapshot(f.Base, c.before); err != nil {
		return true, err
	}
	return true, v.writeIndexes(f.Base, c.builder, c.aborted, false)
}

func (v *salvager) newCopier(f segment.Files, r *patientReader) *copier {
	c := &copier{v: v, base: f.Base, name: f.Log, builder: index.NewBuilder(f.Base, v.IndexInterval), before: v.state.Entries()}
	if isMKB1(r, r.size, f.Base) {
		c.builder = index.NewMKB1Builder(f.Base, v.IndexInterval)
	}
	return c
}

// close makes the new log durable and gives it the age of the old one, which retention by
// time falls back on.
func (c *copier) close(mtime time.Time) error {
	if c.out == nil {
		return nil
	}
	err := c.flush()
	if err == nil {
		err = c.out.Sync()
	}
	if err = errors.Join(err, c.out.Close()); err != nil {
		return err
	}
	return c.v.Target.Chtimes(filepath.Join(c.v.to, segment.FileName(c.base, segment.LogSuffix)), mtime)
}

// leave notes a range that is left out.
func (v *salvager) leave(file string, d *corrupt.Error) {
	v.out.Left = append(v.out.Left, LeftOut{
		Topic: v.p.Topic, Partition: v.p.Partition, File: v.p.Show(file),
		Position: d.Pos, Bytes: d.Size, Kind: d.Kind, Detail: d.Detail,
		BaseOffset: knownOrNil(d.BaseOffset), LastOffset: knownOrNil(d.LastOffset), Records: knownOrNil(d.Records),
	})
	if d.Kind != Unreadable { // its bytes are part of a damaged range as well
		v.out.LostBytes += max(d.Size, 0)
	}
}

func knownOrNil(n int64) *int64 {
	if n == corrupt.Unknown {
		return nil
	}
	return &n
}

// writeIndexes writes the index files of a segment; withLog an empty log too.
func (v *salvager) writeIndexes(base int64, x *index.Builder, aborted []index.AbortedTxn, withLog bool) error {
	x.Finish()
	files := map[string][]byte{segment.IndexSuffix: x.Index(), segment.TimeIndexSuffix: x.TimeIndex()}
	if withLog {
		files[segment.LogSuffix] = nil
	}
	var txns []byte
	for _, t := range aborted {
		txns = index.AppendAbortedTxn(txns, t)
	}
	if len(txns) > 0 {
		files[segment.TxnIndexSuffix] = txns
	}
	for suffix, data := range files {
		if err := vfs.WriteAtomic(v.Target, filepath.Join(v.to, segment.FileName(base, suffix)), data); err != nil {
			return err
		}
	}
	return nil
}

// snapshot writes the state of the producers below offset, as a roll does.
func (v *salvager) snapshot(offset int64, entries []producer.Entry) error {
	if offset <= v.out.firstBase || len(entries) == 0 {
		return nil
	}
	return vfs.WriteAtomic(v.Target, filepath.Join(v.to, producer.FileName(offset)), producer.AppendSnapshot(nil, entries))
}

// finish writes what the whole log tells: the last snapshot, the epochs, the topic's id.
func (v *salvager) finish(list segment.Listing) error {
	o := &v.out
	o.LogEnd = v.next
	o.LogStart = min(max(o.firstBase, o.checkpointedStart), o.LogEnd)
	o.checkpointedStart = o.LogStart
	o.highWatermark = o.LogEnd
	if v.p.HighWatermark != corrupt.Unknown {
		o.highWatermark = min(max(v.p.HighWatermark, o.LogStart), o.LogEnd)
	}
	if err := v.snapshot(o.LogEnd, v.state.Entries()); err != nil {
		return err
	}
	if err := checkpoint.WriteEpochs(v.Target, filepath.Join(v.to, checkpoint.EpochFile), v.epochs); err != nil {
		return err
	}
	return v.copyState(filepath.Join(v.p.Dir, checkpoint.PartitionMetadataFile), filepath.Join(v.to, checkpoint.PartitionMetadataFile),
		func(data []byte) error { _, err := checkpoint.ParsePartitionMetadata(data); return err })
}

// copier copies the good batches of one segment.
type copier struct {
	v       *salvager
	base    int64
	name    string
	builder *index.Builder
	before  []producer.Entry
	aborted []index.AbortedTxn
	// strangers are batches with the offsets of a later segment; copies where they stand in
	// the report.
	strangers segment.Strangers
	copies    []int
	next      int64 // behind the last batch that was taken

	out vfs.File
	pos int64 // bytes written and buffered
	buf []byte
}

func (c *copier) copy(r *patientReader, limit int64) error {
	v := c.v
	o := segment.Options{Base: c.base, Limit: limit, LogEnd: v.next, Epoch: v.epoch, Deep: true}
	s := segment.NewScanner(r, r.size, o)
	keeps := Options{Deep: true}
	for s.Next() {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		d := s.Damage()
		if d != nil && (s.Batch() == nil || !keeps.keeps(d)) {
			if c.strangers.Add(d, s.Batch(), limit) {
				c.copies = append(c.copies, len(v.out.Left))
			}
			v.leave(c.name, d)
			continue
		}
		if err := c.placeStrays(s.Batch().BaseOffset()); err != nil {
			return err
		}
		if err := c.take(s.Batch()); err != nil {
			return err
		}
		if d != nil {
			c.restamp(s.Batch(), s.Epoch(), d)
		} else {
			c.assign(s.Batch())
		}
	}
	if err := c.placeStrays(endOfStrays(limit)); err != nil {
		return err
	}
	if c.out != nil {
		v.next, v.epoch = max(s.NextOffset(), c.next), s.Epoch()
	}
	return s.Err()
}

func (c *copier) take(b *record.Batch) error {
	if c.out == nil {
		var err error
		if c.out, err = c.v.Target.Create(filepath.Join(c.v.to, segment.FileName(c.base, segment.LogSuffix))); err != nil {
			return err
		}
	}
	c.builder.Add(index.SpanOf(b, c.pos))
	// A batch that the state cannot take stays in the log: only the state knows less.
	if ended, err := c.v.state.Update(b); err == nil && ended != nil && ended.Aborted {
		c.aborted = append(c.aborted, ended.AbortedTxn)
	}
	c.v.out.Records += inspect.CountRecords(b)
	if len(c.buf) >= chunkSize {
		if err := c.flush(); err != nil {
			return err
		}
	}
	c.buf = append(c.buf, b.Raw()...)
	c.pos += int64(b.Size())
	c.next = b.NextOffset()
	return nil
}

// restamp gives the batch that was just taken the leader epoch of those before it: its own
// cannot be right, and no checksum covers it.
func (c *copier) restamp(b *record.Batch, epoch int32, d *corrupt.Error) {
	record.SetLeaderEpoch(c.buf[len(c.buf)-b.Size():], epoch)
	changed := *d
	changed.Size, changed.Detail = 0, fmt.Sprintf("%s; written with %d", d.Detail, epoch)
	c.v.leave(c.name, &changed)
}

// assign notes where the leader epoch of the good batches rises.
func (c *copier) assign(b *record.Batch) {
	e := b.LeaderEpoch()
	if last, ok := c.v.epochs.Latest(); e >= 0 && (!ok || e > last.Epoch) {
		c.v.epochs.Assign(e, b.BaseOffset())
	}
}

func (c *copier) flush() error {
	_, err := c.out.WriteAt(c.buf, c.pos-int64(len(c.buf)))
	c.buf = c.buf[:0]
	return err
}

// patientReader reads past bad sectors: what the disk does not give reads as zeros and is
// noted. A batch with such bytes in it fails its checksum, unless they were zeros.
type patientReader struct {
	r    io.ReaderAt
	size int64
	bad  []badRange
}

type badRange struct {
	from, to int64
	err      error
}

// sector is how many bytes are given up at once.
const sector = 4096

// ReadAt implements io.ReaderAt.
func (p *patientReader) ReadAt(dst []byte, pos int64) (int, error) {
	n, err := p.r.ReadAt(dst, pos)
	if n == len(dst) || err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	want := int(min(int64(len(dst)), max(p.size-pos, 0)))
	for at := n; at < want; {
		end := min(want, at+sector-int((pos+int64(at))%sector))
		m, err := p.r.ReadAt(dst[at:end], pos+int64(at))
		if m < end-at {
			if err == nil || errors.Is(err, io.EOF) {
				return at + m, err
			}
			clear(dst[at+m : end])
			p.note(pos+int64(at+m), pos+int64(end), err)
		}
		at = end
	}
	if want < len(dst) {
		return want, io.EOF
	}
	return want, nil
}

// note remembers a range, once.
func (p *patientReader) note(from, to int64, err error) {
	for i := range p.bad {
		b := &p.bad[i]
		if from <= b.to && to >= b.from {
			b.from, b.to = min(b.from, from), max(b.to, to)
			return
		}
	}
	p.bad = append(p.bad, badRange{from, to, err})
}
