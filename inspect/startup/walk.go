package startup

import (
	"encoding/binary"
	"errors"
	"io"

	"logdir/store/compress"
	"logdir/store/index"
	"logdir/store/record"
)

// Sizes of Kafka's FileLogInputStream. Part of the on-disk format; never change.
const (
	upToMagic     = 17 // a batch is only looked at if more bytes than this are left
	logOverhead   = 12 // offset and size
	minRecordSize = 14 // the smallest size of a v0 message
)

// frame is one batch as the broker's input stream delivers it: by the size field, whatever
// the bytes are. Every magic from 2 on counts as v2.
type frame struct {
	pos, size int64
	legacy    bool
	head      [record.HeaderSize]byte // as many of the first bytes as there are
}

func (f *frame) baseOffset() int64 { return int64(binary.BigEndian.Uint64(f.head[0:])) }

func (f *frame) lastOffset() int64 {
	if f.legacy {
		return f.baseOffset()
	}
	return f.baseOffset() + int64(int32(binary.BigEndian.Uint32(f.head[23:])))
}

func (f *frame) nextOffset() int64 { return f.lastOffset() + 1 }

func (f *frame) leaderEpoch() int32 { return int32(binary.BigEndian.Uint32(f.head[12:])) }

func (f *frame) producerID() int64 {
	if f.legacy {
		return record.NoProducerID
	}
	return int64(binary.BigEndian.Uint64(f.head[43:]))
}

// maxTimestamp is in ms; v0 has none.
func (f *frame) maxTimestamp() int64 {
	switch {
	case !f.legacy:
		return int64(binary.BigEndian.Uint64(f.head[35:]))
	case f.head[16] == 0:
		return record.NoTimestamp
	}
	return int64(binary.BigEndian.Uint64(f.head[18:]))
}

// span is what an index needs to know of the batch.
func (f *frame) span() index.Span {
	return index.Span{
		FirstOffset: f.baseOffset(), LastOffset: f.lastOffset(), Pos: f.pos, Size: f.size,
		MaxTimestamp: f.maxTimestamp(), Legacy: f.legacy,
	}
}

// walker goes from batch to batch in the bytes [pos, end) of a log.
type walker struct {
	r        io.ReaderAt
	pos, end int64
	file     string

	buf   []byte
	at    int64 // position of buf in the file
	valid int   // bytes of buf that hold something
}

const walkBuffer = 1 << 20

func newWalker(r io.ReaderAt, pos, end int64, file string) *walker {
	return &walker{r: r, pos: pos, end: end, file: file}
}

// next returns the next batch, nil where the stream stops without complaint: too few
// bytes for a header, or for the size that the header tells.
func (w *walker) next() (*frame, error) {
	if w.pos >= w.end-upToMagic {
		return nil, nil
	}
	head, err := w.peek(w.pos, record.HeaderSize)
	if err != nil {
		return nil, err
	}
	size := int64(int32(binary.BigEndian.Uint32(head[8:])))
	if size < minRecordSize {
		return nil, throw(corruptRecord, "Found record size %d smaller than minimum record overhead (%d) in file %s.",
			size, minRecordSize, w.file)
	}
	if w.pos > w.end-logOverhead-size {
		return nil, nil
	}
	f := &frame{pos: w.pos, size: logOverhead + size, legacy: int8(head[16]) < 2}
	copy(f.head[:], head)
	w.pos += f.size
	return f, nil
}

// peek returns up to n bytes at pos: fewer only at the end of the file. They are valid
// until the next call.
func (w *walker) peek(pos int64, n int) ([]byte, error) {
	from := pos - w.at
	if from < 0 || from+int64(n) > int64(w.valid) {
		if err := w.load(pos); err != nil {
			return nil, err
		}
		from = 0
	}
	return w.buf[from:min(from+int64(n), int64(w.valid))], nil
}

func (w *walker) load(pos int64) error {
	if w.buf == nil {
		w.buf = make([]byte, min(walkBuffer, w.end-w.pos+record.HeaderSize))
	}
	n, err := w.r.ReadAt(w.buf, pos)
	w.at, w.valid = pos, n
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// ensureValid is RecordBatch.ensureValid: the checksum, and the smallest size of a v2 batch.
func (w *walker) ensureValid(f *frame) error {
	format, crcPos := record.V2, 17
	if f.legacy {
		format, crcPos = record.V0, 12
	} else if f.size < record.HeaderSize {
		return throw(corruptRecord, "Record batch is corrupt (the size %d is smaller than the minimum allowed overhead %d)",
			f.size, record.HeaderSize)
	}
	var sum uint32
	for pos := f.pos + int64(format.ChecksumStart()); pos < f.pos+f.size; {
		p, err := w.peek(pos, int(min(int64(len(w.buf)), f.pos+f.size-pos)))
		if err != nil {
			return err
		}
		if len(p) == 0 {
			return io.ErrUnexpectedEOF
		}
		sum = record.Checksum(sum, format, p)
		pos += int64(len(p))
	}
	if stored := binary.BigEndian.Uint32(f.head[crcPos:]); stored != sum {
		return throw(corruptRecord, "Record is corrupt (stored crc = %d, computed crc = %d)", stored, sum)
	}
	return nil
}

// firstOffset is FileChannelRecordBatch.baseOffset. A compressed message of v0 or v1 tells
// the last offset of those in it, so that the broker reads them for the first one; where
// they are none, as in a batch whose magic was changed, it stops.
func (w *walker) firstOffset(f *frame) (int64, error) {
	const attributes, mask = 17, 7
	codec := f.head[attributes] & mask
	switch {
	case !f.legacy || codec == 0:
		return f.baseOffset(), nil
	case codec > byte(compress.Zstd):
		return 0, throw(illegalArgument, "Unknown compression type id: %d", codec)
	}
	raw, err := w.bytes(f)
	if err != nil {
		return 0, err
	}
	b, bad := record.Parse(raw)
	if bad != nil {
		return 0, throw(invalidRecord, "%s", bad.Error())
	}
	r := record.NewReader()
	r.Reset(&b)
	if !r.Next() {
		return 0, throw(invalidRecord, "no records in the message set at %d of file %s: %v", f.pos, w.file, r.Err())
	}
	return r.Record().Offset, nil
}

// load of a whole frame, for control batches and the producers' state.
func (w *walker) bytes(f *frame) ([]byte, error) {
	raw := make([]byte, f.size)
	n, err := w.r.ReadAt(raw, f.pos)
	if n == len(raw) {
		return raw, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// search is FileRecords.searchForOffsetFromPosition.
func (s *segment) search(offset, from int64) (*frame, error) {
	var previous *frame
	var found *frame
	err := s.batches(from, s.size(), func(w *walker, f *frame) (bool, error) {
		first, err := w.firstOffset(f)
		switch {
		case err != nil:
			return false, err
		case first == offset:
			found = f
		case first > offset && previous != nil && previous.lastOffset() >= offset:
			found = previous
		case first > offset:
			found = f
		}
		previous = f
		return found == nil, nil
	})
	if err == nil && found == nil && previous != nil && previous.lastOffset() >= offset {
		found = previous
	}
	return found, err
}
