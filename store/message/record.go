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

// OfKey is the type that a key tells; for the error see ParseKey.
func (ts RecordTypes) OfKey(key []byte) (RecordType, error) {
	if len(key) < 2 {
		return RecordType{}, corrupt.Newf(corrupt.BadRecords, 0, int64(len(key)), "key of %d bytes", len(key))
	}
	t, ok := ts.Of(int16(binary.BigEndian.Uint16(key)))
	if !ok {
		return t, &UnknownTypeError{t.Type}
	}
	return t, nil
}

// ParseKey reads a key. The error is an *UnknownTypeError, with which Key.Type is set, or a
// *corrupt.Error of kind bad-records at a byte of the key.
func (ts RecordTypes) ParseKey(key []byte) (Key, error) {
	t, err := ts.OfKey(key)
	if err != nil {
		return Key{RecordType: t}, err
	}
	o, _, damage := t.Key.Decode(0, key[2:])
	return Key{t, o}, behindType(damage)
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
	var err error
	if v.Version, err = t.versionOf(value); err != nil {
		return v, err
	}
	o, _, damage := t.Value.Decode(v.Version, value[2:])
	v.Object = o
	return v, behindType(damage)
}

// versionOf is the version of a value, which is one that the type has.
func (t RecordType) versionOf(value []byte) (int16, error) {
	if len(value) < 2 {
		return 0, corrupt.Newf(corrupt.BadRecords, 0, int64(len(value)), "value of %d bytes", len(value))
	}
	version := int16(binary.BigEndian.Uint16(value))
	if !t.Value.Has(version) {
		return version, &UnknownVersionError{t.Type, version}
	}
	return version, nil
}

// WalkKey hands out the fields of a key of this type, as ParseKey reads them; see Schema.Walk.
func (t RecordType) WalkKey(key []byte, take func(*Field, Raw)) error {
	return behindType(t.Key.Walk(0, key[2:], take))
}

// WalkValue hands out the fields of a value, as ParseValue reads them; see Schema.Walk.
func (t RecordType) WalkValue(value []byte, take func(*Field, Raw)) error {
	version, err := t.versionOf(value)
	if err != nil {
		return err
	}
	return behindType(t.Value.Walk(version, value[2:], take))
}

// behindType puts damage, if there is any, where it is in the whole key or value.
func behindType(damage *corrupt.Error) error {
	if damage == nil {
		return nil
	}
	damage.Pos += 2
	return damage
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
