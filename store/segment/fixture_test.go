package segment_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"logdir/store/record"
	"logdir/store/segment"
)

// batchSize is the size of every batch of fixtureF.
const batchSize = 72

// fixtureF is ten batches of one record each: offsets 0 to 9, leader epoch 0, timestamps
// 1700000000000 + 1000*i, keys k0 to k9, values v0 to v9.
func fixtureF(t testing.TB) []byte {
	t.Helper()
	var f []byte
	for i := range 10 {
		f = appendBatch(t, f, int64(i), 0)
	}
	want := "659512c1b5d407da5c61dbc9494a148131dbe86287ea911f1e90347516a8d9c5"
	if sum := sha256.Sum256(f); hex.EncodeToString(sum[:]) != want {
		t.Fatalf("fixture F has sha256 %x", sum)
	}
	return f
}

// appendBatch appends the batch of fixtureF for one offset: 72 bytes for offsets 0 to 9.
func appendBatch(t testing.TB, dst []byte, offset int64, epoch int32) []byte {
	t.Helper()
	return appendBatchOf(t, dst, offset, epoch, fmt.Sprintf("v%d", offset))
}

func appendBatchOf(t testing.TB, dst []byte, offset int64, epoch int32, value string) []byte {
	t.Helper()
	m := record.NoProducer()
	m.BaseOffset, m.LeaderEpoch = offset, epoch
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{
		Offset: offset, Timestamp: 1700000000000 + 1000*offset,
		Key: fmt.Appendf(nil, "k%d", offset), Value: []byte(value),
	})
	dst, err := b.Build(dst)
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

// The edits below return a copy, so that cases cannot disturb each other.

func put(f []byte, pos int, hexBytes string) []byte {
	b, err := hex.DecodeString(hexBytes)
	if err != nil {
		panic(err)
	}
	f = bytes.Clone(f)
	copy(f[pos:], b)
	return f
}

func cut(f []byte, size int) []byte { return bytes.Clone(f[:size]) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// batch is batch i of fixture F.
func batch(f []byte, i int) []byte { return f[i*batchSize : (i+1)*batchSize] }

// at moves a copy of a batch to another base offset, which no checksum covers.
func at(b []byte, offset int64) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint64(b, uint64(offset))
	return b
}

// inEpoch is a copy of a batch with another leader epoch, which no checksum covers.
func inEpoch(b []byte, epoch int32) []byte {
	b = bytes.Clone(b)
	binary.BigEndian.PutUint32(b[12:], uint32(epoch))
	return b
}

// scan renders what a Scanner finds, one line for each damaged range and for each run of
// good batches:
//
//	good 0..4 at 0
//	bad-crc at 288 size 72 offsets 4..4 next 5 at 360: stored 58ecbc14 computed fdad2e6a
//	good 5..9 at 360
func scan(t testing.TB, f []byte, o segment.Options) string {
	t.Helper()
	s := segment.NewScanner(bytes.NewReader(f), int64(len(f)), o)
	var out transcript
	for s.Next() {
		out.add(s)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	out.endRun()
	return out.String()
}

// transcript is the lines of scan.
type transcript struct {
	strings.Builder
	run                bool
	first, last, start int64
}

func (w *transcript) add(s *segment.Scanner) {
	d, b := s.Damage(), s.Batch()
	if d == nil {
		if !w.run {
			w.run, w.first, w.start = true, b.BaseOffset(), s.Pos()
		}
		w.last = b.LastOffset()
		return
	}
	w.endRun()
	fmt.Fprintf(w, "%s at %d size %d", d.Kind, d.Pos, d.Size)
	if d.BaseOffset >= 0 || d.LastOffset >= 0 {
		fmt.Fprintf(w, " offsets %d..%d", d.BaseOffset, d.LastOffset)
	}
	if d.NextPos >= 0 {
		fmt.Fprintf(w, " next %d at %d", d.NextOffset, d.NextPos)
	}
	if d.HasCRC {
		fmt.Fprintf(w, ": stored %08x computed %08x", d.Stored, d.Computed)
	}
	if d.Detail != "" {
		fmt.Fprintf(w, ": %s", d.Detail)
	}
	if b == nil {
		w.WriteString(" (no batch)")
	}
	w.WriteString("\n")
}

func (w *transcript) endRun() {
	if w.run {
		fmt.Fprintf(w, "good %d..%d at %d\n", w.first, w.last, w.start)
	}
	w.run = false
}

// lines joins the wanted lines of a case.
func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

// emptied is a batch of offsets base to last of which the cleaner left no record: 61 bytes.
func emptied(t testing.TB, base, last int64) []byte {
	t.Helper()
	m := record.NoProducer()
	m.BaseOffset, m.LastOffset, m.LeaderEpoch = base, last, 0
	b := record.NewBuilder()
	b.Reset(m)
	return b.BuildEmpty(nil, 1700000000000)
}
