package inspect

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"

	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// LogRef names one segment to verify.
type LogRef struct {
	// Path opens the .log; Name is what reports call it.
	Path, Name string
	// Base is the segment's base offset, Limit that of the next segment, or 0.
	Base, Limit int64
}

// VerifyOptions say how much Verify looks at.
type VerifyOptions struct {
	// Deep also decompresses and parses records, and holds the indexes against the log.
	Deep bool
	// MaxBatch bounds what one batch may decompress to, in bytes; 0 is 128 MiB.
	MaxBatch int
	// Progress, if set, is told now and then how many more bytes are done. Workers call
	// it at the same time.
	Progress func(bytes int64)
}

// Verified is the verdict on one segment.
type Verified struct {
	LogRef
	// Batches and Records count what is good.
	Batches, Records int64
	// Size is what was read: the file's size when it was opened.
	Size int64
	// Damage is what is wrong, in the order of the files .log, .index, .timeindex and of
	// the bytes in them. Path is the file as reports call it.
	Damage []*corrupt.Error
	// InUse says that the file grew while it was read: somebody appends to it.
	InUse bool
	// Copies counts good batches that stand in a later segment as well: an interrupted
	// cleaning leaves them.
	Copies int64
	// Offsets and Times are the verdicts on the index files, with VerifyOptions.Deep.
	Offsets, Times index.Report
	// Err is an error of reading, which says nothing about the bytes.
	Err error
}

// Healthy says that nothing is damaged. A missing index can be rebuilt from the log and
// is a warning only.
func (r *Verified) Healthy() bool {
	return r.Err == nil && !slices.ContainsFunc(r.Damage, func(d *corrupt.Error) bool {
		return d.Kind != corrupt.MissingIndex
	})
}

// Verify checks every frame of the segments, in parallel, and yields the verdicts in
// their order. Nothing is written.
func Verify(ctx context.Context, fsys vfs.ReadFS, logs []LogRef, o VerifyOptions) iter.Seq[Verified] {
	return inOrder(ctx, logs, func() func(LogRef) Verified {
		v := verifier{fs: fsys, options: o, scanner: new(segment.Scanner), epoch: record.NoLeaderEpoch}
		return v.verify
	})
}

// verifier verifies one segment after the other and keeps its buffers.
type verifier struct {
	fs      vfs.ReadFS
	options VerifyOptions
	scanner *segment.Scanner
	counter *record.Reader // made for the first legacy wrapper
	told    int64          // bytes of this file that Progress knows of

	// each, if set, is handed every good batch; broken says that damage lies before it.
	each   func(b *record.Batch)
	broken bool
	// epoch is the leader epoch in front of the next segment, if that is known.
	epoch int32
}

func (v *verifier) verify(ref LogRef) Verified {
	r := Verified{LogRef: ref}
	v.told = 0
	r.Err = guard(ref.Name, func() error { return v.run(&r) })
	v.tell(r.Size)
	return r
}

// tell reports the progress up to byte pos of the file.
func (v *verifier) tell(pos int64) {
	if v.options.Progress != nil && pos > v.told {
		v.options.Progress(pos - v.told)
		v.told = pos
	}
}

// tellEvery is how many bytes lie between two reports of progress.
const tellEvery = 8 << 20

func (v *verifier) run(r *Verified) error {
	file, size, err := open(v.fs, r.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	r.Size = size
	beside := indexCheck{fs: v.fs, log: r}
	if v.options.Deep {
		if err := beside.open(); err != nil {
			return err
		}
		defer beside.close()
	}
	if err := v.scan(r, file, &beside); err != nil {
		return err
	}
	if err := r.checkGrowth(file); err != nil {
		return err
	}
	return beside.finish()
}

func (v *verifier) scan(r *Verified, file vfs.ReadFile, beside *indexCheck) error {
	s := v.scanner
	s.Reset(file, r.Size, segment.Options{
		Base: r.Base, Limit: r.Limit, Epoch: v.epoch, Deep: v.options.Deep, MaxBatch: v.options.MaxBatch,
	})
	var strangers suspects
	for s.Next() {
		if d := s.Damage(); d != nil {
			d.Path = r.Name
			r.Damage = append(r.Damage, d)
			v.broken = true
			beside.damage()
			if b := s.Batch(); strangers.Add(d, b, r.Limit) {
				strangers.damage = append(strangers.damage, d)
				strangers.records += v.records(b)
			}
			continue
		}
		r.Batches++
		r.Records += v.records(s.Batch())
		beside.add(s.Batch(), s.Pos())
		if v.each != nil {
			v.each(s.Batch())
		}
		v.broken = false
		if s.Pos()-v.told > tellEvery {
			v.tell(s.Pos())
		}
	}
	return cmp.Or(s.Err(), v.acquit(r, &strangers))
}

// suspects are the batches of a segment with the offsets of a later one.
type suspects struct {
	segment.Strangers
	damage  []*corrupt.Error // the findings that they are out of place
	records int64
}

// acquit takes findings back that an interrupted cleaning explains.
func (v *verifier) acquit(r *Verified, s *suspects) error {
	copies, err := s.AreCopies(v.fs, r.Path, r.Limit)
	if err != nil || !copies {
		return err
	}
	left := s.damage // in the order of r.Damage
	r.Damage = slices.DeleteFunc(r.Damage, func(d *corrupt.Error) bool {
		ours := len(left) > 0 && d == left[0]
		if ours {
			left = left[1:]
		}
		return ours
	})
	r.Copies = int64(len(s.damage))
	r.Batches += r.Copies
	r.Records += s.records
	return nil
}

// records counts the records of a batch. Only a legacy wrapper has to be read for it.
func (v *verifier) records(b *record.Batch) int64 {
	if n := b.Count(); n >= 0 {
		return int64(n)
	}
	if v.counter == nil {
		v.counter = record.NewReader()
		v.counter.Limit = v.options.MaxBatch
	}
	n := int64(0)
	for v.counter.Reset(b); v.counter.Next(); n++ {
	}
	return n
}

// checkGrowth drops the damage at the end of a file that has grown since it was opened:
// what looked torn was being written.
func (r *Verified) checkGrowth(file vfs.ReadFile) error {
	n := len(r.Damage)
	if n == 0 || r.Damage[n-1].Pos+r.Damage[n-1].Size < r.Size {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Size() <= r.Size {
		return err
	}
	r.Damage, r.InUse = r.Damage[:n-1], true
	return nil
}

// withSuffix is another file of the same segment.
func withSuffix(log, suffix string) string { return log[:len(log)-len(filepath.Ext(log))] + suffix }

// ListLogs finds the segments of a partition directory. name is the directory as reports
// call it.
func ListLogs(fsys vfs.ReadFS, dir, name string) ([]LogRef, error) {
	listing, err := segment.List(fsys, dir)
	if err != nil {
		return nil, err
	}
	refs := make([]LogRef, len(listing.Segments))
	for i, s := range listing.Segments {
		refs[i] = LogRef{
			Path: filepath.Join(dir, s.Log), Name: filepath.Join(name, s.Log), Base: s.Base,
		}
		if i > 0 {
			refs[i-1].Limit = s.Base
		}
	}
	return refs, nil
}

// RefOf names a single file. What stands beside it tells where its offsets must end.
func RefOf(fsys vfs.ReadFS, path, name string) LogRef {
	ref := LogRef{Path: path, Name: name}
	base, _, ok := segment.ParseName(filepath.Base(path))
	if !ok {
		return ref
	}
	ref.Base = base
	siblings, err := segment.List(fsys, filepath.Dir(path))
	if err != nil {
		return ref // the folder cannot be listed; the file alone can be read
	}
	i, _ := slices.BinarySearchFunc(siblings.Segments, base+1, func(f segment.Files, base int64) int {
		return cmp.Compare(f.Base, base)
	})
	if i < len(siblings.Segments) {
		ref.Limit = siblings.Segments[i].Base
	}
	return ref
}

// CountRecords counts the records of a batch by its header, or where that does not tell by
// reading them; one that cannot be read counts as one.
func CountRecords(b *record.Batch) int64 {
	if n := b.Count(); n >= 0 {
		return int64(n)
	}
	r := record.NewReader()
	r.Reset(b)
	var n int64
	for r.Next() {
		n++
	}
	return max(n, 1)
}
