// Package render turns reports into text: tables for people, JSON Lines and
// tab-separated values for programs, records by a format string. It is the only
// package that knows how output looks.
package render

import "io"

// The forms of stdout.
const (
	TableForm = "table"
	JSON      = "json"
	TSV       = "tsv"
)

// Options says how a report is printed.
type Options struct {
	Output   string // TableForm, JSON or TSV
	NoHeader bool
	Color    bool // colour STATUS words in a table
}

// Report is what a command answers with: a Table, or Fields.
type Report interface {
	// stream describes the report as rows; single means one JSON object for all.
	table() (t Table, single bool)
}

// Table is a report of rows. A value may be a string, []byte, any integer, float64,
// bool, nil (no value), a slice of strings or integers, or Both.
type Table struct {
	// Columns are the headings: upper case, hyphens, no blanks. The JSON keys are the
	// same names in snake_case.
	Columns []string
	// Extra names further values of each row that only JSON shows.
	Extra []string
	Rows  [][]any
}

func (t Table) table() (Table, bool) { return t, false }

// Field is one line of Fields.
type Field struct {
	Name  string // lower case with hyphens
	Value any
}

// Fields is a report about one thing: a table of FIELD and VALUE, one JSON object.
type Fields []Field

func (f Fields) table() (Table, bool) {
	t := Table{Columns: []string{"FIELD", "VALUE"}}
	for _, field := range f {
		t.Rows = append(t.Rows, []any{field.Name, field.Value})
	}
	return t, true
}

// Both is a value whose text is not its JSON: "none" and null.
type Both struct {
	Text string
	JSON any
}

// Known is v, or no value when v is negative: an offset or a size that nothing tells.
func Known[T ~int | ~int32 | ~int64](v T) any {
	if v < 0 {
		return nil
	}
	return v
}

// Write prints a report in one go.
func Write(w io.Writer, r Report, o Options) error {
	t, single := r.table()
	if single && o.Output == JSON {
		_, err := w.Write(appendObject(nil, fieldNames(t.Rows), fieldValues(t.Rows)))
		return err
	}
	s := NewStream(w, t, o)
	for _, row := range t.Rows {
		if err := s.Row(row...); err != nil {
			return err
		}
	}
	return s.Close()
}

func fieldNames(rows [][]any) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row[0].(string)
	}
	return names
}

func fieldValues(rows [][]any) []any {
	values := make([]any, len(rows))
	for i, row := range rows {
		values[i] = row[1]
	}
	return values
}
