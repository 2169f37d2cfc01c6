package checkpoint

import (
	"errors"
	"io/fs"
	"strconv"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// Undefined is Kafka's UNDEFINED_EPOCH and UNDEFINED_EPOCH_OFFSET.
const Undefined = -1

// EpochEntry says that a leader epoch begins at an offset.
type EpochEntry struct {
	Epoch       int32
	StartOffset int64
}

// Epochs is the history of leader epochs of a partition, as a leader-epoch-checkpoint
// holds it: both numbers rise (Kafka: LeaderEpochFileCache).
type Epochs []EpochEntry

// ParseEpochs reads a leader-epoch-checkpoint line by line, without judging the order; see
// Load and CheckEpochs. The error is a *corrupt.Error of kind bad-checkpoint, with the
// entries before it.
func ParseEpochs(data []byte) (Epochs, error) {
	return parseEntries(data, parseEpochLine)
}

func parseEpochLine(l line) (e EpochEntry, err *corrupt.Error) {
	parts := l.fields()
	if len(parts) != 2 {
		return e, l.bad(corrupt.BadCheckpoint, "", "%d fields in %s, not epoch and start offset", len(parts), quote(l.text))
	}
	epoch, err := l.number(corrupt.BadCheckpoint, parts[0], "epoch", 32)
	if err != nil {
		return e, err
	}
	start, err := l.number(corrupt.BadCheckpoint, parts[1], "startOffset", 64)
	return EpochEntry{int32(epoch), start}, err
}

// CheckEpochs judges what ParseEpochs lets pass: negative numbers, epochs and offsets that
// do not rise, and offsets beyond logEnd unless it is negative. An epoch may begin at the log
// end: a new leader notes it before it appends. A file that does not parse gives that one error.
func CheckEpochs(data []byte, logEnd int64) []*corrupt.Error {
	var found []*corrupt.Error
	previous := EpochEntry{-1, -1}
	damage := parseContainer(data, func(l line) *corrupt.Error {
		e, err := parseEpochLine(l)
		if err != nil {
			return err
		}
		if err := checkEpochLine(l, e, previous, logEnd); err != nil {
			found = append(found, err)
		}
		previous = e
		return nil
	})
	if damage != nil {
		return []*corrupt.Error{damage}
	}
	return found
}

func checkEpochLine(l line, e, previous EpochEntry, logEnd int64) *corrupt.Error {
	switch {
	case e.Epoch < 0:
		return l.bad(corrupt.BadCheckpoint, "epoch", "epoch %d", e.Epoch)
	case e.StartOffset < 0:
		return l.bad(corrupt.BadCheckpoint, "startOffset", "start offset %d", e.StartOffset)
	case e.Epoch <= previous.Epoch && logEnd >= 0 && e.StartOffset >= logEnd:
		return l.bad(corrupt.BadCheckpoint, "epoch", "epoch %d after epoch %d, and start offset %d is not below the log end %d", e.Epoch, previous.Epoch, e.StartOffset, logEnd)
	case e.Epoch <= previous.Epoch:
		return l.bad(corrupt.BadCheckpoint, "epoch", "epoch %d after epoch %d", e.Epoch, previous.Epoch)
	case e.StartOffset <= previous.StartOffset:
		return l.bad(corrupt.BadCheckpoint, "startOffset", "start offset %d after %d", e.StartOffset, previous.StartOffset)
	case logEnd >= 0 && e.StartOffset > logEnd:
		return l.bad(corrupt.BadCheckpoint, "startOffset", "start offset %d lies beyond the log end %d", e.StartOffset, logEnd)
	}
	return nil
}

// AppendEpochs appends the file's text.
func AppendEpochs(dst []byte, h Epochs) []byte {
	dst = appendHeader(dst, len(h))
	for _, e := range h {
		dst = strconv.AppendInt(dst, int64(e.Epoch), 10)
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, e.StartOffset, 10)
		dst = append(dst, '\n')
	}
	return dst
}

// ReadEpochs reads the leader-epoch-checkpoint file name. A file that is not there is empty.
func ReadEpochs(fsys vfs.ReadFS, name string) (Epochs, error) {
	data, err := readState(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h, err := ParseEpochs(data)
	return h, inFile(name, err)
}

// WriteEpochs replaces the leader-epoch-checkpoint file name atomically.
func WriteEpochs(fsys vfs.FS, name string, h Epochs) error {
	return vfs.WriteAtomic(fsys, name, AppendEpochs(nil, h))
}

// Load is what a broker keeps in memory of the lines: each is assigned in turn, so that
// one that goes back drops those before it. With a negative number it does not start; that
// is for CheckEpochs to say.
func (h Epochs) Load() Epochs {
	var loaded Epochs
	for _, e := range h {
		loaded.Assign(e.Epoch, e.StartOffset)
	}
	return loaded
}

// Latest returns the last entry, if there is one.
func (h Epochs) Latest() (EpochEntry, bool) {
	if len(h) == 0 {
		return EpochEntry{Undefined, Undefined}, false
	}
	return h[len(h)-1], true
}

// Assign adds that epoch begins at offset start, and reports whether that changed the
// history. It is ignored if the latest entry has the same epoch and a start not above;
// else all entries at the end with that epoch or a later one, or that start or a later
// one, give way.
func (h *Epochs) Assign(epoch int32, start int64) bool {
	if last, ok := h.Latest(); ok && last.Epoch == epoch && last.StartOffset <= start {
		return false
	}
	n := len(*h)
	for n > 0 && ((*h)[n-1].Epoch >= epoch || (*h)[n-1].StartOffset >= start) {
		n--
	}
	*h = append((*h)[:n], EpochEntry{epoch, start})
	return true
}

// TruncateFromEnd drops the entries that begin at or beyond end, as a cut of the log to
// that offset does, and reports whether there were any.
func (h *Epochs) TruncateFromEnd(end int64) bool {
	n := len(*h)
	for n > 0 && (*h)[n-1].StartOffset >= end {
		n--
	}
	changed := n < len(*h)
	*h = (*h)[:n]
	return changed
}

// TruncateFromStart replaces the entries that begin at or below start, the log start
// offset, by one: the latest of them, moved to start. It reports whether that changed
// anything.
func (h *Epochs) TruncateFromStart(start int64) bool {
	n := 0
	for n < len(*h) && (*h)[n].StartOffset <= start {
		n++
	}
	if n == 0 || n == 1 && (*h)[0].StartOffset == start {
		return false
	}
	*h = (*h)[n-1:]
	(*h)[0].StartOffset = start
	return true
}

// EpochAt returns the epoch of offset, or Undefined if the history does not reach it.
func (h Epochs) EpochAt(offset int64) int32 {
	epoch := int32(Undefined)
	for _, e := range h {
		if e.StartOffset > offset {
			break
		}
		epoch = e.Epoch
	}
	return epoch
}

// EndOffsetFor answers a follower that asks where epoch ends, on a log that ends at logEnd:
// the greatest known epoch that is not above, and the offset behind its last record.
// Both are Undefined for an epoch that is negative or above the latest.
func (h Epochs) EndOffsetFor(epoch int32, logEnd int64) EpochEnd {
	latest, ok := h.Latest()
	switch {
	case !ok || epoch < 0 || epoch > latest.Epoch:
		return EpochEnd{Undefined, Undefined}
	case epoch == latest.Epoch:
		return EpochEnd{epoch, logEnd}
	}
	higher := 0
	for h[higher].Epoch <= epoch {
		higher++
	}
	if higher == 0 {
		return EpochEnd{epoch, h[0].StartOffset}
	}
	return EpochEnd{h[higher-1].Epoch, h[higher].StartOffset}
}

// EpochEnd is where a leader epoch ends: EndOffset is not part of it.
type EpochEnd struct {
	Epoch     int32
	EndOffset int64
}
