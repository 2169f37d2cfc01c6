package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"logdir/store/corrupt"
)

// RecordType is one type of record that a broker's coordinator keeps in its topic. The key
// begins with the type, the value with its own version:
//
//	 int16   fields of the key            int16     fields of the value
//	+------+------------------- -        +---------+------------------- -
//	| type | ...                         | version | ...
//	+------+------------------- -        +---------+------------------- -
//
// A null value is a tombstone: what the key names is gone.
type RecordType struct {
	Type int16
	// Key and Value are their schemas.
	Key, Value *Schema
	// Show, unless nil, makes the tree that is printed of a value: with blobs decoded and
	// numbers as names. It leaves the value as it is.
	Show func(*Object) *Object
}

// RecordTypes are the types of one topic, by rising type.
type RecordTypes []RecordType

// Of finds a type.
func (ts RecordTypes) Of(t int16) (RecordType, bool) {
	at, found := slices.BinarySearchFunc(ts, t, func(r RecordType, t int16) int { return int(r.Type) - int(t) })
	if !found {
		return RecordType{Type: t}, false
	}
	return ts[at], true
}

// ErrUnknownType is for a record of a type, or a value of a version, that is not known. It
// is no damage: a newer broker wrote it.
var ErrUnknownType = errors.New("unknown record type")

// UnknownTypeError says which type is not known.
type UnknownTypeError struct{ Type int16 }

func (e *UnknownTypeError) Error() string { return fmt.Sprintf("record type %d is unknown", e.Type) }

// Unwrap leads to ErrUnknownType.
func (e *UnknownTypeError) Unwrap() error { return ErrUnknownType }

// UnknownVersionError says which version of a known type's value is not known.
type UnknownVersionError struct{ Type, Version int16 }

func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("record type %d has no version %d", e.Type, e.Version)
}

// Unwrap leads to ErrUnknownType.
func (e *UnknownVersionError) Unwrap() error { return ErrUnknownType }

// Key is a decoded key.
type Key struct {
	RecordType
	Object *Object
}

// ParseKey reads a key. The error is an *UnknownTypeError, with which Key.Type is set, or a
// *corrupt.Error of kind bad-records at a byte of the key.
func (ts RecordTypes) ParseKey(key []byte) (Key, error) {
	if len(key) < 2 {
		return Key{}, corrupt.Newf(corrupt.BadRecords, 0, int64(len(key)), "key of %d bytes", len(key))
	}
	t, ok := ts.Of(int16(binary.BigEndian.Uint16(key)))
	if !ok {
		return Key{RecordType: t}, &UnknownTypeError{t.Type}
	}
	o, _, damage := t.Key.Decode(0, key[2:])
	if damage != nil {
		damage.Pos += 2
		return Key{RecordType: t}, damage
	}
	return Key{t, o}, nil
}

// AppendJSON appends the key as Kafka's tools print it.
func (k *Key) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = strconv.AppendInt(dst, int64(k.Type), 10)
	dst = append(dst, `","data":`...)
	return append(k.Key.AppendJSON(dst, k.Object), '}')
}

// Value is a decoded value.
type Value struct {
	RecordType
	Version int16
	Object  *Object
}

// ParseValue reads the value of a record of this type. A null one is a tombstone and must not
// come here. The error is an *UnknownVersionError or a *corrupt.Error.
func (t RecordType) ParseValue(value []byte) (Value, error) {
	v := Value{RecordType: t}
	if len(value) < 2 {
		return v, corrupt.Newf(corrupt.BadRecords, 0, int64(len(value)), "value of %d bytes", len(value))
	}
	v.Version = int16(binary.BigEndian.Uint16(value))
	if !t.Value.Has(v.Version) {
		return v, &UnknownVersionError{t.Type, v.Version}
	}
	o, _, damage := t.Value.Decode(v.Version, value[2:])
	if damage != nil {
		damage.Pos += 2
		return v, damage
	}
	v.Object = o
	return v, nil
}

// AppendJSON appends the value as Kafka's tools print it.
func (v *Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"version":"`...)
	dst = strconv.AppendInt(dst, int64(v.Version), 10)
	dst = append(dst, `","data":`...)
	o := v.Object
	if v.Show != nil {
		o = v.Show(o)
	}
	return append(v.Value.AppendJSON(dst, o), '}')
}

// AppendKey appends the bytes of a key of this type.
func (t RecordType) AppendKey(dst []byte, o *Object) ([]byte, error) {
	return t.Key.Append(binary.BigEndian.AppendUint16(dst, uint16(t.Type)), 0, o)
}

// AppendValue appends the bytes of a value of this type.
func (t RecordType) AppendValue(dst []byte, version int16, o *Object) ([]byte, error) {
	return t.Value.Append(binary.BigEndian.AppendUint16(dst, uint16(version)), version, o)
}
