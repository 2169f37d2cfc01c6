package render

import (
	"bufio"
	"io"
)

// Stream prints rows one by one. JSON and tsv come out as they are made; a table waits
// for Close, because its widths depend on all rows.
type Stream struct {
	w       *bufio.Writer
	columns []string
	keys    []string // columns and extras, as JSON keys
	options Options
	table   grid // a table's rows so far
	buf     []byte
	rows    int
}

// NewStream starts a report with the columns of t; its rows are not printed.
func NewStream(w io.Writer, t Table, o Options) *Stream {
	return &Stream{
		w: bufio.NewWriterSize(w, 64<<10), columns: t.Columns, options: o,
		table: grid{columns: len(t.Columns)},
		keys:  append(append([]string{}, t.Columns...), t.Extra...),
	}
}

// Row adds one row: a value for each column, then one for each extra.
func (s *Stream) Row(values ...any) error {
	s.rows++
	switch s.options.Output {
	case JSON:
		s.buf = appendObject(s.buf[:0], s.keys, values)
	case TSV:
		s.buf = s.appendTSV(s.buf[:0], values[:len(s.columns)])
	default:
		s.table.add(values)
		return nil
	}
	_, err := s.w.Write(s.buf)
	return err
}

// Flush writes out what a buffer still holds, so that a reader of a slow stream sees
// each row in time.
func (s *Stream) Flush() error { return s.w.Flush() }

// Rows is how many rows there were so far.
func (s *Stream) Rows() int { return s.rows }

// Close prints what is left. It does not close the writer below.
func (s *Stream) Close() error {
	if s.table.rows > 0 {
		if err := writeTable(s.w, s.columns, &s.table, s.options); err != nil {
			return err
		}
	}
	return s.w.Flush()
}

// appendTSV writes one line, and the header before the first.
func (s *Stream) appendTSV(dst []byte, values []any) []byte {
	if s.rows == 1 && !s.options.NoHeader {
		for i, c := range s.columns {
			dst = appendTab(dst, i)
			dst = append(dst, c...)
		}
		dst = append(dst, '\n')
	}
	for i, v := range values {
		dst = appendTab(dst, i)
		dst = appendTSVEscaped(dst, cellText(v))
	}
	return append(dst, '\n')
}

func appendTab(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, '\t')
	}
	return dst
}

// appendTSVEscaped escapes what would break a line or a field.
func appendTSVEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
