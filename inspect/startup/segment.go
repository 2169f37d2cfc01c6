package startup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/index"
)

// segment is a loaded segment (Kafka: LogSegment).
type segment struct {
	dir  *directory
	base int64
	ext  string // ".swap" while a swap file is looked at
	// txnUnopened says that the broker has not opened the transaction index, because there was
	// none: what comes to stand under its name all the same is not emptied.
	txnUnopened bool
	// before are the index files as a recovery found them, by suffix.
	before map[string]*File

	report *Segment
}

func (s *segment) name(suffix string) string { return fileName(s.base, suffix) + s.ext }

func openSegment(d *directory, base int64, ext string) (*segment, error) {
	s := &segment{dir: d, base: base, ext: ext}
	name := s.name(logSuffix)
	if !d.has(name) {
		d.write(name, nil)
	}
	size := d.files[name].Size
	if size > math.MaxInt32 {
		return nil, throw(kafkaException, "The size of segment %s (%d) is larger than the maximum allowed segment size of %d",
			name, size, math.MaxInt32)
	}
	s.report = &Segment{Base: base, OldSize: size, Valid: size, Next: base}
	return s, nil
}

func (s *segment) size() int64 { return s.dir.files[s.name(logSuffix)].Size }

// entriesOf opens an index file; the bytes of a missing one are zeros at full size, of
// which none counts yet, as AbstractIndex makes it.
func (s *segment) offsets() (rawIndex, error) {
	name := s.name(indexSuffix)
	if !s.dir.has(name) {
		s.dir.files[name] = &File{Name: name, Size: maxIndexSize / index.OffsetEntrySize * index.OffsetEntrySize}
		return rawIndex{base: s.base, close: func() error { return nil }}, nil
	}
	c, err := s.dir.open(name)
	return rawIndex{r: c.ReaderAt, entries: int(c.size / index.OffsetEntrySize), base: s.base, close: c.close}, err
}

// maxIndexSize is segment.index.bytes, the size of a new index file.
const maxIndexSize = 10 << 20

// rawIndex is an offset index as the broker sees it: all bytes of the file are entries.
type rawIndex struct {
	r       io.ReaderAt
	entries int
	base    int64
	close   func() error
}

func (x rawIndex) at(i int) (index.OffsetEntry, error) {
	var b [index.OffsetEntrySize]byte
	if n, err := x.r.ReadAt(b[:], int64(i)*index.OffsetEntrySize); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return index.OffsetEntry{}, err
	}
	return index.OffsetEntry{
		Offset: x.base + int64(int32(binary.BigEndian.Uint32(b[:]))),
		Pos:    int64(int32(binary.BigEndian.Uint32(b[4:]))),
	}, nil
}

func (x rawIndex) lastOffset() (int64, error) {
	if x.entries == 0 {
		return x.base, nil
	}
	e, err := x.at(x.entries - 1)
	return e.Offset, err
}

// warmEntries are the last entries that the broker looks through first.
const warmEntries = 8192 / index.OffsetEntrySize

// lookup is AbstractIndex.largestLowerBoundSlotFor, whose path over an index that is out of
// order decides what it finds.
func (x rawIndex) lookup(target int64) (index.OffsetEntry, error) {
	none := index.OffsetEntry{Offset: x.base}
	if x.entries == 0 {
		return none, nil
	}
	lo, hi := 0, x.entries-1
	hot := max(0, x.entries-1-warmEntries)
	e, err := x.at(hot)
	if err != nil {
		return none, err
	}
	if e.Offset < target {
		lo = hot
	} else {
		first, err := x.at(0)
		if err != nil || first.Offset > target {
			return none, err
		}
		hi = hot
	}
	return x.bisect(target, lo, hi)
}

func (x rawIndex) bisect(target int64, lo, hi int) (index.OffsetEntry, error) {
	for lo < hi {
		mid := (lo + hi + 1) / 2
		e, err := x.at(mid)
		switch {
		case err != nil || e.Offset == target:
			return e, err
		case e.Offset > target:
			hi = mid - 1
		default:
			lo = mid
		}
	}
	return x.at(lo)
}

// translate is LogSegment.translateOffset: the batch in which a read of offset begins; nil
// if there is none.
func (s *segment) translate(offset int64) (*frame, error) {
	x, err := s.offsets()
	if err != nil {
		return nil, err
	}
	e, err := x.lookup(offset)
	if err = errors.Join(err, x.close()); err != nil {
		return nil, err
	}
	return s.search(offset, max(e.Pos, 0))
}

// batches walks the batches in [from, end) until do says stop.
func (s *segment) batches(from, end int64, do func(*walker, *frame) (bool, error)) error {
	c, err := s.dir.open(s.name(logSuffix))
	if err != nil {
		return err
	}
	w := newWalker(c, from, end, s.name(logSuffix))
	for {
		f, err := w.next()
		if err != nil || f == nil {
			return join(err, c.close())
		}
		if more, err := do(w, f); err != nil || !more {
			return join(err, c.close())
		}
	}
}

// readNextOffset is LogSegment.readNextOffset: behind the last batch that is found from
// where the index look-up of the last indexed offset leads.
func (s *segment) readNextOffset() (int64, error) {
	x, err := s.offsets()
	if err != nil {
		return 0, err
	}
	last, err := x.lastOffset()
	if err = join(err, x.close()); err != nil {
		return 0, err
	}
	start, err := s.translate(last)
	if err != nil || start == nil {
		return s.base, err
	}
	next := s.base
	err = s.batches(start.pos, s.size(), func(_ *walker, f *frame) (bool, error) {
		next = f.nextOffset()
		return true, nil
	})
	return next, err
}

// recovery is what the walk over one segment keeps.
type recovery struct {
	seg     *segment
	builder *index.Builder
	epochs  *checkpoint.Epochs
	state   *producerManager
	txns    []byte
	// lastAbort is the last offset of the last of txns.
	lastAbort int64
	valid     int64
}

// recover is LogSegment.recover. It rebuilds the indexes and cuts the log behind the last
// good batch; the result is the number of bytes that were cut. On an exception that it does
// not catch, the index files are left as far as they were rebuilt.
func (s *segment) recover(state *producerManager, epochs *checkpoint.Epochs, interval int) (int64, error) {
	s.report.Recovered = true
	s.remember()
	r := &recovery{seg: s, builder: index.NewBuilder(s.base, interval), epochs: epochs, state: state}
	err := s.batches(0, s.size(), r.take)
	if is(err, corruptRecord, invalidRecord) {
		s.report.Why = err.Error()
		err = nil
	}
	if err == nil {
		err = orderException(r.builder.Finish())
	}
	if err = join(err, s.storeIndexes(r)); err != nil {
		return 0, err
	}
	return s.cut(r.valid), nil
}

func (s *segment) storeIndexes(r *recovery) error {
	s.dir.write(s.name(indexSuffix), r.builder.Index())
	s.dir.write(s.name(timeSuffix), r.builder.TimeIndex())
	return s.storeTxns(r.txns)
}

// storeTxns is what TransactionIndex.reset and the appends behind it make of the file.
func (s *segment) storeTxns(txns []byte) error {
	name := s.name(txnSuffix)
	there := s.dir.has(name)
	if len(txns) == 0 && (!there || s.txnUnopened) {
		return nil
	}
	if there && s.txnUnopened {
		stale, err := s.dir.read(name, snapshotLimit)
		if err != nil {
			return err
		}
		txns = append(stale, txns...)
	}
	s.txnUnopened = false
	s.dir.write(name, txns)
	return nil
}

// cut keeps the first size bytes of the log and answers how many go.
func (s *segment) cut(size int64) int64 {
	f := s.dir.files[s.name(logSuffix)]
	gone := f.Size - size
	f.Size = size
	s.report.Valid = size
	if gone > 0 && s.report.Why == "" {
		s.report.Why = fmt.Sprintf("%d bytes behind the last batch are none", gone)
	}
	return gone
}

// take is the body of the loop over the batches.
func (r *recovery) take(w *walker, f *frame) (bool, error) {
	if err := w.ensureValid(f); err != nil {
		return false, err
	}
	if err := orderException(r.builder.Add(f.span())); err != nil {
		return false, err
	}
	r.valid, r.seg.report.Next = f.pos+f.size, f.nextOffset()
	if f.legacy {
		return true, nil
	}
	if err := r.assignEpoch(f); err != nil {
		return false, err
	}
	txns, err := r.state.update(w, f)
	for _, t := range txns {
		if len(r.txns) > 0 && t.LastOffset <= r.lastAbort {
			return false, throw(illegalArgument, "The last offset of appended transactions must increase sequentially, but %d is not greater than current last offset %d of index %s",
				t.LastOffset, r.lastAbort, r.seg.name(txnSuffix))
		}
		r.txns, r.lastAbort = index.AppendAbortedTxn(r.txns, t), t.LastOffset
	}
	return true, err
}

func (r *recovery) assignEpoch(f *frame) error {
	epoch := f.leaderEpoch()
	if epoch < 0 {
		return nil
	}
	if latest, ok := r.epochs.Latest(); ok && epoch <= latest.Epoch {
		return nil
	}
	if f.baseOffset() < 0 {
		return throw(illegalArgument, "Received invalid partition leader epoch entry EpochEntry(epoch=%d, startOffset=%d)", epoch, f.baseOffset())
	}
	r.epochs.Assign(epoch, f.baseOffset())
	return nil
}

// orderException is what the broker throws for a batch that cannot be indexed.
func orderException(e *index.OrderError) error {
	switch {
	case e == nil:
		return nil
	case e.Rule == index.OffsetRange:
		return throw(offsetOverflow, "%s", e.Error())
	}
	return throw(invalidOffset, "%s", e.Error())
}

// empty is LogSegment.truncateTo(base): what the broker does with a segment whose batches
// it could not index. It answers how many bytes go.
func (s *segment) empty() (int64, error) {
	s.report.Emptied, s.report.Next = true, s.base
	start, err := s.translate(s.base)
	if err != nil {
		return 0, err
	}
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		if s.dir.has(s.name(suffix)) {
			s.dir.write(s.name(suffix), nil)
		}
	}
	if err := s.storeTxns(nil); err != nil {
		return 0, err
	}
	if start == nil {
		return 0, nil
	}
	return s.cut(start.pos), nil
}

// trim is prepareActiveSegmentForClose: the index files end with their last whole entry.
func (s *segment) trim() {
	for _, x := range indexFiles {
		if f := s.dir.files[s.name(x.suffix)]; f != nil {
			f.Size -= f.Size % x.width
			if f.Data != nil {
				f.Data = f.Data[:f.Size]
			}
		}
	}
}

// indexFiles are the index files that are mapped into memory.
var indexFiles = []struct {
	suffix string
	width  int64 // of an entry, in bytes
}{{indexSuffix, index.OffsetEntrySize}, {timeSuffix, index.TimeEntrySize}}

// create makes the empty files of a new segment.
func (s *segment) create() {
	s.dir.write(s.name(indexSuffix), nil)
	s.dir.write(s.name(timeSuffix), nil)
}

// badTxnIndex is TransactionIndex.sanityCheck. An unknown version is not what it looks for,
// and ends the start.
func (s *segment) badTxnIndex() (bool, error) {
	name := s.name(txnSuffix)
	if !s.dir.has(name) {
		return false, nil
	}
	c, err := s.dir.open(name)
	if err != nil {
		return false, err
	}
	for t, err := range index.NewTxnIndex(c, c.size, s.base).All() {
		if damage, damaged := errors.AsType[*corrupt.Error](err); damaged {
			err = throw(kafkaException, "Unexpected aborted transaction version in transaction index %s: %s", name, damage.Detail)
		}
		if err != nil || t.LastOffset < s.base {
			return err == nil, join(err, c.close())
		}
	}
	return false, c.close()
}
