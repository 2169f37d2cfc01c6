package checkpoint

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"logdir/store/corrupt"
)

// line is one line of a text file, without its end.
type line struct {
	no   int   // counted from 1
	pos  int64 // its first byte in the file
	text string
}

// lines cuts data as Java's BufferedReader does: at LF, CR and CR LF.
func lines(data []byte) iter.Seq[line] {
	return func(yield func(line) bool) {
		pos := 0
		for no := 1; pos < len(data); no++ {
			end := bytes.IndexAny(data[pos:], "\r\n")
			if end < 0 {
				end = len(data) - pos
			}
			if !yield(line{no, int64(pos), string(data[pos : pos+end])}) {
				return
			}
			pos += end + endSize(data[pos+end:])
		}
	}
}

// endSize is how many bytes end the line at the start of rest.
func endSize(rest []byte) int {
	if bytes.HasPrefix(rest, []byte("\r\n")) {
		return 2
	}
	return 1
}

// bad reports the line as malformed.
func (l line) bad(kind corrupt.Kind, field, format string, args ...any) *corrupt.Error {
	return l.badAt(kind, 0, len(l.text), field, format, args...)
}

// badAt reports size bytes at byte at of the line.
func (l line) badAt(kind corrupt.Kind, at, size int, field, format string, args ...any) *corrupt.Error {
	err := corrupt.Newf(kind, l.pos+int64(at), int64(size), "line "+strconv.Itoa(l.no)+": "+format, args...)
	err.Field = field
	return err
}

// field is a part of a line.
type field struct {
	text string
	at   int // its first byte in the line
}

// isSpace is what Java's regular expressions call white space.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// fields cuts a line at runs of white space as Java's Pattern.split does: white space at
// the start makes an empty first field, at the end none.
func (l line) fields() []field {
	var parts []field
	start := 0
	for at := 0; at < len(l.text); {
		if !isSpace(l.text[at]) {
			at++
			continue
		}
		parts = append(parts, field{l.text[start:at], start})
		for at < len(l.text) && isSpace(l.text[at]) {
			at++
		}
		start = at
	}
	if start < len(l.text) || len(parts) == 0 {
		parts = append(parts, field{l.text[start:], start})
	}
	return parts
}

// number reads a decimal number of the given bits as Java's parseInt and parseLong do.
func (l line) number(kind corrupt.Kind, f field, name string, bits int) (int64, *corrupt.Error) {
	n, err := strconv.ParseInt(f.text, 10, bits)
	if err == nil {
		return n, nil
	}
	what := "no number"
	if strings.Contains(err.Error(), "out of range") {
		what = "no int" + strconv.Itoa(bits)
	}
	return 0, l.badAt(kind, f.at, len(f.text), name, "%s %s is %s", name, quote(f.text), what)
}

// quote makes hostile text fit for a message.
func quote(s string) string {
	const limit = 60
	if len(s) > limit {
		return strconv.QuoteToASCII(s[:limit]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// checkUTF8 refuses bytes that Java's reader refuses.
func checkUTF8(kind corrupt.Kind, data []byte) *corrupt.Error {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return corrupt.Newf(kind, int64(at), 1, "line %d: byte 0x%02x is not UTF-8", lineAt(data, at), data[at])
		}
		at += size
	}
	return nil
}

// lineAt is the number of the line that holds byte at.
func lineAt(data []byte, at int) int {
	n := 1
	for l := range lines(data) {
		if int(l.pos) > at {
			break
		}
		n = l.no
	}
	return n
}
