package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/compress"
	"logdir/store/record"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func plain(partitions, size int) Batching {
	return Batching{Partitions: partitions, Size: size, Linger: time.Second, Identity: NoIdentity}
}

func ignore(int) {}

// value is a record whose batch of one has 61 + 7 + len(v) bytes.
func value(v string) *record.Record {
	return &record.Record{Timestamp: start.UnixMilli(), Value: []byte(v)}
}

// frames cuts the frames of a request and reads their records back.
func frames(t testing.TB, q Request) (batches []string) {
	t.Helper()
	rest, r := q.Frames, record.NewReader()
	for _, b := range q.Batches {
		batch, bad := record.Parse(rest[:b.Size])
		if bad != nil {
			t.Fatal(bad)
		}
		if !batch.CRCValid() || batch.BaseOffset() != 0 || int(batch.Count()) != b.Records {
			t.Fatalf("batch %+v: CRC valid %v, base offset %d, count %d", b, batch.CRCValid(), batch.BaseOffset(), batch.Count())
		}
		var values []string
		for r.Reset(&batch); r.Next(); {
			values = append(values, string(r.Record().Value))
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		batches = append(batches, fmt.Sprintf("%d:%s", batch.BaseSequence(), strings.Join(values, " ")))
		rest = rest[b.Size:]
	}
	if len(rest) != 0 {
		t.Fatalf("%d bytes behind the last batch", len(rest))
	}
	return batches
}

// taken takes everything, as "partition/sequence:values" in order.
func taken(t testing.TB, a *Accumulator) (all []string) {
	t.Helper()
	for _, q := range a.Take() {
		for _, b := range frames(t, q) {
			all = append(all, fmt.Sprintf("%d/%s", q.Partition, b))
		}
	}
	return all
}

func fill(t testing.TB, a *Accumulator, partition int, values ...string) {
	t.Helper()
	for _, v := range values {
		if err := a.Append(partition, value(v), start); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBatchClosesOnSize(t *testing.T) {
	// 61 bytes of header, then 8 bytes for each record of one byte.
	for _, c := range []struct {
		name   string
		size   int
		values []string
		want   []string
		open   int
	}{
		{"one byte: a batch for each record", 1, []string{"a", "b"}, []string{"0/-1:a", "0/-1:b"}, 0},
		{"a batch always takes one record", 70, []string{"a-long-value", "b"}, []string{"0/-1:a-long-value"}, 1},
		{"exactly full closes at once", 61 + 2*8, []string{"a", "b", "c"}, []string{"0/-1:a b"}, 1},
		{"one byte short of the third", 61 + 3*8 - 1, []string{"a", "b", "c"}, []string{"0/-1:a b"}, 1},
		{"room for all", 1000, []string{"a", "b", "c"}, nil, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := NewAccumulator(plain(1, c.size), ignore)
			fill(t, a, 0, c.values...)
			if got := a.OpenRecords(); got != c.open {
				t.Errorf("%d open records, want %d", got, c.open)
			}
			if diff := cmp.Diff(c.want, taken(t, a)); diff != "" {
				t.Errorf("closed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBatchClosesOnAge(t *testing.T) {
	a := NewAccumulator(plain(3, 1000), ignore)
	fill(t, a, 2, "old")
	if err := a.Append(0, value("young"), start.Add(700*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if at, ok := a.Deadline(); !ok || !at.Equal(start.Add(time.Second)) {
		t.Errorf("deadline %v %v, want a second after the oldest record", at, ok)
	}
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{
		{999 * time.Millisecond, nil},
		{1000 * time.Millisecond, []string{"2/-1:old"}},
		{1700 * time.Millisecond, []string{"0/-1:young"}},
	} {
		if err := a.CloseLingered(start.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, taken(t, a)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step.after, diff)
		}
	}
	if at, ok := a.Deadline(); ok {
		t.Errorf("nothing is open, deadline %v", at)
	}
}

func TestNegativeLingerWaitsForever(t *testing.T) {
	o := plain(1, 1000)
	o.Linger = -1
	a := NewAccumulator(o, ignore)
	fill(t, a, 0, "a")
	if _, ok := a.Deadline(); ok {
		t.Error("a deadline without linger")
	}
	if err := a.CloseLingered(start.Add(time.Hour)); err != nil || a.ReadyBytes() != 0 {
		t.Errorf("closed %d bytes, %v", a.ReadyBytes(), err)
	}
}

func TestTakeKeepsTheOrderOfClosing(t *testing.T) {
	var told []int
	a := NewAccumulator(plain(3, 61+2*8), func(p int) { told = append(told, p) })
	fill(t, a, 1, "a", "b", "c")
	fill(t, a, 0, "d", "e")
	fill(t, a, 1, "f")
	fill(t, a, 2, "g")
	if err := a.CloseAll(); err != nil {
		t.Fatal(err)
	}
	want := []string{"1/-1:a b", "1/-1:c f", "0/-1:d e", "2/-1:g"}
	if diff := cmp.Diff(want, taken(t, a)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 0, 1, 2}, told); diff != "" {
		t.Errorf("told of closed batches (-want +got):\n%s", diff)
	}
	if a.ReadyBytes() != 0 || len(a.Take()) != 0 {
		t.Error("a request was left behind")
	}
}

func TestSequencesCountPerPartition(t *testing.T) {
	o := plain(2, 61+2*8)
	o.Identity = Identity{ProducerID: 77, Epoch: 3, BaseSequence: 2147483646}
	a := NewAccumulator(o, ignore)
	fill(t, a, 0, "a", "b", "c", "d")
	fill(t, a, 1, "x", "y")
	want := []string{"0/2147483646:a b", "0/0:c d", "1/2147483646:x y"} // 2147483647 is followed by 0
	if diff := cmp.Diff(want, taken(t, a)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// Whatever the sizes, the records of a partition come out once, in order, and no batch
// of more than one record exceeds the batch size.
func TestAccumulatorKeepsEveryRecordInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Batching{
			Partitions: rapid.IntRange(1, 4).Draw(t, "partitions"),
			Size:       rapid.IntRange(1, 400).Draw(t, "size"),
			Codec:      rapid.SampledFrom([]compress.Codec{compress.None, compress.LZ4}).Draw(t, "codec"),
			Identity:   NoIdentity,
		}
		a := NewAccumulator(o, ignore)
		want, got := make([][]string, o.Partitions), make([][]string, o.Partitions)
		drain := func() {
			taken := a.Take()
			for _, q := range taken {
				got[q.Partition] = append(got[q.Partition], checkedValues(t, o, q)...)
			}
			a.Recycle(taken)
		}
		now := start
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				drain()
			case 1:
				if err := a.CloseLingered(now); err != nil {
					t.Fatal(err)
				}
			default:
				p := rapid.IntRange(0, o.Partitions-1).Draw(t, "partition")
				v := fmt.Sprintf("%d%s", len(want[p]), strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "length")))
				now = now.Add(time.Millisecond)
				if err := a.Append(p, value(v), now); err != nil {
					t.Fatal(err)
				}
				want[p] = append(want[p], v)
			}
		}
		if err := a.CloseAll(); err != nil {
			t.Fatal(err)
		}
		drain()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("records (-want +got):\n%s", diff)
		}
	})
}

func checkedValues(t *rapid.T, o Batching, q Request) (values []string) {
	rest, r := q.Frames, record.NewReader()
	for _, b := range q.Batches {
		batch, bad := record.Parse(rest[:b.Size])
		if bad != nil {
			t.Fatal(bad)
		}
		if o.Codec == compress.None && b.Records > 1 && b.Size > o.Size {
			t.Fatalf("%d records in %d bytes, batch size %d", b.Records, b.Size, o.Size)
		}
		for r.Reset(&batch); r.Next(); {
			values = append(values, string(r.Record().Value))
		}
		rest = rest[b.Size:]
	}
	return values
}

func BenchmarkAccumulate(b *testing.B) {
	for _, size := range []int{100, 1024} {
		b.Run(fmt.Sprintf("%d-byte records", size), func(b *testing.B) {
			a := NewAccumulator(plain(1, 16384), ignore)
			r := record.Record{Timestamp: start.UnixMilli(), Value: bytes.Repeat([]byte("x"), size)}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := a.Append(0, &r, start); err != nil {
					b.Fatal(err)
				}
				if a.ReadyBytes() > 1<<20 {
					a.Recycle(a.Take())
				}
			}
		})
	}
}
