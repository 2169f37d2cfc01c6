package flagval

import (
	"fmt"
	"strconv"
	"strings"
)

// Unescape replaces the escapes \n \t \r \\ and \xNN.
func Unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	dst := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		c, size, err := unescapeOne(s[i:])
		if err != nil {
			return "", err
		}
		dst = append(dst, c)
		i += size
	}
	return string(dst), nil
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\'}

// unescapeOne reads the escape at the start of s.
func unescapeOne(s string) (c byte, size int, err error) {
	if len(s) > 1 {
		if c, ok := escapes[s[1]]; ok {
			return c, 2, nil
		}
	}
	if len(s) >= 4 && s[1] == 'x' {
		if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return byte(n), 4, nil
		}
	}
	return 0, 0, fmt.Errorf(`%q is no escape: want \n \t \r \\ or \xNN`, s[:min(4, len(s))])
}

// Escaped is a text flag in which escapes stand for bytes, such as a delimiter.
type Escaped struct{ p *string }

// NewEscaped makes an Escaped that stores into p, which holds the default.
func NewEscaped(p *string) Escaped { return Escaped{p} }

// String shows the text with its control characters escaped.
func (e Escaped) String() string {
	if e.p == nil {
		return ""
	}
	return strings.Trim(strconv.Quote(*e.p), `"`)
}

// Type names the value in help.
func (e Escaped) Type() string { return "text" }

// Set reads the text and its escapes.
func (e Escaped) Set(s string) (err error) {
	*e.p, err = Unescape(s)
	return err
}
