package index

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The tables in the package comment and the data say the same.
func TestPackageCommentShowsTheLayouts(t *testing.T) {
	comment := packageComment(t)
	for name, layout := range map[string][]Field{
		"OffsetLayout": OffsetLayout, "TimeLayout": TimeLayout, "TxnLayout": TxnLayout, "MKB1Layout": MKB1Layout,
	} {
		for _, f := range layout {
			row := fmt.Sprintf("%d %d %s %s %s", f.Pos, f.Size, f.Type, f.Name, f.Meaning)
			if !strings.Contains(comment, row) {
				t.Errorf("%s: the package comment has no row %q", name, row)
			}
		}
	}
}

// Each layout covers its entry without holes.
func TestLayoutsCoverTheirEntries(t *testing.T) {
	for _, c := range []struct {
		layout []Field
		size   int
	}{{OffsetLayout, OffsetEntrySize}, {TimeLayout, TimeEntrySize}, {TxnLayout, TxnEntrySize}, {MKB1Layout, MKB1EntrySize}} {
		pos := 0
		for _, f := range c.layout {
			if f.Pos != pos {
				t.Errorf("%s at %d, not %d", f.Name, f.Pos, pos)
			}
			pos += f.Size
		}
		if pos != c.size {
			t.Errorf("the rows cover %d of %d bytes", pos, c.size)
		}
	}
}

// packageComment is the comment of doc.go with each run of white space as one blank.
func packageComment(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(file.Doc.Text()), " ")
}
