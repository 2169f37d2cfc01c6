package render

import (
	"testing"

	"logdir/fixtures"
	"logdir/store/record"
)

func TestFormat(t *testing.T) {
	tests := []struct{ format, want string }{
		{`%v`, "caf\xc3\xa9"},
		{`%s %S`, "caf\xc3\xa9 5"},
		{`%v{hex} %v{base64}`, "636166c3a9 Y2Fmw6k="},
		{`[%k] %K`, "[NULL] -1"},
		{`%t:%p@%o`, "orders:1@42"},
		{`%d %T`, "1767225600000 1767225600000"},
		{`%d{iso}`, "2026-01-01T00:00:00.000Z"},
		{`%h %H`, "src=web,n=NULL 2"},
		{`%e %x %y %q %b`, "5 77 3 9 40"},
		{`100%%\n\t\r\\\x41`, "100%\n\t\r\\A"},
		{`{"o":%o}`, `{"o":42}`},
		{``, ``},
	}
	c := &RecordContext{
		Topic: "orders", Partition: 1, LeaderEpoch: 5, ProducerID: 77, ProducerEpoch: 3, BaseOffset: 40,
		Record: &record.Record{
			Offset: 42, Timestamp: 1767225600000, Sequence: 9, Value: []byte("caf\xc3\xa9"),
			Headers: []record.Header{{Key: []byte("src"), Value: []byte("web")}, {Key: []byte("n")}},
		},
	}
	for _, tt := range tests {
		f, err := Compile(tt.format)
		if err != nil {
			t.Errorf("%s: %v", tt.format, err)
			continue
		}
		f.Null = "NULL"
		if got := string(f.AppendRecord(nil, c)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.format, got, tt.want)
		}
	}
}

func TestFormatOfUnknownOffset(t *testing.T) {
	f, err := Compile(`%p=%o %d{iso}`)
	if err != nil {
		t.Fatal(err)
	}
	c := &RecordContext{Record: &record.Record{Offset: -1, Timestamp: record.NoTimestamp}}
	if got := string(f.AppendRecord(nil, c)); got != "0=- -" {
		t.Errorf("got %q", got)
	}
}

func TestFormatErrors(t *testing.T) {
	tests := []struct{ format, want string }{
		{`%`, `record format: ends in a single %`},
		{`%z`, `record format: no verb %z (see: logdir help format)`},
		{`%p{hex}`, `record format: %p has no such modifier (see: logdir help format)`},
		{`%d{hex}`, `record format: %d has no such modifier (see: logdir help format)`},
		{`a\q`, `record format: "\\q" is no escape: want \n \t \r \\ or \xNN`},
	}
	for _, tt := range tests {
		if _, err := Compile(tt.format); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.format, err, tt.want)
		}
	}
}

func TestFormatDoesNotAllocate(t *testing.T) {
	fixtures.WithoutRace(t)
	f, err := Compile(`%t %p %o %d{iso} %k{hex} %v{base64} %h\n`)
	if err != nil {
		t.Fatal(err)
	}
	c, dst := awkward(), make([]byte, 0, 4096)
	var parser RecordParser
	line := Envelope{Meta: true}.AppendRecord(nil, c)
	allocs := testing.AllocsPerRun(100, func() {
		dst = f.AppendRecord(dst[:0], c)
		dst = Envelope{Meta: true}.AppendRecord(dst, c)
		if _, err := parser.Parse(line); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations per record", allocs)
	}
}
