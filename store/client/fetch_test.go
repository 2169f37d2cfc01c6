package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"logdir/store"
	"logdir/store/corrupt"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// transactions is a log that Kafka wrote: producer 1000 aborts one transaction and
// commits the next. One line is one batch.
const transactions = `
0000000000000000 00000043 00000000 02 26f4963f 0010 00000001 0000018bcfe56800 0000018bcfe56801 00000000000003e8 0000 00000000 00000002 100000000261023100 100002020262023200
0000000000000002 00000042 00000000 02 10bdf102 0030 00000000 0000018bcfe56805 0000018bcfe56805 00000000000003e8 0000 ffffffff 00000001 2000000008 00000000 0c 000000000005 00
0000000000000003 00000039 00000000 02 2f79198a 0010 00000000 0000018bcfe5680a 0000018bcfe5680a 00000000000003e8 0000 00000002 00000001 0e00000002 63 01 00
0000000000000004 00000042 00000000 02 d48c09b6 0030 00000000 0000018bcfe5680f 0000018bcfe5680f 00000000000003e8 0000 ffffffff 00000001 2000000008 00000001 0c 000000000005 00
`

// logOf is a log of one segment with these bytes.
func logOf(t testing.TB, raw []byte) *store.LogReader {
	t.Helper()
	fsys := memfs.New()
	if err := fsys.MkdirAll("t-0"); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.Create("t-0/00000000000000000000.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	log, err := store.OpenReader(fsys, "t-0", store.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// read runs a fetch and returns "offset=value" for each record, and what Run returned.
func read(q Fetch) (records []string, next int64, err error) {
	next, err = NewFetcher().Run(q, func(_ *record.Batch, r *record.Record) error {
		records = append(records, fmt.Sprintf("%d=%s", r.Offset, r.Value))
		return nil
	})
	return records, next, err
}

func TestControlRecordsAreNotHandedOut(t *testing.T) {
	got, next, err := read(Fetch{Log: logOf(t, unhex(t, transactions)), To: 5})
	check(t, "records", []string{"0=1", "1=2", "3="}, got)
	if next != 5 || err != nil {
		t.Errorf("next %d, %v; want 5, behind the marker", next, err)
	}
}

func TestReadCommitted(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(transactions), "\n")
	for _, c := range []struct {
		name       string
		batches    int
		mark       int64 // high watermark
		lastStable int64
		want       []string
	}{
		{"aborted records are hidden, committed ones are not", 4, 5, 5, []string{"3="}},
		{"an open transaction ends what is stable", 3, 4, 3, nil},
		{"a marker that is not replicated ends nothing", 4, 4, 3, nil},
		{"the first transaction is open", 1, 2, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := logOf(t, unhex(t, strings.Join(lines[:c.batches], "")))
			isolation, err := ReadIsolation(log, 0, c.mark)
			if err != nil {
				t.Fatal(err)
			}
			if isolation.LastStable != c.lastStable {
				t.Errorf("last stable offset %d, want %d", isolation.LastStable, c.lastStable)
			}
			got, _, err := read(Fetch{Log: log, To: isolation.LastStable, Isolation: isolation})
			check(t, "records", c.want, got)
			checkError(t, "", err)
		})
	}
}

// A log of 100 batches of three records; the offsets of batch n begin at 3n.
func hundred(t testing.TB) (raw []byte, size int) {
	t.Helper()
	b := record.NewBuilder()
	for n := range int64(100) {
		m := record.NoProducer()
		m.BaseOffset, m.LeaderEpoch = 3*n, 0
		b.Reset(m)
		for i := range int64(3) {
			b.Append(&record.Record{Offset: 3*n + i, Value: fmt.Appendf(nil, "%03d", 3*n+i)})
		}
		var err error
		if raw, err = b.Build(raw); err != nil {
			t.Fatal(err)
		}
	}
	return raw, len(raw) / 100
}

func TestFetchRange(t *testing.T) {
	raw, _ := hundred(t)
	log := logOf(t, raw)
	for _, c := range []struct {
		from, to  int64
		want      int
		first     string
		wantsNext int64
	}{
		{0, 300, 300, "0=000", 300},
		{4, 8, 4, "4=004", 8},
		{298, 1000, 2, "298=298", 300},
		{300, 1000, 0, "", 300},
		{7, 7, 0, "", 7},
	} {
		got, next, err := read(Fetch{Log: log, From: c.from, To: c.to})
		if len(got) != c.want || next != c.wantsNext || err != nil || c.want > 0 && got[0] != c.first {
			t.Errorf("%d..%d: %d records, next %d, %v", c.from, c.to, len(got), next, err)
		}
	}
}

func TestDamage(t *testing.T) {
	raw, size := hundred(t)
	raw[10*size+70] ^= 1 // in batch 10
	log := logOf(t, raw)
	t.Run("stop", func(t *testing.T) {
		got, next, err := read(Fetch{Log: log, To: 300})
		d, ok := errors.AsType[*corrupt.Error](err)
		if !ok || d.Kind != corrupt.BadCRC || d.Pos != int64(10*size) || next != 30 || len(got) != 30 {
			t.Errorf("%d records, next %d, %v; want 30, 30 and bad-crc", len(got), next, err)
		}
	})
	t.Run("go on", func(t *testing.T) {
		var met []string
		got, next, err := read(Fetch{Log: log, To: 300, Damaged: func(d *corrupt.Error) bool {
			met = append(met, fmt.Sprintf("%s, go on at %d", d.Kind, d.NextOffset))
			return true
		}})
		check(t, "damage", []string{"bad-crc, go on at 33"}, met)
		if len(got) != 297 || got[30] != "33=033" || next != 300 || err != nil {
			t.Errorf("%d records, next %d, %v", len(got), next, err)
		}
	})
}

// A batch whose checksum is right and whose records are not is damage, too.
func TestUnreadableRecords(t *testing.T) {
	raw, size := hundred(t)
	frame := raw[10*size : 11*size]
	frame[record.HeaderSize+1+1+1+1] = 0x7e // the first record's key claims 63 bytes
	record.Seal(frame)
	log := logOf(t, raw)
	_, next, err := read(Fetch{Log: log, To: 300})
	d, ok := errors.AsType[*corrupt.Error](err)
	if !ok || d.Kind != corrupt.BadRecords || d.Pos < int64(10*size) || d.NextOffset != 33 || d.Path != "t-0/00000000000000000000.log" {
		t.Errorf("next %d, %+v; want bad-records in batch 10", next, err)
	}
	got, _, err := read(Fetch{Log: log, To: 300, Damaged: func(*corrupt.Error) bool { return true }})
	if err != nil || got[30] != "33=033" {
		t.Errorf("%v, then %v; want 33=033", err, got[30])
	}
}

func TestStopFromInside(t *testing.T) {
	raw, _ := hundred(t)
	n := 0
	next, err := NewFetcher().Run(Fetch{Log: logOf(t, raw), To: 300}, func(*record.Batch, *record.Record) error {
		if n++; n == 5 {
			return ErrStop
		}
		return nil
	})
	if next != 5 || err != nil {
		t.Errorf("next %d, %v; want 5 and no error", next, err)
	}
}

// large is a log of more than aheadAfter bytes, with damage behind that.
func large(t testing.TB) []byte {
	t.Helper()
	var raw []byte
	b := record.NewBuilder()
	for n := range int64(300) {
		m := record.NoProducer()
		m.BaseOffset, m.LeaderEpoch = 10*n, 0
		b.Reset(m)
		for i := range int64(10) {
			b.Append(&record.Record{Offset: 10*n + i, Value: []byte(strings.Repeat("v", 1000))})
		}
		var err error
		if raw, err = b.Build(raw); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

// Reading ahead changes nothing but the time it takes.
func TestReadingAheadIsTheSame(t *testing.T) {
	raw := large(t)
	raw[len(raw)-100_000] ^= 1
	log := logOf(t, raw)
	results := map[int]string{}
	for _, processors := range []int{1, 4} {
		old := runtime.GOMAXPROCS(processors)
		var met []string
		got, next, err := read(Fetch{Log: log, From: 5, To: 2995, Damaged: func(d *corrupt.Error) bool {
			met = append(met, d.Error())
			return true
		}})
		runtime.GOMAXPROCS(old)
		results[processors] = fmt.Sprint(len(got), got[0][:5], got[len(got)-1][:8], next, err, met)
	}
	check(t, "with one processor and with four", results[1], results[4])
	if !strings.HasPrefix(results[1], "2980") || !strings.Contains(results[1], "bad-crc") {
		t.Errorf("unexpected result %s", results[1])
	}
}

// A batch that is wrong in its leader epoch alone is told, and handed out all the same.
func TestWrongEpochIsReadPast(t *testing.T) {
	raw, size := hundred(t)
	record.SetLeaderEpoch(raw[:size], 5)
	told := 0
	got, next, err := read(Fetch{Log: logOf(t, raw), To: 300, Damaged: func(*corrupt.Error) bool { told++; return true }})
	if len(got) != 300 || next != 300 || err != nil || told != 1 {
		t.Errorf("%d records, next %d, %v, told %d", len(got), next, err, told)
	}
}

// A fetch that stops early leaves no goroutine and no file behind.
func TestReadingAheadEndsEarly(t *testing.T) {
	old := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(old)
	log, before := logOf(t, large(t)), runtime.NumGoroutine()
	for range 20 {
		n := 0
		_, err := NewFetcher().Run(Fetch{Log: log, To: 3000}, func(*record.Batch, *record.Record) error {
			if n++; n == 1500 {
				return ErrStop
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A goroutine that has said its last word is counted for some moments more.
	after := runtime.NumGoroutine()
	for wait := time.Now().Add(10 * time.Second); after > before && time.Now().Before(wait); after = runtime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	if after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func BenchmarkFetch(b *testing.B) {
	raw := large(b)
	log, f := logOf(b, raw), NewFetcher()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := f.Run(Fetch{Log: log, To: 3000}, func(*record.Batch, *record.Record) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
		if n != 3000 {
			b.Fatal(n)
		}
	}
}
