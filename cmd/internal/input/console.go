package input

import (
	"bytes"
	"fmt"

	"logdir/store/record"
)

// Console reads a line as Kafka's console producer does:
//
//	name:value,name:value <TAB> key <TAB> value
//
// where headers and key are there only if they are asked for.
type Console struct {
	ParseKey, ParseHeaders bool
	// IgnoreError makes a line without a separator all value, and a header without one all
	// name, instead of an error.
	IgnoreError bool

	KeySeparator        string // between key and value
	HeadersDelimiter    string // between headers and what follows
	HeadersSeparator    string // between two headers
	HeadersKeySeparator string // between name and value of a header
	NullMarker          string // stands for null; "" for nothing
}

// NewConsole is a Console with Kafka's defaults.
func NewConsole() Console {
	return Console{KeySeparator: "\t", HeadersDelimiter: "\t", HeadersSeparator: ",", HeadersKeySeparator: ":"}
}

// Parse sets headers, key and value of r, which then refer to line. The headers of r are
// reused.
func (c *Console) Parse(line []byte, r *record.Record) (err error) {
	rest := line
	var headers, key []byte
	if headers, rest, err = c.cut(c.ParseHeaders, rest, c.HeadersDelimiter, "headers delimiter"); err != nil {
		return err
	}
	if key, rest, err = c.cut(c.ParseKey, rest, c.KeySeparator, "key separator"); err != nil {
		return err
	}
	r.Key, r.Value, r.Headers = c.orNull(key), c.orNull(rest), r.Headers[:0]
	if headers = c.orNull(headers); headers == nil {
		return nil
	}
	for pair := range bytes.SplitSeq(headers, []byte(c.HeadersSeparator)) {
		h, err := c.header(pair)
		if err != nil {
			return err
		}
		r.Headers = append(r.Headers, h)
	}
	return nil
}

// cut takes what stands before a separator off line; nothing, if that is not asked for.
func (c *Console) cut(wanted bool, line []byte, separator, name string) (part, rest []byte, err error) {
	if !wanted {
		return nil, line, nil
	}
	at := bytes.Index(line, []byte(separator))
	switch {
	case at >= 0:
		return line[:at:at], line[at+len(separator):], nil
	case c.IgnoreError:
		return nil, line, nil
	}
	return nil, nil, fmt.Errorf("no %s found: %.60q", name, line)
}

// orNull is nil for the null marker.
func (c *Console) orNull(b []byte) []byte {
	if c.NullMarker != "" && string(b) == c.NullMarker {
		return nil
	}
	return b
}

func (c *Console) header(pair []byte) (record.Header, error) {
	at := bytes.Index(pair, []byte(c.HeadersKeySeparator))
	switch {
	case at < 0 && c.IgnoreError:
		return record.Header{Key: pair}, nil
	case at < 0:
		return record.Header{}, fmt.Errorf("no header key separator found in %.60q", pair)
	}
	name := pair[:at:at]
	if c.orNull(name) == nil {
		return record.Header{}, fmt.Errorf("the name of a header cannot be null: %.60q", pair)
	}
	return record.Header{Key: name, Value: c.orNull(pair[at+len(c.HeadersKeySeparator):])}, nil
}
