package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestV2TableIsDocumented(t *testing.T) {
	if diff := cmp.Diff(layoutRows(Layout, true), docRows(t, "doc.go", true)); diff != "" {
		t.Errorf("(-data +comment):\n%s", diff)
	}
}

// Every byte of a v2 frame changes the checksum exactly if its field says that it is checked.
func TestV2ChecksumCoversWhatTheTableSays(t *testing.T) {
	raw := hexBytes(t, v2Vectors[0].hex)
	b, _ := Parse(raw)
	for _, f := range Layout {
		end := f.Pos + f.Size
		if f.Size == 0 {
			end = len(raw)
		}
		for pos := f.Pos; pos < end; pos++ {
			before := b.ComputeCRC()
			raw[pos] ^= 0x10
			if changed := b.ComputeCRC() != before; changed != f.Checked {
				t.Errorf("byte %d of %s changes the checksum: %t", pos, f.Name, changed)
			}
			raw[pos] ^= 0x10
		}
	}
}
