package index

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"logdir/fixtures"
	"logdir/store/record"
)

// tarball reads all files of a .tar.gz.
func tarball(t testing.TB, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

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
	files := tarball(t, fixtures.Corpus(t, "kafka-recovery", "base.tar.gz"))
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

// packs are the names of the corpus directories of real brokers.
func packs(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, path := range glob(t, filepath.Join(fixtures.Corpus(t, "kafka"), "k???.tar.gz")) {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".tar.gz"))
	}
	return names
}

// The three directories that Redpanda wrote, whose logs are not Kafka's format.
var redpanda = map[string]bool{"k048": true, "k052": true, "k061": true}

// No index file that a real broker left behind is called damaged.
func TestCheckerRaisesNoFalseAlarm(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole corpus")
	}
	root := fixtures.Corpus(t, "kafka")
	for _, pack := range packs(t) {
		if redpanda[pack] {
			continue
		}
		t.Run(pack, func(t *testing.T) {
			t.Parallel()
			files := tarball(t, filepath.Join(root, pack+".tar.gz"))
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
