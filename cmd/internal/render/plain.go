package render

import (
	"bufio"
	"bytes"
	"iter"
)

// writePlain lays out the same table as writeLibrary, byte for byte, without
// allocating per row.
func writePlain(w *bufio.Writer, columns []string, rows iter.Seq[[]string], noHeader bool) error {
	widths := make([]int, len(columns))
	if !noHeader {
		widen(widths, columns)
	}
	for row := range rows {
		widen(widths, row)
	}
	var line []byte
	if !noHeader {
		line = appendPlainRow(line, widths, columns)
		w.Write(line)
	}
	for row := range rows {
		line = appendPlainRow(line[:0], widths, row)
		w.Write(line)
	}
	return w.Flush() // tells the first error of any write
}

func widen(widths []int, cells []string) {
	for i, c := range cells {
		widths[i] = max(widths[i], width(c))
	}
}

// appendPlainRow pads every cell but leaves no blanks at the end of the line.
func appendPlainRow(dst []byte, widths []int, cells []string) []byte {
	for i, c := range cells {
		dst = append(dst, c...)
		for range widths[i] + 2 - width(c) {
			dst = append(dst, ' ')
		}
	}
	return append(bytes.TrimRight(dst, " "), '\n')
}
