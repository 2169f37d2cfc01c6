package store

import (
	"context"
	"log/slog"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
	"logdir/store/record"
)

// Appended is what became of one batch.
type Appended struct {
	BaseOffset, LastOffset int64
	Records                int32
	// Duplicate says that the batch stood there before (an exact retry of an idempotent
	// producer): the offsets are the old ones, and nothing was written.
	Duplicate bool
}

// Append takes whole frames, one behind the other, as a leader does: it gives them
// offsets and leaderEpoch (in place: neither is under the checksum), checks producer
// sequences, and writes all of them with one call per segment.
//
// The result has one entry per frame. With an error it has the entries of the frames
// before the first that was refused; those are in the log.
func (l *Log) Append(frames []byte, leaderEpoch int32) ([]Appended, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if leaderEpoch < l.Epoch() {
		return nil, Errorf(Fenced, "FENCED_LEADER_EPOCH", "%s: leader epoch %d is over, the log knows %d",
			l.config.TopicPartition, leaderEpoch, l.Epoch())
	}
	w := writer{log: l, next: l.End()}
	err := w.eachFrame(frames, func(b *record.Batch) error { return w.lead(b, leaderEpoch) })
	return w.finish(err)
}

// AppendReplica takes whole frames as a follower does, with the offsets and epochs that
// they carry. The first must not begin before End.
func (l *Log) AppendReplica(frames []byte) error {
	if err := l.ready(); err != nil {
		return err
	}
	if err := l.forgetUnused(); err != nil {
		return err
	}
	w := writer{log: l, next: l.End()}
	err := w.eachFrame(frames, w.follow)
	_, err = w.finish(err)
	return err
}

// forgetUnused drops leader epochs that begin at the log end: this replica led and wrote
// nothing. The records that come now may be of an earlier epoch, and must not count as
// of that one.
func (l *Log) forgetUnused() error {
	if !l.epochs.TruncateFromEnd(l.End()) {
		return nil
	}
	return checkpoint.WriteEpochs(l.fs, l.path(checkpoint.EpochFile), l.epochs)
}

// AssignEpoch notes that a leader of this epoch begins at the log end, before it appends.
func (l *Log) AssignEpoch(epoch int32) error {
	if err := l.ready(); err != nil {
		return err
	}
	if err := l.assignEpoch(epoch, l.End()); err != nil {
		return l.fail(err)
	}
	return nil
}

// assignEpoch writes the history of epochs, synced, if it changes. Always before the
// first batch of the epoch: a crash may leave an entry too many, never one too few.
func (l *Log) assignEpoch(epoch int32, start int64) error {
	if epoch < 0 || epoch <= l.Epoch() || !l.epochs.Assign(epoch, start) {
		return nil
	}
	return checkpoint.WriteEpochs(l.fs, l.path(checkpoint.EpochFile), l.epochs)
}

// writer carries one call of Append: it gathers frames that go into the active segment
// in one run, and writes the run where the segment rolls or the call ends.
type writer struct {
	log  *Log
	next int64 // the offset of the next frame

	run        []byte // frames not yet written: a slice of the caller's
	firstInRun int64  // the largest timestamp of its first frame
	pending    []Appended
	aborted    []index.AbortedTxn // transactions that markers in the run abort
	done       []Appended
	broken     bool // the run was not, or only partly, written
}

// eachFrame cuts frames and hands each to take, which puts it into the run.
func (w *writer) eachFrame(frames []byte, take func(*record.Batch) error) error {
	for len(frames) > 0 {
		b, damage := cutFrame(frames)
		if damage != nil {
			return badFrame(damage)
		}
		if err := take(&b); err != nil {
			return err
		}
		frames = frames[b.Size():]
	}
	return nil
}

// cutFrame views the first frame. The bytes behind it stay within reach of its slice.
func cutFrame(frames []byte) (record.Batch, *corrupt.Error) {
	size, _, damage := record.Sniff(frames)
	if damage == nil && size > int64(len(frames)) {
		damage = corrupt.Newf(corrupt.Torn, 0, int64(len(frames)), "have %d of %d bytes", len(frames), size)
	}
	if damage != nil {
		return record.Batch{}, damage
	}
	return record.Parse(frames[:size])
}

// badFrame refuses bytes that were handed in: the log itself is well.
func badFrame(damage *corrupt.Error) error {
	return Errorf(Damage, "", "a batch that cannot be appended: %w", damage)
}

// suits holds a frame to the format of the topic. A follower takes Kafka's older formats too,
// as its leader still has them.
func (w *writer) suits(b *record.Batch, leads bool) error {
	c := &w.log.config
	older := !leads && c.Format == record.V2 && b.Format() != record.MKB1
	if b.Format() != c.Format && !older {
		return Errorf(Refused, "UNSUPPORTED_FOR_MESSAGE_FORMAT", "%s takes frames of format %s, not %s", c.TopicPartition, c.Format, b.Format())
	}
	return nil
}

// fits holds a frame to the size limits of the topic. A follower takes whatever its
// leader took, also when the limits are lower now.
func (w *writer) fits(b *record.Batch) error {
	c := &w.log.config
	switch {
	case b.Size() > c.MaxMessageBytes:
		return Errorf(Refused, "MESSAGE_TOO_LARGE", "a batch of %d bytes, %s takes %d", b.Size(), c.TopicPartition, c.MaxMessageBytes).
			WithHint("a smaller --batch-size, or logdir topic alter %s -c max.message.bytes=%d", c.Topic, b.Size())
	case int64(b.Size()) > c.SegmentBytes:
		return Errorf(Refused, "RECORD_LIST_TOO_LARGE", "a batch of %d bytes, a segment of %s takes %d", b.Size(), c.TopicPartition, c.SegmentBytes).
			WithHint("a smaller --batch-size, or topic alter -c segment.bytes=%d", b.Size())
	}
	return nil
}

// lead places a frame at the log end, unless it is there already.
func (w *writer) lead(b *record.Batch, epoch int32) error {
	if err := w.suits(b, true); err != nil {
		return err
	}
	if err := w.fits(b); err != nil {
		return err
	}
	duplicate, err := w.log.checkProducer(b)
	if err != nil {
		return err
	}
	if duplicate != nil {
		if err := w.flush(); err != nil {
			return err
		}
		w.done = append(w.done, *duplicate)
		return nil
	}
	record.SetBaseOffset(b.Raw(), w.next)
	record.SetLeaderEpoch(b.Raw(), epoch)
	return w.add(b)
}

// follow takes a frame where it says it belongs.
func (w *writer) follow(b *record.Batch) error {
	if err := w.suits(b, false); err != nil {
		return err
	}
	if b.BaseOffset() < w.next {
		return Errorf(Failed, "OFFSET_OUT_OF_RANGE", "%s: a batch at offset %d, but the log ends at %d",
			w.log.config.TopicPartition, b.BaseOffset(), w.next)
	}
	if !b.CRCValid() {
		damage := corrupt.New(corrupt.BadCRC, 0, int64(b.Size()), "in a batch from the leader")
		damage.BaseOffset, damage.LastOffset = b.BaseOffset(), b.LastOffset()
		damage.HasCRC, damage.Stored, damage.Computed = true, b.StoredCRC(), b.ComputeCRC()
		return badFrame(damage)
	}
	return w.add(b)
}

// firstOffset is the smallest offset that a frame may hold. An old one tells only its last.
func (w *writer) firstOffset(b *record.Batch) int64 {
	if b.Format() == record.V0 || b.Format() == record.V1 {
		return w.next
	}
	return b.BaseOffset()
}

// add puts a placed frame into the run, behind a roll if one is due.
func (w *writer) add(b *record.Batch) error {
	if w.rollDue(b) {
		if err := w.roll(w.firstOffset(b)); err != nil {
			return err
		}
	}
	if len(w.run) == 0 {
		w.firstInRun = b.MaxTimestamp()
		w.run = b.Raw()[:0]
	}
	if err := w.log.assignEpoch(b.LeaderEpoch(), b.BaseOffset()); err != nil {
		w.broken = true
		return err
	}
	if err := w.updateProducer(b); err != nil {
		return err
	}
	// The frames of a call stand one behind the other, so this only makes run longer.
	w.run = w.run[:len(w.run)+b.Size()]
	w.pending = append(w.pending, Appended{BaseOffset: b.BaseOffset(), LastOffset: b.LastOffset(), Records: b.Count()})
	w.next = b.NextOffset()
	return nil
}

// flush writes the run.
func (w *writer) flush() error {
	if len(w.run) == 0 {
		return nil
	}
	l := w.log
	if _, err := l.active.Append(w.run); err != nil {
		w.broken = true
		return err
	}
	if err := l.failpoint(FailAfterWrite); err != nil {
		return err
	}
	if err := l.appendAborted(w.aborted); err != nil {
		w.broken = true
		return err
	}
	if l.config.Fsync == FsyncAlways {
		if _, err := l.flush(); err != nil {
			w.broken = true
			return err
		}
	}
	l.logAppends(w.pending)
	w.done = append(w.done, w.pending...)
	w.run, w.pending, w.aborted = nil, w.pending[:0], w.aborted[:0]
	return nil
}

// finish writes what was gathered before an error, or all, and reports.
func (w *writer) finish(err error) ([]Appended, error) {
	l := w.log
	if !w.broken && l.dead == nil {
		if ferr := w.flush(); ferr != nil {
			err = ferr
		}
	}
	if w.broken || l.dead != nil {
		return w.done, l.fail(err)
	}
	if lerr := l.look(); lerr != nil && err == nil {
		err = lerr
	}
	return w.done, err
}

// logAppends writes a line for each batch.
func (l *Log) logAppends(batches []Appended) {
	if !l.config.Log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	for _, b := range batches {
		l.info("append", slog.Int64("base_offset", b.BaseOffset), slog.Int("records", int(b.Records)))
	}
}

// info writes a line about the partition to the structured log.
func (l *Log) info(what string, attrs ...slog.Attr) {
	all := append([]slog.Attr{
		slog.String("component", "partition"),
		slog.String("topic", l.config.Topic), slog.Int("partition", int(l.config.Partition)),
	}, attrs...)
	l.config.Log.LogAttrs(context.Background(), slog.LevelInfo, what, all...)
}
