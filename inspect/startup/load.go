package startup

import (
	"math"
	"strings"

	"logdir/store/checkpoint"
	"logdir/store/vfs"
)

// Options are what the broker knows of a partition before it opens the directory.
type Options struct {
	// Clean says that the log dir had a clean-shutdown marker.
	Clean bool
	// RecoveryPoint and LogStart are the partition's lines in the checkpoints, 0 without.
	RecoveryPoint, LogStart int64
	// IndexInterval is index.interval.bytes.
	IndexInterval int
	// Deleting says that the directory is a -delete one, which is not recovered.
	Deleting bool
}

// Outcome is what a start makes of a partition directory.
type Outcome struct {
	// Failure is the exception that ends the broker's start; nil if it starts. The other
	// fields then tell how far it came.
	Failure *Exception
	// LogStart and LogEnd are offsets; RecoveryPoint is the new one.
	LogStart, LogEnd, RecoveryPoint int64
	Epochs                          checkpoint.Epochs
	// Segments tells of each segment that was loaded, in order, removed ones included.
	Segments []Segment
	// Wiped says that the whole log went, because it ended below the log start.
	Wiped bool
	// Files are all files that are left, by name.
	Files map[string]*File
}

// loader is one load of a partition (Kafka: LogLoader).
type loader struct {
	o        Options
	dir      *directory
	segments []*segment // ascending by base
	reports  []*Segment // of every segment that ever was
	// overflowed is the segment of the last LogSegmentOffsetOverflowException.
	overflowed *segment
	epochs     checkpoint.Epochs
	state      *producerManager
	wiped      bool
}

// Load foretells what the broker does with the partition directory path.
// The error is an I/O error of ours; an exception of the broker's is in the Outcome.
func Load(fsys vfs.ReadFS, path string, o Options) (*Outcome, error) {
	dir, err := readDirectory(fsys, path)
	if err != nil {
		return nil, err
	}
	l := &loader{o: o, dir: dir}
	out := &Outcome{LogStart: o.LogStart, LogEnd: -1}
	err = l.load(out)
	if e, ok := err.(*Exception); ok {
		out.Failure, err = e, nil
	}
	out.Files, out.Wiped, out.Epochs = dir.files, l.wiped, l.epochs
	out.Segments = l.report()
	return out, err
}

func (l *loader) load(out *Outcome) (err error) {
	if l.epochs, err = l.readEpochs(); err != nil {
		return err
	}
	if l.state, err = newProducerManager(l.dir); err != nil {
		return err
	}
	for _, step := range []func() error{
		l.sweep, l.swap,
		func() error { return l.retryOnOverflow(l.loadSegments) },
		func() error { return l.retryOnOverflow(func() error { return l.recoverLog(out) }) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	l.finishEpochs(out.LogEnd)
	out.LogStart = max(l.o.LogStart, l.segments[0].base)
	out.RecoveryPoint = max(out.RecoveryPoint, out.LogStart)
	if err := l.state.removeStray(l.bases()); err != nil {
		return err
	}
	if err := l.rebuildProducers(l.state, out.LogStart, out.LogEnd, l.o.Clean); err != nil {
		return err
	}
	if err := l.seekUnstable(out.LogStart, out.LogEnd); err != nil {
		return err
	}
	l.segments[len(l.segments)-1].trim()
	return nil
}

// readEpochs loads leader-epoch-checkpoint. A file that does not parse takes the whole log
// dir offline.
func (l *loader) readEpochs() (checkpoint.Epochs, error) {
	if !l.dir.has(checkpoint.EpochFile) {
		return nil, nil
	}
	data, err := l.dir.read(checkpoint.EpochFile, snapshotLimit)
	if err != nil {
		return nil, err
	}
	epochs, err := checkpoint.ParseEpochs(data)
	if err != nil {
		return nil, throw(storageError, "%s: %v", checkpoint.EpochFile, err)
	}
	for _, e := range epochs {
		if e.Epoch < 0 || e.StartOffset < 0 {
			return nil, throw(illegalArgument, "Received invalid partition leader epoch entry EpochEntry(epoch=%d, startOffset=%d)", e.Epoch, e.StartOffset)
		}
	}
	return epochs.Load(), nil
}

// sweep is removeTempFilesAndCollectSwapFiles.
func (l *loader) sweep() error {
	minCleaned := int64(math.MaxInt64)
	var cleaned, swaps []string
	for _, name := range l.dir.names() {
		switch {
		case strings.HasSuffix(name, deletedSuffix) && !strings.HasSuffix(name, ".checkpoint"+deletedSuffix):
			l.dir.remove(name)
		case strings.HasSuffix(name, cleanedSuffix):
			offset, err := offsetOf(name)
			if err != nil {
				return err
			}
			minCleaned = min(minCleaned, offset)
			cleaned = append(cleaned, name)
		case strings.HasSuffix(name, swapSuffix):
			swaps = append(swaps, name)
		}
	}
	for _, name := range swaps {
		offset, err := offsetOf(name)
		if err != nil {
			return err
		}
		if offset >= minCleaned {
			l.dir.remove(name)
		}
	}
	for _, name := range cleaned {
		l.dir.remove(name)
	}
	return nil
}

// swap finishes an interrupted compaction or split: what its *.swap files replace goes, and
// they take their plain names.
func (l *loader) swap() error {
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, name := range l.dir.names() {
		if !strings.HasSuffix(name, logSuffix+swapSuffix) {
			continue
		}
		base, err := offsetOf(name)
		if err != nil {
			return err
		}
		s, err := openSegment(l.dir, base, swapSuffix)
		if err != nil {
			return err
		}
		next, err := s.readNextOffset()
		if err != nil {
			return err
		}
		from, to = min(from, base), max(to, next)
	}
	for _, name := range l.dir.names() {
		offset, err := offsetOf(name)
		if err == nil && !strings.HasSuffix(name, swapSuffix) && offset >= from && offset < to {
			l.dir.remove(name)
		}
	}
	for _, name := range l.dir.names() {
		if plain, ok := strings.CutSuffix(name, swapSuffix); ok {
			l.dir.rename(name, plain)
		}
	}
	return nil
}

// loadSegments is loadSegmentFiles, from the start.
func (l *loader) loadSegments() error {
	l.segments = nil
	for _, name := range l.dir.names() {
		isIndex := strings.HasSuffix(name, indexSuffix) || strings.HasSuffix(name, timeSuffix) || strings.HasSuffix(name, txnSuffix)
		isLog := strings.HasSuffix(name, logSuffix)
		if !isIndex && !isLog {
			continue
		}
		base, err := offsetOf(name)
		if err != nil {
			return err
		}
		if isIndex && !l.dir.has(fileName(base, logSuffix)) {
			l.dir.remove(name)
		}
		if isLog {
			if err := l.loadSegment(base); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) loadSegment(base int64) error {
	s, err := openSegment(l.dir, base, "")
	if err != nil {
		return err
	}
	l.tellOf(s)
	damaged, err := l.sanityCheck(s)
	if err != nil {
		return err
	}
	if damaged {
		if _, err := l.recoverSegment(s); err != nil {
			return err
		}
	}
	l.hold(s)
	return nil
}

// sanityCheck says whether the segment must be recovered at once: without an offset index,
// or with a bad transaction index.
func (l *loader) sanityCheck(s *segment) (bool, error) {
	newTime := !l.dir.has(s.name(timeSuffix))
	if !l.dir.has(s.name(indexSuffix)) {
		return true, nil
	}
	if newTime {
		l.dir.write(s.name(timeSuffix), nil)
	}
	return s.badTxnIndex()
}

// recoverSegment brings a private state of the producers up to the segment, recovers it,
// and keeps a snapshot behind it.
func (l *loader) recoverSegment(s *segment) (int64, error) {
	state, err := newProducerManager(l.dir)
	if err != nil {
		return 0, err
	}
	if err := l.rebuildProducers(state, l.o.LogStart, s.base, false); err != nil {
		return 0, err
	}
	cut, err := s.recover(state, &l.epochs, l.o.IndexInterval)
	if err != nil {
		l.overflowed = s // if it is that
		return 0, err
	}
	state.take()
	return cut, nil
}

// recoverLog recovers what may not have been flushed, and finds the log end.
func (l *loader) recoverLog(out *Outcome) error {
	if !l.o.Clean && !l.o.Deleting {
		if err := l.recoverUnflushed(); err != nil {
			return err
		}
	}
	end, ok, err := l.logEnd()
	if err != nil {
		return err
	}
	if len(l.segments) == 0 {
		s, err := openSegment(l.dir, l.o.LogStart, "")
		if err != nil {
			return err
		}
		s.create()
		l.hold(s)
		end = l.o.LogStart
	}
	out.LogEnd, out.RecoveryPoint = end, min(l.o.RecoveryPoint, end)
	if l.o.Clean && ok {
		out.RecoveryPoint = end
	}
	return nil
}

// unflushed is the place of the first segment that may hold something unflushed: the one
// with the recovery point in it.
func (l *loader) unflushed() int {
	first := 0
	for i, s := range l.segments {
		if s.base <= l.o.RecoveryPoint {
			first = i
		}
	}
	return first
}

func (l *loader) recoverUnflushed() error {
	for i := l.unflushed(); i < len(l.segments); i++ {
		s := l.segments[i]
		cut, err := l.recoverSegment(s)
		if is(err, invalidOffset, ioException) {
			s.report.Why = err.Error()
			cut, err = s.empty()
		}
		if err != nil {
			return err
		}
		if cut > 0 {
			l.removeFrom(i+1, "behind a segment that was cut")
			return nil
		}
	}
	return nil
}

// removeFrom is removeAndDeleteSegmentsAsync for segments[i:].
func (l *loader) removeFrom(i int, why string) {
	for _, s := range l.segments[i:] {
		s.report.Removed, s.report.Valid, s.report.Why = true, 0, why
		for _, suffix := range []string{logSuffix, indexSuffix, timeSuffix, txnSuffix} {
			l.dir.remove(s.name(suffix))
		}
		l.state.drop(s.base)
	}
	l.segments = l.segments[:i]
}

// logEnd is deleteSegmentsIfLogStartGreaterThanLogEnd.
func (l *loader) logEnd() (end int64, ok bool, err error) {
	if len(l.segments) == 0 {
		return 0, false, nil
	}
	end, err = l.segments[len(l.segments)-1].readNextOffset()
	if err != nil || end >= l.o.LogStart {
		return end, true, err
	}
	l.removeFrom(0, "the log ends below its log start offset")
	l.epochs = nil
	l.state.truncateFully(l.o.LogStart)
	l.wiped = true
	return 0, false, nil
}

// finishEpochs drops the epochs beyond the log end and collapses those below the
// checkpointed log start.
func (l *loader) finishEpochs(end int64) {
	l.epochs.TruncateFromEnd(end)
	l.epochs.TruncateFromStart(l.o.LogStart)
	if !l.dir.has(checkpoint.EpochFile) && len(l.epochs) == 0 {
		return
	}
	l.dir.write(checkpoint.EpochFile, checkpoint.AppendEpochs(nil, l.epochs))
}

func (l *loader) bases() []int64 {
	bases := make([]int64, len(l.segments))
	for i, s := range l.segments {
		bases[i] = s.base
	}
	return bases
}
