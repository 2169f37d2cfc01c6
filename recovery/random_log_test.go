package recovery

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"logdir/store/compress"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// randomLog is a log directory made from a seed, and the damage that was done to it.
type randomLog struct {
	*rand.Rand
	format string
	start  int64             // its first offset
	frames [][]byte          // every batch, as written
	files  map[string][]byte // by path below the log directory
	damage []string
}

// randomFormats are what a randomLog is written in.
var randomFormats = []string{"plain", "compressed", "compacted", "transactional", "v0", "MKB1"}

func newRandomLog(t testing.TB, seed uint64) *randomLog {
	l := &randomLog{Rand: rand.New(rand.NewPCG(seed, 0)), files: map[string][]byte{}}
	l.format = randomFormats[l.IntN(len(randomFormats))]
	l.start = int64(l.IntN(3) * 500)
	w := batchWriter{l: l, t: t, next: l.start}
	for range 1 + l.IntN(3) {
		name := "foo-0/" + segment.FileName(w.next, segment.LogSuffix)
		var log []byte
		for range 1 + l.IntN(10) {
			l.frames = append(l.frames, w.batch())
			log = append(log, l.frames[len(l.frames)-1]...)
		}
		l.files[name] = log
	}
	point := fmt.Appendf(nil, "0\n1\nfoo 0 %d\n", l.Int64N(w.next+1))
	l.files["recovery-point-offset-checkpoint"] = point
	if l.format != "v0" && l.format != "MKB1" {
		l.files["foo-0/leader-epoch-checkpoint"] = []byte("0\n0\n")
	}
	l.settle(t)
	return l
}

// settle lets recover make everything that is derived.
func (l *randomLog) settle(t testing.TB) {
	fsys := l.directory(t)
	p := plan(t, fsys, Options{Policy: Tail})
	if len(p.Left) > 0 || p.Lost.Bytes > 0 {
		t.Fatalf("undamaged %s log: left %v, lost %+v", l.format, p.Left, p.Lost)
	}
	carryOut(t, fsys, p)
	for path := range photo(t, fsys, "d") {
		l.files[strings.TrimPrefix(path, "d/")] = read(t, fsys, path)
	}
}

// directory writes the files into a new file system.
func (l *randomLog) directory(t testing.TB) *memfs.FS {
	fsys := memfs.New()
	must(t, fsys.MkdirAll("d/foo-0"))
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		put(t, fsys, "d/"+name, l.files[name])
	}
	must(t, fsys.SyncDir("."))
	must(t, fsys.SyncDir("d"))
	return fsys
}

// batchWriter writes batches one behind the other.
type batchWriter struct {
	l        *randomLog
	t        testing.TB
	next     int64
	epoch    int32
	sequence int32
	open     bool // producer 9 has a transaction
}

func (w *batchWriter) batch() []byte {
	if w.l.IntN(8) == 0 {
		w.epoch++
	}
	m := record.NoProducer()
	m.LeaderEpoch = w.epoch
	switch w.l.format {
	case "v0":
		w.next++
		return appendMessage(nil, w.next-1, w.value())
	case "compressed":
		m.Codec = compress.Codec(w.l.IntN(5))
	case "compacted":
		w.next += int64(w.l.IntN(3) * w.l.IntN(9))
	case "MKB1":
		m.Format = record.MKB1
	case "transactional":
		if w.l.IntN(2) == 0 {
			return w.transactional(m)
		}
	}
	return w.records(m)
}

// transactional writes into a transaction, or ends it.
func (w *batchWriter) transactional(m record.Meta) []byte {
	m.ProducerID, m.ProducerEpoch, m.Transactional = 9, 0, true
	if !w.open || w.l.IntN(3) > 0 {
		w.open, m.BaseSequence = true, w.sequence
		raw := w.records(m)
		w.sequence += int32(binary.BigEndian.Uint32(raw[57:]))
		return raw
	}
	w.open, m.BaseOffset = false, w.next
	w.next++
	marker := record.EndTxnMarker{Type: []record.ControlType{record.Abort, record.Commit}[w.l.IntN(2)]}
	raw, err := record.AppendEndTxnMarker(nil, m, marker, 1700000000000)
	must(w.t, err)
	return raw
}

func (w *batchWriter) records(m record.Meta) []byte {
	m.BaseOffset = w.next
	b := record.NewBuilder()
	b.Reset(m)
	for range 1 + w.l.IntN(4) {
		b.Append(&record.Record{Offset: w.next, Timestamp: 1700000000000 + w.next, Value: w.value()})
		w.next++
	}
	raw, err := b.Build(nil)
	must(w.t, err)
	return raw
}

// value is never the same twice, so that a batch can be found by its bytes. Now and then it
// holds a batch of another log, which does not fit into this one.
func (w *batchWriter) value() []byte {
	value := fmt.Appendf(nil, "%d %s", w.next, strings.Repeat("x", w.l.IntN(60)*w.l.IntN(20)))
	if w.l.IntN(10) == 0 && (w.l.start > 0 || w.l.format == "MKB1") {
		value = appendBatch(w.t, value, w.l.Int64N(max(w.l.start, 1)), record.NoProducer())
	}
	return value
}

// hurt damages one file so that the batches that stay whole stay in order.
func (l *randomLog) hurt() {
	names := slices.Sorted(maps.Keys(l.files))
	name := names[l.IntN(len(names))]
	data := bytes.Clone(l.files[name])
	isLog := strings.HasSuffix(name, segment.LogSuffix)
	if len(data) == 0 {
		return
	}
	pos := l.IntN(len(data))
	size := l.IntN(min(len(data)-pos, 300) + 1)
	what := "deleted"
	switch l.IntN(10) {
	case 0:
		data[pos] ^= 1 << l.IntN(8)
		what = "flipped a bit"
	case 1:
		data = data[:pos]
		what = "cut"
	case 2:
		clear(data[pos : pos+size])
		what = fmt.Sprintf("%d zeros", size)
	case 3:
		copy(data[pos:], l.junk(size))
		what = fmt.Sprintf("%d random bytes", size)
	case 4:
		data = slices.Delete(data, pos, pos+size)
		what = fmt.Sprintf("%d bytes gone", size)
	case 5:
		data = slices.Insert(data, pos, l.junk(size)...)
		what = fmt.Sprintf("%d random bytes more", size)
	case 6:
		pos, data = len(data), append(data, make([]byte, size)...)
		what = fmt.Sprintf("%d zeros more", size)
	case 7:
		if isLog {
			pos, what = l.hurtHeader(data)
			break
		}
		delete(l.files, name)
		l.damage = append(l.damage, name+" "+what)
		return
	case 8:
		if isLog {
			pos, data = l.tear(data)
			what = "a torn batch in front of another"
		}
	case 9:
		f := l.frames[len(l.frames)-1]
		pos, data = len(data), append(data, f[:l.IntN(len(f))]...)
		what = "a torn batch more"
	}
	l.files[name] = data
	l.damage = append(l.damage, fmt.Sprintf("%s at %d: %s", name, pos, what))
}

// hurtHeader changes a field outside the checksum of a batch.
func (l *randomLog) hurtHeader(data []byte) (pos int, what string) {
	f := l.frames[l.IntN(len(l.frames))]
	pos = bytes.Index(data, f)
	if pos < 0 {
		return 0, "nothing"
	}
	switch field := l.IntN(3); {
	case field == 0:
		far := l.boundary(data[pos:]) - 12
		binary.BigEndian.PutUint32(data[pos+8:], []uint32{0, 48, 1<<31 - 1, 1<<32 - 1, uint32(len(f)) - 11, l.Uint32(), far, far}[l.IntN(8)])
		what = "length"
	case field == 1 && l.format != "v0":
		binary.BigEndian.PutUint32(data[pos+12:], []uint32{0, 1<<32 - 1, 100}[l.IntN(3)])
		what = "epoch"
	default:
		data[pos+16] = []byte{0, 1, 3, 0xff}[l.IntN(4)]
		what = "magic"
	}
	return pos, what
}

// boundary is the end of some batch in data, the last one's more often than not.
func (l *randomLog) boundary(data []byte) uint32 {
	f := l.frames[l.IntN(len(l.frames))]
	if at := bytes.Index(data, f); at >= 0 && l.IntN(2) == 0 {
		return uint32(at + len(f))
	}
	return uint32(len(data))
}

// tear puts the beginning of a batch in front of it: a broker that found it torn and did not
// cut it wrote it again.
func (l *randomLog) tear(data []byte) (pos int, torn []byte) {
	f := l.frames[l.IntN(len(l.frames))]
	if pos = bytes.Index(data, f); pos < 0 {
		return 0, data
	}
	have := 1 + l.IntN(len(f)-1)
	for have > 0 && f[have] == 0 { // or the zeros with which it begins make the torn one whole
		have--
	}
	return pos, slices.Insert(data, pos, f[:have]...)
}

func (l *randomLog) junk(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(l.Uint32())
	}
	return p
}

// whole are the batches that stand in some log, whatever their leader epoch says, found by
// their bytes.
func (l *randomLog) whole(t testing.TB, fsys vfs.ReadFS, dir string) map[int]bool {
	var all []byte
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segment.LogSuffix) {
			all = append(append(all, read(t, fsys, dir+"/"+e.Name())...), "end"...)
		}
	}
	out := map[int]bool{}
	for i, f := range l.frames {
		head, rest := 12, 16 // around the leader epoch
		if l.format == "v0" || l.format == "MKB1" {
			head, rest = 0, 0
		}
		for at := 0; !out[i]; at++ {
			next := bytes.Index(all[at:], f[rest:])
			if next < 0 {
				break
			}
			at += next
			if at >= rest && bytes.Equal(all[at-rest:at-rest+head], f[:head]) {
				out[i] = true
			}
		}
	}
	return out
}
