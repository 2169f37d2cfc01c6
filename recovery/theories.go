package recovery

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// suspect is a damaged range with what its neighbours say.
type suspect struct {
	damage
	raw []byte // the range
	// first and limit bound the offsets that a batch here can have: first is the log end in
	// front of it, limit the first offset behind it. limit is math.MaxInt64 if nothing tells.
	first, limit int64
	// epoch and nextEpoch are the leader epochs of the neighbours, -1 if nothing tells.
	epoch, nextEpoch int32
	// joined says that the batch behind goes on where this one, by its own offset, ends.
	joined bool
}

// prove looks at one damaged range. It answers nil if nothing, or more than one thing,
// explains it.
func (m *maker) prove(i int, g *segmentSurvey, d damage) (*proof, error) {
	if d.Size < record.PrefixSize || d.Size > maxFixFrame {
		return nil, nil
	}
	f, err := m.fs.Open(filepath.Join(m.dir, g.Log))
	if err != nil {
		return nil, err
	}
	s, err := m.suspect(i, g, d, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, readProblem(filepath.Join(m.dir, g.Log), err)
	}
	var proved []*proof
	for _, theory := range []func(*suspect) *proof{wrongLength, wrongMagic, wrongOffset, wrongEpoch, wrongByte} {
		if p := theory(s); p != nil && s.holds(p) {
			proved = append(proved, p)
		}
	}
	if len(proved) != 1 {
		return nil, nil
	}
	if misplaced, err := m.misplaced(s, proved[0]); err != nil || misplaced {
		return nil, err
	}
	return proved[0], nil
}

// misplaced says whether a batch whose base offset would be put back may as well be right
// and stand in the wrong place: the log has a gap just where its own offset is.
func (m *maker) misplaced(s *suspect, p *proof) (bool, error) {
	b, ok := s.goodBatch()
	if p.pos != s.Pos || !ok {
		return false, nil
	}
	if s.joined {
		return true, nil // with a neighbour: rather the file's name is wrong
	}
	if b.BaseOffset() < m.list.Segments[0].Base || b.BaseOffset() > m.after.end() {
		return false, nil
	}
	at := len(m.list.Segments) - 1
	for m.list.Segments[at].Base > b.BaseOffset() {
		at--
	}
	taken, err := m.taken(m.after.segments[at], at, b.BaseOffset(), b.LastOffset())
	return !taken, err
}

// taken says whether a good batch of a segment holds one of the offsets.
func (m *maker) taken(g *segmentSurvey, i int, first, last int64) (bool, error) {
	f, err := m.fs.Open(filepath.Join(m.dir, g.Log))
	if err != nil {
		return false, err
	}
	c := Change{Edits: m.edits[g.Base]}
	log := c.Patched(f, g.size)
	s := segment.NewScanner(log, log.Size(), segment.Options{Base: g.Base, Limit: m.limit(i), LogEnd: corrupt.Unknown})
	found := false
	for !found && s.Next() {
		found = s.Damage() == nil && s.Batch().BaseOffset() <= last && s.Batch().LastOffset() >= first
	}
	return found, readProblem(filepath.Join(m.dir, g.Log), errors.Join(s.Err(), f.Close()))
}

func (m *maker) suspect(i int, g *segmentSurvey, d damage, f vfs.ReadFile) (*suspect, error) {
	c := Change{Edits: m.edits[g.Base]}
	log := c.Patched(f, g.size)
	s := &suspect{damage: d, raw: make([]byte, d.Size), first: max(d.before, g.Base), limit: math.MaxInt64, epoch: d.epoch, nextEpoch: -1}
	if n, err := log.ReadAt(s.raw, d.Pos); n < len(s.raw) {
		return nil, err
	}
	if next, ok := headerAt(log, d.Pos+d.Size); ok && d.LastOffset != corrupt.Unknown {
		s.joined = next.BaseOffset() == d.LastOffset+1
	}
	switch {
	case d.NextOffset != corrupt.Unknown:
		s.limit = d.NextOffset
		s.nextEpoch = epochAt(log, d.NextPos)
	case m.limit(i) > 0:
		s.limit = m.limit(i)
	default:
		s.limit = m.endHint(s.first)
	}
	if s.epoch < 0 {
		s.epoch = m.epochHint(s.first)
	}
	return s, nil
}

// epochAt reads the leader epoch of the batch at pos.
func epochAt(log Patched, pos int64) int32 {
	b, ok := headerAt(log, pos)
	if !ok || b.Format() != record.V2 {
		return record.NoLeaderEpoch
	}
	return b.LeaderEpoch()
}

// headerAt views the header at pos, if one can be there.
func headerAt(log Patched, pos int64) (record.Batch, bool) {
	head := make([]byte, min(record.HeaderSize, max(log.Size()-pos, 0)))
	if _, err := log.ReadAt(head, pos); err != nil {
		return record.Batch{}, false
	}
	b, _, ok := record.ViewHeader(head)
	return b, ok
}

// endHint is the log end that the newest producer snapshot is named after, if it lies
// beyond first.
func (m *maker) endHint(first int64) int64 {
	if n := len(m.list.Snapshots); n > 0 && m.list.Snapshots[n-1].Base > first {
		return m.list.Snapshots[n-1].Base
	}
	return math.MaxInt64
}

// epochHint is what leader-epoch-checkpoint says of an offset, -1 if it says nothing.
func (m *maker) epochHint(offset int64) int32 {
	epochs, err := checkpoint.ReadEpochs(m.fs, filepath.Join(m.dir, checkpoint.EpochFile))
	if err != nil {
		return record.NoLeaderEpoch
	}
	return epochs.EpochAt(offset)
}

// format is what the range would be, were its magic right: v2 unless it says v0 or v1.
func (s *suspect) format() record.Format {
	if _, f, _ := record.Sniff(s.raw); f == record.V0 || f == record.V1 || f == record.MKB1 {
		return f
	}
	return record.V2
}

// whole is the frame as long as its length field says, nil if that is not possible.
func (s *suspect) whole() []byte {
	size, _, _ := record.Sniff(s.raw)
	if size > int64(len(s.raw)) || size < record.PrefixSize {
		return nil
	}
	return s.raw[:size]
}

func (s *suspect) change(field string, at int, old, new []byte, from, to int64, why string) *proof {
	return &proof{
		pos: s.Pos + int64(at), old: old, new: new,
		words: fmt.Sprintf("restored %s at byte %d: %d to %d (%s)", field, s.Pos+int64(at), from, to, why),
	}
}

// wrongLength: with the length that reaches to the end of the range the checksum is right.
func wrongLength(s *suspect) *proof {
	f := s.format()
	n := len(s.raw)
	if f == record.MKB1 || f == record.V2 && n < record.HeaderSize || n < 26 {
		return nil
	}
	have := int32(binary.BigEndian.Uint32(s.raw[8:]))
	stored := binary.BigEndian.Uint32(s.raw[checksumPos(f):])
	if int64(have) == int64(n-12) || record.Checksum(0, f, s.raw[f.ChecksumStart():]) != stored {
		return nil
	}
	return s.change("batchLength", 8, s.raw[8:12], binary.BigEndian.AppendUint32(nil, uint32(n-12)), int64(have), int64(n-12), "the stored crc matches")
}

// wrongMagic: as a v2 batch its checksum is right.
func wrongMagic(s *suspect) *proof {
	raw := s.whole()
	if len(raw) < record.HeaderSize || raw[16] == byte(record.V2) || s.format() == record.MKB1 {
		return nil
	}
	if record.Checksum(0, record.V2, raw[record.V2.ChecksumStart():]) != binary.BigEndian.Uint32(raw[17:]) {
		return nil
	}
	return s.change("magic", 16, raw[16:17], []byte{byte(record.V2)}, int64(int8(raw[16])), 2, "the stored crc matches a v2 batch")
}

// wrongOffset: the checksum is right, the base offset does not fit between the neighbours,
// and only one value does.
func wrongOffset(s *suspect) *proof {
	b, ok := s.goodBatch()
	if !ok || b.BaseOffset() >= s.first && b.LastOffset() < s.limit || s.limit == math.MaxInt64 {
		return nil
	}
	delta := b.LastOffset() - b.BaseOffset()
	from, to := s.first, s.limit-delta-1
	if b.Format() != record.V2 {
		from, to = s.first, s.limit-1
	}
	want, why := from, "the only value that fits between its neighbours"
	if from != to {
		want, why = oneFlip(b.BaseOffset(), 64, func(n int64) bool { return n >= from && n <= to }), "the only value one flipped bit away that fits"
	}
	if want < from || want > to {
		return nil
	}
	return s.change("baseOffset", 0, s.raw[:8], binary.BigEndian.AppendUint64(nil, uint64(want)), b.BaseOffset(), want, why)
}

// oneFlip is the only value one flipped bit away from n that fits, or -1.
func oneFlip(n int64, width int, fits func(int64) bool) int64 {
	found := int64(-1)
	for i := range width {
		if c := n ^ 1<<i; fits(c) {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// wrongEpoch: the checksum and the offsets are right, and only one leader epoch fits.
func wrongEpoch(s *suspect) *proof {
	b, ok := s.goodBatch()
	if !ok || b.Format() != record.V2 || b.BaseOffset() < s.first || b.LastOffset() >= s.limit {
		return nil
	}
	have := b.LeaderEpoch()
	if s.epoch < 0 || s.nextEpoch < s.epoch || have >= s.epoch && have <= s.nextEpoch {
		return nil
	}
	want, why := int64(s.epoch), "the only value that fits between its neighbours"
	if s.epoch != s.nextEpoch {
		want = oneFlip(int64(have), 32, func(n int64) bool { return n >= int64(s.epoch) && n <= int64(s.nextEpoch) })
		why = "the only value one flipped bit away that fits"
	}
	if want < 0 {
		return nil
	}
	return s.change("partitionLeaderEpoch", 12, s.raw[12:16], binary.BigEndian.AppendUint32(nil, uint32(want)), int64(have), want, why)
}

// goodBatch is the range as a batch, if its checksum is right.
func (s *suspect) goodBatch() (record.Batch, bool) {
	raw := s.whole()
	if raw == nil {
		return record.Batch{}, false
	}
	b, damage := record.Parse(raw)
	return b, damage == nil && b.CRCValid()
}

// wrongByte: exactly one flipped bit, or else exactly one wrong byte, explains the checksum.
func wrongByte(s *suspect) *proof {
	raw := s.whole()
	f := s.format()
	if raw == nil || f == record.V2 && (len(raw) < record.HeaderSize || raw[16] != byte(record.V2)) {
		return nil
	}
	stored := binary.BigEndian.Uint32(raw[checksumPos(f):])
	computed := record.Checksum(0, f, raw[f.ChecksumStart():])
	if stored == computed {
		return nil
	}
	e, why, ok := onlyExplanation(explain(f, len(raw), stored, computed))
	if !ok {
		return nil
	}
	old := raw[e.pos]
	return &proof{
		pos: s.Pos + int64(e.pos), old: []byte{old}, new: []byte{old ^ e.xor},
		words: fmt.Sprintf("restored byte %d: %02x to %02x (%s explains the crc)", s.Pos+int64(e.pos), old, old^e.xor, why),
	}
}

// onlyExplanation prefers a flipped bit to a wrong byte, and takes nothing if there are two.
func onlyExplanation(all []byteError) (e byteError, why string, ok bool) {
	flips := slices.DeleteFunc(slices.Clone(all), func(e byteError) bool { return !e.oneBit() })
	switch {
	case len(flips) == 1:
		return flips[0], "one flipped bit", true
	case len(flips) == 0 && len(all) == 1:
		return all[0], "one wrong byte", true
	}
	return byteError{}, "", false
}

// holds tests a proof on the range itself: a batch whose checksum is right, whose records
// all parse, and whose offsets fit between the neighbours.
func (s *suspect) holds(p *proof) bool {
	raw := slices.Clone(s.raw)
	copy(raw[p.pos-s.Pos:], p.new)
	size, _, ok := record.Peek(raw)
	if !ok || size > int64(len(raw)) {
		return false
	}
	b, damage := record.Parse(raw[:size])
	if damage != nil || !b.CRCValid() || b.BaseOffset() < s.first && b.Format() == record.V2 || b.LastOffset() >= s.limit {
		return false
	}
	r := record.NewReader()
	r.Reset(&b)
	for r.Next() {
	}
	return r.Err() == nil
}
