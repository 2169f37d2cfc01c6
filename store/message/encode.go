package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"logdir/store/checkpoint"
)

// Append appends the message o of the given version. A member that is missing has its
// default value; one that the version does not have is left out.
func (s *Schema) Append(dst []byte, version int16, o *Object) ([]byte, error) {
	if !s.Has(version) {
		return dst, fmt.Errorf("%s has no version %d", s.Name, version)
	}
	e := encoder{version: version, flexible: version >= s.Flexible}
	dst, err := e.object(dst, s, o)
	if err != nil {
		err = fmt.Errorf("%s.%w", s.Name, err)
	}
	return dst, err
}

type encoder struct {
	version  int16
	flexible bool
}

func (e *encoder) object(dst []byte, s *Schema, o *Object) ([]byte, error) {
	var err error
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Tagged || !f.in(e.version) {
			continue
		}
		if dst, err = e.field(dst, f, o.value(f)); err != nil {
			return dst, err
		}
	}
	if !e.flexible {
		return dst, nil
	}
	return e.taggedFields(dst, s, o)
}

// value is the member of a field, or its default.
func (o *Object) value(f *Field) any {
	if v, ok := o.Get(f.Name); ok {
		return v
	}
	return f.zero()
}

func (e *encoder) taggedFields(dst []byte, s *Schema, o *Object) ([]byte, error) {
	tags := slices.Clone(o.Unknown)
	for i := range s.Fields {
		f := &s.Fields[i]
		if v := o.value(f); f.Tagged && f.in(e.version) && !f.isDefault(v) {
			data, err := e.field(nil, f, v)
			if err != nil {
				return dst, err
			}
			tags = append(tags, RawTag{f.Tag, data})
		}
	}
	slices.SortFunc(tags, func(a, b RawTag) int { return int(int64(a.Tag) - int64(b.Tag)) })
	dst = AppendUvarint(dst, uint32(len(tags)))
	for _, t := range tags {
		dst = AppendUvarint(dst, t.Tag)
		dst = AppendUvarint(dst, uint32(len(t.Data)))
		dst = append(dst, t.Data...)
	}
	return dst, nil
}

func (e *encoder) field(dst []byte, f *Field, v any) ([]byte, error) {
	var err error
	if f.Array {
		dst, err = e.array(dst, f, v)
	} else {
		dst, err = e.value(dst, f, v)
	}
	if err != nil {
		err = within(f.Name, err)
	}
	return dst, err
}

// within puts a name before what went wrong below it.
func within(name string, err error) error {
	if _, nested := errors.AsType[*pathError](err); nested {
		return &pathError{name + "." + err.Error()}
	}
	return &pathError{name + ": " + err.Error()}
}

// pathError begins with the path of a field.
type pathError struct{ text string }

func (e *pathError) Error() string { return e.text }

func (e *encoder) array(dst []byte, f *Field, v any) ([]byte, error) {
	if v == nil && f.Nullable {
		return e.length(dst, -1, 4), nil
	}
	list, ok := v.([]any)
	if !ok {
		return dst, fmt.Errorf("%T is no array", v)
	}
	dst = e.length(dst, len(list), 4)
	element := Field{Kind: f.Kind, Of: f.Of}
	var err error
	for _, v := range list {
		if dst, err = e.value(dst, &element, v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (e *encoder) value(dst []byte, f *Field, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		if f.Nullable {
			return e.null(dst, f), nil
		}
	case bool:
		if f.Kind == Bool {
			return append(dst, b2i(v)), nil
		}
	case int64:
		if f.Kind.holds(v) {
			return f.Kind.appendInt(dst, v), nil
		}
	case float64:
		if f.Kind == Float64 {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
		}
	case string:
		if f.Kind == String && (e.flexible || len(v) <= math.MaxInt16) {
			return append(e.length(dst, len(v), 2), v...), nil
		}
	case []byte:
		if f.Kind == Bytes && v != nil {
			return append(e.length(dst, len(v), 4), v...), nil
		}
	case checkpoint.UUID:
		if f.Kind == UUID {
			return append(dst, v[:]...), nil
		}
	case *Object:
		if f.Kind == Struct {
			return e.substruct(dst, f, v)
		}
	}
	return dst, fmt.Errorf("a value of type %T does not fit", v)
}

func (e *encoder) substruct(dst []byte, f *Field, o *Object) ([]byte, error) {
	if f.Nullable {
		dst = append(dst, 1)
	}
	return e.object(dst, f.Of, o)
}

func (e *encoder) null(dst []byte, f *Field) []byte {
	switch {
	case f.Kind == Struct && f.Tagged:
		return append(dst, 0)
	case f.Kind == Struct:
		return append(dst, 0xff)
	case f.Kind == String:
		return e.length(dst, -1, 2)
	}
	return e.length(dst, -1, 4)
}

// length appends a length or a count, -1 for null; a plain one takes width bytes.
func (e *encoder) length(dst []byte, n, width int) []byte {
	switch {
	case e.flexible:
		return AppendUvarint(dst, uint32(n+1))
	case width == 2:
		return binary.BigEndian.AppendUint16(dst, uint16(n))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func b2i(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// holds says whether the kind is an integer that can hold v.
func (k Kind) holds(v int64) bool {
	switch k {
	case Int8:
		return v == int64(int8(v))
	case Int16:
		return v == int64(int16(v))
	case Uint16:
		return v == int64(uint16(v))
	case Int32:
		return v == int64(int32(v))
	}
	return k == Int64
}

func (k Kind) appendInt(dst []byte, v int64) []byte {
	switch k {
	case Int8:
		return append(dst, byte(v))
	case Int16, Uint16:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	case Int32:
		return binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v))
}
