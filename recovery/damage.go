package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"logdir/store"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// DamageMode is a way to damage a file on purpose.
type DamageMode string

// The modes of corrupt-tail.
const (
	DamageTorn    DamageMode = "torn"    // append the first part of a valid next frame
	DamageCut     DamageMode = "cut"     // remove the last bytes
	DamageFlip    DamageMode = "flip"    // flip one bit
	DamageZero    DamageMode = "zero"    // overwrite the last bytes with zeros
	DamageGarbage DamageMode = "garbage" // append random bytes
	DamageBitrot  DamageMode = "bitrot"  // flip random bits anywhere
)

// DefaultBytes is how many bytes a mode damages if nobody says.
func (m DamageMode) DefaultBytes() int64 {
	switch m {
	case DamageTorn:
		return 30
	case DamageCut:
		return 7
	case DamageZero, DamageGarbage:
		return 16
	}
	return 1
}

// DamageOptions say how to damage a file. The same options do the same to the same file.
type DamageOptions struct {
	Mode  DamageMode
	Bytes int64
	// At is the byte to flip a bit of; negative for the last byte of the last record's value.
	At int64
	// Seed makes garbage.
	Seed uint64
}

// Damaged is what was done to a file, or is about to be.
type Damaged struct {
	Path string
	Mode DamageMode
	// Pos is the first damaged byte, Bytes how many are; Size is the file's afterwards.
	Pos, Bytes, Size int64
}

// Break plans damage to one file. base is the base offset of the segment it belongs to.
func Break(fsys vfs.ReadFS, path string, base int64, o DamageOptions) (Change, Damaged, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return Change{}, Damaged{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return Change{}, Damaged{}, errors.Join(err, f.Close())
	}
	b := breaker{f: f, path: path, size: info.Size(), base: base, o: o}
	e, err := b.edit()
	if err = errors.Join(err, f.Close()); err != nil {
		return Change{}, Damaged{}, err
	}
	e.Reason = "corrupt-tail"
	c := Change{Kind: Modify, Path: path, Edits: []Edit{e}, Action: "damaged: " + string(o.Mode)}
	size := b.size + int64(len(e.New)) - e.Size
	return c, Damaged{Path: path, Mode: o.Mode, Pos: e.Pos, Bytes: max(e.Size, int64(len(e.New))), Size: size}, nil
}

// breaker damages one file.
type breaker struct {
	f    vfs.ReadFile
	path string
	size int64
	base int64
	o    DamageOptions
}

func (b *breaker) edit() (Edit, error) {
	n := b.o.Bytes
	if b.o.Mode == DamageCut || b.o.Mode == DamageZero {
		if n > b.size {
			return Edit{}, store.Errorf(store.Usage, "INVALID_REQUEST", "%s: --bytes %d: the file has %d", b.path, n, b.size)
		}
	}
	switch b.o.Mode {
	case DamageCut:
		return Edit{Pos: b.size - n, Size: n}, nil
	case DamageZero:
		return Edit{Pos: b.size - n, Size: n, New: make([]byte, n)}, nil
	case DamageGarbage:
		return Edit{Pos: b.size, New: garbage(b.o.Seed, n)}, nil
	case DamageTorn:
		frame, err := b.nextFrame(n)
		return Edit{Pos: b.size, New: frame}, err
	case DamageFlip:
		return b.flip()
	}
	return Edit{}, fmt.Errorf("mode %q", b.o.Mode)
}

// garbage is n random bytes, the same for the same seed.
func garbage(seed uint64, n int64) []byte {
	r := rand.NewChaCha8(seedOf(seed))
	p := make([]byte, n)
	_, _ = r.Read(p) // never fails
	return p
}

func seedOf(seed uint64) (s [32]byte) {
	for i := range 8 {
		s[i] = byte(seed >> (8 * i))
	}
	return s
}

// tail is what the end of a log looks like.
type tail struct {
	next      int64
	epoch     int32
	format    record.Format
	timestamp int64
	pos       int64  // of the last good batch
	raw       []byte // the last good batch; nil if there is none
}

func (b *breaker) tail() (tail, error) {
	t := tail{next: b.base, format: record.V2}
	s := segment.NewScanner(b.f, b.size, segment.Options{Base: b.base, LogEnd: -1})
	for s.Next() {
		if s.Damage() != nil {
			continue
		}
		t.pos, t.format, t.timestamp = s.Pos(), s.Batch().Format(), max(s.Batch().MaxTimestamp(), 0)
		t.raw = append(t.raw[:0], s.Batch().Raw()...)
	}
	t.next, t.epoch = s.NextOffset(), max(s.Epoch(), 0)
	return t, s.Err()
}

// nextFrame is the first n bytes of a batch that could have come next.
func (b *breaker) nextFrame(n int64) ([]byte, error) {
	if !strings.HasSuffix(b.path, segment.LogSuffix) {
		return bytes.Repeat([]byte{0x7f, 0xff}, int(n+1)/2)[:n], nil
	}
	t, err := b.tail()
	if err != nil {
		return nil, err
	}
	m := record.NoProducer()
	m.BaseOffset, m.LeaderEpoch, m.Format = t.next, t.epoch, t.format
	build := record.NewBuilder()
	build.Reset(m)
	build.Append(&record.Record{Offset: t.next, Timestamp: t.timestamp, Value: bytes.Repeat([]byte("torn"), int(n)/4+8)})
	frame, err := build.Build(nil)
	if err != nil {
		return nil, err
	}
	return frame[:n], nil
}

// flip flips the lowest bit of one byte.
func (b *breaker) flip() (Edit, error) {
	at := b.o.At
	if at < 0 {
		var err error
		if at, err = b.lastValueByte(); err != nil {
			return Edit{}, err
		}
	}
	if at < 0 || at >= b.size {
		return Edit{}, store.Errorf(store.Usage, "INVALID_REQUEST", "%s: --at %d: the file has %d bytes", b.path, at, b.size)
	}
	return flipBit(b.f, at, 0)
}

func flipBit(f vfs.ReadFile, at int64, bit int) (Edit, error) {
	var p [1]byte
	if _, err := f.ReadAt(p[:], at); err != nil {
		return Edit{}, err
	}
	return Edit{Pos: at, Size: 1, New: []byte{p[0] ^ 1<<bit}}, nil
}

// lastValueByte is the position of the last byte of the last record's value. Where there
// is none that could be seen in the bytes, it is the last byte of the file.
func (b *breaker) lastValueByte() (int64, error) {
	if !strings.HasSuffix(b.path, segment.LogSuffix) {
		return b.size - 1, nil
	}
	t, err := b.tail()
	if err != nil || t.raw == nil {
		return b.size - 1, err
	}
	if at := lastValue(t.raw); at >= 0 {
		return t.pos + int64(at), nil
	}
	return t.pos + int64(len(t.raw)) - 1, nil
}

// lastValue is where in a frame the last byte of the last record's value stands, or -1.
func lastValue(raw []byte) int {
	frame, damage := record.Parse(raw)
	if damage != nil || frame.CodecBits() != 0 {
		return -1
	}
	r := record.NewReader()
	r.Reset(&frame)
	at := -1
	for r.Next() {
		if rec := r.Record(); len(rec.Value) > 0 {
			at = placeOf(raw, rec)
		}
	}
	return at
}

// placeOf finds the last byte of a record's value behind its key.
func placeOf(raw []byte, rec *record.Record) int {
	from := rec.Pos
	if len(rec.Key) > 0 {
		from += bytes.Index(raw[from:], rec.Key) + len(rec.Key)
	}
	return from + bytes.Index(raw[from:], rec.Value) + len(rec.Value) - 1
}

// Rot plans count flipped bits, at random places of all the files together.
func Rot(fsys vfs.ReadFS, paths []string, count int, seed uint64) ([]Change, []Damaged, error) {
	sizes := make([]int64, len(paths))
	var total int64
	for i, path := range paths {
		size, err := vfs.Size(fsys, path)
		if err != nil {
			return nil, nil, err
		}
		sizes[i], total = size, total+size
	}
	if int64(count) > total*8 {
		return nil, nil, store.Errorf(store.Usage, "INVALID_REQUEST", "--count %d: there are only %d bits", count, total*8)
	}
	var changes []Change
	var rows []Damaged
	bits := pickBits(total*8, count, seed)
	var before int64
	for i, path := range paths {
		mine := bits[:0:0]
		for _, bit := range bits {
			if bit >= before && bit < before+sizes[i]*8 {
				mine = append(mine, bit-before)
			}
		}
		before += sizes[i] * 8
		if len(mine) == 0 {
			continue
		}
		c, damaged, err := rotFile(fsys, path, sizes[i], mine)
		if err != nil {
			return nil, nil, err
		}
		changes, rows = append(changes, c), append(rows, damaged...)
	}
	return changes, rows, nil
}

// pickBits chooses count different numbers below n, in order.
func pickBits(n int64, count int, seed uint64) []int64 {
	r := rand.New(rand.NewChaCha8(seedOf(seed)))
	chosen := map[int64]bool{}
	var out []int64
	for len(out) < count {
		if bit := r.Int64N(n); !chosen[bit] {
			chosen[bit] = true
			out = append(out, bit)
		}
	}
	slices.Sort(out)
	return out
}

func rotFile(fsys vfs.ReadFS, path string, size int64, bits []int64) (Change, []Damaged, error) {
	c := Change{Kind: Modify, Path: path, Action: fmt.Sprintf("damaged: %d bit(s) flipped", len(bits))}
	f, err := fsys.Open(path)
	if err != nil {
		return c, nil, err
	}
	var rows []Damaged
	for _, bit := range bits {
		at := bit / 8
		rows = append(rows, Damaged{Path: path, Mode: DamageBitrot, Pos: at, Bytes: 1, Size: size})
		if n := len(c.Edits); n > 0 && c.Edits[n-1].Pos == at {
			c.Edits[n-1].New[0] ^= 1 << (bit % 8)
			continue
		}
		var e Edit
		if e, err = flipBit(f, at, int(bit%8)); err != nil {
			break
		}
		e.Reason = "corrupt-tail"
		c.Edits = append(c.Edits, e)
	}
	return c, rows, errors.Join(err, f.Close())
}
