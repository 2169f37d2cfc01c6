package render

import "slices"

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

// paint colours the cells of the column STATUS.
func paint(columns []string, rows [][]string) {
	i := slices.Index(columns, "STATUS")
	if i < 0 {
		return
	}
	for _, row := range rows {
		c := statusColors[row[i]]
		if c == "" {
			c = yellow
		}
		row[i] = c + row[i] + reset
	}
}
