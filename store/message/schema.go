package message

import "math"

// Kind is the type of a field, or of the elements of an array field.
type Kind uint8

// The kinds, with the Go type that stands for each in a tree.
const (
	Bool    Kind = iota + 1 // bool
	Int8                    // int64, as all integers
	Int16                   // int64
	Uint16                  // int64
	Int32                   // int64
	Int64                   // int64
	Float64                 // float64
	String                  // string
	Bytes                   // []byte
	UUID                    // checkpoint.UUID
	Struct                  // *Object
)

// Schema describes a message, or a struct inside one.
type Schema struct {
	// Name is Kafka's, "OffsetCommitValue".
	Name string
	// Lowest and Highest are the versions that exist. A struct inside a message has the
	// message's versions.
	Lowest, Highest int16
	// Flexible is the first flexible version, or NeverFlexible.
	Flexible int16
	// Fields stand in the order of the bytes and of the JSON; tagged ones where Kafka's
	// schema has them.
	Fields []Field
}

// NeverFlexible is for schemas without a flexible version.
const NeverFlexible int16 = math.MaxInt16

// Field describes one field.
type Field struct {
	// Name is that of the JSON, lowerCamel.
	Name string
	Kind Kind
	// Array says that the field is an array of Kind.
	Array bool
	// Of describes a Struct.
	Of *Schema
	// Nullable says that the value may be nil.
	Nullable bool
	// Since and Until are the first and the last version that have the field; an Until
	// of 0 stands for no last one.
	Since, Until int16
	// Tagged says that the field stands among the tagged ones, under Tag.
	Tagged bool
	Tag    uint32
	// Default is the value where a field is not written; nil stands for zero, an empty
	// string or array, or null if NullDefault is set.
	Default     any
	NullDefault bool
}

// in says whether a version has the field.
func (f *Field) in(version int16) bool {
	return version >= f.Since && (f.Until == 0 || version <= f.Until)
}

// Has says whether the version exists.
func (s *Schema) Has(version int16) bool { return version >= s.Lowest && version <= s.Highest }

// tagged finds the field of a tag; nil if there is none.
func (s *Schema) tagged(tag uint32, version int16) *Field {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Tagged && f.Tag == tag && f.in(version) {
			return f
		}
	}
	return nil
}
