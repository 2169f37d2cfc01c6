package cleaner

import (
	"errors"
	"path/filepath"
	"time"

	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// outputChunk is how many bytes of frames are written at once.
const outputChunk = 1 << 20

// output is a segment in the making: the .cleaned files of one base offset. Without a file
// system it only counts.
type output struct {
	fs   vfs.FS
	dir  string
	base int64

	log     vfs.File
	pending []byte
	size    int64 // with what is pending
	changed bool  // a frame is not as it was
	index   *index.Builder
	aborted []byte // entries of the .txnindex
}

// newOutput creates the log, or one that an earlier pass left is overwritten.
func newOutput(fsys vfs.FS, dir string, o Options, base int64) (*output, error) {
	out := &output{dir: dir, base: base, index: index.NewBuilder(base, o.IndexInterval)}
	if o.DryRun {
		return out, nil
	}
	out.fs = fsys
	log, err := fsys.OpenCreate(out.cleaned(segment.LogSuffix))
	if err != nil {
		return nil, err
	}
	out.log = log
	return out, log.Truncate(0)
}

func (out *output) cleaned(suffix string) string {
	return filepath.Join(out.dir, segment.FileName(out.base, suffix+segment.CleanedSuffix))
}

// add appends a frame.
func (out *output) add(frame []byte) error {
	b, damage := record.View(frame)
	if damage != nil {
		return damage
	}
	if err := out.index.Add(index.SpanOf(&b, out.size)); err != nil {
		return err
	}
	out.size += int64(len(frame))
	if out.log == nil {
		return nil
	}
	out.pending = append(out.pending, frame...)
	if len(out.pending) < outputChunk {
		return nil
	}
	return out.spill()
}

func (out *output) spill() error {
	_, err := out.log.WriteAt(out.pending, out.size-int64(len(out.pending)))
	out.pending = out.pending[:0]
	return err
}

// finish writes what is left and the indexes, syncs all, and dates it as the newest of the
// segments that it takes the place of: retention falls back on that.
func (out *output) finish(mtime time.Time) error {
	if out.log == nil {
		return nil
	}
	if err := out.index.Finish(); err != nil {
		return err
	}
	err := out.spill()
	if err == nil {
		err = out.log.Sync()
	}
	if err = errors.Join(err, out.close()); err != nil {
		return err
	}
	contents := map[string][]byte{segment.IndexSuffix: out.index.Index(), segment.TimeIndexSuffix: out.index.TimeIndex()}
	if len(out.aborted) > 0 {
		contents[segment.TxnIndexSuffix] = out.aborted
	}
	for _, suffix := range out.suffixes() {
		name := out.cleaned(suffix)
		if data, ok := contents[suffix]; ok {
			if err := writeSynced(out.fs, name, data); err != nil {
				return err
			}
		}
		if err := out.fs.Chtimes(name, mtime); err != nil {
			return err
		}
	}
	return nil
}

// suffixes are the files that the segment has, in the order in which they are moved in
// place: as long as the log is not, a broker that starts does it all again.
func (out *output) suffixes() []string {
	s := []string{segment.IndexSuffix, segment.TimeIndexSuffix}
	if len(out.aborted) > 0 {
		s = append(s, segment.TxnIndexSuffix)
	}
	return append(s, segment.LogSuffix)
}

func (out *output) close() error {
	if out.log == nil {
		return nil
	}
	err := out.log.Close()
	out.log = nil
	return err
}

func writeSynced(fsys vfs.FS, name string, data []byte) error {
	f, err := fsys.OpenCreate(name)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(data, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
