package input

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"logdir/store/record"
)

// The examples of Kafka's own LineMessageReaderTest, and what else its properties say.
func TestConsole(t *testing.T) {
	header := func(name, value string) record.Header { return record.Header{Key: []byte(name), Value: []byte(value)} }
	all := func(c *Console) { c.ParseKey, c.ParseHeaders = true, true }
	for _, tt := range []struct {
		name, line string
		set        func(*Console)
		want       record.Record
		err        string
	}{
		{"value only", "a\tb", func(*Console) {}, record.Record{Value: []byte("a\tb")}, ""},
		{
			"headers, key, value", "h0:v0,h1:v1\tkey\tvalue\tmore", all,
			record.Record{Key: []byte("key"), Value: []byte("value\tmore"), Headers: []record.Header{header("h0", "v0"), header("h1", "v1")}},
			"",
		},
		{"empty key and value", "h:\t\t", all, record.Record{Key: []byte{}, Value: []byte{}, Headers: []record.Header{header("h", "")}}, ""},
		{
			"separators of more than one byte", "k=>1&k2=>2||key::value",
			func(c *Console) {
				all(c)
				c.KeySeparator, c.HeadersDelimiter, c.HeadersSeparator, c.HeadersKeySeparator = "::", "||", "&", "=>"
			},
			record.Record{Key: []byte("key"), Value: []byte("value"), Headers: []record.Header{header("k", "1"), header("k2", "2")}},
			"",
		},
		{"no key", "value", func(c *Console) { c.ParseKey = true }, record.Record{}, `no key separator found: "value"`},
		{"no headers", "value", all, record.Record{}, "no headers delimiter found"},
		{"a header without value", "h\tk\tv", all, record.Record{}, `no header key separator found in "h"`},
		{
			"ignored", "h\tvalue", func(c *Console) { all(c); c.IgnoreError = true },
			record.Record{Value: []byte("value"), Headers: []record.Header{{Key: []byte("h")}}},
			"",
		},
		{
			"nulls", "h:N\tN\tN", func(c *Console) { all(c); c.NullMarker = "N" },
			record.Record{Headers: []record.Header{{Key: []byte("h")}}},
			"",
		},
		{"null headers", "N\tk\tv", func(c *Console) { all(c); c.NullMarker = "N" }, record.Record{Key: []byte("k"), Value: []byte("v")}, ""},
		{"a null name", "N:v\tk\tv", func(c *Console) { all(c); c.NullMarker = "N" }, record.Record{}, "cannot be null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewConsole()
			tt.set(&c)
			var got record.Record
			err := c.Parse([]byte(tt.line), &got)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			same := cmp.Options{cmpopts.IgnoreFields(record.Record{}, "Sequence"), cmp.FilterValues(func(a, b []record.Header) bool { return len(a)+len(b) == 0 }, cmp.Ignore())}
			if diff := cmp.Diff(tt.want, got, same); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}
