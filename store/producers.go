package store

import (
	"errors"

	"logdir/store/producer"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// snapshotAfter is how many bytes of the log may have to be read again to know its
// producers, before Close writes a snapshot. A snapshot remembers one batch of each
// producer, the log all: so below that, retries of any of the last batches are known
// from command to command, as they are to a broker that runs.
const snapshotAfter = 8 << 20

// checkProducer judges a frame of an idempotent or transactional producer before it is
// appended. For an exact retry it returns what became of the first.
func (l *Log) checkProducer(b *record.Batch) (*Appended, error) {
	if b.ProducerID() < 0 {
		return nil, nil
	}
	if err := l.loadProducers(); err != nil {
		return nil, err
	}
	d, err := l.producers.Check(b)
	if err != nil {
		return nil, producerError(err)
	}
	if d == nil {
		return nil, nil
	}
	return &Appended{BaseOffset: d.BaseOffset, LastOffset: d.LastOffset, Records: b.Count(), Duplicate: true}, nil
}

// Duplicate tells whether a frame is an exact retry of one that stands in the log, and
// at which offsets; nil if it is none. An error refuses the frame for its producer's sake.
func (l *Log) Duplicate(b *record.Batch) (*Appended, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	return l.checkProducer(b)
}

// Producer is what the log remembers of a producer; ok is false if that is nothing.
func (l *Log) Producer(id int64) (e producer.Entry, ok bool, err error) {
	if err := l.ready(); err != nil {
		return e, false, err
	}
	if err := l.loadProducers(); err != nil {
		return e, false, err
	}
	e, ok = l.producers.Entry(id)
	return e, ok, nil
}

// NextSequence is the sequence with which a producer goes on: 0 in an epoch in which it has
// written nothing yet.
func (l *Log) NextSequence(id int64, epoch int32) (int32, error) {
	e, ok, err := l.Producer(id)
	if err != nil || !ok || int32(e.ProducerEpoch) != epoch || e.LastSequence == record.NoSequence {
		return 0, err
	}
	return record.AddSequence(e.LastSequence, 1), nil
}

// producerError gives a refusal its class: somebody newer, or a state that does not fit.
func producerError(err error) error {
	refusal, ok := errors.AsType[*producer.Error](err)
	if !ok {
		return err
	}
	class, name := Refused, refusal.Err.Error()
	switch refusal.Err {
	case producer.ErrInvalidProducerEpoch, producer.ErrOutOfOrderSequence, producer.ErrCoordinatorFenced:
		class = Fenced
	case producer.ErrBadMarker, producer.ErrControlType, producer.ErrTxnNotStarted:
		name = "INVALID_RECORD"
	}
	return Errorf(class, name, "producer %d: %s", refusal.ProducerID, refusal.Detail)
}

// updateProducer notes a frame that is about to be written. What ends an aborted
// transaction is kept for the transaction index.
func (w *writer) updateProducer(b *record.Batch) error {
	if b.ProducerID() < 0 {
		return nil
	}
	if err := w.log.loadProducers(); err != nil {
		return err
	}
	ended, err := w.log.producers.Update(b)
	if err != nil {
		return producerError(err)
	}
	if ended != nil && ended.Aborted {
		w.aborted = append(w.aborted, ended.AbortedTxn)
	}
	return nil
}

// loadProducers brings the state of the producers up to the log end: the newest
// snapshot, and the batches behind it.
func (l *Log) loadProducers() error {
	if l.producers != nil {
		return nil
	}
	loaded, err := producer.LoadNewest(l.fs, l.dir, l.config.DedupWindow, l.Start(), l.End())
	if err != nil {
		return err
	}
	if err := l.replay(loaded.State, loaded.Offset); err != nil {
		return l.damaged(err)
	}
	loaded.State.Expire(l.config.Now().UnixMilli(), producer.DefaultExpirationMS)
	l.producers = loaded.State
	return nil
}

// replay feeds a state all batches from offset on.
func (l *Log) replay(state *producer.State, offset int64) (err error) {
	if offset >= l.End() {
		return nil
	}
	r, err := OpenReader(l.fs, l.dir, ReaderOptions{SkipCRC: true})
	if err != nil {
		return err
	}
	c := r.From(offset)
	defer func() { err = errors.Join(err, c.Close()) }()
	for c.Next() {
		if d := c.Damage(); d != nil {
			return d
		}
		l.replayed += int64(c.Batch().Size())
		if _, err := state.Update(c.Batch()); err != nil {
			return producerError(err)
		}
	}
	return c.Err()
}

// snapshots tells whether the partition keeps producer snapshots; MiniKafka's has none.
func (l *Log) snapshots() bool { return l.config.Format != record.MKB1 }

// saveProducers writes a snapshot for the log end.
func (l *Log) saveProducers() error {
	if !l.snapshots() {
		return nil
	}
	if err := l.loadProducers(); err != nil {
		return err
	}
	l.replayed = 0
	return l.producers.Save(l.fs, l.dir, l.End())
}

// tidySnapshots removes snapshots that stand at no segment's base, but for the one at
// the log end.
func (l *Log) tidySnapshots() error {
	list, err := segment.List(l.fs, l.dir)
	if err != nil {
		return err
	}
	atBase := map[string]bool{segment.FileName(l.End(), segment.SnapshotSuffix): true}
	for _, s := range list.Segments {
		atBase[s.Snapshot] = true
	}
	for _, s := range list.Snapshots {
		if atBase[s.Name] {
			continue
		}
		if err := l.fs.Remove(l.path(s.Name)); err != nil {
			return err
		}
	}
	return nil
}

// dropSnapshots removes the snapshots of offsets above end.
func (l *Log) dropSnapshots(end int64) error {
	offsets, err := producer.List(l.fs, l.dir)
	if err != nil {
		return err
	}
	for _, offset := range offsets {
		if offset <= end {
			continue
		}
		if err := removeIfThere(l.fs, l.path(producer.FileName(offset))); err != nil {
			return err
		}
	}
	return nil
}

func removeIfThere(fsys vfs.FS, name string) error {
	there, err := vfs.Exists(fsys, name)
	if err != nil || !there {
		return err
	}
	return fsys.Remove(name)
}
