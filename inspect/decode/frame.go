package decode

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode"

	"logdir/store/message"
	"logdir/store/record"
)

// Frame is the value of a record of __cluster_metadata or __remote_log_metadata, whose key is
// null. Kafka: AbstractApiMessageSerde.
//
//	  uvarint    uvarint  uvarint
//	+----------+--------+---------+------------------- -
//	| frame: 1 |  type  | version | message, flexible
//	+----------+--------+---------+------------------- -
//
// Nothing may follow the message. 01 14 00 00 is a NoOpRecord: type 20, version 0, no tags.
type Frame struct {
	Type int16
	// Version is the message's. One above the highest that is known is read as that, as
	// Kafka does.
	Version int16
	Schema  *message.Schema
	Object  *message.Object
}

// frameVersion is the only one that can be read. The preview of KRaft in 2.8 wrote 0.
const frameVersion = 1

// FrameType is one type of message.
type FrameType struct {
	ID     int16
	Schema *message.Schema
}

// parseFrame reads a value. The errors are Kafka's sentences.
func parseFrame(types []FrameType, value []byte) (Frame, error) {
	version, rest, err := frameNumber("frame version", value)
	switch {
	case err != nil:
		return Frame{}, err
	case version == 0:
		return Frame{}, errPreview
	case version != frameVersion:
		return Frame{}, sentencef("Could not deserialize metadata record due to unknown frame version %d(only frame version 1 is supported)", version)
	}
	f := Frame{}
	if f.Type, rest, err = frameNumber("type", rest); err != nil {
		return f, err
	}
	if f.Version, rest, err = frameNumber("version", rest); err != nil {
		return f, err
	}
	if f.Schema = schemaOf(types, f.Type); f.Schema == nil {
		return f, &unknownFrameError{f.Type}
	}
	return f, f.decode(rest)
}

// errPreview is Kafka's sentence.
var errPreview = sentencef("Could not deserialize metadata record with frame version 0. Note that upgrades from the preview release of KRaft in 2.8 to newer versions are not supported.")

// frameNumber cuts a number off that must fit an int16.
func frameNumber(name string, b []byte) (n int16, rest []byte, err error) {
	v, size := message.Uvarint(b)
	switch {
	case size == 0:
		return 0, b, sentencef("Error while reading %s", name)
	case v > math.MaxInt16:
		return 0, b, sentencef("Value for %s was too large.", name)
	}
	return int16(v), b[size:], nil
}

func (f *Frame) decode(data []byte) error {
	o, size, damage := f.Schema.Decode(min(f.Version, f.Schema.Highest), data)
	switch {
	case damage != nil:
		return &frameError{f.Type, damage}
	case f.Version > f.Schema.Highest && hasStruct(o):
		return &frameError{f.Type, fmt.Errorf("%s has no version %d", f.Schema.Name, f.Version)}
	case size < len(data):
		return sentencef("Found %d byte(s) of garbage after %d", len(data)-size, f.Type)
	}
	f.Object = o
	return nil
}

// hasStruct says whether there are structs inside a message: Kafka looks at the version only
// when it reads one of those.
func hasStruct(o *message.Object) bool {
	for _, m := range o.Members {
		if list, _ := m.Value.([]any); len(list) > 0 {
			if _, ok := list[0].(*message.Object); ok {
				return true
			}
		}
	}
	return false
}

func schemaOf(types []FrameType, id int16) *message.Schema {
	at, found := slices.BinarySearchFunc(types, id, func(t FrameType, id int16) int { return int(t.ID) - int(id) })
	if !found {
		return nil
	}
	return types[at].Schema
}

// unknownFrameError is for a type that Kafka 4.4 does not know.
type unknownFrameError struct{ id int16 }

func (e *unknownFrameError) Error() string {
	return "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id " + strconv.Itoa(int(e.id))
}

// Unwrap says the same in the words of this program.
func (e *unknownFrameError) Unwrap() error { return &message.UnknownTypeError{Type: e.id} }

// frameError is for a message that does not parse. Kafka does not say why.
type frameError struct {
	id  int16
	err error
}

func (e *frameError) Error() string {
	return "Failed to deserialize record with type " + strconv.Itoa(int(e.id))
}

func (e *frameError) Unwrap() error { return e.err }

// AppendJSON appends the frame as Kafka's tool prints the metadata log.
func (f *Frame) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = appendTypeName(dst, f.Schema.Name)
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, int64(f.Version), 10)
	dst = append(dst, `,"data":`...)
	return append(f.Schema.AppendJSON(dst, f.Object), '}')
}

// Name is Kafka's name of the type, "TOPIC_RECORD".
func (f *Frame) Name() string { return string(appendTypeName(nil, f.Schema.Name)) }

// appendTypeName appends "NoOpRecord" as "NO_OP_RECORD".
func appendTypeName(dst []byte, schema string) []byte {
	for i, r := range schema {
		if i > 0 && unicode.IsUpper(r) {
			dst = append(dst, '_')
		}
		dst = append(dst, byte(unicode.ToUpper(r)))
	}
	return dst
}

// framed decodes a topic of frames.
type framed struct {
	types []FrameType
	// text appends what Kafka's tool prints of a frame, at the words at of its error
	// sentence: "Error at 7" or "Error at offset 7".
	text  func(dst []byte, f *Frame) ([]byte, error)
	at    string
	value []byte
}

// Text prints no key: there is none.
func (d *framed) Text(r *record.Record) (key, payload []byte) {
	f, err := parseFrame(d.types, r.Value)
	if err == nil {
		if d.value, err = d.text(d.value[:0], &f); err == nil {
			return nil, d.value
		}
	}
	d.value = append(append(d.value[:0], "Error at "...), d.at...)
	d.value = strconv.AppendInt(d.value, r.Offset, 10)
	d.value = append(append(d.value, ", skipping. "...), err.Error()...)
	return nil, d.value
}

// JSON gives the value as an object; one that cannot be decoded, and any key, as hex.
func (d *framed) JSON(r *record.Record) (key, payload []byte) {
	key = appendHexOrNull(nil, r.Key, nil)
	if r.Value == nil {
		return key, nil
	}
	f, err := parseFrame(d.types, r.Value)
	if err != nil {
		d.value = appendHex(d.value[:0], r.Value, err)
		return key, d.value
	}
	d.value = f.AppendJSON(d.value[:0])
	return key, d.value
}
