package render

import "bufio"

// writePlain lays out the same table as writeLibrary, byte for byte, without
// allocating per row.
func writePlain(w *bufio.Writer, columns []string, rows [][]string, noHeader bool) error {
	widths := make([]int, len(columns))
	if !noHeader {
		widen(widths, columns)
	}
	for _, row := range rows {
		widen(widths, row)
	}
	if !noHeader {
		writePlainRow(w, widths, columns)
	}
	for _, row := range rows {
		writePlainRow(w, widths, row)
	}
	return w.Flush()
}

func widen(widths []int, cells []string) {
	for i, c := range cells {
		widths[i] = max(widths[i], width(c))
	}
}

// writePlainRow leaves errors to the flush: a bufio.Writer keeps the first one.
func writePlainRow(w *bufio.Writer, widths []int, cells []string) {
	for i, c := range cells {
		w.WriteString(c)
		if i == len(cells)-1 {
			break
		}
		for range widths[i] + 2 - width(c) {
			w.WriteByte(' ')
		}
	}
	w.WriteByte('\n')
}
