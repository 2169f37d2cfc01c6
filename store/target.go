package store

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// NoBroker stands for a broker that is not named, or a partition without a leader.
const NoBroker int32 = -1

// Target is what a person names on the command line:
//
//	TARGET := TOPIC [ ":" PARTS ] [ "@" BROKER ] | PATH
//	PARTS  := N | N,N | N-M | N-
type Target struct {
	Text   string // as it was typed
	Topic  string
	Parts  []PartRange // nil: all partitions
	Broker int32       // NoBroker: the leader's replica, or all of them
}

// PartRange is a run of partition numbers, both ends included.
type PartRange struct{ From, To int32 }

// Has tells whether the target names partition p of its topic.
func (t Target) Has(p int32) bool {
	return t.Parts == nil || slices.ContainsFunc(t.Parts, func(r PartRange) bool { return r.From <= p && p <= r.To })
}

// ParseTarget reads the TOPIC form. The PATH form is recognised by LooksLikePath, and
// by what is there.
func ParseTarget(text string) (Target, error) {
	t := Target{Text: text, Broker: NoBroker}
	rest, broker, hasBroker := strings.Cut(text, "@")
	topic, parts, hasParts := strings.Cut(rest, ":")
	if hasBroker {
		id, err := parseNumber(broker)
		if err != nil {
			return t, targetError(text, "broker", broker)
		}
		t.Broker = id
	}
	t.Topic = topic
	if err := ValidateTopic(topic); err != nil {
		return t, err
	}
	if !hasParts {
		return t, nil
	}
	var err error
	if t.Parts, err = ParseParts(parts); err != nil {
		return t, targetError(text, "partitions", parts)
	}
	return t, nil
}

func targetError(text, what, bad string) error {
	return Errorf(Usage, "INVALID_REQUEST", "%q: %s %q: want TOPIC[:N,N-M][@BROKER]", text, what, bad)
}

// ParseParts reads a list of partitions: N, N-M and N- with commas between them.
func ParseParts(list string) ([]PartRange, error) {
	var out []PartRange
	for item := range strings.SplitSeq(list, ",") {
		r, err := parseRange(item)
		if err != nil {
			return nil, Errorf(Usage, "INVALID_REQUEST", "partitions %q: want N, N,N, N-M or N-", list)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRange(item string) (PartRange, error) {
	from, to, isRange := strings.Cut(item, "-")
	first, err := parseNumber(from)
	if err != nil {
		return PartRange{}, err
	}
	switch {
	case !isRange:
		return PartRange{first, first}, nil
	case to == "":
		return PartRange{first, math.MaxInt32}, nil
	}
	last, err := parseNumber(to)
	if err == nil && last < first {
		err = strconv.ErrRange
	}
	return PartRange{first, last}, err
}

func parseNumber(s string) (int32, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int32(n), err
}

// pathSuffixes end the names of files that a TARGET may name without a slash.
var pathSuffixes = []string{
	".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint",
	".deleted", ".cleaned", ".swap", "-checkpoint", "partition.metadata", "meta.properties",
}

// LooksLikePath tells whether the text names a file whatever topics there are: it holds
// a slash, or ends like a file of a log directory.
func LooksLikePath(text string) bool {
	if strings.ContainsRune(text, filepath.Separator) || strings.Contains(text, "/") {
		return true
	}
	return slices.ContainsFunc(pathSuffixes, func(s string) bool { return strings.HasSuffix(text, s) })
}
