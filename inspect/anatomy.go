package inspect

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"logdir/store/record"
)

// Part is one field of a frame, taken apart.
type Part struct {
	// Pos is the first byte, counted from the start of the frame.
	Pos   int
	Bytes []byte
	// Name is Kafka's name of the field, Value what it says.
	Name, Value string
	// Record counts the records from 1 on where one begins, 0 elsewhere.
	Record int
}

// Anatomy takes a frame apart, field by field and without a gap. Compressed records are
// one part; so is what follows a field that does not parse.
func Anatomy(f *Frame) []Part {
	d := &dissection{frame: f, raw: f.Raw()}
	for _, field := range record.LayoutOf(f.Format()) {
		if field.Size > 0 {
			d.fixed(field.Name, field.Type, field.Size)
		}
	}
	switch {
	case f.CodecBits() != 0:
	case f.Format() == record.V2:
		d.recordsV2()
	case f.Format() == record.MKB1:
		d.recordsMKB1()
	default:
		d.messageBody()
	}
	d.rest()
	return d.parts
}

// dissection is a frame taken apart up to pos.
type dissection struct {
	frame *Frame
	raw   []byte
	pos   int
	parts []Part
	bad   bool // the last field did not parse: nothing more can be named
}

func (d *dissection) add(name, value string, size int) {
	d.parts = append(d.parts, Part{Pos: d.pos, Bytes: d.raw[d.pos : d.pos+size], Name: name, Value: value})
	d.pos += size
}

// has says that n more bytes are there.
func (d *dissection) has(n int64) bool {
	if d.bad || n < 0 || n > int64(len(d.raw)-d.pos) {
		d.bad = true
	}
	return !d.bad
}

// fixed adds a field of the layout table.
func (d *dissection) fixed(name, typ string, size int) int64 {
	if !d.has(int64(size)) {
		return 0
	}
	b := d.raw[d.pos : d.pos+size]
	v := fixedValue(typ, b)
	d.add(name, d.explain(name, typ, v, b), size)
	return v
}

func fixedValue(typ string, b []byte) int64 {
	switch typ {
	case "int8":
		return int64(int8(b[0]))
	case "uint8":
		return int64(b[0])
	case "int16":
		return int64(int16(binary.BigEndian.Uint16(b)))
	case "uint16":
		return int64(binary.BigEndian.Uint16(b))
	case "int32":
		return int64(int32(binary.BigEndian.Uint32(b)))
	case "uint32":
		return int64(binary.BigEndian.Uint32(b))
	case "int64":
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// explain adds to a number what it means.
func (d *dissection) explain(name, typ string, v int64, b []byte) string {
	switch name {
	case "crc":
		if d.frame.Valid {
			return fmt.Sprintf("0x%08x, right", v)
		}
		return fmt.Sprintf("0x%08x, but the bytes have 0x%08x", v, d.frame.ComputeCRC())
	case "attributes", "flags":
		return d.flags(v)
	case "lastOffsetDelta":
		return fmt.Sprintf("%d, last offset %d", v, d.frame.LastOffset())
	case "baseTimestamp":
		if horizon, ok := d.frame.DeleteHorizon(); ok {
			return fmt.Sprintf("%d, the delete horizon", horizon)
		}
	}
	if typ == "bytes" {
		return quote(b)
	}
	return strconv.FormatInt(v, 10)
}

// flags says what the attribute bits mean.
func (d *dissection) flags(v int64) string {
	words := []string{strconv.FormatInt(v, 10) + ":"}
	if d.frame.Format() != record.MKB1 {
		words = append(words, d.frame.Codec().String(), d.frame.TimestampType().String())
	}
	if d.frame.IsTransactional() {
		words = append(words, "transactional")
	}
	if d.frame.IsControl() {
		words = append(words, "control")
	}
	if _, ok := d.frame.DeleteHorizon(); ok {
		words = append(words, "delete horizon")
	}
	if len(words) == 1 {
		return words[0][:len(words[0])-1]
	}
	return strings.Join(words, " ")
}

// varint adds a zig-zag varint; explain, if not nil, says what it means.
func (d *dissection) varint(name string, explain func(int64) string) int64 {
	if d.bad {
		return 0
	}
	v, n := binary.Varint(d.raw[d.pos:])
	if n <= 0 {
		d.bad = true
		return 0
	}
	value := strconv.FormatInt(v, 10)
	if explain != nil {
		if more := explain(v); more != "" {
			value += ", " + more
		}
	}
	d.add(name, value, n)
	return v
}

// data adds bytes of a length that was read before; a negative one is null, and nothing.
func (d *dissection) data(name string, n int64) {
	if n > 0 && d.has(n) {
		d.add(name, quote(d.raw[d.pos:d.pos+int(n)]), int(n))
	}
}

// quote shows bytes as text with escapes, and long ones cut.
func quote(b []byte) string {
	if len(b) > 64 {
		return strconv.Quote(string(b[:64])) + "..."
	}
	return strconv.Quote(string(b))
}

// recordsV2 adds the records of a v2 batch.
func (d *dissection) recordsV2() {
	base, first := d.frame.BaseOffset(), d.frame.BaseTimestamp()
	for i := int32(1); i <= d.frame.Count() && d.pos < len(d.raw) && !d.bad; i++ {
		at := len(d.parts)
		d.varint("length", nil)
		d.unused("attributes")
		d.varint("timestampDelta", func(v int64) string { return "timestamp " + strconv.FormatInt(first+v, 10) })
		d.varint("offsetDelta", func(v int64) string { return "offset " + strconv.FormatInt(base+v, 10) })
		d.data("key", d.varint("keyLength", null))
		d.data("value", d.varint("valueLength", null))
		for n := d.varint("headersCount", nil); n > 0 && !d.bad; n-- {
			d.data("headerKey", d.varint("headerKeyLength", nil))
			d.data("headerValue", d.varint("headerValueLength", null))
		}
		d.beginRecord(at, int(i))
	}
}

func (d *dissection) beginRecord(part, record int) {
	if part < len(d.parts) {
		d.parts[part].Record = record
	}
}

// unused adds a byte that no version of Kafka gives a meaning.
func (d *dissection) unused(name string) {
	if d.has(1) {
		d.add(name, strconv.Itoa(int(int8(d.raw[d.pos]))), 1)
	}
}

// null names a negative length.
func null(v int64) string {
	if v < 0 {
		return "null"
	}
	return ""
}

// recordsMKB1 adds the transactional id and the records of an MKB1 frame.
func (d *dissection) recordsMKB1() {
	d.data("transactionalId", int64(len(d.frame.Meta().TransactionalID)))
	for i := int32(1); i <= d.frame.Count() && d.pos < len(d.raw) && !d.bad; i++ {
		at := len(d.parts)
		d.fixed("offsetDelta", "int32", 4)
		d.fixed("timestamp", "int64", 8)
		key, value := d.fixed("keyLength", "int32", 4), d.fixed("valueLength", "int32", 4)
		headers := d.fixed("headersCount", "uint16", 2)
		d.data("key", key)
		d.data("value", value)
		for ; headers > 0 && !d.bad; headers-- {
			d.data("headerKey", d.fixed("headerKeyLength", "uint16", 2))
			d.data("headerValue", d.fixed("headerValueLength", "int32", 4))
		}
		d.beginRecord(at, int(i))
	}
}

// messageBody adds what follows the header of a plain v0 or v1 message: the layout ends
// with the length of the key.
func (d *dissection) messageBody() {
	if n := len(d.parts); n > 0 {
		d.data("key", fixedValue("int32", d.parts[n-1].Bytes))
	}
	d.data("value", d.fixed("valueLength", "int32", 4))
}

// rest adds what could not be named.
func (d *dissection) rest() {
	left := len(d.raw) - d.pos
	if left == 0 {
		return
	}
	name, value := "?", "does not parse"
	if d.frame.CodecBits() != 0 {
		name, value = "records", fmt.Sprintf("%d bytes, %s", left, d.frame.Codec())
	}
	d.add(name, value, left)
}
