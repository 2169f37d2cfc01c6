package cmd

import (
	"bytes"
	"regexp"
	"strings"

	"logdir/store/record"
)

// recordFilter is one --grep.
type recordFilter struct {
	field  byte // 'k', 'v' or 'h'
	header []byte
	re     *regexp.Regexp // nil: the header only has to be there
	negate bool
}

// parseFilters reads the values of --grep: k:RE, v:RE, h:NAME=RE or h:NAME, with ! before
// one that must not match.
func parseFilters(texts []string) ([]recordFilter, error) {
	var filters []recordFilter
	for _, text := range texts {
		f, err := parseFilter(text)
		if err != nil {
			return nil, err
		}
		filters = append(filters, f)
	}
	return filters, nil
}

func parseFilter(text string) (f recordFilter, err error) {
	rest, negate := strings.CutPrefix(text, "!")
	field, pattern, ok := strings.Cut(rest, ":")
	if !ok || field != "k" && field != "v" && field != "h" {
		return f, usagef("--grep %q: want k:RE, v:RE or h:NAME=RE, with ! before it to negate", text)
	}
	f = recordFilter{field: field[0], negate: negate}
	if f.field == 'h' {
		name, re, hasRE := strings.Cut(pattern, "=")
		f.header = []byte(name)
		if !hasRE {
			return f, nil
		}
		pattern = re
	}
	if f.re, err = regexp.Compile(pattern); err != nil {
		return f, usagef("--grep %q: %w", text, err)
	}
	return f, nil
}

// passes tells whether a record gets through. Null matches nothing.
func (f *recordFilter) passes(r *record.Record) bool { return f.matches(r) != f.negate }

func (f *recordFilter) matches(r *record.Record) bool {
	switch f.field {
	case 'k':
		return r.Key != nil && f.re.Match(r.Key)
	case 'v':
		return r.Value != nil && f.re.Match(r.Value)
	}
	for _, h := range r.Headers {
		if bytes.Equal(h.Key, f.header) && (f.re == nil || h.Value != nil && f.re.Match(h.Value)) {
			return true
		}
	}
	return false
}
