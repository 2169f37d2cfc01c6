package index

import (
	"encoding/binary"
	"io"
	"iter"

	"logdir/store/corrupt"
)

// AbortedTxn is one aborted transaction of one producer in one partition. Readers of
// committed records skip that producer's transactional batches between FirstOffset and
// LastOffset.
type AbortedTxn struct {
	ProducerID  int64
	FirstOffset int64
	// LastOffset is that of the ABORT marker.
	LastOffset int64
	// LastStableOffset is what was stable when the marker was written: the first offset of
	// the oldest other open transaction, or LastOffset+1.
	LastStableOffset int64
}

// TxnIndex is a transaction index file.
type TxnIndex struct {
	table
	base int64
}

// NewTxnIndex reads a .txnindex of size bytes whose segment begins at offset base.
func NewTxnIndex(r io.ReaderAt, size, base int64) *TxnIndex {
	return &TxnIndex{table{r, size, TxnEntrySize}, base}
}

// Len counts the whole entries. Bytes behind them are ignored, as a broker does.
func (x *TxnIndex) Len() int { return x.len() }

// All walks the entries. A version that is not known ends the walk with a *corrupt.Error.
func (x *TxnIndex) All() iter.Seq2[AbortedTxn, error] {
	return func(yield func(AbortedTxn, error) bool) {
		pos := int64(0)
		for raw, err := range x.entries(x.len()) {
			if err == nil {
				if damage := checkTxnVersion(raw, pos); damage != nil {
					err = damage
				}
			}
			if err != nil {
				yield(AbortedTxn{}, err)
				return
			}
			if !yield(parseTxn(raw), nil) {
				return
			}
			pos += TxnEntrySize
		}
	}
}

// Collect appends to dst the transactions that a fetch of offsets [from, upper) must know,
// and tells whether they are all: if not, later segments may hold more.
func (x *TxnIndex) Collect(dst []AbortedTxn, from, upper int64) (txns []AbortedTxn, complete bool, err error) {
	for t, err := range x.All() {
		if err != nil {
			return dst, false, err
		}
		if t.LastOffset >= from && t.FirstOffset < upper {
			dst = append(dst, t)
		}
		if t.LastStableOffset >= upper {
			return dst, true, nil
		}
	}
	return dst, false, nil
}

// Check judges the file by itself: versions, offsets that rise and lie in the segment,
// no fragment at the end. It returns nil, or the first damage as *corrupt.Error of kind
// bad-txnindex, or an I/O error.
func (x *TxnIndex) Check() error {
	previous, pos := int64(-1), int64(0)
	for t, err := range x.All() {
		if err != nil {
			return err
		}
		if damage := t.check(x.base, previous, pos); damage != nil {
			return damage
		}
		previous = t.LastOffset
		pos += TxnEntrySize
	}
	if rest := x.size - pos; rest > 0 {
		return corrupt.Newf(corrupt.BadTxnIndex, pos, rest, "%d bytes behind entry %d, an entry has %d", rest, x.len()-1, TxnEntrySize)
	}
	return nil
}

// check judges one entry that stands at byte pos behind one with lastOffset previous.
func (t AbortedTxn) check(base, previous, pos int64) *corrupt.Error {
	switch {
	case t.ProducerID < 0:
		return badTxn(pos, 1, "producer id %d", t.ProducerID)
	case t.FirstOffset < 0:
		return badTxn(pos, 2, "first offset %d", t.FirstOffset)
	case t.LastOffset < base:
		return badTxn(pos, 3, "last offset %d is below the segment's base offset %d", t.LastOffset, base)
	case t.LastOffset <= previous:
		return badTxn(pos, 3, "last offset %d does not rise from %d", t.LastOffset, previous)
	case t.FirstOffset >= t.LastOffset:
		return badTxn(pos, 2, "first offset %d is not below the marker at %d", t.FirstOffset, t.LastOffset)
	case t.LastStableOffset < 0 || t.LastStableOffset > t.LastOffset+1:
		return badTxn(pos, 4, "last stable offset %d, the marker is at %d", t.LastStableOffset, t.LastOffset)
	}
	return nil
}

// badTxn reports row field of TxnLayout in the entry at byte entry.
func badTxn(entry int64, field int, format string, args ...any) *corrupt.Error {
	f := TxnLayout[field]
	err := corrupt.Newf(corrupt.BadTxnIndex, entry+int64(f.Pos), int64(f.Size), format, args...)
	err.Field = f.Name
	return err
}

func checkTxnVersion(entry []byte, pos int64) *corrupt.Error {
	if version := int16(binary.BigEndian.Uint16(entry[posTxnVersion:])); version != 0 {
		return badTxn(pos, 0, "version %d", version)
	}
	return nil
}

func parseTxn(entry []byte) AbortedTxn {
	return AbortedTxn{
		ProducerID:       int64(binary.BigEndian.Uint64(entry[posTxnProducerID:])),
		FirstOffset:      int64(binary.BigEndian.Uint64(entry[posTxnFirst:])),
		LastOffset:       int64(binary.BigEndian.Uint64(entry[posTxnLast:])),
		LastStableOffset: int64(binary.BigEndian.Uint64(entry[posTxnLastStable:])),
	}
}

// AppendAbortedTxn appends one entry of a .txnindex.
func AppendAbortedTxn(dst []byte, t AbortedTxn) []byte {
	dst = append(dst, 0, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.ProducerID))
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.FirstOffset))
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.LastOffset))
	return binary.BigEndian.AppendUint64(dst, uint64(t.LastStableOffset))
}

// CheckAgainst judges the file against want, the aborted transactions that the segment's
// own records tell, in log order. It reports the first difference like Check.
func (x *TxnIndex) CheckAgainst(want []AbortedTxn) error {
	i := 0
	for t, err := range x.All() {
		switch {
		case err != nil:
			return err
		case i >= len(want):
			return badEntry(i, "producer %d at %d..%d: the log has no such aborted transaction", t.ProducerID, t.FirstOffset, t.LastOffset)
		case t != want[i]:
			return t.differs(want[i], int64(i)*TxnEntrySize)
		}
		i++
	}
	if i < len(want) {
		return badEntry(i, "producer %d at %d..%d is missing", want[i].ProducerID, want[i].FirstOffset, want[i].LastOffset)
	}
	return nil
}

func badEntry(i int, format string, args ...any) *corrupt.Error {
	return corrupt.Newf(corrupt.BadTxnIndex, int64(i)*TxnEntrySize, TxnEntrySize, format, args...)
}

// differs names the first field in which t is not want.
func (t AbortedTxn) differs(want AbortedTxn, pos int64) *corrupt.Error {
	have := [...]int64{t.ProducerID, t.FirstOffset, t.LastOffset, t.LastStableOffset}
	for i, w := range [...]int64{want.ProducerID, want.FirstOffset, want.LastOffset, want.LastStableOffset} {
		if have[i] != w {
			return badTxn(pos, i+1, "%s %d, the log says %d", TxnLayout[i+1].Name, have[i], w)
		}
	}
	return nil
}
