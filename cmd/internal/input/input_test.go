package input

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func part(name string, src io.Reader) Part {
	return Part{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(src), nil }}
}

func whole(name, content string) Part {
	p := part(name, strings.NewReader(content))
	p.Whole = true
	return p
}

// records reads everything and cuts it, each record quoted as it came.
func records(t interface{ Fatal(...any) }, delimiter string, parts ...Part) []string {
	r := NewReader(parts, []byte(delimiter), time.Now)
	s := Splitter{Delimiter: []byte(delimiter)}
	var got []string
	for run := range r.Runs() {
		if run.Whole {
			got = append(got, "whole:"+string(run.Data))
		} else {
			for rest := run.Data; len(rest) > 0; {
				var record []byte
				record, rest = s.Next(rest)
				got = append(got, string(record))
			}
		}
		r.Release(run)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return got
}

func TestRecords(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	for _, c := range []struct {
		name, delimiter, in string
		want                []string
	}{
		{"lines", "\n", "a\nb\nc\n", []string{"a", "b", "c"}},
		{"the last line may lack its end", "\n", "a\nb", []string{"a", "b"}},
		{"empty lines are records", "\n", "\na\n\n", []string{"", "a", ""}},
		{"nothing", "\n", "", nil},
		{"carriage returns stay", "\n", "a\r\nb", []string{"a\r", "b"}},
		{"long delimiter", "<>", "a<>b<<>><>", []string{"a", "b<", ">"}},
		{"a delimiter that overlaps itself", "aa", "xaaayaa", []string{"x", "ay"}},
		{"zero byte", "\x00", "a\nb\x00c\x00", []string{"a\nb", "c"}},
		{"a record larger than the buffer", "\n", "a\n" + long + "\nb", []string{"a", long, "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range []io.Reader{
				strings.NewReader(c.in),
				iotest.OneByteReader(strings.NewReader(c.in)),
				iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				if diff := cmp.Diff(c.want, records(t, c.delimiter, part("stdin", src))); diff != "" {
					t.Fatalf("records (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestParts(t *testing.T) {
	long := strings.Repeat("line\n", bufferSize)
	got := records(t, "\n", whole("one", "a\nb\n"), part("two", strings.NewReader("c\nd")),
		whole("empty", ""), part("three", strings.NewReader("e")), whole("long", long))
	want := []string{"whole:a\nb\n", "c", "d", "whole:", "e", "whole:" + long}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// However the bytes arrive, the records are those of bytes.Split.
func TestRecordsAreThoseOfSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n")), 1, 3, 3).Draw(t, "delimiter")
		in := rapid.StringOf(rapid.SampledFrom([]rune("ab\nc"))).Draw(t, "input")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, -1).Draw(t, "reads")
		want := strings.Split(in, delimiter)
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		got := records(t, delimiter, part("in", &pieces{[]byte(in), sizes}))
		if len(want) != len(got) || len(want) > 0 && !cmp.Equal(want, got) {
			t.Fatalf("want %q, got %q", want, got)
		}
	})
}

// pieces is a reader whose reads have given sizes, repeated.
type pieces struct {
	data  []byte
	sizes []int
}

func (p *pieces) Read(buf []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(buf, p.data[:min(p.sizes[0], len(p.data))])
	p.data, p.sizes = p.data[n:], append(p.sizes[1:], p.sizes[0])
	return n, nil
}

func TestErrorNamesThePart(t *testing.T) {
	broken := errors.New("device on fire")
	r := NewReader([]Part{part("a.txt", iotest.ErrReader(broken)), whole("never", "x")}, []byte("\n"), time.Now)
	for run := range r.Runs() {
		t.Errorf("unexpected run %q", run.Data)
	}
	if got := r.Err(); !errors.Is(got, broken) || got.Error() != "a.txt: device on fire" {
		t.Errorf("got %v", got)
	}
}

func TestTooLong(t *testing.T) {
	endless := io.LimitReader(zeros{}, MaxRecord+1)
	r := NewReader([]Part{part("stdin", endless)}, []byte("\n"), time.Now)
	for range r.Runs() {
		t.Error("a run of a record that is too long")
	}
	if !errors.Is(r.Err(), ErrTooLong) {
		t.Errorf("got %v, want %v", r.Err(), ErrTooLong)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A reader that nobody listens to any more ends, also while it waits for a buffer.
func TestStop(t *testing.T) {
	r := NewReader([]Part{part("stdin", bytes.NewReader(make([]byte, 16*bufferSize)))}, []byte{0}, time.Now)
	<-r.Runs()
	r.Stop()
	for range r.Runs() {
	}
	if r.Err() != nil {
		t.Errorf("stopping is no error: %v", r.Err())
	}
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		delimiter, record string
		key, value        []byte
	}{
		{"", "a:b", nil, []byte("a:b")},
		{":", "a:b:c", []byte("a"), []byte("b:c")},
		{":", "no key", nil, []byte("no key")},
		{":", ":v", []byte{}, []byte("v")},
		{":", "k:", []byte("k"), []byte{}},
		{"=>", "a=b=>c", []byte("a=b"), []byte("c")},
	} {
		s := Splitter{KeyDelimiter: []byte(c.delimiter)}
		key, value := s.Key([]byte(c.record))
		if !cmp.Equal(c.key, key) || !cmp.Equal(c.value, value) {
			t.Errorf("%q by %q: key %q, value %q", c.record, c.delimiter, key, value)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 1<<16)
	s := Splitter{Delimiter: []byte("\n")}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader([]Part{part("in", bytes.NewReader(data))}, s.Delimiter, time.Now)
		for run := range r.Runs() {
			for rest := run.Data; len(rest) > 0; {
				_, rest = s.Next(rest)
			}
			r.Release(run)
		}
	}
}
