package inspect

import (
	"bytes"
	"strings"
	"testing"
)

// What Kafka 4.4's tool says of an index without an entry: it has a line for an offset
// index and none for a time index.
func TestDumpEmptyIndexes(t *testing.T) {
	base := strings.TrimSuffix(logName, ".log")
	fsys := fsWith(t, map[string][]byte{logName: nil, base + ".index": nil, base + ".timeindex": nil})
	for _, run := range []struct {
		suffix string
		sanity bool
		want   string
	}{
		{".index", false, base + ".index is empty."},
		{".index", true, base + ".index is empty."},
		{".timeindex", false, ""},
		{".timeindex", true, base + ".timeindex passed sanity check."},
	} {
		var out bytes.Buffer
		d := Dumper{FS: fsys, Out: &out, Printer: plainPrinter{}, Options: DumpOptions{SanityOnly: run.sanity}}
		if err := d.File(t.Context(), base+run.suffix, base+run.suffix); err != nil || out.String() != run.want {
			t.Errorf("%s, sanity %v: err %v: %q, want %q", run.suffix, run.sanity, err, out.String(), run.want)
		}
	}
}
