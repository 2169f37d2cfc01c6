package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"logdir/store"
	"logdir/store/index"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// modelBatch is a batch as the plain model keeps it.
type modelBatch struct {
	base     int64
	values   []string
	producer int64 // -1 none
	sequence int32
}

func (b modelBatch) next() int64 { return b.base + int64(len(b.values)) }

// machine drives a log and a plain list of batches side by side.
type machine struct {
	fs       *memfs.FS
	log      *store.Log
	segments int64
	batches  []modelBatch
	sent     int
}

func (m *machine) end() int64 {
	if len(m.batches) == 0 {
		return 0
	}
	return m.batches[len(m.batches)-1].next()
}

func (m *machine) config() store.Config {
	c := config(m.segments)
	c.IndexInterval = 150
	return c
}

func (m *machine) open(t *rapid.T) {
	l, err := store.OpenLog(m.fs, dir, m.config())
	if err != nil {
		t.Fatal(err)
	}
	m.log = l
}

// Append sends one to four batches in one call.
func (m *machine) Append(t *rapid.T) {
	var call []byte
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		b := modelBatch{base: m.end(), producer: -1}
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			m.sent++
			b.values = append(b.values, fmt.Sprint(m.sent, rapid.StringMatching(`x{0,40}`).Draw(t, "value")))
		}
		call = append(call, b.frame(t)...)
		m.batches = append(m.batches, b)
	}
	if _, err := m.log.Append(call, 0); err != nil {
		t.Fatal(err)
	}
}

func (b modelBatch) frame(t *rapid.T) []byte {
	meta := record.NoProducer()
	if b.producer >= 0 {
		meta.ProducerID, meta.ProducerEpoch, meta.BaseSequence = b.producer, 0, b.sequence
	}
	builder := record.NewBuilder()
	builder.Reset(meta)
	for i, v := range b.values {
		builder.Append(&record.Record{Offset: int64(i), Timestamp: moment + b.base + int64(i), Value: []byte(v)})
	}
	raw, err := builder.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// last is the newest batch of a producer that is still in the log.
func (m *machine) last(producer int64) (modelBatch, bool) {
	for _, b := range slices.Backward(m.batches) {
		if b.producer == producer {
			return b, true
		}
	}
	return modelBatch{}, false
}

// Produce sends the next batch of an idempotent producer.
func (m *machine) Produce(t *rapid.T) {
	b := modelBatch{base: m.end(), producer: rapid.Int64Range(1, 3).Draw(t, "producer")}
	if last, ok := m.last(b.producer); ok {
		b.sequence = last.sequence + int32(len(last.values))
	}
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		m.sent++
		b.values = append(b.values, fmt.Sprint(m.sent))
	}
	done, err := m.log.Append(b.frame(t), 0)
	if err != nil || done[0].Duplicate || done[0].BaseOffset != b.base {
		t.Fatalf("%+v, %v, want offset %d", done, err, b.base)
	}
	m.batches = append(m.batches, b)
}

// Retry sends the newest batch of a producer again.
func (m *machine) Retry(t *rapid.T) {
	b, ok := m.last(rapid.Int64Range(1, 3).Draw(t, "producer"))
	if !ok {
		t.Skip("has sent nothing")
	}
	done, err := m.log.Append(b.frame(t), 0)
	if err != nil || !done[0].Duplicate || done[0].BaseOffset != b.base {
		t.Fatalf("%+v, %v, want a duplicate of offset %d", done, err, b.base)
	}
}

// Roll begins a new segment.
func (m *machine) Roll(t *rapid.T) {
	if _, err := m.log.Roll(); err != nil {
		t.Fatal(err)
	}
}

// Truncate cuts at any offset, rounding down to a batch.
func (m *machine) Truncate(t *rapid.T) {
	to := rapid.Int64Range(max(0, m.end()-20), m.end()).Draw(t, "to")
	plan, err := m.log.PlanTruncate(to, true)
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.IndexFunc(m.batches, func(b modelBatch) bool { return b.next() > to })
	if kept < 0 {
		kept = len(m.batches)
	}
	removed := m.end()
	m.batches = m.batches[:kept]
	removed -= m.end()
	if plan.End != m.end() || plan.Records != removed {
		t.Fatalf("cut to %d: %+v, want the end %d and %d records gone", to, plan, m.end(), removed)
	}
	if err := m.log.Truncate(plan); err != nil {
		t.Fatal(err)
	}
}

// Reopen closes the log in one of three ways and opens it with another segment size.
func (m *machine) Reopen(t *rapid.T) {
	var err error
	switch rapid.SampledFrom([]string{"close", "clean", "kill"}).Draw(t, "how") {
	case "close":
		err = m.log.Close()
	case "clean":
		_, err = m.log.CloseClean()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.segments = rapid.SampledFrom([]int64{300, 1000, 1 << 20}).Draw(t, "segment.bytes")
	m.open(t)
}

// Read compares everything from some offset on.
func (m *machine) Read(t *rapid.T) {
	from := rapid.Int64Range(0, m.end()).Draw(t, "from")
	m.compare(t, from)
}

// Check holds the log's own marks to the model after every step.
func (m *machine) Check(t *rapid.T) {
	if m.log.End() != m.end() {
		t.Fatalf("log end %d, want %d", m.log.End(), m.end())
	}
}

func (m *machine) compare(t *rapid.T, from int64) {
	var want []string
	for _, b := range m.batches {
		for i, v := range b.values {
			if o := b.base + int64(i); o >= from {
				want = append(want, fmt.Sprintf("%d=%s", o, v))
			}
		}
	}
	got, err := readAll(m.fs, from)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("from %d: %v, %v, want %v", from, got, err, want)
	}
	if len(want) > 0 {
		m.lookUp(t, from)
	}
}

// lookUp finds a record by its timestamp, which is its offset here.
func (m *machine) lookUp(t *rapid.T, offset int64) {
	r, err := store.OpenReader(m.fs, dir, store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, ok, err := r.OffsetForTime(moment + offset)
	if err != nil || !ok || got != offset {
		t.Fatalf("record of time %d: offset %d, %v, %v", offset, got, ok, err)
	}
}

// checkIndexes requires each offset index to be what a rebuild makes of the log.
func (m *machine) checkIndexes(t *rapid.T) {
	list, err := segment.List(m.fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Segments {
		log, err := vfs.ReadAll(m.fs, filepath.Join(dir, s.Log), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		b := index.NewBuilder(s.Base, m.config().IndexInterval)
		for pos := int64(0); pos < int64(len(log)); {
			size, _, damage := record.Sniff(log[pos:])
			if damage != nil {
				t.Fatal(damage)
			}
			batch, damage := record.Parse(log[pos : pos+size])
			if damage != nil {
				t.Fatal(damage)
			}
			if err := b.Add(index.SpanOf(&batch, pos)); err != nil {
				t.Fatal(err)
			}
			pos += size
		}
		have, err := vfs.ReadAll(m.fs, filepath.Join(dir, s.Index), 1<<30)
		if err != nil || string(have) != string(b.Index()) {
			t.Fatalf("segment %d: index %x, %v, want %x", s.Base, have, err, b.Index())
		}
	}
}

// TestLogAgainstModel runs random appends, retries, rolls, cuts, kills and reads.
func TestLogAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{fs: memfs.New(), segments: 300}
		if err := m.fs.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		m.open(t)
		t.Repeat(rapid.StateMachineActions(m))
		if err := m.log.Close(); err != nil {
			t.Fatal(err)
		}
		m.compare(t, 0)
		m.checkIndexes(t)
	})
}
