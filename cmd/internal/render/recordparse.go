package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"

	"logdir/store/record"
)

// Parsed is a line of JSON as a record. Its slices are valid until the next Parse.
type Parsed struct {
	record.Record
	// Topic is nil, and Partition -1, where the line does not say.
	Topic     []byte
	Partition int32
	// HasTimestamp says that the line has one.
	HasTimestamp bool
}

// RecordParser reads the lines that Envelope writes. Members may come in any order,
// any may be missing, and unknown ones are skipped. It allocates only to grow.
type RecordParser struct {
	out     Parsed
	headers []record.Header
	scan    jsonScanner
}

// Parse reads one line. An error tells the byte of the line.
func (p *RecordParser) Parse(line []byte) (*Parsed, error) {
	p.scan.reset(line)
	p.headers = p.headers[:0]
	p.out = Parsed{Partition: -1, Record: record.Record{
		Offset: -1, Timestamp: record.NoTimestamp, Sequence: record.NoSequence,
	}}
	p.scan.object(p.member)
	p.scan.end()
	if p.scan.err != nil {
		return nil, p.scan.err
	}
	if len(p.headers) > 0 {
		p.out.Headers = p.headers
	}
	return &p.out, nil
}

// member reads the value of one member of the object.
func (p *RecordParser) member(name []byte) {
	s := &p.scan
	switch string(name) {
	case "topic":
		p.out.Topic = s.nullableString()
	case "partition":
		p.out.Partition = int32(s.number(32, -1))
	case "offset":
		p.out.Offset = s.number(64, -1)
	case "timestamp":
		p.out.HasTimestamp = !s.peekNull()
		p.out.Timestamp = s.number(64, record.NoTimestamp)
	case "key":
		p.out.Key = s.nullableString()
	case "key_base64":
		p.out.Key = s.base64()
	case "value":
		p.out.Value = s.nullableString()
	case "value_base64":
		p.out.Value = s.base64()
	case "headers":
		s.array(p.header)
	default:
		s.skip()
	}
}

// header reads one header: [name, value] or [name, value, "base64"].
func (p *RecordParser) header() {
	s := &p.scan
	var h record.Header
	n := 0
	s.array(func() {
		switch n++; n {
		case 1:
			h.Key = s.string()
		case 2:
			h.Value = s.nullableString()
		case 3:
			if string(s.string()) != "base64" {
				s.fail("a header's third element can only be \"base64\"")
			}
			h.Value = s.decodeBase64(h.Value)
		default:
			s.fail("a header has a name, a value and perhaps \"base64\"")
		}
	})
	if n < 2 {
		s.fail("a header needs a name and a value")
	}
	p.headers = append(p.headers, h)
}

// number reads an integer, or null for unset.
func (s *jsonScanner) number(size int, unset int64) int64 {
	if s.null() {
		return unset
	}
	start := s.pos
	for s.pos < len(s.in) && (s.in[s.pos] == '-' || s.in[s.pos]-'0' <= 9) {
		s.pos++
	}
	digits := bytes.TrimPrefix(s.in[start:s.pos], []byte("-"))
	n, err := strconv.ParseInt(string(s.in[start:s.pos]), 10, size)
	if err != nil || digits[0] == '0' && len(digits) > 1 {
		s.pos = start
		s.fail(fmt.Sprintf("want an integer of %d bits", size))
	}
	return n
}

func (s *jsonScanner) base64() []byte {
	if s.null() {
		return nil
	}
	return s.decodeBase64(s.string())
}

// decodeBase64 decodes into the scanner's memory.
func (s *jsonScanner) decodeBase64(text []byte) []byte {
	if s.err != nil {
		return nil
	}
	start := len(s.arena)
	arena, err := base64.StdEncoding.AppendDecode(s.arena, text)
	if err != nil {
		s.fail("not base64")
		return nil
	}
	s.arena = arena
	return s.arena[start:len(s.arena):len(s.arena)]
}
