package message

import (
	"encoding/binary"
	"math"

	"logdir/store/checkpoint"
	"logdir/store/corrupt"
)

// Decode reads a message of the given version from the start of data and returns how many
// bytes it took; Kafka ignores what follows in most places. The tree holds no slice of data.
// The error is of kind bad-records, at a byte of data, with the path of the field.
func (s *Schema) Decode(version int16, data []byte) (*Object, int, *corrupt.Error) {
	d := decoder{data: data, version: version, flexible: version >= s.Flexible}
	if !s.Has(version) {
		return nil, 0, noVersion(s, version)
	}
	o, ok := d.object(s)
	if !ok {
		return nil, 0, d.failure(s)
	}
	return o, d.pos, nil
}

func noVersion(s *Schema, version int16) *corrupt.Error {
	return corrupt.Newf(corrupt.BadRecords, 0, 0, "%s has no version %d", s.Name, version)
}

// failure is the error with the whole path of the field.
func (d *decoder) failure(s *Schema) *corrupt.Error {
	d.within(s.Name)
	d.err.Detail = d.err.Field + ": " + d.err.Detail
	return d.err
}

// decoder walks over the bytes of one message.
type decoder struct {
	data     []byte
	pos      int
	version  int16
	flexible bool
	err      *corrupt.Error
}

func (d *decoder) fail(format string, args ...any) bool {
	d.err = corrupt.Newf(corrupt.BadRecords, int64(d.pos), int64(len(d.data)-d.pos), format, args...)
	return false
}

// within puts a name before the path of the field that failed. Paths are made only then:
// most messages are good.
func (d *decoder) within(name string) {
	if d.err.Field != "" {
		name += "." + d.err.Field
	}
	d.err.Field = name
}

func (d *decoder) object(s *Schema) (*Object, bool) {
	o := &Object{Members: make([]Member, 0, len(s.Fields))}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Tagged || !f.in(d.version) {
			continue
		}
		v, ok := d.field(f)
		if !ok {
			return nil, false
		}
		o.Members = append(o.Members, Member{f.Name, v})
	}
	return o, !d.flexible || d.taggedFields(s, o)
}

// taggedFields reads the tagged fields and puts the known ones in the schema's order.
func (d *decoder) taggedFields(s *Schema, o *Object) bool {
	known := false
	ok := d.tags(s, func(f *Field, tag uint32, size int) bool {
		if f == nil {
			o.Unknown = append(o.Unknown, RawTag{tag, append([]byte(nil), d.data[d.pos:d.pos+size]...)})
			d.pos += size
			return true
		}
		known = true
		return d.sized(f, size, func() bool {
			v, ok := d.field(f)
			o.Members = append(o.Members, Member{f.Name, v})
			return ok
		})
	})
	if known {
		o.order(s)
	}
	return ok
}

// tags calls take before each tagged field, which is to read its size bytes; f is nil for
// one that is not known.
func (d *decoder) tags(s *Schema, take func(f *Field, tag uint32, size int) bool) bool {
	count, ok := d.uvarint()
	previous := int64(-1)
	for range count {
		tag, hasTag := d.uvarint()
		size, hasSize := d.uvarint()
		switch {
		case !hasTag || !hasSize:
			return false
		case int64(tag) <= previous:
			return d.fail("tag %d after %d", tag, previous)
		case int64(size) > int64(len(d.data)-d.pos):
			return d.fail("tag %d of %d bytes, have %d", tag, size, len(d.data)-d.pos)
		}
		previous = int64(tag)
		if !take(s.tagged(tag, d.version), tag, int(size)) {
			return false
		}
	}
	return ok
}

// sized reads one known tagged field, which must take just size bytes.
func (d *decoder) sized(f *Field, size int, read func() bool) bool {
	end := d.pos + size
	if !read() {
		return false
	}
	if d.pos != end {
		d.fail("takes %d bytes, its tag says %d", size-(end-d.pos), size)
		d.within(f.Name)
		return false
	}
	return true
}

// order sorts the members as the schema has them.
func (o *Object) order(s *Schema) {
	ordered := make([]Member, 0, len(o.Members))
	for i := range s.Fields {
		if v, ok := o.Get(s.Fields[i].Name); ok {
			ordered = append(ordered, Member{s.Fields[i].Name, v})
		}
	}
	o.Members = ordered
}

func (d *decoder) field(f *Field) (any, bool) {
	var v any
	var ok bool
	if f.Array {
		v, ok = d.array(f)
	} else {
		v, ok = d.value(f)
	}
	if !ok {
		d.within(f.Name)
	}
	return v, ok
}

func (d *decoder) array(f *Field) (any, bool) {
	n, ok := d.length(4)
	switch {
	case !ok:
		return nil, false
	case n < 0 && f.Nullable:
		return nil, true
	case n < 0:
		return nil, d.fail("null")
	case n > len(d.data)-d.pos: // an element takes a byte at least
		return nil, d.fail("%d elements, have %d bytes", n, len(d.data)-d.pos)
	}
	list := make([]any, 0, min(n, 64))
	element := Field{Kind: f.Kind, Of: f.Of}
	for range n {
		v, ok := d.value(&element)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

func (d *decoder) value(f *Field) (any, bool) {
	switch f.Kind {
	case String, Bytes:
		return d.text(f)
	case Struct:
		return d.substruct(f)
	}
	b, ok := d.take(f.Kind.size())
	if !ok {
		return nil, false
	}
	return f.Kind.parse(b), true
}

// substruct reads a struct, which has a mark before it if it may be null.
func (d *decoder) substruct(f *Field) (any, bool) {
	if f.Nullable {
		if present, ok := d.present(f); !present || !ok {
			return nil, ok
		}
	}
	o, ok := d.object(f.Of)
	if !ok {
		return nil, false
	}
	return o, true
}

// present reads the mark before a struct that may be null: a uvarint in a tagged field, else a byte.
func (d *decoder) present(f *Field) (present, ok bool) {
	if f.Tagged {
		mark, ok := d.uvarint()
		return mark != 0, ok
	}
	b, ok := d.take(1)
	return ok && int8(b[0]) >= 0, ok
}

func (d *decoder) text(f *Field) (any, bool) {
	b, ok := d.textBytes(f)
	switch {
	case b == nil:
		return nil, ok
	case f.Kind == String:
		return string(b), true
	}
	return append([]byte{}, b...), true
}

// textBytes are the bytes of a text, nil for null.
func (d *decoder) textBytes(f *Field) ([]byte, bool) {
	width := 2
	if f.Kind == Bytes {
		width = 4
	}
	n, ok := d.length(width)
	switch {
	case !ok:
		return nil, false
	case n < 0 && f.Nullable:
		return nil, true
	case n < 0:
		return nil, d.fail("null")
	}
	return d.take(n)
}

// length reads the length of a text or the count of an array, -1 for null. A plain one
// takes width bytes.
func (d *decoder) length(width int) (int, bool) {
	if d.flexible {
		n, ok := d.uvarint()
		return int(n) - 1, ok
	}
	b, ok := d.take(width)
	switch {
	case !ok:
		return 0, false
	case width == 2:
		return int(int16(binary.BigEndian.Uint16(b))), true
	}
	return int(int32(binary.BigEndian.Uint32(b))), true
}

func (d *decoder) uvarint() (uint32, bool) {
	v, size := Uvarint(d.data[d.pos:])
	if size == 0 {
		return 0, d.fail("no uvarint")
	}
	d.pos += size
	return v, true
}

func (d *decoder) take(n int) ([]byte, bool) {
	if n > len(d.data)-d.pos {
		return nil, d.fail("needs %d bytes, have %d", n, len(d.data)-d.pos)
	}
	b := d.data[d.pos : d.pos+n]
	d.pos += n
	return b, true
}

// size is the bytes of a kind that always takes the same.
func (k Kind) size() int {
	switch k {
	case Bool, Int8:
		return 1
	case Int16, Uint16:
		return 2
	case Int32:
		return 4
	case UUID:
		return 16
	}
	return 8
}

func (k Kind) parse(b []byte) any {
	switch k {
	case Bool:
		return b[0] != 0
	case Float64:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case UUID:
		return checkpoint.UUID(b)
	}
	n, _ := k.integer(b)
	return n
}
