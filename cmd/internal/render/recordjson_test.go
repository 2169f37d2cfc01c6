package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/record"
)

// awkward is a record whose text would be ambiguous in any line format: a line break
// in the value, the same header twice, a value that is not UTF-8, a null one.
func awkward() *RecordContext {
	return &RecordContext{
		Topic: "orders", Partition: 1, Broker: 2, LeaderEpoch: 5, ProducerID: 77, ProducerEpoch: 3, BaseOffset: 40,
		Record: &record.Record{
			Offset: 42, Timestamp: 1767225600000, Sequence: 9,
			Value: []byte("This is a test\npayload: x | offset: 9"),
			Headers: []record.Header{
				{Key: []byte("my,header:1"), Value: []byte{0x00, 0xff}},
				{Key: []byte("my,header:1")},
				{Key: []byte("src"), Value: []byte("web")},
			},
		},
	}
}

func TestEnvelope(t *testing.T) {
	c := awkward()
	plain := `{"topic":"orders","partition":1,"offset":42,"timestamp":1767225600000,"key":null,` +
		`"value":"This is a test\npayload: x | offset: 9",` +
		`"headers":[["my,header:1","AP8=","base64"],["my,header:1",null],["src","web"]]`
	meta := `,"leader_epoch":5,"producer_id":77,"producer_epoch":3,"sequence":9,"broker":2`
	if diff := cmp.Diff(plain+"}\n", string(Envelope{}.AppendRecord(nil, c))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plain+meta+"}\n", string(Envelope{Meta: true}.AppendRecord(nil, c))); diff != "" {
		t.Error(diff)
	}
	c.Record.Key, c.Record.Value = []byte{0xc3, 0x28}, []byte{}
	got := string(Envelope{}.AppendRecord(nil, c))
	if want := `"key_base64":"wyg=","value":"",`; !bytes.Contains([]byte(got), []byte(want)) {
		t.Errorf("%s lacks %s", got, want)
	}
}

// record made of any bytes, by rapid
func drawRecord(t *rapid.T) *record.Record {
	nullable := rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "null") {
			return nil
		}
		return drawBytes(t)
	})
	r := &record.Record{
		Offset:    rapid.Int64Min(0).Draw(t, "offset"),
		Timestamp: rapid.Int64Min(-1).Draw(t, "timestamp"),
		Sequence:  record.NoSequence,
		Key:       nullable.Draw(t, "key"),
		Value:     nullable.Draw(t, "value"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		r.Headers = append(r.Headers, record.Header{
			Key: []byte(rapid.String().Draw(t, "name")), Value: nullable.Draw(t, "header"),
		})
	}
	return r
}

// drawBytes mixes text, which is copied in runs of eight, with any other bytes.
func drawBytes(t *rapid.T) []byte {
	if rapid.Bool().Draw(t, "text") {
		return []byte(rapid.String().Draw(t, "string"))
	}
	b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
	return append([]byte{}, b...)
}

// What Envelope writes, RecordParser reads back, byte for byte.
func TestEnvelopeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &RecordContext{Topic: "t", Partition: rapid.Int32Min(0).Draw(t, "partition"), Record: drawRecord(t)}
		line := Envelope{Meta: rapid.Bool().Draw(t, "meta")}.AppendRecord(nil, c)
		if !json.Valid(line) {
			t.Fatalf("not JSON: %s", line)
		}
		var p RecordParser
		got, err := p.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want := &Parsed{Record: *c.Record, Topic: []byte("t"), Partition: c.Partition, HasTimestamp: true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
	})
}

func TestAppendJSONStringIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(drawBytes(t))
		var got string
		if err := json.Unmarshal(AppendJSONString(nil, in), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(in, "\ufffd"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestRecordParserErrors(t *testing.T) {
	tests := []struct{ line, want string }{
		{``, `byte 0: want '{'`},
		{`[]`, `byte 0: want '{'`},
		{`{"value":"a"`, `byte 12: want ','`},
		{`{"value":"a"} x`, `byte 14: more behind the object`},
		{`{"value":"a` + "\n" + `"}`, `byte 11: control character in a string`},
		{`{"value":"a\q"}`, `byte 11: not an escape of JSON`},
		{`{"value":"\ud800"}`, `byte 16: half of a surrogate pair`},
		{`{"value":"\`, `byte 10: not an escape of JSON`},
		{`{"value":"a\n`, `byte 13: unterminated string`},
		{`{"value":1}`, `byte 9: want '"'`},
		{`{"value_base64":"!"}`, `byte 19: not base64`},
		{`{"timestamp":"x"}`, `byte 13: want an integer of 64 bits`},
		{`{"partition":3000000000}`, `byte 13: want an integer of 32 bits`},
		{`{"headers":[["a"]]}`, `byte 17: a header needs a name and a value`},
		{`{"headers":[["a","b","hex"]]}`, `byte 26: a header's third element can only be "base64"`},
		{`{"other":nope}`, `byte 9: not a JSON value`},
	}
	for _, tt := range tests {
		var p RecordParser
		if _, err := p.Parse([]byte(tt.line)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.line, err, tt.want)
		}
	}
}

func TestRecordParserSkips(t *testing.T) {
	var p RecordParser
	got, err := p.Parse([]byte(` { "meta" : {"a":[1,2.5e3,true,{}],"b":null} , "value" : "\u00e4\ud83d\ude00\/" } `))
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Value) != "\u00e4\U0001f600/" || got.Key != nil || got.HasTimestamp || got.Partition != -1 {
		t.Errorf("got %+v", got)
	}
}

func FuzzRecordParser(f *testing.F) {
	f.Add([]byte(`{"topic":"t","key":null,"value_base64":"AP8=","headers":[["a","\u00e4"],["b","AA==","base64"]]}`))
	f.Add([]byte(`{"x":[[[[{"a":1}]]]]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var p RecordParser
		got, err := p.Parse(line)
		if err == nil && !json.Valid(line) {
			t.Fatalf("accepted %q as %+v", line, got)
		}
	})
}

func BenchmarkEnvelope(b *testing.B) {
	c := &RecordContext{Topic: "orders", Record: &record.Record{Key: []byte("user-42"), Value: bytes.Repeat([]byte("x"), 100)}}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = Envelope{}.AppendRecord(dst[:0], c)
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkRecordParser(b *testing.B) {
	line := Envelope{}.AppendRecord(nil, awkward())
	var p RecordParser
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := p.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
