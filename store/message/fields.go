package message

// Flexible makes the schema of a message that is flexible in all of its versions, which are 0
// to highest; also that of a struct inside any message.
func Flexible(name string, highest int16, fields ...Field) *Schema {
	return &Schema{Name: name, Highest: highest, Fields: fields}
}

// Part makes the schema of a struct inside a message.
func Part(name string, fields ...Field) *Schema { return Flexible(name, 0, fields...) }

// KeyOf makes the schema of a record's key, which has one version and is never flexible.
func KeyOf(name string, fields ...Field) *Schema {
	return &Schema{Name: name, Flexible: NeverFlexible, Fields: fields}
}

// One makes a field that holds one value.
func One(name string, kind Kind) Field { return Field{Name: name, Kind: kind} }

// List makes a field that holds an array.
func List(name string, kind Kind) Field { return Field{Name: name, Kind: kind, Array: true} }

// Sub makes a field that holds a struct.
func Sub(name string, of *Schema) Field { return Field{Name: name, Kind: Struct, Of: of} }

// Structs makes a field that holds an array of structs.
func Structs(name string, of *Schema) Field {
	return Field{Name: name, Kind: Struct, Of: of, Array: true}
}

// OrNull lets the value be null.
func (f Field) OrNull() Field {
	f.Nullable = true
	return f
}

// ElseNull lets the value be null, and makes null what is not written.
func (f Field) ElseNull() Field {
	f.Nullable, f.NullDefault = true, true
	return f
}

// Else makes the number value what is not written.
func (f Field) Else(value int64) Field {
	f.Default = value
	return f
}

// From limits the field to versions from version on.
func (f Field) From(version int16) Field {
	f.Since = version
	return f
}

// Only limits the field to one version.
func (f Field) Only(version int16) Field {
	f.Since, f.Until = version, version
	return f
}

// AtTag makes the field a tagged one.
func (f Field) AtTag(tag uint32) Field {
	f.Tagged, f.Tag = true, tag
	return f
}
