package replica

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Side is one log that is compared: a replica, or one file of it.
type Side struct {
	fs     vfs.ReadFS
	ref    store.PartitionRef
	log    *store.LogReader // nil for a single file
	start  int64
	end    int64 // behind the last good batch
	epochs checkpoint.Epochs
	damage []*corrupt.Error // what was met so far
}

// OpenSide looks at a replica with the reader that open gives, or at the one file that
// ref names.
func OpenSide(fsys vfs.ReadFS, ref store.PartitionRef, open func(store.PartitionRef) (*store.LogReader, error)) (*Side, error) {
	s := &Side{fs: fsys, ref: ref}
	if ref.File != "" {
		base, _, _ := segment.ParseName(ref.File)
		s.start, s.end = base, base
		return s, s.measure(base, func(b *record.Batch) {
			if epoch := b.LeaderEpoch(); epoch >= 0 {
				s.epochs.Assign(epoch, b.BaseOffset())
			}
		})
	}
	var err error
	if s.log, err = open(ref); err != nil {
		return nil, err
	}
	s.start = s.log.Start()
	if err := s.findEnd(); err != nil {
		return nil, err
	}
	return s, s.readEpochs()
}

// findEnd finds the log end, and what is damaged in front of it and behind.
func (s *Side) findEnd() error {
	end, damage, err := s.log.End()
	s.end = end
	if err != nil || damage == nil {
		return err
	}
	return s.measure(end, func(*record.Batch) {})
}

// readEpochs reads the history of leader epochs. A damaged one is none, and noted.
func (s *Side) readEpochs() (err error) {
	s.epochs, err = checkpoint.ReadEpochs(s.fs, filepath.Join(s.ref.Dir, checkpoint.EpochFile))
	if d, ok := errors.AsType[*corrupt.Error](err); ok {
		s.epochs = nil
		s.note(d)
		return nil
	}
	return err
}

// measure walks from an offset to the end of the log, over all damage.
func (s *Side) measure(from int64, each func(*record.Batch)) (err error) {
	b, err := s.batches(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for b.Next() {
		if d := b.Damage(); d != nil {
			if s.note(d); !d.EpochOnly() {
				continue
			}
		}
		s.end = b.Batch().NextOffset()
		each(b.Batch())
	}
	return b.Err()
}

// note remembers damage, once.
func (s *Side) note(d *corrupt.Error) {
	same := func(x *corrupt.Error) bool { return x.Path == d.Path && x.Pos == d.Pos }
	if !slices.ContainsFunc(s.damage, same) {
		s.damage = append(s.damage, d)
	}
}

// Damage is what was met in the log so far, in its order.
func (s *Side) Damage() []*corrupt.Error {
	slices.SortFunc(s.damage, cmpDamage)
	return s.damage
}

// batches walks the batches of a side, whatever it is. A *store.Cursor is one.
type batches interface {
	Next() bool
	Batch() *record.Batch
	Damage() *corrupt.Error
	Err() error
	io.Closer
}

// fileBatches are the batches of one file.
type fileBatches struct {
	*segment.Scanner
	vfs.ReadFile
	path string
	from int64
}

// Next passes over what lies below the first offset wanted.
func (f fileBatches) Next() bool {
	for f.Scanner.Next() {
		if d := f.Damage(); d != nil {
			d.Path = f.path
			if d.NextOffset == corrupt.Unknown || d.NextOffset > f.from {
				return true
			}
			continue
		}
		if f.Batch().NextOffset() > f.from {
			return true
		}
	}
	return false
}

func (s *Side) batches(from int64) (batches, error) {
	if s.log != nil {
		return s.log.From(from), nil
	}
	path := filepath.Join(s.ref.Dir, s.ref.File)
	f, err := s.fs.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	base, _, _ := segment.ParseName(s.ref.File)
	o := segment.Options{Base: base, Limit: math.MaxInt64, LogEnd: -1, Epoch: record.NoLeaderEpoch}
	return fileBatches{segment.NewScanner(f, info.Size(), o), f, path, from}, nil
}
