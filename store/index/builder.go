package index

import (
	"fmt"
	"math"

	"logdir/store/record"
)

// DefaultInterval is Kafka's index.interval.bytes, and MiniKafka's.
const DefaultInterval = 4096

// MaxRelativeOffset is the largest distance from the base offset that an entry can hold.
const MaxRelativeOffset = math.MaxInt32

// Span is what an index needs to know of a batch.
type Span struct {
	// FirstOffset and LastOffset are what the batch takes. The first of a v0 or v1 wrapper
	// is not known without reading it; then it is the last as well, and Legacy is set.
	FirstOffset, LastOffset int64
	// Pos is the batch's first byte in the .log, Size its bytes.
	Pos, Size int64
	// MaxTimestamp is the batch's largest timestamp, ms, or -1.
	MaxTimestamp int64
	// Legacy says that the batch is a v0 or v1 entry.
	Legacy bool
}

// SpanOf describes the batch b that stands at byte pos. MKB1 has no time index, so there
// the timestamps, which stand only in the records, are not looked for.
func SpanOf(b *record.Batch, pos int64) (s Span) {
	s.FirstOffset, s.LastOffset, s.MaxTimestamp = b.Extent()
	s.Pos, s.Size, s.Legacy = pos, int64(b.Size()), b.Format() <= record.V1
	return s
}

// Builder makes the index bytes of one segment from its batches, in log order, by the
// rules of Kafka 4.x: those of an append and those of a recovery are the same here.
type Builder struct {
	base     int64
	interval int64
	mkb1     bool

	offsets, times []byte
	state          State
}

// State is all that a Builder remembers of what it was fed, besides the bytes.
type State struct {
	// Entries and TimeEntries count the entries; the last of each stands beside.
	Entries, TimeEntries int
	Last                 OffsetEntry
	LastTime             TimeEntry
	// Max is the largest timestamp so far with the last offset of the first batch that
	// carries it; its Timestamp is -1 if there was none.
	Max TimeEntry
}

// NewBuilder indexes a segment that begins at offset base; interval is
// index.interval.bytes.
func NewBuilder(base int64, interval int) *Builder {
	return ResumeBuilder(base, interval, initialState(base))
}

// NewMKB1Builder indexes an MKB1 segment. It has no time index.
func NewMKB1Builder(base int64, interval int) *Builder {
	b := NewBuilder(base, interval)
	b.mkb1 = true
	return b
}

// ResumeBuilder goes on where another Builder stood, or where ReadState found that the
// files stop. Index and TimeIndex then return only what comes on top.
func ResumeBuilder(base int64, interval int, s State) *Builder {
	return &Builder{base: base, interval: int64(interval), state: s}
}

func initialState(base int64) State {
	return State{LastTime: TimeEntry{-1, base}, Max: TimeEntry{-1, base}}
}

// ReadState finds where the index files of a segment stop. A Builder that resumes there
// must first be fed the batches from byte State.Last.Pos on again, whose timestamps it does
// not know; it then writes what one that was fed all batches would write. (A broker
// that reopens a segment counts the interval from where it reopened; that is not done here.)
func ReadState(base int64, offsets *OffsetIndex, times *TimeIndex) (State, error) {
	s := initialState(base)
	var err error
	if s.Entries, err = offsets.EffectiveLen(); err != nil {
		return s, err
	}
	if s.Entries > 0 {
		if s.Last, err = offsets.At(s.Entries - 1); err != nil {
			return s, err
		}
	}
	if times == nil {
		return s, nil
	}
	return s, s.readTimes(times)
}

func (s *State) readTimes(times *TimeIndex) (err error) {
	if s.TimeEntries, err = times.EffectiveLen(); err != nil || s.TimeEntries == 0 {
		return err
	}
	s.LastTime, err = times.At(s.TimeEntries - 1)
	s.Max = s.LastTime
	return err
}

// ResumeMKB1Builder is ResumeBuilder for an MKB1 segment.
func ResumeMKB1Builder(base int64, interval int, s State) *Builder {
	b := ResumeBuilder(base, interval, s)
	b.mkb1 = true
	return b
}

// Add takes the next batch. A violation is what a broker's recovery would stumble over;
// the batch is then not indexed, and the Builder can go on.
func (b *Builder) Add(s Span) *OrderError {
	if err := b.checkRange(s); err != nil {
		return err
	}
	if !b.mkb1 && s.MaxTimestamp > b.state.Max.Timestamp {
		b.state.Max = TimeEntry{s.MaxTimestamp, s.LastOffset}
	}
	if !b.due(s) {
		return nil
	}
	return b.index(s)
}

// due says whether the batch gets an entry.
func (b *Builder) due(s Span) bool {
	if b.mkb1 {
		return b.state.Entries == 0 || s.Pos-b.state.Last.Pos >= b.interval
	}
	return s.Pos-b.state.Last.Pos > b.interval
}

func (b *Builder) index(s Span) *OrderError {
	entry := OffsetEntry{s.LastOffset, s.Pos}
	if b.mkb1 {
		entry.Offset = s.FirstOffset
	}
	if last := b.state.Last; b.state.Entries > 0 && entry.Offset <= last.Offset {
		return &OrderError{Rule: OffsetOrder, Offset: entry.Offset, Last: last.Offset, Pos: s.Pos}
	}
	b.state.Last = entry
	b.state.Entries++
	if b.mkb1 {
		b.offsets = AppendMKB1Entry(b.offsets, b.base, entry)
		return nil
	}
	b.offsets = AppendOffsetEntry(b.offsets, b.base, entry)
	return b.offerTime(s.Pos)
}

// offerTime writes a time entry if the largest timestamp grew since the last one.
func (b *Builder) offerTime(pos int64) *OrderError {
	s := &b.state
	if s.TimeEntries > 0 && s.Max.Offset < s.LastTime.Offset {
		return &OrderError{Rule: TimeOrder, Offset: s.Max.Offset, Last: s.LastTime.Offset, Pos: pos}
	}
	if s.Max.Timestamp > s.LastTime.Timestamp {
		b.times = AppendTimeEntry(b.times, b.base, s.Max)
		s.LastTime = s.Max
		s.TimeEntries++
	}
	return nil
}

func (b *Builder) checkRange(s Span) *OrderError {
	limit := int64(MaxRelativeOffset)
	if b.mkb1 {
		limit = math.MaxUint32
	}
	if relative := s.LastOffset - b.base; relative < 0 || relative > limit {
		return &OrderError{Rule: OffsetRange, Offset: s.LastOffset, Last: b.base, Pos: s.Pos}
	}
	return nil
}

// Finish offers the last time entry, as a roll, a clean close and the end of a recovery do.
// The Builder can go on afterwards.
func (b *Builder) Finish() *OrderError {
	if b.mkb1 {
		return nil
	}
	return b.offerTime(b.state.Last.Pos)
}

// Index is the bytes of the .index; TimeIndex those of the .timeindex, both without
// padding. They are valid until the next Add, Finish or Drain.
func (b *Builder) Index() []byte     { return b.offsets }
func (b *Builder) TimeIndex() []byte { return b.times }

// Drain forgets the bytes, once they are written, and keeps the state.
func (b *Builder) Drain() { b.offsets, b.times = b.offsets[:0], b.times[:0] }

// State is where the Builder stands.
func (b *Builder) State() State { return b.state }

// Full says that a broker would roll the segment for its index files, which it creates
// with indexBytes (segment.index.bytes): the time index counts as full one entry early,
// to keep room for the one that the roll adds.
func (b *Builder) Full(indexBytes int) bool {
	return b.state.Entries >= indexBytes/OffsetEntrySize || b.state.TimeEntries >= indexBytes/TimeEntrySize-1
}

// Rule is a rule of the index files that batches can break.
type Rule uint8

// The rules, in the order in which a broker's recovery checks them for each batch.
const (
	// OffsetRange: the last offset lies within 2147483647 of the base offset. A broker
	// that finds it broken tries to split the segment, and usually does not start.
	OffsetRange Rule = iota + 1
	// OffsetOrder: offset index entries rise. A broker empties the segment.
	OffsetOrder
	// TimeOrder: time index entries do not fall in offset. A broker empties the segment.
	TimeOrder
)

// OrderError says that batches cannot be indexed as they stand.
type OrderError struct {
	Rule Rule
	// Offset is what would be stored; Last what it conflicts with: the last entry's offset,
	// or the base offset.
	Offset, Last int64
	// Pos is the byte of the batch at which it was found.
	Pos int64
}

// Error names the rule with both offsets.
func (e *OrderError) Error() string {
	switch e.Rule {
	case OffsetRange:
		return fmt.Sprintf("byte %d: offset %d is out of the range of a segment at %d", e.Pos, e.Offset, e.Last)
	case OffsetOrder:
		return fmt.Sprintf("byte %d: offset %d does not rise from the indexed %d", e.Pos, e.Offset, e.Last)
	}
	return fmt.Sprintf("byte %d: offset %d of the largest timestamp falls below the indexed %d", e.Pos, e.Offset, e.Last)
}
