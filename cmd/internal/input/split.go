package input

import "bytes"

// Splitter cuts a run into records and a record into key and value.
type Splitter struct {
	Delimiter    []byte // between records, never empty
	KeyDelimiter []byte // between key and value; empty: records have no key
}

// Next cuts the first record off data, without its delimiter.
func (s *Splitter) Next(data []byte) (record, rest []byte) {
	if at := index(data, s.Delimiter); at >= 0 {
		return data[:at], data[at+len(s.Delimiter):]
	}
	return data, nil
}

// index is bytes.Index; a separator of one byte, which is the rule, goes the short way.
func index(data, separator []byte) int {
	if len(separator) == 1 {
		return bytes.IndexByte(data, separator[0])
	}
	return bytes.Index(data, separator)
}

// Key cuts a record at its first key delimiter. A record without one is all value and
// its key is null, as in kcat.
func (s *Splitter) Key(record []byte) (key, value []byte) {
	if len(s.KeyDelimiter) == 0 {
		return nil, record
	}
	at := index(record, s.KeyDelimiter)
	if at < 0 {
		return nil, record
	}
	return record[:at:at], record[at+len(s.KeyDelimiter):]
}
