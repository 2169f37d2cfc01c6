package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of members that are skipped.
const maxJSONDepth = 64

// jsonScanner reads one JSON text from front to back. The first error stays, and every
// later step does nothing.
type jsonScanner struct {
	in    []byte
	pos   int
	depth int
	arena []byte // strings that had escapes, decoded
	err   error
}

func (s *jsonScanner) reset(in []byte) { *s = jsonScanner{in: in, arena: s.arena[:0]} }

func (s *jsonScanner) fail(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("byte %d: %s", s.pos, what)
	}
}

// next skips white space and shows the next byte, 0 at the end or after an error.
func (s *jsonScanner) next() byte {
	for s.err == nil && s.pos < len(s.in) {
		switch c := s.in[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take consumes c if it comes next.
func (s *jsonScanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

func (s *jsonScanner) want(c byte) {
	if !s.take(c) {
		s.fail(fmt.Sprintf("want %q", c))
	}
}

// end requires that nothing follows.
func (s *jsonScanner) end() {
	if s.next(); s.pos < len(s.in) {
		s.fail("more behind the object")
	}
}

// object calls member for each name; member reads the value.
func (s *jsonScanner) object(member func(name []byte)) {
	s.want('{')
	for first := true; s.err == nil && !s.take('}'); first = false {
		if !first {
			s.want(',')
		}
		name := s.string()
		s.want(':')
		member(name)
	}
}

// array calls item for each element; item reads it.
func (s *jsonScanner) array(item func()) {
	s.want('[')
	for first := true; s.err == nil && !s.take(']'); first = false {
		if !first {
			s.want(',')
		}
		item()
	}
}

func (s *jsonScanner) peekNull() bool {
	s.next()
	return bytes.HasPrefix(s.in[s.pos:], []byte("null"))
}

// null consumes a null if it comes next.
func (s *jsonScanner) null() bool {
	if !s.peekNull() {
		return false
	}
	s.pos += len("null")
	return true
}

func (s *jsonScanner) nullableString() []byte {
	if s.null() {
		return nil
	}
	return s.string()
}

// string reads a string. Without escapes it is a part of the input, never nil.
func (s *jsonScanner) string() []byte {
	s.want('"')
	if s.err != nil {
		return nil
	}
	start := s.pos
	for s.pos += plainPrefix(s.in[s.pos:]); s.pos < len(s.in); s.pos += plainPrefix(s.in[s.pos:]) {
		switch s.in[s.pos] {
		case '"':
			s.pos++
			return s.in[start : s.pos-1 : s.pos-1]
		case '\\':
			return s.escapedString(start)
		default:
			s.fail("control character in a string")
			return nil
		}
	}
	s.fail("unterminated string")
	return nil
}

// escapedString copies a string into the arena, from start on, and decodes its escapes.
func (s *jsonScanner) escapedString(start int) []byte {
	from := len(s.arena)
	s.arena = append(s.arena, s.in[start:s.pos]...)
	for s.err == nil && s.pos < len(s.in) {
		n := plainPrefix(s.in[s.pos:])
		s.arena = append(s.arena, s.in[s.pos:s.pos+n]...)
		if s.pos += n; s.pos == len(s.in) {
			break
		}
		switch s.in[s.pos] {
		case '"':
			s.pos++
			return s.arena[from:len(s.arena):len(s.arena)]
		case '\\':
			s.escape()
		default:
			s.fail("control character in a string")
		}
	}
	s.fail("unterminated string")
	return nil
}

var jsonEscapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape decodes one escape at the backslash.
func (s *jsonScanner) escape() {
	if s.pos+1 < len(s.in) {
		if c, ok := jsonEscapes[s.in[s.pos+1]]; ok {
			s.arena = append(s.arena, c)
			s.pos += 2
			return
		}
	}
	r, ok := s.unicodeEscape()
	if !ok {
		s.fail("not an escape of JSON")
		return
	}
	if utf16.IsSurrogate(r) {
		low, ok := s.unicodeEscape()
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			s.fail("half of a surrogate pair")
			return
		}
	}
	s.arena = utf8.AppendRune(s.arena, r)
}

// unicodeEscape consumes one \uXXXX.
func (s *jsonScanner) unicodeEscape() (rune, bool) {
	rest := s.in[s.pos:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	if err != nil {
		return 0, false
	}
	s.pos += 6
	return rune(n), true
}

// skip reads any value and drops it.
func (s *jsonScanner) skip() {
	if s.depth++; s.depth > maxJSONDepth {
		s.fail("nested too deep")
	}
	switch s.next() {
	case '{':
		s.object(func([]byte) { s.skip() })
	case '[':
		s.array(s.skip)
	case '"':
		s.string()
	default:
		s.skipWord()
	}
	s.depth--
}

// skipWord reads a number, true, false or null.
func (s *jsonScanner) skipWord() {
	start := s.pos
	for s.pos < len(s.in) && bytes.IndexByte([]byte(",]} \t\r\n"), s.in[s.pos]) < 0 {
		s.pos++
	}
	if !json.Valid(s.in[start:s.pos]) {
		s.pos = start
		s.fail("not a JSON value")
	}
}
