package render

import (
	"fmt"

	"logdir/inspect"
)

// AppendDumpReport prints what a dump found beside the entries, as Kafka's dump tool
// does on stderr: mismatches and gaps, each under a line that names the file. The names
// are as given; Kafka's tool makes some of them absolute.
func AppendDumpReport(dst []byte, r *inspect.DumpReport) []byte {
	for _, f := range r.Unknown {
		dst = fmt.Appendf(dst, "Ignoring unknown file %s\n", f)
	}
	last := ""
	for _, m := range r.IndexMismatches {
		dst = appendOnce(dst, &last, "Mismatches in :%s\n", m.Path)
		dst = fmt.Appendf(dst, "  Index offset: %d, log offset: %d\n", m.IndexOffset, m.LogOffset)
	}
	last = ""
	for _, m := range r.TimeMismatches {
		dst = appendOnce(dst, &last, "Found timestamp mismatch in :%s\n", m.Path)
		dst = fmt.Appendf(dst, "  Index timestamp: %d, log timestamp: %d\n", m.IndexTimestamp, m.LogTimestamp)
	}
	last = ""
	for _, m := range r.TimeDisorders {
		dst = appendOnce(dst, &last, "Found out of order timestamp in :%s\n", m.Path)
		dst = fmt.Appendf(dst, "  Index timestamp: %d, Previously indexed timestamp: %d\n", m.Timestamp, m.Previous)
	}
	last = ""
	for _, m := range r.OffsetsNotFound {
		dst = appendOnce(dst, &last, "The following indexed offsets are not found in :%s\n", m.Path)
		dst = fmt.Appendf(dst, "Indexed offset: %d, found log offset: %d\n", m.IndexOffset, m.LogOffset)
	}
	last = ""
	for _, g := range r.Gaps {
		dst = appendOnce(dst, &last, "Non-consecutive offsets in %s\n", g.Path)
		dst = fmt.Appendf(dst, "  %d is followed by %d\n", g.Offset, g.Follow)
	}
	return dst
}

// appendOnce prints the heading of a file where the file changes.
func appendOnce(dst []byte, last *string, format, path string) []byte {
	if path == *last {
		return dst
	}
	*last = path
	return fmt.Appendf(dst, format, path)
}
