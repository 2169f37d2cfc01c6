package record

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docRow is a row of a format table in a comment: pos, size, type, field, meaning.
var docRow = regexp.MustCompile(`(?m)^//\s+(\d+)\s+(\d+|-)\s+(u?int\d+|bytes)\s+(\w+)\s+(.+)$`)

// docRows are the rows of the tables in the comments of a file, without the meaning if
// it is not wanted.
func docRows(t *testing.T, file string, meaning bool) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range docRow.FindAllStringSubmatch(string(text), -1) {
		row := fmt.Sprintf("%s %s %s %s", m[1], m[2], m[3], m[4])
		if meaning {
			row += " " + m[5]
		}
		rows = append(rows, row)
	}
	return rows
}

func layoutRows(layout []Field, meaning bool) []string {
	var rows []string
	for _, f := range layout {
		size := "-"
		if f.Size > 0 {
			size = fmt.Sprint(f.Size)
		}
		row := fmt.Sprintf("%d %s %s %s", f.Pos, size, f.Type, f.Name)
		if meaning {
			row += " " + f.Meaning
		}
		rows = append(rows, row)
	}
	return rows
}

func TestMKB1TableIsDocumented(t *testing.T) {
	if diff := cmp.Diff(layoutRows(MKB1Layout, true), docRows(t, "mkb1_layout.go", true)); diff != "" {
		t.Errorf("(-data +comment):\n%s", diff)
	}
}

// TestLegacyTableIsDocumented: the comment has one table for both formats, that of v1.
func TestLegacyTableIsDocumented(t *testing.T) {
	if diff := cmp.Diff(layoutRows(LayoutV1, false), docRows(t, "legacy_layout.go", false)); diff != "" {
		t.Errorf("(-data +comment):\n%s", diff)
	}
	var withoutTime []Field
	for _, f := range LayoutV1 {
		if f.Name == "timestamp" {
			continue
		}
		if f.Pos > legacyPosTimestamp {
			f.Pos -= 8
		}
		withoutTime = append(withoutTime, f)
	}
	if diff := cmp.Diff(layoutRows(withoutTime, false), layoutRows(LayoutV0, false)); diff != "" {
		t.Errorf("v0 (-v1 without timestamp +data):\n%s", diff)
	}
}

// TestLayoutsAreWithoutHoles: each field begins where the one before ends, and the last
// takes the rest.
func TestLayoutsAreWithoutHoles(t *testing.T) {
	for _, f := range []Format{V0, V1, V2, MKB1} {
		pos := 0
		layout := LayoutOf(f)
		for i, field := range layout {
			if field.Pos != pos || (field.Size == 0) != (i == len(layout)-1) {
				t.Errorf("%s: %s at %d with %d bytes, want it at %d", f, field.Name, field.Pos, field.Size, pos)
			}
			pos += field.Size
		}
	}
}

// TestChecksumCoversWhatTheTablesSay breaks every byte of a frame of each format.
func TestChecksumCoversWhatTheTablesSay(t *testing.T) {
	for _, raw := range [][]byte{
		messageV0(5, 0, []byte("key"), []byte("value")),
		messageV1(5, 0, 1700000000000, []byte("key"), []byte("value")),
		hexBytes(t, mkb1Example),
	} {
		b, bad := View(raw)
		if bad != nil {
			t.Fatal(bad)
		}
		for _, f := range LayoutOf(b.Format()) {
			end := f.Pos + f.Size
			if f.Size == 0 {
				end = len(raw)
			}
			for pos := f.Pos; pos < end; pos++ {
				before := b.ComputeCRC()
				raw[pos] ^= 0x10
				if changed := b.ComputeCRC() != before; changed != f.Checked {
					t.Errorf("%s: byte %d of %s changes the checksum: %v, want %v", b.Format(), pos, f.Name, changed, f.Checked)
				}
				raw[pos] ^= 0x10
			}
		}
	}
}
