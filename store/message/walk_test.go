package message

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// walked is what a walk hands out, in numbers and texts.
func walked(version int16, data []byte) (map[string]any, error) {
	got := map[string]any{}
	damage := everything.Walk(version, data, func(f *Field, r Raw) {
		switch _, number := f.Kind.integer(make([]byte, 8)); {
		case f.Array || f.Kind == Struct:
			got[f.Name] = "a tree"
		case number:
			got[f.Name] = r.Int()
		case f.Kind == String || f.Kind == Bytes:
			got[f.Name] = string(r.Bytes())
			if r.Bytes() == nil {
				got[f.Name] = nil
			}
		}
	})
	return got, behindType(damage)
}

// decoded is the same of the tree.
func decoded(version int16, data []byte) (map[string]any, error) {
	want := map[string]any{}
	o, _, damage := everything.Decode(version, data)
	if damage != nil {
		return want, behindType(damage)
	}
	for _, m := range o.Members {
		switch v := m.Value.(type) {
		case []byte:
			want[m.Name] = string(v)
		case int64, string:
			want[m.Name] = v
		}
		switch f := everything.field(m.Name); {
		case f.Array || f.Kind == Struct:
			want[m.Name] = "a tree"
		case m.Value == nil:
			want[m.Name] = nil
		}
	}
	return want, nil
}

// A walk finds what the tree has, and the same errors in damaged messages.
func TestWalkIsDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Int16Range(-1, 2).Draw(t, "version")
		o := example().Set("late", rapid.Int64Range(-9, 9).Draw(t, "late")).Set("early", "ll").
			Set("string", rapid.String().Draw(t, "string")).Set("int64", rapid.Int64().Draw(t, "int64"))
		data, err := everything.Append(nil, min(max(version, 0), 1), o)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "damages") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		data = data[:rapid.IntRange(len(data)/2, len(data)).Draw(t, "size")]
		got, err := walked(version, data)
		want, wantErr := decoded(version, data)
		if wantErr != nil {
			if err == nil || err.Error() != wantErr.Error() {
				t.Fatalf("walk: %v, decode: %v", err, wantErr)
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

// To walk over a message takes no memory.
func TestWalkAllocatesNothing(t *testing.T) {
	s := &Schema{Name: "S", Flexible: NeverFlexible, Fields: []Field{One("name", String), One("number", Int64)}}
	data, err := s.Append(nil, 0, (&Object{}).Set("name", "orders").Set("number", int64(1<<40)))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		s.Walk(0, data, func(f *Field, r Raw) {
			if f.Name == "name" && !bytes.Equal(r.Bytes(), []byte("orders")) || f.Name == "number" && r.Int() != 1<<40 {
				t.Errorf("%s is %v", f.Name, r)
			}
		})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
