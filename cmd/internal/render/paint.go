package render

import (
	"iter"
	"slices"
)

const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// statusColors gives the words of a STATUS column their colour; any other word is
// yellow. The word itself carries the meaning.
var statusColors = map[string]string{
	"ok": green, "acked": green, "done": green, "same": green, "leader": green,
	"sent": green, "behind": yellow, "duplicate": yellow, "timed-out": yellow,
	"missing-index": yellow,
	"torn":          red, "zeros": red, "stale": red, "bad-crc": red, "bad-length": red,
	"bad-magic": red, "bad-offset": red, "bad-records": red, "garbage": red,
	"bad-index": red, "failed": red, "diverged": red, "dlq": red,
}

// painted colours the cells of the column STATUS.
func painted(columns []string, rows iter.Seq[[]string]) iter.Seq[[]string] {
	i := slices.Index(columns, "STATUS")
	if i < 0 {
		return rows
	}
	return func(yield func([]string) bool) {
		for row := range rows {
			row[i] = paint(row[i])
			if !yield(row) {
				return
			}
		}
	}
}

func paint(status string) string {
	c := statusColors[status]
	if c == "" {
		c = yellow
	}
	return c + status + reset
}
