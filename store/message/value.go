package message

import (
	"bytes"

	"logdir/store/checkpoint"
)

// Object is a decoded struct: its members in the order of the schema.
type Object struct {
	Members []Member
	// Unknown are tagged fields that the schema does not have, by rising tag.
	Unknown []RawTag
}

// Member is one field of an Object. Value is one of the types beside the kinds, nil for null, or
// []any for an array.
type Member struct {
	Name  string
	Value any
}

// RawTag is a tagged field as bytes.
type RawTag struct {
	Tag  uint32
	Data []byte
}

// Set adds or replaces a member and returns o, for chains.
func (o *Object) Set(name string, value any) *Object {
	for i := range o.Members {
		if o.Members[i].Name == name {
			o.Members[i].Value = value
			return o
		}
	}
	o.Members = append(o.Members, Member{name, value})
	return o
}

// Get returns a member's value; ok is false if the version did not have it.
func (o *Object) Get(name string) (value any, ok bool) {
	for _, m := range o.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

// Int returns an integer member, or fallback where there is none.
func (o *Object) Int(name string, fallback int64) int64 {
	if v, ok := o.Get(name); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return fallback
}

// Str returns a string member; null and a missing one are empty.
func (o *Object) Str(name string) string {
	v, _ := o.Get(name)
	s, _ := v.(string)
	return s
}

// Bytes returns a bytes member; null and a missing one are nil.
func (o *Object) Bytes(name string) []byte {
	v, _ := o.Get(name)
	b, _ := v.([]byte)
	return b
}

// UUID returns an id, which is all zeros where there is none.
func (o *Object) UUID(name string) checkpoint.UUID {
	v, _ := o.Get(name)
	id, _ := v.(checkpoint.UUID)
	return id
}

// List returns an array member; null and a missing one are nil.
func (o *Object) List(name string) []any {
	v, _ := o.Get(name)
	list, _ := v.([]any)
	return list
}

// Objects returns an array of structs.
func (o *Object) Objects(name string) []*Object {
	list := o.List(name)
	objects := make([]*Object, 0, len(list))
	for _, v := range list {
		if sub, ok := v.(*Object); ok {
			objects = append(objects, sub)
		}
	}
	return objects
}

// zero is the value of a field that is not written.
func (f *Field) zero() any {
	switch {
	case f.Default != nil:
		return f.Default
	case f.NullDefault:
		return nil
	case f.Array:
		return []any{}
	}
	return f.Kind.zero(f.Of)
}

func (k Kind) zero(of *Schema) any {
	switch k {
	case Bool:
		return false
	case Float64:
		return float64(0)
	case String:
		return ""
	case Bytes:
		return []byte{}
	case UUID:
		return checkpoint.ZeroUUID
	case Struct:
		o := &Object{}
		for i := range of.Fields {
			o.Set(of.Fields[i].Name, of.Fields[i].zero())
		}
		return o
	}
	return int64(0)
}

// isDefault says whether each field of a struct has its default.
func (o *Object) isDefault(s *Schema) bool {
	for i := range s.Fields {
		if f := &s.Fields[i]; !f.isDefault(o.value(f)) {
			return false
		}
	}
	return len(o.Unknown) == 0
}

// isDefault says whether a value is what a field has that is not written.
func (f *Field) isDefault(v any) bool {
	switch d := f.zero().(type) {
	case nil:
		return v == nil
	case []any:
		list, ok := v.([]any)
		return ok && len(list) == 0
	case []byte:
		b, ok := v.([]byte)
		return ok && bytes.Equal(b, d)
	case *Object:
		o, ok := v.(*Object)
		return ok && o.isDefault(f.Of)
	default:
		return v == d
	}
}
