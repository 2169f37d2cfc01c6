package checkpoint

import (
	"slices"
	"strconv"
	"time"
	"unicode/utf16"

	"logdir/store/corrupt"
)

// Property is one key and value of a properties file, with where it stands: Line counted
// from 1, Pos and Size in bytes. A property that was not read from a file has Line 0.
type Property struct {
	Key, Value string
	Line       int
	Pos, Size  int64
}

// Properties is a Java properties file in its order. Of a key that stands twice the later
// one counts.
type Properties []Property

// ParseProperties reads Java's properties syntax: comments behind # and !, a key, then =, :
// or white space, then the value; a backslash escapes, \uXXXX is a UTF-16 unit, and one at the
// end of a line joins the next. Bytes are read as Latin-1, as Kafka reads them.
// The only thing that can be wrong is a \u escape.
func ParseProperties(data []byte) (Properties, error) {
	p := propertyReader{data: data, line: 1}
	var props Properties
	for p.nextKey() {
		prop, err := p.property()
		if err != nil {
			return props, err
		}
		props = append(props, prop)
	}
	return props, nil
}

// propertyReader walks over the text of a properties file.
type propertyReader struct {
	data []byte
	at   int
	line int
}

func isLineEnd(c byte) bool { return c == '\r' || c == '\n' }

// isBlank is white space in a properties file.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

// nextKey goes on to the next line that is neither blank nor a comment.
func (p *propertyReader) nextKey() bool {
	for p.at < len(p.data) {
		p.skipBlanks()
		switch {
		case p.at == len(p.data):
		case isLineEnd(p.data[p.at]):
			p.endLine()
		case p.data[p.at] == '#' || p.data[p.at] == '!':
			p.skipComment()
		default:
			return true
		}
	}
	return false
}

func (p *propertyReader) skipBlanks() {
	for p.at < len(p.data) && isBlank(p.data[p.at]) {
		p.at++
	}
}

// skipComment stops before the line's end. A backslash joins nothing in a comment.
func (p *propertyReader) skipComment() {
	for p.at < len(p.data) && !isLineEnd(p.data[p.at]) {
		p.at++
	}
}

func (p *propertyReader) endLine() {
	if p.at < len(p.data) {
		p.at += endSize(p.data[p.at:])
		p.line++
	}
}

func (p *propertyReader) property() (Property, error) {
	prop := Property{Line: p.line, Pos: int64(p.at)}
	var err *corrupt.Error
	if prop.Key, err = p.text(true); err != nil {
		return prop, err
	}
	p.skipSeparator()
	if prop.Value, err = p.text(false); err != nil {
		return prop, err
	}
	prop.Size = int64(p.at) - prop.Pos
	p.endLine()
	return prop, nil
}

// skipSeparator passes what stands between key and value: white space with at most one =
// or : in it. A joined line counts as white space.
func (p *propertyReader) skipSeparator() {
	p.skipJoinedBlanks()
	if p.at < len(p.data) && (p.data[p.at] == '=' || p.data[p.at] == ':') {
		p.at++
		p.skipJoinedBlanks()
	}
}

func (p *propertyReader) skipJoinedBlanks() {
	p.skipBlanks()
	for p.joins() {
		p.skipBlanks()
	}
}

// joins passes a backslash at the end of a line, and the blanks of the next one.
func (p *propertyReader) joins() bool {
	if p.at+1 >= len(p.data) || p.data[p.at] != '\\' || !isLineEnd(p.data[p.at+1]) {
		return false
	}
	p.at++
	p.endLine()
	p.skipBlanks()
	return true
}

// text reads a key, which ends before a separator, or a value, which ends with the line.
func (p *propertyReader) text(key bool) (string, *corrupt.Error) {
	var units []uint16
	for p.at < len(p.data) {
		c := p.data[p.at]
		switch {
		case isLineEnd(c), key && (c == '=' || c == ':' || isBlank(c)):
			return string(utf16.Decode(units)), nil
		case c != '\\':
			units = append(units, uint16(c))
			p.at++
		case !p.joins():
			unit, err := p.escape()
			if err != nil {
				return "", err
			}
			units = append(units, unit...)
		}
	}
	return string(utf16.Decode(units)), nil
}

// escape reads what a backslash begins. One at the end of the file stands for nothing.
func (p *propertyReader) escape() ([]uint16, *corrupt.Error) {
	start := p.at
	p.at++
	if p.at == len(p.data) {
		return nil, nil
	}
	c := p.data[p.at]
	p.at++
	switch c {
	case 't':
		c = '\t'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 'f':
		c = '\f'
	case 'u':
		return p.unicode(start)
	}
	return []uint16{uint16(c)}, nil
}

func (p *propertyReader) unicode(start int) ([]uint16, *corrupt.Error) {
	end := min(p.at+4, len(p.data))
	unit, err := strconv.ParseUint(string(p.data[p.at:end]), 16, 16)
	if err != nil || end-p.at < 4 {
		return nil, corrupt.Newf(corrupt.BadMetadata, int64(start), int64(end-start), "line %d: %s is no \\uXXXX escape", p.line, quote(string(p.data[start:end])))
	}
	p.at = end
	return []uint16{uint16(unit)}, nil
}

// Get returns the value of a key. The last one wins.
func (p Properties) Get(key string) (string, bool) {
	if prop, ok := p.find(key); ok {
		return prop.Value, true
	}
	return "", false
}

func (p Properties) find(key string) (Property, bool) {
	for _, prop := range slices.Backward(p) {
		if prop.Key == key {
			return prop, true
		}
	}
	return Property{}, false
}

// Set changes the value of a key where it stands, or adds it at the end.
func (p *Properties) Set(key, value string) {
	for i := len(*p) - 1; i >= 0; i-- {
		if (*p)[i].Key == key {
			(*p)[i] = Property{Key: key, Value: value}
			return
		}
	}
	*p = append(*p, Property{Key: key, Value: value})
}

// javaDate is how Java writes a date.
const javaDate = "Mon Jan 02 15:04:05 MST 2006"

// AppendProperties appends the file as Java's Properties.store writes it for Kafka: an empty
// comment, a comment with the date, then the properties in the order of p.
func AppendProperties(dst []byte, p Properties, written time.Time) []byte {
	dst = append(dst, "#\n#"...)
	dst = written.AppendFormat(dst, javaDate)
	dst = append(dst, '\n')
	for _, prop := range p {
		dst = appendEscaped(dst, prop.Key, true)
		dst = append(dst, '=')
		dst = appendEscaped(dst, prop.Value, false)
		dst = append(dst, '\n')
	}
	return dst
}

// propertyEscapes are the bytes that Java escapes wherever they stand. A blank is escaped
// anywhere in a key, and at the start of a value.
var propertyEscapes = map[rune]string{
	'\\': `\\`, '\t': `\t`, '\n': `\n`, '\r': `\r`, '\f': `\f`,
	'=': `\=`, ':': `\:`, '#': `\#`, '!': `\!`,
}

// appendEscaped writes characters outside ASCII as \uXXXX: Kafka writes them as UTF-8, and
// then reads them back as Latin-1.
func appendEscaped(dst []byte, text string, key bool) []byte {
	for i, r := range text {
		escaped, special := propertyEscapes[r]
		switch {
		case special:
			dst = append(dst, escaped...)
		case r == ' ' && (key || i == 0):
			dst = append(dst, `\ `...)
		case r < ' ' || r > '~':
			dst = appendUnits(dst, r)
		default:
			dst = append(dst, byte(r))
		}
	}
	return dst
}

func appendUnits(dst []byte, r rune) []byte {
	const hex = "0123456789ABCDEF"
	for _, u := range utf16.AppendRune(nil, r) {
		dst = append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	return dst
}
