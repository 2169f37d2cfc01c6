package inspect

import (
	"io"

	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
)

// startOf is the first byte of a log that has to be read for the offsets that are asked
// for: where its index leads, if that is there and a good batch as well, else 0.
func (d *Dumper) startOf(f *DumpFile, log io.ReaderAt, end int64) (int64, error) {
	if d.Options.From <= f.BaseOffset || f.Kind != LogFile {
		return 0, nil
	}
	var h segment.Headers
	h.Reset(log, end)
	first, _, ok, err := h.At(0)
	if !ok {
		return 0, err
	}
	pos, err := d.lookUp(f, first.Format())
	if pos == 0 || err != nil {
		return 0, err
	}
	b, size, ok, err := h.At(pos)
	if !ok || b.BaseOffset() > d.Options.From {
		return 0, err
	}
	if right, err := streamedCRC(log, pos, size, b.Format()); !right {
		return 0, err
	}
	return pos, nil
}

// lookUp asks the index beside a log; without one the answer is the log's start.
func (d *Dumper) lookUp(f *DumpFile, format record.Format) (int64, error) {
	src, size, err := open(d.FS, beside(f, ".index"))
	if err != nil {
		return 0, nil // whatever is wrong with it, the log can be read from its start
	}
	defer src.Close()
	x := index.NewOffsetIndex(src, size, f.BaseOffset)
	if format == record.MKB1 {
		x = index.NewMKB1Index(src, size, f.BaseOffset)
	}
	e, _, err := x.Lookup(d.Options.From)
	return e.Pos, err
}
