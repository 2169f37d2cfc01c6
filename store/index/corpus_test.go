package index

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/record"
)

// walk hands on the frames of a log up to the first that does not parse, and returns the
// bytes behind it.
func walk(log []byte, yield func(Span)) (rest int) {
	for pos := 0; pos < len(log); {
		size, _, damage := record.Sniff(log[pos:])
		if damage != nil || int64(len(log)-pos) < size {
			return len(log) - pos
		}
		b, damage := record.Parse(log[pos : pos+int(size)])
		if damage != nil || !b.CRCValid() {
			return len(log) - pos
		}
		yield(SpanOf(&b, int64(pos)))
		pos += int(size)
	}
	return 0
}

// baseOf reads the base offset from a file's name.
func baseOf(t testing.TB, name string) int64 {
	t.Helper()
	digits, _, _ := strings.Cut(filepath.Base(name), ".")
	var base int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			t.Fatalf("no base offset in %s", name)
		}
		base = base*10 + int64(c-'0')
	}
	return base
}

// The index files that Kafka wrote come out byte for byte.
func TestRebuildIsWhatKafkaWrote(t *testing.T) {
	files := fixtures.Unpack(t, fixtures.Corpus(t, "kafka-recovery", "base.tar.gz"))
	segments := 0
	for name, log := range files {
		stem, isLog := strings.CutSuffix(name, ".log")
		if !isLog {
			continue
		}
		segments++
		b := NewBuilder(baseOf(t, name), DefaultInterval)
		rest := walk(log, func(s Span) {
			if err := b.Add(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if err := b.Finish(); err != nil || rest != 0 {
			t.Errorf("%s: %v, %d bytes left", name, err, rest)
		}
		if !bytes.Equal(b.Index(), files[stem+".index"]) {
			t.Errorf("%s.index: built %x, Kafka wrote %x", stem, b.Index(), files[stem+".index"])
		}
		if !bytes.Equal(b.TimeIndex(), files[stem+".timeindex"]) {
			t.Errorf("%s.timeindex: built %x, Kafka wrote %x", stem, b.TimeIndex(), files[stem+".timeindex"])
		}
	}
	if segments != 3 {
		t.Errorf("%d segments, not 3", segments)
	}
}

// MiniKafka's too.
func TestRebuildIsWhatMiniKafkaWrote(t *testing.T) {
	root := fixtures.Corpus(t, "minikafka")
	segments := 0
	for _, log := range glob(t, filepath.Join(root, "*", "data", "broker-*", "*", "*.log")) {
		segments++
		interval := DefaultInterval
		if strings.Contains(log, "rich-records") {
			interval = 128 // as its directory was written
		}
		b := NewMKB1Builder(baseOf(t, log), interval)
		rest := walk(read(t, log), func(s Span) {
			if err := b.Add(s); err != nil {
				t.Errorf("%s: %v", log, err)
			}
		})
		if rest != 0 {
			t.Errorf("%s: %d bytes left", log, rest)
		}
		if want := read(t, strings.TrimSuffix(log, ".log")+".index"); !bytes.Equal(b.Index(), want) {
			t.Errorf("%s: built %x, MiniKafka wrote %x", log, b.Index(), want)
		}
	}
	if segments < 10 {
		t.Errorf("only %d segments", segments)
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every index file holds what Kafka's own tool says it holds.
func TestIndexesAreWhatKafkaDumps(t *testing.T) {
	count := map[string]int{}
	for _, pack := range fixtures.KafkaPacks(t) {
		files := pack.Files(t, nil)
		for name, want := range pack.Dumps(t, nil) {
			name, isDump := strings.CutSuffix(name, ".dump.txt")
			suffix := filepath.Ext(name)
			if !isDump || !slices.Contains([]string{".index", ".timeindex", ".txnindex"}, suffix) {
				continue
			}
			count[suffix]++
			if got := dump(t, name, suffix, files[name]); got != string(want) {
				t.Errorf("%s/%s: %s\nKafka: %s", pack.Name, name, got, want)
			}
		}
	}
	if count[".index"] != 67 || count[".timeindex"] != 235 {
		t.Errorf("compared %v, not 67 offset and 235 time indexes", count)
	}
}

// dump is an index file as Kafka's tool prints it.
func dump(t testing.TB, name, suffix string, data []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Dumping %s\n", name)
	base := baseOf(t, name)
	switch suffix {
	case ".index":
		for _, e := range collect(t, offsetIndex(data, base).All()) {
			fmt.Fprintf(&b, "offset: %d position: %d\n", e.Offset, e.Pos)
		}
	case ".timeindex":
		for _, e := range collect(t, timeIndex(data, base).All()) {
			fmt.Fprintf(&b, "timestamp: %d offset: %d\n", e.Timestamp, e.Offset)
		}
	default:
		for _, e := range collect(t, txnIndex(data, base).All()) {
			fmt.Fprintf(&b, "version: 0 producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d\n",
				e.ProducerID, e.FirstOffset, e.LastOffset, e.LastStableOffset)
		}
	}
	return b.String()
}

// No index file that a real broker left behind is called damaged.
func TestCheckerRaisesNoFalseAlarm(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole corpus")
	}
	for _, pack := range fixtures.KafkaPacks(t) {
		t.Run(pack.Name, func(t *testing.T) {
			t.Parallel()
			files := pack.Files(t, nil)
			for name, log := range files {
				if stem, isLog := strings.CutSuffix(name, ".log"); isLog {
					checkSegment(t, stem, log, files)
				}
			}
		})
	}
}

func checkSegment(t *testing.T, stem string, log []byte, files map[string][]byte) {
	base := baseOf(t, stem)
	index, hasIndex := files[stem+".index"]
	times, hasTimes := files[stem+".timeindex"]
	var x *OffsetIndex
	var y *TimeIndex
	if hasIndex {
		x = NewOffsetIndex(bytes.NewReader(index), int64(len(index)), base)
	}
	if hasTimes {
		y = NewTimeIndex(bytes.NewReader(times), int64(len(times)), base)
	}
	c := NewChecker(base, x, y)
	if walk(log, c.Add) > 0 {
		c.Damage()
	}
	o, ti, err := c.Finish()
	if err != nil {
		t.Errorf("%s: %v", stem, err)
	}
	if o.Bad != nil {
		t.Errorf("%s.index: %d of %d bad, %v", stem, o.BadCount, o.Entries, o.Bad)
	}
	if ti.Bad != nil {
		t.Errorf("%s.timeindex: %d of %d bad, %v", stem, ti.BadCount, ti.Entries, ti.Bad)
	}
}

// The active segment of a broker that was killed: the index files stand at full size, and
// what was in them at that moment is what a Builder had written by then.
func TestCrashedBrokersIndexIsPadded(t *testing.T) {
	dir := fixtures.Corpus(t, "kafka-made", "crash-0")
	stem := filepath.Join(dir, "00000000000000000000")
	log, raw, rawTimes := read(t, stem+".log"), gunzip(t, stem+".index.gz"), gunzip(t, stem+".timeindex.gz")
	b, c := NewBuilder(0, DefaultInterval), NewChecker(0, offsetIndex(raw, 0), timeIndex(rawTimes, 0))
	walk(log, func(s Span) {
		if err := b.Add(s); err != nil {
			t.Error(err)
		}
		c.Add(s)
	})
	o, ti, err := c.Finish()
	if err != nil || o.Bad != nil || ti.Bad != nil || o.Entries == 0 || o.Padding == 0 || ti.Padding == 0 {
		t.Errorf("%+v, %+v, %v", o, ti, err)
	}
	if !bytes.Equal(b.Index(), raw[:len(b.Index())]) || !bytes.Equal(b.TimeIndex(), rawTimes[:len(b.TimeIndex())]) {
		t.Errorf("built %x and %x", b.Index(), b.TimeIndex())
	}
	if want := int64(len(raw) - len(b.Index())); o.Padding != want {
		t.Errorf("%d bytes of padding, not %d", o.Padding, want)
	}
}

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
