package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sanitize makes a value safe inside a table: control characters, which could break
// the line or steer the terminal, and bytes that are not UTF-8 become escapes.
func sanitize(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		writeSafe(&b, r, s[i:i+size])
		i += size
	}
	return b.String()
}

func writeSafe(b *strings.Builder, r rune, raw string) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == utf8.RuneError && len(raw) == 1, r < ' ', r == 0x7f:
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case !unicode.IsPrint(r):
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		b.WriteRune(r)
	}
}

// isPlain says that every byte is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
