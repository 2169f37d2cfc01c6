package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func print(t *testing.T, r Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// offsets has a cell of each sort: text, numbers, a list, a missing value, one whose
// JSON differs from its text, and an extra that only JSON shows.
var offsets = Table{
	Columns: []string{"TOPIC", "LOG-START", "REPLICAS", "LEADER"},
	Extra:   []string{"STORED-CRC"},
	Rows: [][]any{
		{"orders", int64(0), []int32{1, 2}, int32(1), nil},
		{"a\tb\nc\\", nil, []int32{}, Both{"none", nil}, int64(7)},
		{"long-topic-name", 12345, []string{"x", "y"}, true, "0x1f"},
	},
}

func TestTable(t *testing.T) {
	want := `TOPIC            LOG-START  REPLICAS  LEADER
orders           0          1,2       1
a\tb\nc\         -          -         none
long-topic-name  12345      x,y       yes
`
	if diff := cmp.Diff(want, print(t, offsets, Options{Output: TableForm})); diff != "" {
		t.Error(diff)
	}
	rows := `orders           0      1,2  1
a\tb\nc\         -      -    none
long-topic-name  12345  x,y  yes
`
	if diff := cmp.Diff(rows, print(t, offsets, Options{Output: TableForm, NoHeader: true})); diff != "" {
		t.Error(diff)
	}
}

func TestTSV(t *testing.T) {
	want := "TOPIC\tLOG-START\tREPLICAS\tLEADER\n" +
		"orders\t0\t1,2\t1\n" +
		`a\tb\nc\\` + "\t-\t-\tnone\n" +
		"long-topic-name\t12345\tx,y\tyes\n"
	if diff := cmp.Diff(want, print(t, offsets, Options{Output: TSV})); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	want := `{"topic":"orders","log_start":0,"replicas":[1,2],"leader":1,"stored_crc":null}
{"topic":"a\tb\nc\\","log_start":null,"replicas":[],"leader":null,"stored_crc":7}
{"topic":"long-topic-name","log_start":12345,"replicas":["x","y"],"leader":true,"stored_crc":"0x1f"}
`
	if diff := cmp.Diff(want, print(t, offsets, Options{Output: JSON})); diff != "" {
		t.Error(diff)
	}
}

func TestFields(t *testing.T) {
	f := Fields{{"data-dir", "/data"}, {"clean", false}, {"bytes", int64(5)}}
	wantTable := "FIELD     VALUE\ndata-dir  /data\nclean     no\nbytes     5\n"
	if diff := cmp.Diff(wantTable, print(t, f, Options{Output: TableForm})); diff != "" {
		t.Error(diff)
	}
	wantJSON := `{"data_dir":"/data","clean":false,"bytes":5}` + "\n"
	if diff := cmp.Diff(wantJSON, print(t, f, Options{Output: JSON})); diff != "" {
		t.Error(diff)
	}
}

// No rows print nothing, so that the emptiness of the output is an answer.
func TestNoRows(t *testing.T) {
	for _, form := range []string{TableForm, JSON, TSV} {
		if got := print(t, Table{Columns: []string{"TOPIC"}}, Options{Output: form}); got != "" {
			t.Errorf("%s: got %q", form, got)
		}
	}
}

func TestStatusColors(t *testing.T) {
	table := Table{Columns: []string{"FILE", "STATUS", "MODE"}, Rows: [][]any{{"a", "ok", "ok"}, {"b", "bad-crc", "x"}}}
	want := "FILE  STATUS   MODE\n" +
		"a     \x1b[32mok\x1b[0m       ok\n" +
		"b     \x1b[31mbad-crc\x1b[0m  x\n"
	if diff := cmp.Diff(want, print(t, table, Options{Output: TableForm, Color: true})); diff != "" {
		t.Error(diff)
	}
	if got := print(t, table, Options{Output: TSV, Color: true}); strings.Contains(got, "\x1b") {
		t.Errorf("colour in tsv: %q", got)
	}
}

// A stream of JSON shows each row as it comes; a table waits.
func TestStream(t *testing.T) {
	var b strings.Builder
	s := NewStream(&b, Table{Columns: []string{"A"}}, Options{Output: JSON})
	for i := range 2 {
		if err := s.Row(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil || b.String() != "{\"a\":0}\n{\"a\":1}\n" || s.Rows() != 2 {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

func TestKnown(t *testing.T) {
	if Known(int64(-1)) != nil || Known(int32(0)) != any(int32(0)) {
		t.Error("-1 is no value, 0 is one")
	}
}

// Both writers of tables write the same bytes, whatever the cells.
func TestPlainEqualsLibrary(t *testing.T) {
	cell := rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,12}`),
		rapid.Map(rapid.String(), sanitize),
		rapid.SampledFrom([]string{"-", "", "  a  ", "\u4e2d\u6587", "e\u0301", "\U0001f600"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.StringMatching(`[A-Z][A-Z0-9-]{0,9}`), 1, 4).Draw(t, "columns")
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, len(columns), len(columns)), 1, 5).Draw(t, "rows")
		noHeader := rapid.Bool().Draw(t, "no-header")
		library, plain := render(t, writeLibraryTo, columns, rows, noHeader), render(t, writePlainRows, columns, rows, noHeader)
		if diff := cmp.Diff(library, plain); diff != "" {
			t.Fatalf("library and plain writer differ:\n%s", diff)
		}
	})
}

type tableWriter func(*bufio.Writer, []string, [][]string, bool) error

func writeLibraryTo(w *bufio.Writer, columns []string, rows [][]string, noHeader bool) error {
	if err := writeLibrary(w, columns, rows, noHeader); err != nil {
		return err
	}
	return w.Flush()
}

func writePlainRows(w *bufio.Writer, columns []string, rows [][]string, noHeader bool) error {
	return writePlain(w, columns, slices.Values(rows), noHeader)
}

func render(t *rapid.T, write tableWriter, columns []string, rows [][]string, noHeader bool) string {
	var b strings.Builder
	if err := write(bufio.NewWriter(&b), columns, rows, noHeader); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Tables of a directory with 10,000 partitions must not take longer than reading it.
func BenchmarkTable(b *testing.B) {
	columns := []string{"TOPIC", "PARTITION", "BROKER", "SEGMENT", "STATE", "NEXT-OFFSET", "BATCHES", "BYTES", "INDEX-ENTRIES"}
	for _, writer := range []struct {
		name  string
		write tableWriter
	}{{"library", writeLibraryTo}, {"plain", writePlainRows}} {
		for _, n := range []int{100, 1000, 10000} {
			rows := make([][]string, n)
			for i := range rows {
				rows[i] = []string{"orders", fmt.Sprint(i), "1", "00000000000000000000", "active", "123456", "1234", "123456789", "12"}
			}
			b.Run(fmt.Sprintf("%s/%d", writer.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var out strings.Builder
					if err := writer.write(bufio.NewWriter(&out), columns, rows, false); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/row")
			})
		}
	}
}
