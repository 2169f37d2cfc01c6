package index

import (
	"logdir/store/corrupt"
	"logdir/store/record"
)

// Report is the verdict on one index file.
type Report struct {
	// Entries is how many entries were judged: preallocated zeros are none.
	Entries int
	// Padding is the bytes of preallocated zeros behind the entries. A broker that was
	// killed leaves them; they are no damage.
	Padding int64
	// Older is how many entries follow the habits of brokers before 4.0. They are good.
	Older int
	// Unjudged is how many entries lead into damaged parts of the log.
	Unjudged int
	// Bad is the first damaged entry, of kind bad-index; nil if all are good. BadCount is
	// how many there are.
	Bad      *corrupt.Error
	BadCount int
	// Complete says of a time index that its last entry carries the segment's largest
	// timestamp, as in a segment that was rolled or closed.
	Complete bool
}

func (r *Report) bad(err *corrupt.Error, count int) {
	r.BadCount += count
	if r.Bad == nil {
		r.Bad = err
	}
}

// Checker judges the index files of one segment while its log is scanned once. It is fed
// the good batches, and told of damage, in the order of positions.
type Checker struct {
	offsets *offsetJudge
	times   *timeJudge
}

// NewChecker judges the index files of a segment that begins at offset base. Either may
// be nil.
func NewChecker(base int64, offsets *OffsetIndex, times *TimeIndex) *Checker {
	c := &Checker{}
	if offsets != nil {
		c.offsets = newOffsetJudge(base, offsets)
	}
	if times != nil {
		c.times = newTimeJudge(base, times)
	}
	return c
}

// Add takes the next good batch.
func (c *Checker) Add(s Span) { c.add(&s) }

// AddBatch is Add of SpanOf(b, pos) without its copies, which are felt where it is called
// for every batch of a log.
func (c *Checker) AddBatch(b *record.Batch, pos int64) {
	var s Span
	s.describe(b, pos)
	c.add(&s)
}

func (c *Checker) add(s *Span) {
	if j := c.offsets; j != nil && !j.pass(s) {
		j.consider(s)
	}
	if j := c.times; j != nil && !j.pass(s) {
		j.consider(s)
	}
}

// Damage says that behind the last good batch lies something that is none. Entries that
// lead there are not judged.
func (c *Checker) Damage() {
	if c.offsets != nil {
		c.offsets.damaged = true
	}
	if c.times != nil {
		c.times.damaged = true
	}
}

// Finish judges what is left and returns both reports; that of a file that was not given
// is zero. The error is an I/O error on an index file.
func (c *Checker) Finish() (offsets, times Report, err error) {
	if c.offsets != nil {
		offsets, err = c.offsets.finish()
	}
	if c.times != nil && err == nil {
		times, err = c.times.finish()
	}
	return offsets, times, err
}

// offsetJudge holds an offset index against the log.
type offsetJudge struct {
	Report
	lane lane[OffsetEntry]
	mkb1 bool
	last OffsetEntry // the last good entry, or one that is below all

	// group is an entry that names the last offset of several batches, of which the last
	// one is still to come; groupGap says that something unknown lies among them.
	group    item[OffsetEntry]
	groupGap bool

	prevLast int64 // last offset and end of the last good batch
	prevEnd  int64
	damaged  bool // something unknown lies behind it
}

func newOffsetJudge(base int64, x *OffsetIndex) *offsetJudge {
	j := &offsetJudge{mkb1: x.mkb1, last: OffsetEntry{base - 1, -1}, prevLast: base - 1}
	j.lane = lane[OffsetEntry]{
		table: x.table, padded: !x.mkb1,
		parse: x.parse,
		key:   func(e OffsetEntry) int64 { return e.Pos },
	}
	j.lane.open(&j.Report)
	return j
}

// pass takes the next batch if it lies between two entries, as most do: then there is
// only its end to remember. Short enough to be inlined.
func (j *offsetJudge) pass(s *Span) bool {
	if s.Pos >= j.lane.soon || j.group.ok || j.damaged {
		return false
	}
	j.prevLast, j.prevEnd = s.LastOffset, s.Pos+s.Size
	return true
}

// consider takes any other batch.
func (j *offsetJudge) consider(s *Span) {
	j.groupGap = j.groupGap || j.damaged
	j.settleGroup(s)
	if wrong, ok := j.lane.untangle(s.Pos, func(e OffsetEntry) bool { return e.Pos == s.Pos && j.fits(e, s) }); ok {
		j.badField(wrong, fieldPosition, "position %d is out of order", wrong.e.Pos)
	}
	for j.lane.due(s.Pos) {
		j.judge(j.lane.take(), s)
	}
	j.prevLast, j.prevEnd, j.damaged = s.LastOffset, s.Pos+s.Size, false
}

// judge holds an entry against s, the first batch at or behind its position.
func (j *offsetJudge) judge(it item[OffsetEntry], s *Span) {
	e := it.e
	switch {
	case e.Pos < s.Pos:
		j.nowhere(it)
		return
	case j.group.ok:
		j.badGroup()
	}
	switch {
	case e.Offset <= j.last.Offset:
		j.badField(it, fieldRelativeOffset, "offset %d does not rise from %d", e.Offset, j.last.Offset)
		return
	case e.Offset == j.exact(s):
	case j.fits(e, s):
		j.Older++
	case e.Offset > s.LastOffset && !j.mkb1:
		j.group, j.groupGap = it, false
		return
	default:
		j.badField(it, fieldRelativeOffset, "offset %d, the batch at byte %d is %d..%d", e.Offset, e.Pos, s.FirstOffset, s.LastOffset)
		return
	}
	j.last = e
}

// exact is the offset that the newest writer stores for s.
func (j *offsetJudge) exact(s *Span) int64 {
	if j.mkb1 {
		return s.FirstOffset
	}
	return s.LastOffset
}

// fits says whether the entry's offset is one that some writer stores for s alone: its
// last offset, or its first as Kafka did up to 1.1.
func (j *offsetJudge) fits(e OffsetEntry, s *Span) bool {
	switch {
	case j.mkb1:
		return e.Offset == s.FirstOffset
	case s.Legacy: // the first offset of a wrapper stands inside it
		return e.Offset > j.prevLast && e.Offset <= s.LastOffset
	}
	return e.Offset == s.FirstOffset || e.Offset == s.LastOffset
}

// nowhere judges an entry at whose position no good batch begins.
func (j *offsetJudge) nowhere(it item[OffsetEntry]) {
	if j.damaged && it.e.Pos >= j.prevEnd {
		j.Unjudged++
		return
	}
	j.badField(it, fieldPosition, "no batch begins at byte %d", it.e.Pos)
}

// settleGroup looks whether s ends the group of an entry by the habit of 2.0 to 3.9. A batch
// with an entry of its own belongs to no earlier group.
func (j *offsetJudge) settleGroup(s *Span) {
	switch {
	case !j.group.ok || s.LastOffset < j.group.e.Offset:
	case s.LastOffset == j.group.e.Offset && !j.lane.due(s.Pos):
		j.Older++
		j.last, j.group.ok = j.group.e, false
	default:
		j.badGroup()
	}
}

func (j *offsetJudge) badGroup() {
	it := j.group
	j.group.ok = false
	if j.damaged || j.groupGap {
		j.Unjudged++
		return
	}
	j.badField(it, fieldRelativeOffset, "offset %d ends no batch between byte %d and the next entry", it.e.Offset, it.e.Pos)
}

func (j *offsetJudge) finish() (Report, error) {
	if j.group.ok {
		j.badGroup()
	}
	for j.lane.cur.ok {
		it := j.lane.take()
		if !j.damaged && it.e.Pos >= j.prevEnd {
			j.badField(it, fieldPosition, "byte %d lies behind the last batch, which ends at %d", it.e.Pos, j.prevEnd)
			continue
		}
		j.nowhere(it)
	}
	return j.Report, j.lane.err
}

func (j *offsetJudge) badField(it item[OffsetEntry], field, format string, args ...any) {
	j.bad(j.lane.badEntry(it.i, field, format, args...), 1)
}

// timeJudge holds a time index against the log.
type timeJudge struct {
	Report
	lane lane[TimeEntry]
	last TimeEntry // the last good entry, or one that is below all

	max      TimeEntry // largest timestamp so far, and the last offset of its batch
	prevLast int64
	damaged  bool // something unknown lies behind the last good batch
}

func newTimeJudge(base int64, x *TimeIndex) *timeJudge {
	j := &timeJudge{last: TimeEntry{-1, base - 1}, max: TimeEntry{-1, base}, prevLast: base - 1}
	j.lane = lane[TimeEntry]{
		table: x.table, padded: true,
		parse: x.parse,
		key:   func(e TimeEntry) int64 { return e.Offset },
	}
	j.lane.open(&j.Report)
	return j
}

// pass takes the next batch if it lies between two entries, as most do: then there are
// only its end and its timestamp to remember. Short enough to be inlined.
func (j *timeJudge) pass(s *Span) bool {
	if s.LastOffset >= j.lane.soon {
		return false
	}
	if s.MaxTimestamp > j.max.Timestamp {
		j.max = TimeEntry{s.MaxTimestamp, s.LastOffset}
	}
	j.prevLast, j.damaged = s.LastOffset, false
	return true
}

// consider takes any other batch.
func (j *timeJudge) consider(s *Span) {
	if s.Legacy {
		known := *s
		known.FirstOffset, s = j.prevLast+1, &known
	}
	if wrong, ok := j.lane.untangle(s.LastOffset, func(e TimeEntry) bool { return j.fits(e, s) }); ok {
		j.badField(wrong, fieldRelativeOffset, "offset %d is out of order", wrong.e.Offset)
	}
	for j.lane.due(s.LastOffset) {
		j.judge(j.lane.take(), s)
	}
	if s.MaxTimestamp > j.max.Timestamp {
		j.max = TimeEntry{s.MaxTimestamp, s.LastOffset}
	}
	j.prevLast, j.damaged = s.LastOffset, false
}

func (j *timeJudge) fits(e TimeEntry, s *Span) bool {
	return e.Offset >= s.FirstOffset && e.Offset <= s.LastOffset && e.Timestamp == s.MaxTimestamp
}

// judge holds an entry against s, the first batch that ends at or behind its offset.
func (j *timeJudge) judge(it item[TimeEntry], s *Span) {
	e := it.e
	switch {
	case e.Offset < s.FirstOffset:
		j.nowhere(it)
		return
	case e.Timestamp <= j.last.Timestamp:
		j.badField(it, fieldTimestamp, "timestamp %d does not rise from %d", e.Timestamp, j.last.Timestamp)
		return
	case e.Timestamp == j.max.Timestamp && s.MaxTimestamp != e.Timestamp:
		j.badField(it, fieldRelativeOffset, "offset %d, timestamp %d stands at %d", e.Offset, e.Timestamp, j.max.Offset)
		return
	case e.Timestamp != s.MaxTimestamp:
		j.badField(it, fieldTimestamp, "timestamp %d, the largest in batch %d..%d is %d", e.Timestamp, s.FirstOffset, s.LastOffset, s.MaxTimestamp)
		return
	case e.Timestamp < j.max.Timestamp:
		j.badField(it, fieldTimestamp, "timestamp %d, offset %d before it has %d", e.Timestamp, j.max.Offset, j.max.Timestamp)
		return
	case e.Offset != s.LastOffset:
		j.Older++
	}
	j.last = e
}

// nowhere judges an entry whose offset no good batch holds.
func (j *timeJudge) nowhere(it item[TimeEntry]) {
	if j.damaged && it.e.Offset > j.prevLast {
		j.Unjudged++
		return
	}
	j.badField(it, fieldRelativeOffset, "no batch holds offset %d", it.e.Offset)
}

func (j *timeJudge) finish() (Report, error) {
	for j.lane.cur.ok {
		it := j.lane.take()
		if !j.damaged && it.e.Offset > j.prevLast {
			j.badField(it, fieldRelativeOffset, "offset %d lies behind the last batch, which ends with %d", it.e.Offset, j.prevLast)
			continue
		}
		j.nowhere(it)
	}
	j.Complete = j.last.Timestamp == j.max.Timestamp
	return j.Report, j.lane.err
}

func (j *timeJudge) badField(it item[TimeEntry], field, format string, args ...any) {
	j.bad(j.lane.badEntry(it.i, field, format, args...), 1)
}
