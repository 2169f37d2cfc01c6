package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A grid gives back the texts of its cells, also where rows fill many blocks.
func TestGrid(t *testing.T) {
	cell := rapid.OneOf(
		rapid.SampledFrom([]any{nil, "", "a\nb", "\t", 42, int64(-1), []string{"x", "y"}}),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(0, 2*gridBlock), func(n int) any { return strings.Repeat("x", n) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		g := grid{columns: columns}
		var want [][]string
		for _, row := range rapid.SliceOfN(rapid.SliceOfN(cell, columns, columns), 1, 20).Draw(t, "rows") {
			g.add(append(row, "an extra"))
			texts := make([]string, columns)
			for i, v := range row {
				texts[i] = sanitize(cellText(v))
			}
			want = append(want, texts)
		}
		if diff := cmp.Diff(want, g.each()); diff != "" || g.rows != len(want) {
			t.Fatalf("%d rows:\n%s", g.rows, diff)
		}
	})
}

// A long table takes little more memory than its text.
func TestGridIsCompact(t *testing.T) {
	g := grid{columns: 3}
	for i := range 50_000 {
		g.add([]any{"some-topic", i, int64(i) * 1000})
	}
	text := 0
	for row := range g.all() {
		text += len(strings.Join(row, " ")) + 1
	}
	held := g.block.Cap()
	for _, block := range g.blocks {
		held += len(block)
	}
	if held > text+2*gridBlock {
		t.Errorf("%d bytes for %d of text", held, text)
	}
}
