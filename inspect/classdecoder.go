package inspect

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"logdir/store/message"
	"logdir/store/record"
)

// DecoderClass is one of the decoders that come with Kafka's dump tool.
type DecoderClass int

// Kafka's decoders, org.apache.kafka.tools.api.*Decoder and kafka.serializer.*Decoder.
const (
	StringDecoder  DecoderClass = iota // UTF-8, the default
	IntegerDecoder                     // int32
	LongDecoder                        // int64
	DefaultDecoder                     // bytes, shown as hex
)

// ParseDecoderClass reads the name of a class, with or without package and "Decoder".
// The empty name is StringDecoder.
func ParseDecoderClass(name string) (DecoderClass, bool) {
	if name == "" {
		return StringDecoder, true
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch strings.TrimSuffix(name, "Decoder") {
	case "String":
		return StringDecoder, true
	case "Integer":
		return IntegerDecoder, true
	case "Long":
		return LongDecoder, true
	case "Default":
		return DefaultDecoder, true
	}
	return 0, false
}

// classDecoder shows keys and values by Kafka's simple decoders.
type classDecoder struct {
	key, value       DecoderClass
	keyBuf, valueBuf []byte
}

// NewClassDecoder makes a Decoder of two classes. A number of the wrong size, at which
// Kafka's tool dies, is shown as hex.
func NewClassDecoder(key, value DecoderClass) Decoder { return &classDecoder{key: key, value: value} }

// Text shows numbers in decimal.
func (d *classDecoder) Text(r *record.Record) (key, payload []byte) {
	d.keyBuf = appendClass(d.keyBuf[:0], d.key, r.Key)
	d.valueBuf = appendClass(d.valueBuf[:0], d.value, r.Value)
	return present(r.Key, d.keyBuf), present(r.Value, d.valueBuf)
}

// JSON shows numbers as numbers, everything else as strings.
func (d *classDecoder) JSON(r *record.Record) (key, payload []byte) {
	d.keyBuf = appendClassJSON(d.keyBuf[:0], d.key, r.Key)
	d.valueBuf = appendClassJSON(d.valueBuf[:0], d.value, r.Value)
	return present(r.Key, d.keyBuf), present(r.Value, d.valueBuf)
}

// present is text unless the value itself is null.
func present(value, text []byte) []byte {
	if value == nil {
		return nil
	}
	return text
}

func appendClass(dst []byte, c DecoderClass, b []byte) []byte {
	switch {
	case c == StringDecoder:
		return message.AppendUTF8(dst, b)
	case c == IntegerDecoder && len(b) == 4:
		return strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(b))), 10)
	case c == LongDecoder && len(b) == 8:
		return strconv.AppendInt(dst, int64(binary.BigEndian.Uint64(b)), 10)
	}
	return hex.AppendEncode(dst, b)
}

func appendClassJSON(dst []byte, c DecoderClass, b []byte) []byte {
	shown := appendClass(dst, c, b)
	if c == IntegerDecoder && len(b) == 4 || c == LongDecoder && len(b) == 8 {
		return shown
	}
	quoted, _ := json.Marshal(string(shown)) // a string always can be
	return append(shown[:0], quoted...)
}
