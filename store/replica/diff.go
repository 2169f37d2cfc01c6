package replica

import (
	"bytes"
	"errors"
	"io"
	"math"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Status is how a log stands to the one it is compared with.
type Status string

// The states of a comparison.
const (
	IsLeader Status = "leader" // the one that the others are compared with
	Same     Status = "same"
	Behind   Status = "behind"   // the same as far as it goes
	Diverged Status = "diverged" // different somewhere, or longer
)

// Compared is one log of a comparison.
type Compared struct {
	// LogEnd is its log end offset, Epochs its history of leader epochs.
	LogEnd int64
	Epochs checkpoint.Epochs
	// SameUpTo is the offset below which every batch is the reference's, byte for byte.
	SameUpTo int64
	Status   Status
	// Damage is what ended the comparison early, nil if nothing did.
	Damage *corrupt.Error
}

// Side is one log that is compared: a replica, or one file of it.
type Side struct {
	fs     vfs.ReadFS
	ref    store.PartitionRef
	log    *store.LogReader // nil for a single file
	start  int64
	end    int64
	epochs checkpoint.Epochs
	damage *corrupt.Error // what the log ends with
}

// OpenSide looks at a replica with the reader that open gives, or at the one file that
// ref names.
func OpenSide(fsys vfs.ReadFS, ref store.PartitionRef, open func(store.PartitionRef) (*store.LogReader, error)) (*Side, error) {
	s := &Side{fs: fsys, ref: ref}
	if ref.File != "" {
		return s, s.measureFile()
	}
	var err error
	if s.log, err = open(ref); err != nil {
		return nil, err
	}
	s.start = s.log.Start()
	if s.end, s.damage, err = s.log.End(); err != nil {
		return nil, err
	}
	s.epochs, err = checkpoint.ReadEpochs(fsys, filepath.Join(ref.Dir, checkpoint.EpochFile))
	return s, err
}

// measureFile finds out from a file's batches what a directory tells in other places.
func (s *Side) measureFile() (err error) {
	base, _, _ := segment.ParseName(s.ref.File)
	s.start, s.end = base, base
	b, err := s.batches(base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for b.Next() {
		if s.damage = b.Damage(); s.damage != nil {
			return nil
		}
		s.end = b.Batch().NextOffset()
		if epoch := b.Batch().LeaderEpoch(); epoch >= 0 {
			s.epochs.Assign(epoch, b.Batch().BaseOffset())
		}
	}
	return b.Err()
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
			return true
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

// Reference is the side that others are compared with, as a row of the comparison.
func (s *Side) Reference() Compared {
	return Compared{LogEnd: s.end, Epochs: s.epochs, SameUpTo: s.end, Status: IsLeader, Damage: s.damage}
}

// Compare holds a side against the reference, batch by batch, from the higher of the two
// log starts on.
func Compare(reference, own *Side) (c Compared, err error) {
	c = Compared{LogEnd: own.end, Epochs: own.epochs, SameUpTo: max(reference.start, own.start), Damage: own.damage}
	a, err := reference.batches(c.SameUpTo)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := own.batches(c.SameUpTo)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	differs, err := c.walk(a, b)
	switch {
	case differs || c.Damage != nil:
		c.Status = Diverged
	case own.end < reference.end:
		c.Status = Behind
	default:
		c.Status = Same
	}
	return c, err
}

// walk goes over both sides in step, to the first difference or the end of the one that
// is compared.
func (c *Compared) walk(reference, own batches) (differs bool, err error) {
	for own.Next() {
		if d := own.Damage(); d != nil {
			c.Damage = d
			return true, nil
		}
		if !reference.Next() || reference.Damage() != nil {
			return true, reference.Err()
		}
		if !bytes.Equal(own.Batch().Raw(), reference.Batch().Raw()) {
			return true, nil
		}
		c.SameUpTo = own.Batch().NextOffset()
	}
	return false, own.Err()
}
