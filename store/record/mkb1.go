package record

import (
	"encoding/binary"

	"logdir/store/corrupt"
)

// checkMKB1 judges the payload header of a frame whose length is right.
func checkMKB1(raw []byte) *corrupt.Error {
	bad := func(field, format string, args ...any) *corrupt.Error {
		return badField(field, int64(len(raw)), format, args...)
	}
	if v := raw[mkb1PosVersion]; v != mkb1Version {
		return bad("version", "version %d", v)
	}
	if o := int64At(raw, mkb1PosBaseOffset); o < 0 {
		return bad("baseOffset", "baseOffset %d", o)
	}
	if d := int32At(raw, mkb1PosLastOffsetDelta); d < 0 {
		return bad("lastOffsetDelta", "lastOffsetDelta %d", d)
	}
	if n := mkb1TxnIDLength(raw); n > len(raw)-MKB1HeaderSize {
		return bad("transactionalIdLength", "transactionalIdLength %d, have %d bytes", n, len(raw)-MKB1HeaderSize)
	}
	return checkMKB1Flags(raw, bad)
}

// checkMKB1Flags judges what the flags allow of the other fields.
func checkMKB1Flags(raw []byte, bad func(field, format string, args ...any) *corrupt.Error) *corrupt.Error {
	flags, id, count := raw[mkb1PosFlags], mkb1TxnIDLength(raw), binary.BigEndian.Uint32(raw[mkb1PosRecordsCount:])
	control := flags&(mkb1Commit|mkb1Abort) != 0
	switch {
	case flags&mkb1Commit != 0 && flags&mkb1Abort != 0:
		return bad("flags", "commit and abort in one frame")
	case id > 0 && flags&mkb1Transactional == 0:
		return bad("flags", "a transactional id, but not transactional")
	case control && id == 0:
		return bad("transactionalIdLength", "a marker without transactional id")
	case control && count != 0:
		return bad("recordsCount", "a marker with %d records", count)
	case control && int32At(raw, mkb1PosLastOffsetDelta) != 0:
		return bad("lastOffsetDelta", "a marker that takes more than one offset")
	case !control && count == 0:
		return bad("recordsCount", "no records")
	case int64(count)*mkb1RecordHeader > int64(len(raw)-MKB1HeaderSize-id):
		return bad("recordsCount", "recordsCount %d, have %d bytes", count, len(raw)-MKB1HeaderSize-id)
	}
	return nil
}

func mkb1TxnIDLength(raw []byte) int {
	return int(binary.BigEndian.Uint16(raw[mkb1PosTxnIDLength:]))
}

// mkb1TransactionalID is the transaction that the frame belongs to, empty if none.
func mkb1TransactionalID(raw []byte) []byte {
	end := min(MKB1HeaderSize+mkb1TxnIDLength(raw), len(raw))
	return raw[MKB1HeaderSize:end]
}

// mkb1Timestamps are the first and the largest timestamp of the frame's records, as far
// as they parse.
func mkb1Timestamps(raw []byte) (base, largest int64) {
	base, largest = NoTimestamp, NoTimestamp
	pos := MKB1HeaderSize + mkb1TxnIDLength(raw)
	for i := range binary.BigEndian.Uint32(raw[mkb1PosRecordsCount:]) {
		head, next := mkb1Record(raw, pos)
		if next == past {
			break
		}
		if i == 0 {
			base = head.timestamp
		}
		largest = max(largest, head.timestamp)
		pos = mkb1SkipHeaders(raw, next, head.headers)
	}
	return base, largest
}

// mkb1Head is a record but for its headers.
type mkb1Head struct {
	delta      int32
	timestamp  int64
	key, value []byte
	headers    int
}

// mkb1Record reads the record at pos, and gives the position of its headers.
func mkb1Record(raw []byte, pos int) (h mkb1Head, next int) {
	if pos > len(raw)-mkb1RecordHeader {
		return h, past
	}
	h.delta, h.timestamp = int32At(raw, pos), int64At(raw, pos+4)
	h.headers = int(binary.BigEndian.Uint16(raw[pos+20:]))
	next = pos + mkb1RecordHeader
	h.key, next = mkb1Field(raw, next, int32At(raw, pos+12))
	h.value, next = mkb1Field(raw, next, int32At(raw, pos+16))
	return h, next
}

// mkb1Field cuts length bytes out of raw, nil for length -1. A position past stays past.
func mkb1Field(raw []byte, pos int, length int32) ([]byte, int) {
	if pos == past || length < -1 || int(length) > len(raw)-pos {
		return nil, past
	}
	if length < 0 {
		return nil, pos
	}
	end := pos + int(length)
	return raw[pos:end:end], end
}

// mkb1Header reads the header at pos.
func mkb1Header(raw []byte, pos int) (h Header, next int) {
	if pos > len(raw)-2 {
		return h, past
	}
	h.Key, pos = mkb1Field(raw, pos+2, int32(binary.BigEndian.Uint16(raw[pos:])))
	if pos > len(raw)-4 {
		return h, past
	}
	h.Value, next = mkb1Field(raw, pos+4, int32At(raw, pos))
	return h, next
}

func mkb1SkipHeaders(raw []byte, pos, count int) int {
	for range count {
		_, pos = mkb1Header(raw, pos)
	}
	return pos
}

// resetMKB1 begins the records, which stand behind the transactional id.
func (r *Reader) resetMKB1() {
	raw := r.batch.raw
	if err := checkMKB1(raw); err != nil {
		r.refuse(err)
		return
	}
	r.data, r.left = raw, r.batch.Count()
	r.pos = MKB1HeaderSize + mkb1TxnIDLength(raw)
}

func (r *Reader) nextMKB1() bool {
	if r.left == 0 {
		return r.endV2()
	}
	start, rec := r.pos, &r.rec
	h, pos := mkb1Record(r.data, start)
	if pos != past {
		pos = r.readMKB1Headers(pos, h.headers)
	}
	if pos == past {
		return r.fail(start, len(r.data)-start, "record %d of %d does not parse", r.batch.Count()-r.left, r.batch.Count())
	}
	if h.delta <= r.last || h.delta > r.batch.lastOffsetDelta() {
		return r.fail(start, pos-start, "offset delta %d after %d, last offset delta of the batch %d",
			h.delta, r.last, r.batch.lastOffsetDelta())
	}
	rec.Offset, rec.Timestamp = r.batch.BaseOffset()+int64(h.delta), h.timestamp
	rec.Sequence = AddSequence(r.batch.BaseSequence(), h.delta)
	rec.Key, rec.Value = h.key, h.value
	rec.Pos, rec.Size = start, pos-start
	r.pos, r.last = pos, h.delta
	r.left--
	return true
}

// readMKB1Headers reads count headers into r.rec and gives the position behind them.
func (r *Reader) readMKB1Headers(pos, count int) int {
	r.headers = r.headers[:0]
	for range count {
		var h Header
		if h, pos = mkb1Header(r.data, pos); pos == past {
			return past
		}
		r.headers = append(r.headers, h)
	}
	r.rec.Headers = r.headers
	return pos
}
