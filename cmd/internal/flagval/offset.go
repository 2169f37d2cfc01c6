package flagval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// OffsetKind says how an Offset names a place in a log.
type OffsetKind uint8

// The ways to name an offset.
const (
	// Exact: the offset N.
	Exact OffsetKind = iota
	// Start: the first offset that is kept, N behind it ("+N").
	Start
	// End: the high watermark, N before it ("-N").
	End
	// AtTime: the first offset whose timestamp is Time or later.
	AtTime
	// Stored: the group's committed offset.
	Stored
)

// Offset is one end of a range of offsets.
type Offset struct {
	Kind OffsetKind
	N    int64 // Exact: the offset; Start and End: the distance, not negative
	Time Moment
	// Relative says that the offset was written with a sign. Where a committed offset
	// is moved, such a one counts from that instead.
	Relative bool
}

// Shift is the signed distance of a relative offset.
func (o Offset) Shift() int64 {
	if o.Kind == End {
		return -o.N
	}
	return o.N
}

// Moment is a time that may be relative to the clock ("-1h").
type Moment struct {
	Millis int64
	Before time.Duration // if not zero: so long before the clock
}

// At is the moment in ms, for the clock now.
func (m Moment) At(now time.Time) int64 {
	if m.Before != 0 {
		return now.Add(-m.Before).UnixMilli()
	}
	return m.Millis
}

// OffsetSpec is a place in a log or a range of it:
//
//	start end N -N +N stored     N:M N: :M     @T @T:U
//
// T is a time: ms, RFC 3339, YYYY-MM-DD, or an age such as -1h. The zero value is the
// whole log. It is a flag value.
type OffsetSpec struct {
	From  Offset
	To    Offset // not included; meaningful only with HasTo
	HasTo bool

	text string
}

// WholeLog is the range from the first offset kept to the end.
func WholeLog() OffsetSpec { return OffsetSpec{From: Offset{Kind: Start}, text: "start"} }

// String is the range as it was written.
func (o *OffsetSpec) String() string { return o.text }

// Type names the value in help.
func (o *OffsetSpec) Type() string { return "offset" }

// Set reads the range.
func (o *OffsetSpec) Set(s string) error {
	spec, err := ParseOffsetSpec(s)
	if err != nil {
		return err
	}
	*o = spec
	return nil
}

// offsetNames are the words of Kafka's and other tools for the two ends.
var offsetNames = map[string]OffsetKind{
	"start": Start, "beginning": Start, "earliest": Start, "oldest": Start,
	"end": End, "latest": End, "newest": End,
	"stored": Stored,
}

// errOffset explains the syntax.
var errOffset = errors.New("want start, end, stored, N, -N, +N, N:M, @TIME or @TIME:TIME (see: logdir help offsets)")

// ParseOffsetSpec reads a place or a range.
func ParseOffsetSpec(s string) (OffsetSpec, error) {
	spec := OffsetSpec{text: s}
	var err error
	switch {
	case strings.HasPrefix(s, "s@"), strings.HasPrefix(s, "e@"):
		err = spec.setKcat(s[0], s[2:])
	case strings.HasPrefix(s, "@"):
		err = spec.setTimes(s[1:])
	default:
		err = spec.setOffsets(s)
	}
	if err != nil {
		return OffsetSpec{}, fmt.Errorf("%q: %w", s, err)
	}
	return spec, nil
}

// setOffsets reads N, N:M, N: and :M; a name may stand for either end.
func (o *OffsetSpec) setOffsets(s string) (err error) {
	from, to, isRange := strings.Cut(s, ":")
	if s == "" || s == ":" {
		return errOffset
	}
	o.From = Offset{Kind: Start}
	if from != "" || !isRange {
		if o.From, err = parseOffset(from); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	o.HasTo = true
	if o.To, err = parseOffset(to); err != nil {
		return err
	}
	if o.From.Kind == Exact && o.To.Kind == Exact && o.To.N < o.From.N {
		return errors.New("the range ends before it starts")
	}
	return nil
}

// parseOffset reads one end.
func parseOffset(s string) (Offset, error) {
	if kind, ok := offsetNames[s]; ok {
		return Offset{Kind: kind}, nil
	}
	if s == "" {
		return Offset{}, errOffset
	}
	sign, digits := s[0], s
	if sign == '-' || sign == '+' {
		digits = s[1:]
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return Offset{}, errOffset
	}
	switch sign {
	case '-':
		return Offset{Kind: End, N: int64(n), Relative: true}, nil
	case '+':
		return Offset{Kind: Start, N: int64(n), Relative: true}, nil
	}
	return Offset{Kind: Exact, N: int64(n)}, nil
}

// setTimes reads T or T:U. A time holds colons itself, so the right one is found by
// trying.
func (o *OffsetSpec) setTimes(s string) error {
	if t, err := ParseMoment(s); err == nil {
		o.From = Offset{Kind: AtTime, Time: t}
		return nil
	}
	for i := range len(s) {
		if s[i] != ':' {
			continue
		}
		from, err := ParseMoment(s[:i])
		if err != nil {
			continue
		}
		to, err := ParseMoment(strings.TrimPrefix(s[i+1:], "@"))
		if err != nil {
			continue
		}
		o.From, o.To, o.HasTo = Offset{Kind: AtTime, Time: from}, Offset{Kind: AtTime, Time: to}, true
		return nil
	}
	return errTime
}

// setKcat reads kcat's s@T, from that time on, and e@T, up to it.
func (o *OffsetSpec) setKcat(end byte, s string) error {
	t, err := ParseMoment(s)
	if err != nil {
		return err
	}
	at := Offset{Kind: AtTime, Time: t}
	if end == 's' {
		o.From = at
		return nil
	}
	o.From, o.To, o.HasTo = Offset{Kind: Start}, at, true
	return nil
}

var errTime = errors.New("want a time: ms, RFC 3339, YYYY-MM-DD, or an age such as -1h")

// withoutZone is how kafka-consumer-groups wants a time: RFC 3339 but for the zone, in UTC.
const withoutZone = "2006-01-02T15:04:05.999999999"

// ParseMoment reads a time: ms since 1970, RFC 3339 (without a zone in UTC), a day (its
// start, UTC), or an age.
func ParseMoment(s string) (Moment, error) {
	if ms, err := strconv.ParseUint(s, 10, 63); err == nil {
		return Moment{Millis: int64(ms)}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, withoutZone, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return Moment{Millis: t.UnixMilli()}, nil
		}
	}
	if age, ok := strings.CutPrefix(s, "-"); ok {
		if d, err := ParseDuration(age); err == nil && d > 0 {
			return Moment{Before: d}, nil
		}
	}
	return Moment{}, errTime
}
