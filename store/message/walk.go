package message

import (
	"encoding/binary"

	"logdir/store/corrupt"
)

// Raw is the value of one field as the bytes that it has in the message: of a string or
// bytes without their length, of an array or a struct all of it. It is a slice of the
// message.
type Raw struct {
	kind Kind
	data []byte
}

// Int is the value of an integer; 0 for other kinds.
func (r Raw) Int() int64 {
	n, _ := r.kind.integer(r.data)
	return n
}

// Bytes are the value of a string or of bytes; nil for null.
func (r Raw) Bytes() []byte { return r.data }

// Walk reads what Decode reads, and finds the same errors, but makes no tree: it hands out
// the fields of the message one by one, in the order of its bytes, tagged ones last. Those
// that the version does not have, or that are not written, do not come. Nothing of what came
// before an error counts.
func (s *Schema) Walk(version int16, data []byte, take func(*Field, Raw)) *corrupt.Error {
	d := decoder{data: data, version: version, flexible: version >= s.Flexible}
	if !s.Has(version) {
		return noVersion(s, version)
	}
	if d.walk(s, take) {
		return nil
	}
	return d.failure(s)
}

func (d *decoder) walk(s *Schema, take func(*Field, Raw)) bool {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Tagged || !f.in(d.version) {
			continue
		}
		if !d.handOut(f, take) {
			return false
		}
	}
	return !d.flexible || d.tags(s, func(f *Field, _ uint32, size int) bool {
		if f == nil {
			d.pos += size
			return true
		}
		return d.sized(f, size, func() bool { return d.handOut(f, take) })
	})
}

func (d *decoder) handOut(f *Field, take func(*Field, Raw)) bool {
	raw, ok := d.raw(f)
	if !ok {
		d.within(f.Name)
		return false
	}
	take(f, raw)
	return true
}

// raw reads the value of a field.
func (d *decoder) raw(f *Field) (Raw, bool) {
	start, ok := d.pos, true
	switch {
	case f.Array || f.Kind == Struct:
		if f.Array {
			_, ok = d.array(f)
		} else {
			_, ok = d.value(f)
		}
		return Raw{f.Kind, d.data[start:d.pos]}, ok
	case f.Kind == String, f.Kind == Bytes:
		b, ok := d.textBytes(f)
		return Raw{f.Kind, b}, ok
	}
	b, ok := d.take(f.Kind.size())
	return Raw{f.Kind, b}, ok
}

// integer is the number that b holds; ok is false for other kinds.
func (k Kind) integer(b []byte) (n int64, ok bool) {
	switch k {
	case Int8:
		return int64(int8(b[0])), true
	case Int16:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case Uint16:
		return int64(binary.BigEndian.Uint16(b)), true
	case Int32:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	case Int64:
		return int64(binary.BigEndian.Uint64(b)), true
	}
	return 0, false
}
