package store

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// Retention says which old segments of a log may go (Kafka: deleteOldSegments).
type Retention struct {
	// Bytes and Ms are retention.bytes and retention.ms. Negative: as much as there is.
	Bytes, Ms int64
	// HighWatermark bounds all rules: no segment goes that reaches beyond it.
	HighWatermark int64
	// Now is the time that Ms is counted back from, ms.
	Now int64
}

// LogStartOnly is the retention of a topic that is only compacted: what lies below the
// log start offset goes, nothing else.
func LogStartOnly(highWatermark int64) Retention {
	return Retention{Bytes: -1, Ms: -1, HighWatermark: highWatermark}
}

// The reasons for which a segment goes, by what decides.
const (
	BelowLogStart = "log start"
	OverBytes     = "retention.bytes"
	OverAge       = "retention.ms"
)

// Expired is a segment that retention takes away.
type Expired struct {
	Base, Size int64
	Reason     string
}

// Expiry is a plan of retention: segments from the oldest on, without a gap.
type Expiry struct {
	Segments []Expired
	// Roll says that the last of them is the active segment: a new one is begun first.
	Roll bool
	// Start is the base offset of the first segment that stays.
	Start int64
}

// retained is what retention looks at in a segment.
type retained struct {
	base, size, next int64 // next: base offset of the following segment, or log end
	last             bool
}

// PlanRetention finds the segments that may go: first those below the log start, then
// from the oldest those that are too much for Bytes, then those too old for Ms. It
// changes nothing.
func (r *LogReader) PlanRetention(o Retention) (Expiry, error) {
	segments, err := r.retained()
	if err != nil || len(segments) == 0 {
		return Expiry{Start: r.Start()}, err
	}
	p := retention{Retention: o, log: r, left: segments, total: totalSize(segments)}
	for _, rule := range []func(retained) (string, error){p.breachesStart, p.breachesBytes, p.breachesMs} {
		if err := p.apply(rule); err != nil {
			return Expiry{}, err
		}
	}
	return p.plan, nil
}

// retained lists the segments. Where the log ends in damage nothing may be rolled, so
// that is an error.
func (r *LogReader) retained() ([]retained, error) {
	if len(r.swapped) > 0 {
		return nil, RefuseSwap(PathRef(r.dir, r.dir, "").TopicPartition)
	}
	end, damage, err := r.End()
	if err == nil && damage != nil {
		err = damage
	}
	if err != nil {
		return nil, err
	}
	out := make([]retained, len(r.bases))
	for i, base := range r.bases {
		size, err := vfs.Size(r.fs, filepath.Join(r.dir, segment.FileName(base, segment.LogSuffix)))
		if err != nil {
			return nil, err
		}
		out[i] = retained{base: base, size: size, next: end, last: i == len(r.bases)-1}
		if !out[i].last {
			out[i].next = r.bases[i+1]
		}
	}
	return out, nil
}

func totalSize(segments []retained) (total int64) {
	for _, s := range segments {
		total += s.size
	}
	return total
}

// retention applies the rules, one after the other, to what is left.
type retention struct {
	Retention
	log   *LogReader
	left  []retained
	total int64 // bytes of what is left
	plan  Expiry
}

// apply takes segments away until the rule gives no reason for the next one.
func (p *retention) apply(rule func(retained) (string, error)) error {
	for len(p.left) > 0 {
		s := p.left[0]
		if s.next > p.HighWatermark || s.last && s.size == 0 {
			break
		}
		reason, err := rule(s)
		if err != nil {
			return err
		}
		if reason == "" {
			break
		}
		p.plan.Segments = append(p.plan.Segments, Expired{Base: s.base, Size: s.size, Reason: reason})
		p.plan.Roll = s.last
		p.left, p.total = p.left[1:], p.total-s.size
		p.plan.Start = s.next
	}
	if len(p.left) > 0 {
		p.plan.Start = p.left[0].base
	}
	return nil
}

// breachesStart: all of the segment lies below the log start. The active one stays.
func (p *retention) breachesStart(s retained) (string, error) {
	if !s.last && s.next <= p.log.o.LogStart {
		return BelowLogStart, nil
	}
	return "", nil
}

// breachesBytes: without the segment there is still as much as Bytes.
func (p *retention) breachesBytes(s retained) (string, error) {
	if p.Bytes >= 0 && p.total-s.size >= p.Bytes {
		return OverBytes, nil
	}
	return "", nil
}

// breachesMs: even the newest record of the segment is older than Ms. One record dated
// ahead keeps its segment, and with it all later ones.
func (p *retention) breachesMs(s retained) (string, error) {
	if p.Ms < 0 {
		return "", nil
	}
	newest, err := p.log.largestTimestamp(s)
	if err == nil && p.Now-newest > p.Ms {
		return OverAge, nil
	}
	return "", err
}

// largestTimestamp is that of the newest record as the segment's last time index entry
// has it, ms. Without one it is the modification time of the log. The active segment's
// index is not up to date, and MiniKafka's format has none: there the log is read.
func (r *LogReader) largestTimestamp(s retained) (newest int64, err error) {
	log, err := r.open(r.at(s.base))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	newest, err = log.lastTime()
	if err != nil {
		return 0, err
	}
	if s.last || log.mkb1 {
		tail, err := r.tailTimestamp(s.base, s.last && !log.mkb1)
		if err != nil {
			return 0, err
		}
		newest = max(newest, tail)
	}
	if newest >= 0 {
		return newest, nil
	}
	info, err := log.log.Stat()
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixMilli(), nil
}

// lastTime is the timestamp of the last time index entry, or -1.
func (s *reading) lastTime() (int64, error) {
	x, err := s.times()
	if err != nil || x == nil {
		return record.NoTimestamp, err
	}
	e, ok, err := x.Last()
	if err != nil || !ok {
		return record.NoTimestamp, err
	}
	return e.Timestamp, nil
}

// tailTimestamp is the largest timestamp of a segment's batches, from the last index
// entry on if the index is to be trusted for the rest; -1 if there is none.
func (r *LogReader) tailTimestamp(base int64, toLastEntry bool) (largest int64, err error) {
	at, _ := slices.BinarySearch(r.bases, base)
	c := r.cursor(at)
	c.toLastEntry = toLastEntry
	defer func() { err = errors.Join(err, c.Close()) }()
	largest = record.NoTimestamp
	for c.Next() && c.Segment() == base {
		if d := c.Damage(); d != nil {
			return largest, d
		}
		largest = max(largest, c.Batch().MaxTimestamp())
	}
	return largest, c.Err()
}

// PlanRetention finds the segments that may go; see LogReader.PlanRetention.
func (l *Log) PlanRetention(o Retention) (Expiry, error) {
	if err := l.ready(); err != nil {
		return Expiry{}, err
	}
	if err := l.relist(); err != nil {
		return Expiry{}, err
	}
	r, err := OpenReader(l.fs, l.dir, ReaderOptions{LogStart: l.config.LogStart})
	if err != nil {
		return Expiry{}, err
	}
	plan, err := r.PlanRetention(o)
	if bad, ok := errors.AsType[*corrupt.Error](err); ok {
		err = l.damaged(bad)
	}
	return plan, err
}

// Expire takes the segments of a plan away, the oldest first, each with its directory
// synced: a crash leaves a log that begins somewhere before the new start, never one
// with a hole. Nothing of them is kept. The log start checkpoint is the caller's.
//
//  1. if the active segment is to go, a new one is begun at the log end;
//  2. each segment goes: its .log first, then what is nothing without it;
//  3. epochs that end below the new start go (the file may know more, never less).
func (l *Log) Expire(plan Expiry) error {
	if plan.Roll {
		if _, err := l.Roll(); err != nil {
			return err
		}
	}
	if err := l.ready(); err != nil {
		return err
	}
	for _, s := range plan.Segments {
		if len(l.bases) < 2 || l.bases[0] != s.Base {
			return Errorf(Failed, "", "%s: segment %d is not the oldest any more", l.config.TopicPartition, s.Base)
		}
		if err := l.removeSegment(s.Base); err != nil {
			return l.fail(err)
		}
		l.bases = l.bases[1:]
		l.info("delete segment", slog.Int64("base_offset", s.Base), slog.String("reason", s.Reason))
	}
	return l.trimEpochs()
}

// segmentSuffixes are the files of a segment, the one that makes it a segment first.
var segmentSuffixes = []string{
	segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix, segment.TxnIndexSuffix, segment.SnapshotSuffix,
}

func (l *Log) removeSegment(base int64) error {
	for _, suffix := range segmentSuffixes {
		if err := removeIfThere(l.fs, l.path(segment.FileName(base, suffix))); err != nil {
			return err
		}
		if suffix == segment.LogSuffix {
			if err := l.fs.SyncDir(l.dir); err != nil {
				return err
			}
		}
	}
	return l.fs.SyncDir(l.dir)
}

// trimEpochs drops the leader epochs that end at or below the log start.
func (l *Log) trimEpochs() error {
	if !l.epochs.TruncateFromStart(l.Start()) {
		return nil
	}
	if err := checkpoint.WriteEpochs(l.fs, l.path(checkpoint.EpochFile), l.epochs); err != nil {
		return l.fail(err)
	}
	return nil
}

// MoveStart raises the log start offset, which lies anywhere up to the high watermark.
// The caller has checkpointed it.
func (l *Log) MoveStart(to int64) error {
	if err := l.ready(); err != nil {
		return err
	}
	if to < l.Start() || to > l.End() {
		return Errorf(NotFound, "OFFSET_OUT_OF_RANGE", "%s: offset %d is out of range, the log has %d to %d",
			l.config.TopicPartition, to, l.Start(), l.End())
	}
	l.config.LogStart = to
	return l.trimEpochs()
}
