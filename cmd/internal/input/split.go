package input

import "bytes"

// Splitter cuts a run into records and a record into key and value.
type Splitter struct {
	Delimiter    []byte // between records, never empty
	KeyDelimiter []byte // between key and value; empty: records have no key
}

// Next cuts the first record off data, without its delimiter.
func (s *Splitter) Next(data []byte) (record, rest []byte) {
	if at := bytes.Index(data, s.Delimiter); at >= 0 {
		return data[:at], data[at+len(s.Delimiter):]
	}
	return data, nil
}

// Key cuts a record at its first key delimiter. A record without one is all value and
// its key is null, as in kcat.
func (s *Splitter) Key(record []byte) (key, value []byte) {
	if len(s.KeyDelimiter) == 0 {
		return nil, record
	}
	at := bytes.Index(record, s.KeyDelimiter)
	if at < 0 {
		return nil, record
	}
	return record[:at:at], record[at+len(s.KeyDelimiter):]
}
