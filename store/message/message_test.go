package message

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
)

// everything has a field of each sort; it is plain in version 0 and flexible in version 1.
var everything = &Schema{
	Name: "Everything", Highest: 1, Flexible: 1,
	Fields: []Field{
		{Name: "bool", Kind: Bool},
		{Name: "int8", Kind: Int8},
		{Name: "int16", Kind: Int16},
		{Name: "uint16", Kind: Uint16},
		{Name: "int32", Kind: Int32},
		{Name: "int64", Kind: Int64, Since: 1, Default: int64(-1)},
		{Name: "float64", Kind: Float64},
		{Name: "string", Kind: String},
		{Name: "nullString", Kind: String, Nullable: true},
		{Name: "bytes", Kind: Bytes},
		{Name: "nullBytes", Kind: Bytes, Nullable: true},
		{Name: "uuid", Kind: UUID},
		{Name: "late", Kind: Int32, Since: 1, Tagged: true, Tag: 3, Default: int64(-1)},
		{Name: "ints", Kind: Int32, Array: true},
		{Name: "nullInts", Kind: Int32, Array: true, Nullable: true},
		{Name: "struct", Kind: Struct, Of: inner},
		{Name: "nullStruct", Kind: Struct, Of: inner, Nullable: true},
		{Name: "structs", Kind: Struct, Of: inner, Array: true},
		{Name: "early", Kind: String, Since: 1, Tagged: true, Tag: 0, Nullable: true, NullDefault: true},
	},
}

var inner = &Schema{
	Name: "Inner",
	Fields: []Field{
		{Name: "name", Kind: String},
		{Name: "epochs", Kind: Int32, Array: true, Since: 1, Tagged: true, Tag: 1, Nullable: true, NullDefault: true},
	},
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func example() *Object {
	name := func(s string) *Object { return (&Object{}).Set("name", s) }
	return (&Object{}).
		Set("bool", true).Set("int8", int64(-2)).Set("int16", int64(-3)).Set("uint16", int64(65535)).Set("int32", int64(-5)).
		Set("float64", 1.5).Set("string", "s").Set("nullString", nil).Set("bytes", []byte{1, 2}).Set("nullBytes", nil).
		Set("uuid", checkpoint.UUID{15: 9}).Set("ints", []any{int64(7), int64(8)}).Set("nullInts", nil).
		Set("struct", name("x")).Set("nullStruct", nil).Set("structs", []any{name("y")})
}

// Both encodings of the same message, by hand.
func TestBothEncodings(t *testing.T) {
	plain := unhex(t, `
		01  fe  fffd  ffff  fffffffb
		3ff8000000000000
		0001 73  ffff
		00000002 0102  ffffffff
		00000000000000000000000000000009
		00000002 00000007 00000008  ffffffff
		0001 78  ff
		00000001 0001 79`)
	flexible := unhex(t, `
		01  fe  fffd  ffff  fffffffb  ffffffffffffffff
		3ff8000000000000
		02 73  00
		03 0102  00
		00000000000000000000000000000009
		03 00000007 00000008  00
		02 78 00  ff
		02 02 79 01 01 05 02 0000002a
		02  00 03 03 6c6c  03 04 00000063`)

	check := func(version int16, o *Object, want []byte) {
		t.Helper()
		got, err := everything.Append(nil, version, o)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("version %d: written %x, %v\nwant    %x", version, got, err, want)
		}
		back, size, damage := everything.Decode(version, want)
		if damage != nil || size != len(want) {
			t.Fatalf("version %d: %v, %d of %d bytes", version, damage, size, len(want))
		}
		if again, err := everything.Append(nil, version, back); err != nil || !bytes.Equal(again, want) {
			t.Errorf("version %d: read and written %x, %v", version, again, err)
		}
	}
	check(0, example(), plain)
	o := example().Set("late", int64(99)).Set("early", "ll")
	o.Objects("structs")[0].Set("epochs", []any{int64(42)})
	check(1, o, flexible)

	if got := string(everything.AppendJSON(nil, mustDecode(t, 1, flexible))); got != `{"bool":true,"int8":-2,"int16":-3,"uint16":65535,"int32":-5,"int64":-1,"float64":1.5,`+
		`"string":"s","nullString":null,"bytes":"AQI=","nullBytes":null,"uuid":"AAAAAAAAAAAAAAAAAAAACQ","late":99,`+
		`"ints":[7,8],"nullInts":null,"struct":{"name":"x"},"nullStruct":null,"structs":[{"name":"y","epochs":[42]}],"early":"ll"}` {
		t.Error(got)
	}
}

func mustDecode(t testing.TB, version int16, data []byte) *Object {
	t.Helper()
	o, _, damage := everything.Decode(version, data)
	if damage != nil {
		t.Fatal(damage)
	}
	return o
}

// A tagged field that is not known is kept; one that holds its default is not shown.
func TestTaggedFields(t *testing.T) {
	s := &Schema{Name: "S", Fields: []Field{
		{Name: "known", Kind: Int32, Tagged: true, Tag: 1, Default: int64(-1)},
	}}
	for _, c := range []struct {
		name, data, json string
		unknown          int
	}{
		{"none", "00", `{}`, 0},
		{"known", "01 01 04 00000007", `{"known":7}`, 0},
		{"the default", "01 01 04 ffffffff", `{}`, 0},
		{"unknown ones around it", "03 00 01 aa 01 04 00000007 c801 02 bbcc", `{"known":7}`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := unhex(t, c.data)
			o, size, damage := s.Decode(0, data)
			if damage != nil || size != len(data) {
				t.Fatal(damage, size)
			}
			if got := string(s.AppendJSON(nil, o)); got != c.json || len(o.Unknown) != c.unknown {
				t.Errorf("%s, %d unknown", got, len(o.Unknown))
			}
			if again, err := s.Append(nil, 0, o); c.name != "the default" && (err != nil || !bytes.Equal(again, data)) {
				t.Errorf("written %x, %v", again, err)
			}
		})
	}
}

// What cannot be read, at which byte and field.
func TestDecodeRefuses(t *testing.T) {
	s := &Schema{Name: "S", Highest: 1, Flexible: 1, Fields: []Field{
		{Name: "a", Kind: Int16},
		{Name: "s", Kind: String},
		{Name: "list", Kind: Struct, Array: true, Of: &Schema{Name: "E", Fields: []Field{{Name: "n", Kind: Int32}}}},
		{Name: "t", Kind: Int8, Tagged: true, Tag: 0, Since: 1},
	}}
	for _, c := range []struct {
		version   int16
		data      string
		pos, size int64
		detail    string
	}{
		{2, "", 0, 0, "S has no version 2"},
		{-1, "", 0, 0, "S has no version -1"},
		{0, "00", 0, 1, "S.a: needs 2 bytes, have 1"},
		{0, "0000 00", 2, 1, "S.s: needs 2 bytes, have 1"},
		{0, "0000 ffff", 4, 0, "S.s: null"},
		{0, "0000 0005 6161", 4, 2, "S.s: needs 5 bytes, have 2"},
		{0, "0000 0000 ffffffff", 8, 0, "S.list: null"},
		{0, "0000 0000 7fffffff", 8, 0, "S.list: 2147483647 elements, have 0 bytes"},
		{0, "0000 0000 00000001 000000", 8, 3, "S.list.n: needs 4 bytes, have 3"},
		{1, "0000 01 ffffffffff", 3, 5, "S.list: no uvarint"},
		{1, "0000 01 01 02 00 01 05 00 01 06", 10, 1, "S: tag 0 after 0"},
		{1, "0000 01 01 01 00 02 05 06", 8, 1, "S.t: takes 1 bytes, its tag says 2"},
		{1, "0000 01 01 01 07 ff01 05", 8, 1, "S: tag 7 of 255 bytes, have 1"},
		{1, "0000 01 01", 4, 0, "S: no uvarint"},
	} {
		_, _, damage := s.Decode(c.version, unhex(t, c.data))
		switch {
		case damage == nil:
			t.Errorf("%d %s: no error, want %s", c.version, c.data, c.detail)
		case damage.Kind != corrupt.BadRecords || damage.Detail != c.detail || c.size > 0 && (damage.Pos != c.pos || damage.Size != c.size):
			t.Errorf("%d %s: %v (%d bytes), want %d bytes at %d: %s", c.version, c.data, damage, damage.Size, c.size, c.pos, c.detail)
		}
	}
}

// What cannot be written.
func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"int8", int64(128), "Everything.int8: a value of type int64 does not fit"},
		{"int8", int64(-129), "Everything.int8: a value of type int64 does not fit"},
		{"uint16", int64(-1), "Everything.uint16: a value of type int64 does not fit"},
		{"int32", 5, "Everything.int32: a value of type int does not fit"},
		{"string", nil, "Everything.string: a value of type <nil> does not fit"},
		{"string", strings.Repeat("x", 32768), "Everything.string: a value of type string does not fit"},
		{"ints", nil, "Everything.ints: <nil> is no array"},
		{"struct", nil, "Everything.struct: a value of type <nil> does not fit"},
	} {
		_, err := everything.Append(nil, 0, example().Set(c.name, c.value))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %T: %v, want %s", c.name, c.value, err, c.want)
		}
	}
	if _, err := everything.Append(nil, 2, example()); err == nil {
		t.Error("a version that does not exist is written")
	}
}

func TestUvarint(t *testing.T) {
	for text, want := range map[string]uint32{"00": 0, "7f": 127, "8001": 128, "ac02": 300, "ffffffff0f": math.MaxUint32} {
		data := unhex(t, text)
		if got, size := Uvarint(append(data, 0xff)); got != want || size != len(data) {
			t.Errorf("%s: %d, %d bytes", text, got, size)
		}
		if got := AppendUvarint(nil, want); !bytes.Equal(got, data) || UvarintSize(want) != len(data) {
			t.Errorf("%d: %x, size %d", want, got, UvarintSize(want))
		}
	}
	for _, text := range []string{"", "80", "ffffffff", "ffffffff10", "8080808080"} {
		if v, size := Uvarint(unhex(t, text)); size != 0 {
			t.Errorf("%s: %d, %d bytes", text, v, size)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint32().Draw(t, "v")
		if got, size := Uvarint(AppendUvarint(nil, v)); got != v || size != UvarintSize(v) {
			t.Fatalf("%d became %d, %d bytes", v, got, size)
		}
	})
}

// As Jackson and Double.toString write.
func TestJSONText(t *testing.T) {
	for v, want := range map[string]string{
		"plain":                  `"plain"`,
		"\"\\/":                  `"\"\\/"`,
		"\b\t\n\f\r\x00\x0b\x1f": `"\b\t\n\f\r\u0000\u000B\u001F"`,
		"\u007f\u00e9<>&\u2028":  "\"\u007f\u00e9<>&\u2028\"",
		"\xff":                   "\"\ufffd\"",
	} {
		if got := string(AppendString(nil, v)); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1024: "1024.0", 0.001: "0.001", 0.0001: "1.0E-4",
		9999999: "9999999.0", 1e7: "1.0E7", 1.25e10: "1.25E10", 1e100: "1.0E100", -2.5e-10: "-2.5E-10",
		math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`,
	} {
		if got := string(appendDouble(nil, v)); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := string(appendDouble(nil, math.NaN())); got != `"NaN"` {
		t.Error(got)
	}
}

// drawObject draws a message of a schema.
func drawObject(t *rapid.T, s *Schema, version int16, path string) *Object {
	o := &Object{}
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.in(version) || f.Tagged && rapid.Bool().Draw(t, path+f.Name+"?") {
			continue
		}
		if v := drawField(t, f, version, path+f.Name); !f.Tagged || !f.isDefault(v) {
			o.Set(f.Name, v)
		}
	}
	return o
}

func drawField(t *rapid.T, f *Field, version int16, path string) any {
	if f.Nullable && rapid.Bool().Draw(t, path+" null") {
		return nil
	}
	if !f.Array {
		return drawValue(t, f, version, path)
	}
	list := make([]any, rapid.IntRange(0, 3).Draw(t, path+" count"))
	for i := range list {
		list[i] = drawValue(t, f, version, fmt.Sprintf("%s[%d]", path, i))
	}
	return list
}

func drawValue(t *rapid.T, f *Field, version int16, path string) any {
	switch f.Kind {
	case Bool:
		return rapid.Bool().Draw(t, path)
	case Int8:
		return int64(rapid.Int8().Draw(t, path))
	case Int16:
		return int64(rapid.Int16().Draw(t, path))
	case Uint16:
		return int64(rapid.Uint16().Draw(t, path))
	case Int32:
		return int64(rapid.Int32().Draw(t, path))
	case Float64:
		return rapid.Float64().Draw(t, path)
	case String:
		return rapid.String().Draw(t, path)
	case Bytes:
		return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, path)...)
	case UUID:
		return checkpoint.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, path))
	case Struct:
		return drawObject(t, f.Of, version, path+".")
	}
	return rapid.Int64().Draw(t, path)
}

// What is written reads back as the same tree, and any prefix of it does not read at all.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := int16(rapid.IntRange(0, 1).Draw(t, "version"))
		want := drawObject(t, everything, version, "")
		data, err := everything.Append(nil, version, want)
		if err != nil {
			t.Fatal(err)
		}
		got, size, damage := everything.Decode(version, data)
		if damage != nil || size != len(data) {
			t.Fatal(damage, size, len(data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if _, _, damage := everything.Decode(version, data[:cut]); damage == nil || damage.Pos > int64(cut) {
			t.Fatalf("%d of %d bytes: %v", cut, len(data), damage)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for version := range int16(2) {
		data, err := everything.Append(nil, version, example())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(version, data)
	}
	f.Fuzz(func(t *testing.T, version int16, data []byte) {
		o, size, damage := everything.Decode(version, data)
		if damage != nil {
			if damage.Pos < 0 || damage.Pos+damage.Size > int64(len(data)) {
				t.Errorf("%v, %d bytes, of %d", damage, damage.Size, len(data))
			}
			return
		}
		again, err := everything.Append(nil, version, o)
		if err != nil {
			t.Fatal(err)
		}
		back, n, damage := everything.Decode(version, again)
		if damage != nil || n != len(again) || size < n && version == 0 {
			t.Fatalf("%v, %d of %d", damage, n, len(again))
		}
		if !bytes.Equal(everything.AppendJSON(nil, o), everything.AppendJSON(nil, back)) {
			t.Errorf("%s\n%s", everything.AppendJSON(nil, o), everything.AppendJSON(nil, back))
		}
	})
}
