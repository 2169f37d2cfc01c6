package corrupt

import (
	"slices"
	"testing"
)

func TestCountLost(t *testing.T) {
	damage := func(kind Kind, records, prev, next int64) *Error {
		e := New(kind, 0, 100, "")
		e.Records, e.PrevOffset, e.NextOffset = records, prev, next
		return e
	}
	for _, c := range []struct {
		name   string
		ranges []*Error
		limit  int64
		want   []int64
	}{
		{"by its header", []*Error{damage(BadCRC, 5, 10, 15)}, Unknown, []int64{5}},
		{"a header that claims too much", []*Error{damage(BadCRC, 1<<30, 10, 15)}, Unknown, []int64{5}},
		{"compaction left fewer", []*Error{damage(BadCRC, 2, 10, 15)}, Unknown, []int64{2}},
		{"no header", []*Error{damage(BadLength, Unknown, 10, 15)}, Unknown, []int64{5}},
		{"no header beside one", []*Error{damage(BadCRC, 2, 10, 15), damage(BadLength, Unknown, 10, 15)}, Unknown, []int64{2, 3}},
		{"two without", []*Error{damage(BadLength, Unknown, 10, 15), damage(BadMagic, Unknown, 10, 15)}, Unknown, []int64{5, 0}},
		{"two places", []*Error{damage(BadLength, Unknown, 10, 15), damage(BadMagic, Unknown, 20, 21)}, Unknown, []int64{5, 1}},
		{"to the next segment", []*Error{damage(Garbage, Unknown, 10, Unknown)}, 13, []int64{3}},
		{"behind the last offset of a segment", []*Error{damage(Garbage, Unknown, 13, Unknown)}, 13, []int64{0}},
		{"to the end of the log", []*Error{damage(Garbage, Unknown, 10, Unknown)}, Unknown, []int64{0}},
		{"a good batch with another's offset", []*Error{damage(BadOffset, 3, 10, 10)}, Unknown, []int64{3}},
		{"three of them", []*Error{damage(BadOffset, 3, 10, 12), damage(BadOffset, 3, 10, 12), damage(BadMagic, Unknown, 10, 12)}, Unknown, []int64{3, 3, 0}},
		{"never whole", []*Error{damage(Torn, 4, 10, Unknown), damage(Zeros, Unknown, 10, Unknown)}, Unknown, []int64{0, 0}},
		{"never whole, at the very start", []*Error{damage(Torn, 4, 0, Unknown), damage(Zeros, Unknown, 0, Unknown)}, 0, []int64{0, 0}},
		{"whole once: the next segment begins behind it", []*Error{damage(Torn, 4, 10, Unknown)}, 20, []int64{10}},
		{"the same behind a bad batch", []*Error{damage(BadCRC, 4, 10, Unknown), damage(Zeros, Unknown, 10, Unknown)}, 20, []int64{4, 6}},
		{"a torn end behind all that the segment held", []*Error{damage(Torn, 4, 20, Unknown)}, 20, []int64{0}},
		{"an index", []*Error{damage(BadIndex, Unknown, Unknown, Unknown)}, 20, []int64{0}},
	} {
		if got := CountLost(c.ranges, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
