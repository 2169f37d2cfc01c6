package decode

import (
	"errors"
	"strconv"

	"logdir/store/message"
	"logdir/store/record"
)

// coordinator decodes the records of a coordinator's topic.
type coordinator struct {
	types      message.RecordTypes
	key, value []byte
}

// Text prints key and value as objects. What cannot be decoded makes the key a sentence of
// Kafka's, and there is no payload then.
func (d *coordinator) Text(r *record.Record) (key, payload []byte) {
	if err := d.decode(r); err != nil {
		d.key = appendFailure(d.key[:0], r.Offset, err)
		return d.key, nil
	}
	if r.Value == nil {
		return d.key, tombstone
	}
	return d.key, d.value
}

var tombstone = []byte("<DELETE>")

// decode renders key and value.
func (d *coordinator) decode(r *record.Record) error {
	if r.Key == nil {
		return errNoKey
	}
	key, err := d.types.ParseKey(r.Key)
	if err != nil {
		return inPart("key", r.Key, err)
	}
	d.key = key.AppendJSON(d.key[:0])
	return d.decodeValue(&key, r.Value)
}

func (d *coordinator) decodeValue(key *message.Key, raw []byte) error {
	if raw == nil {
		return nil
	}
	value, err := key.ParseValue(raw)
	if err != nil {
		return inPart("value", raw, err)
	}
	d.value = value.AppendJSON(d.value[:0])
	return nil
}

// JSON gives key and value as objects, each that cannot be decoded as hex.
func (d *coordinator) JSON(r *record.Record) (key, payload []byte) {
	if r.Key == nil {
		return nil, appendHexOrNull(nil, r.Value, errNoKey)
	}
	k, err := d.types.ParseKey(r.Key)
	if err != nil {
		d.key = appendHex(d.key[:0], r.Key, err)
		return d.key, appendHexOrNull(d.value[:0], r.Value, nil)
	}
	d.key = k.AppendJSON(d.key[:0])
	if err := d.decodeValue(&k, r.Value); err != nil {
		d.value = appendHex(d.value[:0], r.Value, err)
	}
	if r.Value == nil {
		return d.key, nil
	}
	return d.key, d.value
}

// errNoKey is for a record that a coordinator never writes. Kafka's tool ends there.
var errNoKey = errors.New("message had a missing key")

// partError is an error in the key or the value of a record.
type partError struct {
	part string // "key" or "value"
	raw  []byte
	err  error
}

func inPart(part string, raw []byte, err error) error { return &partError{part, raw, err} }

// Unwrap is what is wrong.
func (e *partError) Unwrap() error { return e.err }

// Error begins like Kafka's sentence. What is said behind "due to" is more than Kafka says,
// which is often "null".
func (e *partError) Error() string {
	if unknown, ok := errors.AsType[*message.UnknownVersionError](e.err); ok {
		return "Found an unknown record version " + strconv.Itoa(int(unknown.Version)) + " for " + strconv.Itoa(int(unknown.Type)) + " type"
	}
	if len(e.raw) < 2 {
		return "Could not read version from " + e.part + "'s buffer."
	}
	return "Could not read record with version " + strconv.Itoa(e.version()) + " from " + e.part + "'s buffer due to: " + detail(e.err) + "."
}

// version is the int16 that the part begins with.
func (e *partError) version() int { return int(int16(uint16(e.raw[0])<<8 | uint16(e.raw[1]))) }

// appendFailure says why a record is not shown, as Kafka's tool does.
func appendFailure(dst []byte, offset int64, err error) []byte {
	if unknown, ok := errors.AsType[*message.UnknownTypeError](err); ok {
		dst = strconv.AppendInt(append(dst, "Unknown record type "...), int64(unknown.Type), 10)
		dst = strconv.AppendInt(append(dst, " at offset "...), offset, 10)
		return append(dst, ", skipping."...)
	}
	dst = strconv.AppendInt(append(dst, "Error at offset "...), offset, 10)
	return append(append(dst, ", skipping. "...), err.Error()...)
}
