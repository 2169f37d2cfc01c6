package render

import (
	"iter"
	"slices"
	"strings"
)

const (
	// cellEnd ends each text in a grid; sanitize leaves it in none.
	cellEnd = '\n'
	// gridBlock is about how many bytes of texts a grid keeps in one piece.
	gridBlock = 64 << 10
)

// grid holds the rows of a table until all widths are known. A table may be long, and a
// slice of strings takes several times what they say: the texts stand one behind the other.
type grid struct {
	columns int
	rows    int
	blocks  []string
	block   strings.Builder // the one that grows
}

// add adds a row.
func (g *grid) add(values []any) {
	for _, v := range values[:g.columns] {
		g.block.WriteString(sanitize(cellText(v)))
		g.block.WriteByte(cellEnd)
	}
	if g.rows++; g.block.Len() < gridBlock {
		return
	}
	g.blocks = append(g.blocks, g.block.String())
	g.block.Reset()
	g.block.Grow(gridBlock + gridBlock/16) // room for the row that fills it
}

// all are the rows. Each is valid until the next.
func (g *grid) all() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		cells := make([]string, 0, g.columns)
		for _, texts := range append(slices.Clip(g.blocks), g.block.String()) {
			for texts != "" {
				for cells = cells[:0]; len(cells) < g.columns; {
					var cell string
					cell, texts, _ = strings.Cut(texts, string(cellEnd))
					cells = append(cells, cell)
				}
				if !yield(cells) {
					return
				}
			}
		}
	}
}

// each are the rows, to be kept.
func (g *grid) each() [][]string {
	rows := make([][]string, 0, g.rows)
	for row := range g.all() {
		rows = append(rows, slices.Clone(row))
	}
	return rows
}
