package group

import "logdir/store/message"

// flexibleFromZero makes the schema of a value that is flexible in its only version.
func flexibleFromZero(name string, fields ...message.Field) *message.Schema {
	return &message.Schema{Name: name, Fields: fields}
}

// part makes the schema of a struct inside a message.
func part(name string, fields ...message.Field) *message.Schema {
	return &message.Schema{Name: name, Fields: fields}
}

// keyOf makes the schema of a key, which has one version and is never flexible.
func keyOf(name string, fields ...message.Field) *message.Schema {
	return &message.Schema{Name: name, Flexible: message.NeverFlexible, Fields: fields}
}

func field(name string, kind message.Kind) message.Field {
	return message.Field{Name: name, Kind: kind}
}

func nullable(name string, kind message.Kind) message.Field {
	return message.Field{Name: name, Kind: kind, Nullable: true}
}

func list(name string, kind message.Kind) message.Field {
	return message.Field{Name: name, Kind: kind, Array: true}
}

func structs(name string, of *message.Schema) message.Field {
	return message.Field{Name: name, Kind: message.Struct, Of: of, Array: true}
}

// tagged makes f a tagged field.
func tagged(tag uint32, f message.Field) message.Field {
	f.Tagged, f.Tag = true, tag
	return f
}

// nullUnlessSet makes f nullable, with null as what is not written.
func nullUnlessSet(f message.Field) message.Field {
	f.Nullable, f.NullDefault = true, true
	return f
}

// since and only limit f to some versions; or gives it another default than zero.
func since(version int16, f message.Field) message.Field {
	f.Since = version
	return f
}

func only(version int16, f message.Field) message.Field {
	f.Since, f.Until = version, version
	return f
}

func or(value any, f message.Field) message.Field {
	f.Default = value
	return f
}
