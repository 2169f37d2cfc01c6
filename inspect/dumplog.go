package inspect

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"

	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs"
)

// log dumps a log or a KRaft snapshot: runs of frames are shown by one worker a core,
// and written in order.
func (d *Dumper) log(ctx context.Context, f *DumpFile, src vfs.ReadFile, size int64) error {
	if err := d.flush(); err != nil {
		return err
	}
	end, all := size, true
	if d.Options.MaxBytes > 0 && d.Options.MaxBytes < math.MaxInt32 {
		end, all = min(size, d.Options.MaxBytes), false
	}
	start, err := d.startOf(f, src, end)
	if err != nil {
		return err
	}
	walk := newWalker(src, start, end, all)
	order := newTurns()
	shared := &logDump{Dumper: d, file: f, walk: walk, order: order, last: noOffset}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+int(end/runSize)) {
		w := shared.worker()
		group.Go(func() {
			if err := guard(f.Name, func() error { return w.loop(ctx) }); err != nil {
				order.fail(err)
			}
		})
	}
	group.Wait()
	return order.err()
}

const noOffset = math.MinInt64

// logDump is the dump of one log, shared by its workers.
type logDump struct {
	*Dumper
	file  *DumpFile
	walk  *walker
	order *turns
	last  int64 // offset of the record before, noOffset at first; guarded by order
}

// logWorker shows one run after the other.
type logWorker struct {
	*logDump
	printer Printer
	reader  *record.Reader
	run     run
	frame   Frame
	out     []byte
	mine    bool // it is this run's turn to write
	scratch []byte

	// Findings of this run, for the report.
	damage      []*corrupt.Error
	gaps        []Gap
	first, prev int64
}

func (l *logDump) worker() *logWorker {
	w := &logWorker{logDump: l, printer: l.Printer.Fork(), reader: record.NewReader()}
	w.reader.Limit = l.Options.MaxBatch
	w.frame.File = l.file
	return w
}

func (w *logWorker) loop(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := w.walk.next(&w.run)
		if err != nil {
			_ = w.order.wait(w.run.seq) // what is good before it comes out first
			return err
		}
		if !more {
			return nil
		}
		if err := w.show(); err != nil {
			return err
		}
		if err := w.finish(); err != nil {
			return err
		}
	}
}

// show renders the run. Much output is written early, when the turn has come, so that
// batches which decompress well do not fill the memory.
func (w *logWorker) show() error {
	w.first, w.prev = noOffset, noOffset
	w.showGap()
	for pos := 0; pos < len(w.run.data); {
		size, _, _ := record.Peek(w.run.data[pos:])
		raw := w.run.data[pos : pos+int(size)]
		w.showFrame(raw, w.run.pos+int64(pos))
		pos += int(size)
		if len(w.out) > 4*flushAt {
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *logWorker) showGap() {
	g := w.run.gap
	if g.size == 0 {
		return
	}
	w.out = w.printer.Invalid(w.out, w.file, g.pos, g.size, g.atEnd)
	what := "invalid bytes"
	if isRedpanda(w.walk.src, g.pos) {
		what = "bytes of Redpanda's format, which is not Kafka's"
	}
	w.hurt(corrupt.Newf(corrupt.Garbage, g.pos, g.size, "%d %s", g.size, what))
}

func (w *logWorker) hurt(err *corrupt.Error) {
	err.Path = w.file.Name
	w.damage = append(w.damage, err)
}

// showFrame renders one frame, if it is wanted, and its records.
func (w *logWorker) showFrame(raw []byte, pos int64) {
	f := &w.frame
	w.view(raw)
	if !w.wanted() {
		return
	}
	f.Pos, f.Valid, f.Damage = pos, f.CRCValid(), nil
	w.out = w.printer.Batch(w.out, f)
	if w.Options.Deep {
		w.showRecords()
	}
	if _, marker := f.Marker(); marker {
		w.follow(f.BaseOffset()) // an MKB1 control frame takes an offset without a record
	}
	w.judge()
	w.out = w.printer.EndBatch(w.out, f)
}

// view looks at the frame; one with an unknown magic is looked at as Kafka's tool does,
// as a v2 batch, on a copy.
func (w *logWorker) view(raw []byte) {
	batch, err := record.View(raw)
	w.frame.Magic = int8(batch.Format())
	if err != nil {
		w.frame.Magic = int8(raw[magicPos])
		w.scratch = append(w.scratch[:0], raw...)
		w.scratch[magicPos] = byte(record.V2)
		batch, _ = record.View(w.scratch)
	}
	w.frame.Batch = batch
}

// magicPos is where the magic byte of Kafka's formats stands.
const magicPos = record.PrefixSize - 1

func (w *logWorker) wanted() bool {
	o := &w.Options
	if o.From == 0 && o.To == 0 {
		return true
	}
	b := &w.frame.Batch
	if b.LastOffset() < o.From {
		return false
	}
	if b.BaseOffset() < o.to() || b.Count() < 0 && w.firstOffset() < o.to() {
		return true
	}
	if b.CRCValid() {
		w.walk.stop()
	}
	return false
}

// firstOffset is the first offset of a legacy wrapper, which only its records tell.
func (w *logWorker) firstOffset() int64 {
	w.reader.Reset(&w.frame.Batch)
	if !w.reader.Next() {
		return w.frame.BaseOffset()
	}
	return w.reader.Record().Offset
}

func (w *logWorker) showRecords() {
	w.reader.Reset(&w.frame.Batch)
	for w.reader.Next() {
		r := w.reader.Record()
		w.follow(r.Offset)
		w.out = w.printer.Record(w.out, &w.frame, r)
	}
	if err, ok := errors.AsType[*corrupt.Error](w.reader.Err()); ok {
		w.frame.Damage = err
	}
}

// follow notes steps of more than one offset between records.
func (w *logWorker) follow(offset int64) {
	if w.prev == noOffset {
		w.first = offset
	} else if offset != w.prev+1 {
		w.gaps = append(w.gaps, Gap{w.file.Name, w.prev, offset})
	}
	w.prev = offset
}

// judge adds what is wrong with the frame to the findings.
func (w *logWorker) judge() {
	f := &w.frame
	switch {
	case f.Magic != int8(f.Format()):
		w.hurtFrame(corrupt.BadMagic, "magic %d", f.Magic)
	case !f.Valid:
		w.hurtFrame(corrupt.BadCRC, "")
		e := w.damage[len(w.damage)-1]
		e.HasCRC, e.Stored, e.Computed = true, f.StoredCRC(), f.ComputeCRC()
	case f.Damage != nil:
		f.Damage.Pos += f.Pos
		w.hurt(f.Damage)
	}
}

func (w *logWorker) hurtFrame(kind corrupt.Kind, format string, args ...any) {
	f := &w.frame
	e := corrupt.Newf(kind, f.Pos, int64(f.Size()), format, args...)
	e.BaseOffset, e.LastOffset, e.Records = f.BaseOffset(), f.LastOffset(), int64(f.Count())
	w.hurt(e)
}

// write waits for this run's turn and writes what is rendered.
func (w *logWorker) write() error {
	if !w.mine {
		if err := w.order.wait(w.run.seq); err != nil {
			return err
		}
		w.mine = true
	}
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.Out.Write(w.out)
	if w.out = w.out[:0]; cap(w.out) > 16*flushAt {
		w.out = nil // one very large batch must not hold its memory for ever
	}
	return err
}

// finish writes the run and adds its findings to the report, in the order of the log.
func (w *logWorker) finish() error {
	if err := w.write(); err != nil {
		return err
	}
	if w.first != noOffset {
		if w.last != noOffset && w.first != w.last+1 {
			w.Report.Gaps = append(w.Report.Gaps, Gap{w.file.Name, w.last, w.first})
		}
		w.last = w.prev
	}
	w.Report.Gaps = append(w.Report.Gaps, w.gaps...)
	w.Report.Damage = append(w.Report.Damage, w.damage...)
	w.gaps, w.damage, w.mine = w.gaps[:0], w.damage[:0], false
	w.order.pass()
	return nil
}
