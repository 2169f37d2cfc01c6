package man_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/man"
	"logdir/store/index"
	"logdir/store/producer"
	"logdir/store/record"
)

// tableRow is a row of a format table: pos, size, type, field, meaning.
var tableRow = regexp.MustCompile(`(?m)^\.It (\d+) Ta (\d+|-) Ta (\w+) Ta (\w+) Ta (.+)$`)

// unescape undoes what mdoc wants written differently.
var unescape = strings.NewReplacer(`\-`, "-", `\(dq`, `"`, `\&`, "")

// The tables of logdir-segment(5) are those that the code reads and writes by.
func TestSegmentPageShowsTheLayouts(t *testing.T) {
	page, _ := man.Page("logdir-segment.5")
	var got []string
	for _, m := range tableRow.FindAllStringSubmatch(page, -1) {
		got = append(got, strings.Join(m[1:5], " ")+": "+unescape.Replace(m[5]))
	}
	var want []string
	for _, f := range record.Layout {
		want = append(want, row(f.Pos, f.Size, f.Type, f.Name, f.Meaning))
	}
	for i, f := range record.LayoutV1 {
		// One table for both formats: its words are its own.
		at := len(want)
		_, words, _ := strings.Cut(got[min(at, len(got)-1)], ": ")
		want = append(want, row(f.Pos, f.Size, f.Type, record.LayoutV1[i].Name, words))
	}
	for _, f := range record.MKB1Layout {
		want = append(want, row(f.Pos, f.Size, f.Type, f.Name, f.Meaning))
	}
	for _, layout := range [][]index.Field{index.OffsetLayout, index.MKB1Layout, index.TimeLayout, index.TxnLayout} {
		for _, f := range layout {
			want = append(want, row(f.Pos, f.Size, f.Type, f.Name, f.Meaning))
		}
	}
	for _, layout := range [][]producer.Field{producer.HeaderLayout, producer.EntryLayout} {
		for _, f := range layout {
			want = append(want, row(f.Pos, f.Size, f.Type, f.Name, f.Meaning))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-code +page)\n%s", d)
	}
}

func row(pos, size int, kind, name, meaning string) string {
	bytes := "-"
	if size > 0 {
		bytes = fmt.Sprint(size)
	}
	return fmt.Sprintf("%d %s %s %s: %s", pos, bytes, kind, name, meaning)
}
