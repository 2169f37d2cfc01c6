package index

import (
	"math"

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
//
// Most batches lie between two entries, and all there is to do is to remember where they
// end. soonPos and soonOffset say which do: those that begin before the one and end before
// the other.
type Checker struct {
	offsets *offsetJudge
	times   *timeJudge

	soonPos, soonOffset int64
	passed              passed
}

// passed is what is remembered of the good batches so far.
type passed struct {
	last, end int64     // last offset and end of the last one
	max       TimeEntry // largest timestamp, and the last offset of the first batch with it
}

// always is below all positions and offsets.
const always = math.MinInt64

// NewChecker judges the index files of a segment that begins at offset base. Either may
// be nil.
func NewChecker(base int64, offsets *OffsetIndex, times *TimeIndex) *Checker {
	c := &Checker{passed: passed{last: base - 1, max: TimeEntry{-1, base}}}
	if offsets != nil {
		c.offsets = newOffsetJudge(base, offsets, &c.passed)
	}
	if times != nil {
		c.times = newTimeJudge(base, times, &c.passed)
	}
	c.look()
	return c
}

// look finds out which batches may be passed.
func (c *Checker) look() {
	c.soonPos, c.soonOffset = never, never
	if j := c.offsets; j != nil {
		c.soonPos = j.soon()
	}
	if j := c.times; j != nil {
		c.soonOffset = j.soon()
	}
}

// Add takes the next good batch.
func (c *Checker) Add(s Span) {
	if j := c.offsets; j != nil {
		j.consider(&s)
	}
	if j := c.times; j != nil {
		j.consider(&s)
	}
	c.pass(s.LastOffset, s.Pos+s.Size, s.MaxTimestamp)
	c.look()
}

// AddBatch is Add of SpanOf(b, pos), made for being called for every batch of a log.
func (c *Checker) AddBatch(b *record.Batch, pos int64) {
	if _, last, timestamp := b.Extent(); pos < c.soonPos && last < c.soonOffset {
		c.pass(last, pos+int64(b.Size()), timestamp)
		return
	}
	c.Add(SpanOf(b, pos))
}

func (c *Checker) pass(last, end, timestamp int64) {
	p := &c.passed
	p.last, p.end = last, end
	if timestamp > p.max.Timestamp {
		p.max = TimeEntry{timestamp, last}
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
	c.look()
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
	lane lane
	mkb1 bool
	last OffsetEntry // the last good entry, or one that is below all

	// group is an entry that names the last offset of several batches, of which the last
	// one is still to come; groupGap says that something unknown lies among them.
	group    item
	groupGap bool

	passed  *passed
	damaged bool // something unknown lies behind the last good batch
}

func newOffsetJudge(base int64, x *OffsetIndex, p *passed) *offsetJudge {
	j := &offsetJudge{mkb1: x.mkb1, last: OffsetEntry{base - 1, -1}, passed: p}
	j.lane = lane{table: x.table, padded: !x.mkb1, parse: func(entry []byte) (key, value int64) {
		e := x.parse(entry)
		return e.Pos, e.Offset
	}}
	j.lane.open(&j.Report)
	return j
}

// soon is the first position at which a batch must be considered.
func (j *offsetJudge) soon() int64 {
	if j.group.ok || j.damaged {
		return always
	}
	return j.lane.soon()
}

// consider takes the next good batch.
func (j *offsetJudge) consider(s *Span) {
	j.groupGap = j.groupGap || j.damaged
	j.settleGroup(s)
	if wrong, ok := j.lane.untangle(s.Pos, func(it item) bool { return it.key == s.Pos && j.fits(it.value, s) }); ok {
		j.badField(wrong, fieldPosition, "position %d is out of order", wrong.key)
	}
	for j.lane.due(s.Pos) {
		j.judge(j.lane.take(), s)
	}
	j.damaged = false
}

// judge holds an entry against s, the first batch at or behind its position.
func (j *offsetJudge) judge(it item, s *Span) {
	e := OffsetEntry{it.value, it.key}
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
	case j.fits(e.Offset, s):
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
func (j *offsetJudge) fits(offset int64, s *Span) bool {
	switch {
	case j.mkb1:
		return offset == s.FirstOffset
	case s.Legacy: // the first offset of a wrapper stands inside it
		return offset > j.passed.last && offset <= s.LastOffset
	}
	return offset == s.FirstOffset || offset == s.LastOffset
}

// nowhere judges an entry at whose position no good batch begins.
func (j *offsetJudge) nowhere(it item) {
	if j.damaged && it.key >= j.passed.end {
		j.Unjudged++
		return
	}
	j.badField(it, fieldPosition, "no batch begins at byte %d", it.key)
}

// settleGroup looks whether s ends the group of an entry by the habit of 2.0 to 3.9. A batch
// with an entry of its own belongs to no earlier group.
func (j *offsetJudge) settleGroup(s *Span) {
	switch {
	case !j.group.ok || s.LastOffset < j.group.value:
	case s.LastOffset == j.group.value && !j.lane.due(s.Pos):
		j.Older++
		j.last, j.group.ok = OffsetEntry{j.group.value, j.group.key}, false
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
	j.badField(it, fieldRelativeOffset, "offset %d ends no batch between byte %d and the next entry", it.value, it.key)
}

func (j *offsetJudge) finish() (Report, error) {
	if j.group.ok {
		j.badGroup()
	}
	for j.lane.cur.ok {
		it := j.lane.take()
		if !j.damaged && it.key >= j.passed.end {
			j.badField(it, fieldPosition, "byte %d lies behind the last batch, which ends at %d", it.key, j.passed.end)
			continue
		}
		j.nowhere(it)
	}
	return j.Report, j.lane.err
}

func (j *offsetJudge) badField(it item, field, format string, args ...any) {
	j.bad(j.lane.badEntry(it.i, field, format, args...), 1)
}

// timeJudge holds a time index against the log.
type timeJudge struct {
	Report
	lane lane
	base int64
	last TimeEntry // the last good entry, or one that is below all

	passed  *passed
	damaged bool // something unknown lies behind the last good batch
}

func newTimeJudge(base int64, x *TimeIndex, p *passed) *timeJudge {
	j := &timeJudge{base: base, last: TimeEntry{-1, base - 1}, passed: p}
	j.lane = lane{table: x.table, padded: true, parse: func(entry []byte) (key, value int64) {
		e := x.parse(entry)
		return e.Offset, e.Timestamp
	}}
	j.lane.open(&j.Report)
	return j
}

// soon is the first last offset at which a batch must be considered.
func (j *timeJudge) soon() int64 {
	if j.damaged {
		return always
	}
	return j.lane.soon()
}

// consider takes the next good batch.
func (j *timeJudge) consider(s *Span) {
	if s.Legacy {
		known := *s
		known.FirstOffset, s = j.passed.last+1, &known
	}
	if wrong, ok := j.lane.untangle(s.LastOffset, func(it item) bool { return j.fits(it, s) }); ok {
		j.badField(wrong, fieldRelativeOffset, "offset %d is out of order", wrong.key)
	}
	for j.lane.due(s.LastOffset) {
		j.judge(j.lane.take(), s)
	}
	j.damaged = false
}

func (j *timeJudge) fits(it item, s *Span) bool {
	return it.key >= s.FirstOffset && it.key <= s.LastOffset && it.value == s.MaxTimestamp
}

// judge holds an entry against s, the first batch that ends at or behind its offset.
func (j *timeJudge) judge(it item, s *Span) {
	e := TimeEntry{it.value, it.key}
	switch {
	case e.Offset < s.FirstOffset:
		j.nowhere(it)
		return
	case e.Timestamp <= j.last.Timestamp:
		j.badField(it, fieldTimestamp, "timestamp %d does not rise from %d", e.Timestamp, j.last.Timestamp)
		return
	case e.Timestamp == j.passed.max.Timestamp && s.MaxTimestamp != e.Timestamp:
		j.badField(it, fieldRelativeOffset, "offset %d, timestamp %d stands at %d", e.Offset, e.Timestamp, j.passed.max.Offset)
		return
	case e.Timestamp != s.MaxTimestamp:
		j.badField(it, fieldTimestamp, "timestamp %d, the largest in batch %d..%d is %d", e.Timestamp, s.FirstOffset, s.LastOffset, s.MaxTimestamp)
		return
	case e.Timestamp < j.passed.max.Timestamp:
		j.badField(it, fieldTimestamp, "timestamp %d, offset %d before it has %d", e.Timestamp, j.passed.max.Offset, j.passed.max.Timestamp)
		return
	case e.Offset != s.LastOffset:
		j.Older++
	}
	j.last = e
}

// nowhere judges an entry whose offset no good batch holds.
func (j *timeJudge) nowhere(it item) {
	if j.damaged && it.key > j.passed.last {
		j.Unjudged++
		return
	}
	j.badField(it, fieldRelativeOffset, "no batch holds offset %d", it.key)
}

func (j *timeJudge) finish() (Report, error) {
	for j.lane.cur.ok {
		it := j.lane.take()
		if !j.damaged && it.key > j.passed.last {
			j.badField(it, fieldRelativeOffset, "offset %d lies behind the last batch, which ends with %d", it.key, j.passed.last)
			continue
		}
		j.nowhere(it)
	}
	j.settleZeros()
	j.Complete = j.last.Timestamp == j.passed.max.Timestamp
	return j.Report, j.lane.err
}

// settleZeros takes the first entry of nothing but zeros for what it says, timestamp 0 at the
// base offset, if that is the largest timestamp.
func (j *timeJudge) settleZeros() {
	width := int64(j.lane.width)
	if j.Entries > 0 || j.Padding < width || j.passed.max != (TimeEntry{0, j.base}) {
		return
	}
	j.last = j.passed.max
	j.Entries, j.Padding = 1, j.Padding-width
}

func (j *timeJudge) badField(it item, field, format string, args ...any) {
	j.bad(j.lane.badEntry(it.i, field, format, args...), 1)
}
