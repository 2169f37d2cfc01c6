package record

import (
	"unsafe"

	"logdir/store/compress"
)

// recordsStart is the first byte behind the header of a frame, or behind the length of a
// legacy wrapper's value: where compressed bytes begin.
func (b *Batch) recordsStart() int {
	if b.format == V2 {
		return posRecords
	}
	return b.Size() - b.legacyValueSize()
}

func (r *Reader) resetV2() {
	raw := r.batch.raw
	if err := checkV2(raw); err != nil {
		r.refuse(err)
		return
	}
	r.left = int32At(raw, posRecordsCount)
	if r.left == 0 {
		return // as Kafka, which does not look at the bytes behind
	}
	if r.batch.CodecBits() != 0 {
		r.decompress(raw[posRecords:], posRecords, compress.Options{})
		return
	}
	r.data, r.origin = raw[posRecords:], posRecords
}

func (r *Reader) nextV2() bool {
	if r.left == 0 {
		return r.endV2()
	}
	delta, ok := r.parseV2()
	if !ok {
		return false
	}
	if delta <= r.last || delta > r.batch.lastOffsetDelta() {
		return r.fail(r.rec.Pos-r.origin, r.rec.Size, "offset delta %d after %d, last offset delta of the batch %d",
			delta, r.last, r.batch.lastOffsetDelta())
	}
	r.last = delta
	r.left--
	return true
}

// endV2 is the end of the batch: nothing may stand behind its last record.
func (r *Reader) endV2() bool {
	if r.err == nil && r.pos < len(r.data) {
		r.fail(r.pos, len(r.data)-r.pos, "%d bytes behind the last of %d records", len(r.data)-r.pos, r.batch.Count())
		r.data = nil
	}
	return false
}

// parseV2 reads the record at r.pos into r.rec and gives its offset delta.
func (r *Reader) parseV2() (int32, bool) {
	data, start := r.data, r.pos
	length, pos := varint(data, start)
	if length < 0 || pos == past || int(length) > len(data)-pos {
		return 0, r.fail(start, len(data)-start, "record length %d, have %d bytes", length, max(0, len(data)-pos))
	}
	end := pos + int(length)
	body := data[:end]
	pos++ // attributes, unused
	timestamp, pos := varlong(body, pos)
	delta, pos := varint(body, pos)

	rec := &r.rec
	rec.Key, pos = field(body, pos)
	rec.Value, pos = field(body, pos)
	count, pos := varint(body, pos)
	if count != 0 || len(rec.Headers) != 0 {
		pos = r.parseHeaders(body, pos, count)
	}
	if pos != end {
		return 0, r.fail(start, end-start, "record %d of %d bytes does not parse", r.batch.Count()-r.left, end-start)
	}
	rec.Pos, rec.Size = start+r.origin, end-start
	r.pos = end
	r.stampV2(timestamp, delta)
	return delta, true
}

// stampV2 computes what the record says only by difference to the batch.
func (r *Reader) stampV2(timestamp int64, delta int32) {
	rec, raw := &r.rec, r.batch.raw
	rec.Offset = int64At(raw, posBaseOffset) + int64(delta)
	rec.Sequence = AddSequence(int32At(raw, posBaseSequence), delta)
	if rec.TimestampType == LogAppendTime {
		rec.Timestamp = int64At(raw, posMaxTimestamp)
		return
	}
	rec.Timestamp = int64At(raw, posBaseTimestamp) + timestamp
}

// field reads a length and so many bytes; a negative length is null.
func field(b []byte, pos int) ([]byte, int) {
	length, pos := varint(b, pos)
	if length < 0 && pos != past {
		return nil, pos
	}
	if pos == past || int(length) > len(b)-pos {
		return nil, past
	}
	end := pos + int(length)
	return b[pos:end:end], end
}

// parseHeaders reads count headers into r.rec and gives the position behind.
func (r *Reader) parseHeaders(b []byte, pos int, count int32) int {
	r.headers = r.headers[:0]
	if pos == past || !r.plausibleHeaders(int(count), len(b)-pos) {
		return past
	}
	for range count {
		var h Header
		if h.Key, pos = field(b, pos); h.Key == nil {
			return past
		}
		h.Value, pos = field(b, pos)
		r.headers = append(r.headers, h)
	}
	r.rec.Headers = r.headers
	return pos
}

// plausibleHeaders bounds what a count makes parseHeaders allocate: a header takes two
// bytes at least, and all of them together no more memory than the batch may.
func (r *Reader) plausibleHeaders(count, have int) bool {
	limit := r.Limit
	if limit == 0 {
		limit = compress.DefaultLimit
	}
	return count >= 0 && count <= have/2 && count <= limit/int(unsafe.Sizeof(Header{}))
}
