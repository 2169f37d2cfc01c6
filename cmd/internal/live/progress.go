package live

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"logdir/store"
)

// progress is how far one partition is exported: what the text beside its committed offset
// says.
//
//	source=orders:0 end=124 17=5 40=28
//
// end is the offset behind the last exported record in the cluster. The others are offsets
// at which groups stand in the source, and what they became: a later run could not find
// that out again.
type progress struct {
	source     store.TopicPartition
	next       int64 // first offset of the source that is not exported, -1 if none is
	end        int64 // -1 if nothing is exported
	translated map[int64]int64
}

// maxMetadata is Kafka's default of offset.metadata.max.bytes, and maxTranslated what one
// translation takes of it.
const (
	maxMetadata   = 4096
	maxTranslated = len(" 9223372036854775807=9223372036854775807")
)

// mark is the progress as it is committed, with as many translations as there is room for:
// ninety at least.
func (p *progress) mark() mark {
	text := fmt.Appendf(nil, "source=%s end=%d", p.source, p.end)
	for _, from := range slices.Sorted(maps.Keys(p.translated)) {
		if len(text)+maxTranslated > maxMetadata {
			break
		}
		text = fmt.Appendf(text, " %d=%d", from, p.translated[from])
	}
	return mark{p.next, string(text)}
}

// parseProgress reads what an earlier run committed for a source.
func parseProgress(m mark, source store.TopicPartition) (progress, error) {
	p := progress{source: source, next: m.offset, end: -1, translated: map[int64]int64{}}
	if m.offset < 0 {
		return p, nil
	}
	for word := range strings.FieldsSeq(m.metadata) {
		name, value, ok := strings.Cut(word, "=")
		if name == "source" && value != source.String() {
			return p, notOurs("it is of %s, not of %s", value, source)
		}
		to, err := strconv.ParseInt(value, 10, 64)
		from, err2 := strconv.ParseInt(name, 10, 64)
		switch {
		case name == "source":
		case !ok || err != nil:
			return p, notOurs("%q is not understood", m.metadata)
		case name == "end":
			p.end = to
		case err2 != nil:
			return p, notOurs("%q is not understood", m.metadata)
		default:
			p.translated[from] = to
		}
	}
	return p, nil
}

// markOf is the mark of a partition; one without an offset where nothing is committed.
func markOf(marks map[store.TopicPartition]mark, tp store.TopicPartition) mark {
	if m, ok := marks[tp]; ok {
		return m
	}
	return mark{offset: -1}
}

func notOurs(format string, args ...any) error {
	e := store.Errorf(store.Refused, "", format, args...)
	e.Msg = "the progress under this --id cannot be gone on from: " + e.Msg
	return e.WithHint("name another --id")
}

// clone is a copy that may be changed.
func (p *progress) clone() progress {
	c := *p
	c.translated = maps.Clone(p.translated)
	return c
}

// took notes that a row of records is exported, and what it tells of the offsets wanted,
// which ascend.
func (p *progress) took(r run, wanted []int64) {
	for _, offset := range wanted {
		if offset > r.last {
			break
		}
		if offset >= p.next { // else its record was exported before anybody asked
			p.translated[offset] = r.target + max(offset-r.first, 0)
		}
	}
	p.next, p.end = r.last+1, r.target+r.count()
}
