package render

import (
	"testing"

	"logdir/store/record"
)

// What Kafka's DefaultMessageFormatter prints.
func TestConsole(t *testing.T) {
	full := record.Record{
		Offset: 42, Timestamp: 123, TimestampType: record.LogAppendTime, Key: []byte("k"), Value: []byte("v"),
		Headers: []record.Header{{Key: []byte("h1"), Value: []byte("v1")}, {Key: []byte("h2")}},
	}
	bare := record.Record{TimestampType: record.NoTimestampType, Timestamp: record.NoTimestamp}
	all := func(f *Console) {
		f.Timestamp, f.Partition, f.Offset, f.Epoch, f.Headers, f.Key = true, true, true, true, true, true
	}
	for _, tt := range []struct {
		name   string
		record record.Record
		epoch  int32
		set    func(*Console)
		want   string
	}{
		{"the value", full, 1, func(*Console) {}, "v\n"},
		{"all", full, 1, all, "LogAppendTime:123\tPartition:3\tOffset:42\tEpoch:1\th1:v1,h2:null\tk\tv\n"},
		{"all of nothing", bare, -1, all, "NO_TIMESTAMP\tPartition:3\tOffset:0\tEpoch:\tNO_HEADERS\tnull\tnull\n"},
		{"an empty key", record.Record{Key: []byte{}, Value: []byte("v")}, 0, func(f *Console) { f.Key = true }, "\tv\n"},
		{"the key only", full, 0, func(f *Console) { f.Key, f.Value = true, false }, "k\n"},
		{"nothing", full, 0, func(f *Console) { f.Value = false }, ""},
		{
			"other separators", full, 0, func(f *Console) {
				f.Headers, f.Key = true, true
				f.KeySeparator, f.LineSeparator, f.HeadersSeparator, f.NullLiteral = " | ", ";", "&", "-"
			}, "h1:v1&h2:- | k | v;",
		},
	} {
		f := NewConsole()
		tt.set(&f)
		c := &RecordContext{Partition: 3, LeaderEpoch: tt.epoch, Record: &tt.record}
		if got := string(f.AppendRecord(nil, c)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
