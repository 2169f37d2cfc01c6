package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"logdir/inspect"
	"logdir/store/compress"
	"logdir/store/record"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// dumpedRecord is a record as encoding/json reads it from a dump.
type dumpedRecord struct {
	Offset, Timestamp      int64
	Key, Value             *string
	KeyBase64, ValueBase64 []byte
	Headers                [][]*string
}

func (r *dumpedRecord) UnmarshalJSON(b []byte) error {
	var plain struct {
		Offset, Timestamp int64
		Key, Value        *string
		KeyBase64         []byte `json:"key_base64"`
		ValueBase64       []byte `json:"value_base64"`
		Headers           [][]*string
	}
	err := json.Unmarshal(b, &plain)
	*r = dumpedRecord(plain)
	return err
}

// Any records, of any codec: the dump is JSON, and nothing is lost in it.
func TestDumpJSONLosesNothing(t *testing.T) {
	blob := rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOf(rapid.Byte()),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }))
	rapid.Check(t, func(t *rapid.T) {
		meta := record.NoProducer()
		meta.Codec = compress.Codec(rapid.IntRange(0, 4).Draw(t, "codec"))
		b := record.NewBuilder()
		b.Reset(meta)
		var want []record.Record
		for i := range rapid.IntRange(1, 5).Draw(t, "records") {
			r := record.Record{
				Offset: int64(i), Timestamp: rapid.Int64Range(0, 1<<45).Draw(t, "timestamp"),
				Key: blob.Draw(t, "key"), Value: blob.Draw(t, "value"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "headers") {
				name := []byte(rapid.String().Draw(t, "name"))
				r.Headers = append(r.Headers, record.Header{Key: name, Value: blob.Draw(t, "header")})
			}
			want = append(want, r)
			b.Append(&r)
		}
		log, err := b.Build(nil)
		if err != nil {
			t.Fatal(err)
		}
		got := dumpRecords(t, log)
		if len(got) != len(want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range want {
			compareDumped(t, &got[i], &want[i])
		}
	})
}

func dumpRecords(t *rapid.T, log []byte) []dumpedRecord {
	fsys := memfs.New()
	if err := vfs.WriteAtomic(fsys, "0.log", log); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := inspect.Dumper{FS: fsys, Out: &out, Printer: &DumpJSON{Records: true}, Options: inspect.DumpOptions{Deep: true}}
	if err := d.File(t.Context(), "0.log", filepath.Join("a", "0.log")); err != nil {
		t.Fatal(err)
	}
	var batch struct {
		File    string
		Records []dumpedRecord
	}
	if err := json.Unmarshal(out.Bytes(), &batch); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if batch.File != "a/0.log" || !utf8.Valid(out.Bytes()) || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("not one line of UTF-8 about a/0.log: %s", out.Bytes())
	}
	return batch.Records
}

func compareDumped(t *rapid.T, got *dumpedRecord, want *record.Record) {
	if got.Offset != want.Offset || got.Timestamp != want.Timestamp {
		t.Fatalf("offset %d, timestamp %d; want %d, %d", got.Offset, got.Timestamp, want.Offset, want.Timestamp)
	}
	requireBytes(t, "key", plainBytes(got.Key, got.KeyBase64), want.Key)
	requireBytes(t, "value", plainBytes(got.Value, got.ValueBase64), want.Value)
	if len(got.Headers) != len(want.Headers) {
		t.Fatalf("%d headers, want %d", len(got.Headers), len(want.Headers))
	}
	for i, h := range got.Headers {
		value := h[1]
		if len(h) == 3 {
			decoded, err := base64.StdEncoding.DecodeString(*value)
			if err != nil {
				t.Fatal(err)
			}
			requireBytes(t, "header", decoded, want.Headers[i].Value)
			continue
		}
		requireBytes(t, "header name", []byte(*h[0]), want.Headers[i].Key)
		requireBytes(t, "header", plainBytes(value, nil), want.Headers[i].Value)
	}
}

func plainBytes(text *string, coded []byte) []byte {
	if text != nil {
		return []byte(*text)
	}
	return coded
}

func requireBytes(t *rapid.T, what string, got, want []byte) {
	if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		t.Fatalf("%s %q, want %q", what, got, want)
	}
}
