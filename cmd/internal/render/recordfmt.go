package render

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"logdir/cmd/internal/flagval"
	"logdir/store/record"
)

// RecordContext is a record and where it stands. The format and the JSON envelope are
// made from it; it can be reused for the next record.
type RecordContext struct {
	Topic     string
	Partition int32
	Broker    int32

	LeaderEpoch   int32
	ProducerID    int64
	ProducerEpoch int32
	BaseOffset    int64 // of the batch

	Record *record.Record
}

// SetBatch takes over what the records of a batch have in common.
func (c *RecordContext) SetBatch(b *record.Batch) {
	c.LeaderEpoch, c.BaseOffset = b.LeaderEpoch(), b.BaseOffset()
	c.ProducerID, c.ProducerEpoch = b.ProducerID(), b.ProducerEpoch()
}

// Format is a compiled record format:
//
//	%v %s value          %V %S its length, -1 for null    %t topic      %p partition
//	%k    key            %K    its length                 %o offset     %b base offset
//	%h    headers n=v,.. %H    their number               %d %T timestamp in ms
//	%e    leader epoch   %x %y producer id and epoch      %q sequence   %% a percent sign
//
// with the modifiers %v{hex}, %v{base64} (also of %s and %k) and %d{iso} (also of %T),
// and the escapes \n \t \r \\ \xNN.
type Format struct {
	ops []formatOp
	// Null is printed for a null key or value.
	Null string
}

// formatOp is literal text, or one verb with its modifier.
type formatOp struct {
	literal  string
	verb     byte // 0 for a literal
	modifier string
}

// formatVerbs are the verbs, each with the modifiers that it takes.
var formatVerbs = map[byte][]string{
	'v': {"hex", "base64"}, 's': {"hex", "base64"}, 'k': {"hex", "base64"},
	'd': {"iso"}, 'T': {"iso"},
	'V': nil, 'S': nil, 'K': nil, 't': nil, 'p': nil, 'o': nil, 'b': nil, 'h': nil,
	'H': nil, 'e': nil, 'x': nil, 'y': nil, 'q': nil,
}

// Compile reads a format. An error names the place in it.
func Compile(format string) (*Format, error) {
	var f Format
	for rest := format; rest != ""; {
		literal, after, hasVerb := strings.Cut(rest, "%")
		if err := f.addLiteral(literal); err != nil {
			return nil, err
		}
		if !hasVerb {
			break
		}
		size, err := f.addVerb(after)
		if err != nil {
			return nil, err
		}
		rest = after[size:]
	}
	return &f, nil
}

func (f *Format) addLiteral(s string) error {
	text, err := flagval.Unescape(s)
	if err != nil {
		return fmt.Errorf("record format: %w", err)
	}
	if text != "" {
		f.ops = append(f.ops, formatOp{literal: text})
	}
	return nil
}

// addVerb reads the verb behind a percent sign, and tells its size.
func (f *Format) addVerb(s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf("record format: ends in a single %%")
	}
	if s[0] == '%' {
		f.ops = append(f.ops, formatOp{literal: "%"})
		return 1, nil
	}
	modifiers, ok := formatVerbs[s[0]]
	if !ok {
		return 0, fmt.Errorf("record format: no verb %%%c (see: logdir help format)", s[0])
	}
	op, size := formatOp{verb: s[0]}, 1
	for _, m := range modifiers {
		if strings.HasPrefix(s[1:], "{"+m+"}") {
			op.modifier, size = m, len(m)+3
		}
	}
	if op.modifier == "" && strings.HasPrefix(s[1:], "{") {
		return 0, fmt.Errorf("record format: %%%c has no such modifier (see: logdir help format)", s[0])
	}
	f.ops = append(f.ops, op)
	return size, nil
}

// AppendRecord writes one record. It allocates nothing but what dst needs to grow.
func (f *Format) AppendRecord(dst []byte, c *RecordContext) []byte {
	for i := range f.ops {
		op := &f.ops[i]
		if op.verb == 0 {
			dst = append(dst, op.literal...)
			continue
		}
		dst = f.appendVerb(dst, op, c)
	}
	return dst
}

func (f *Format) appendVerb(dst []byte, op *formatOp, c *RecordContext) []byte {
	r := c.Record
	switch op.verb {
	case 'v', 's':
		return f.appendBytes(dst, r.Value, op.modifier)
	case 'k':
		return f.appendBytes(dst, r.Key, op.modifier)
	case 't':
		return append(dst, c.Topic...)
	case 'h':
		return f.appendHeaders(dst, r.Headers)
	case 'o':
		return appendOffset(dst, r.Offset)
	case 'b':
		return appendOffset(dst, c.BaseOffset)
	case 'd', 'T':
		return appendTimestamp(dst, r.Timestamp, op.modifier)
	}
	return strconv.AppendInt(dst, c.number(op.verb), 10)
}

// number is the value of a verb that prints as a plain number.
func (c *RecordContext) number(verb byte) int64 {
	switch verb {
	case 'V', 'S':
		return length(c.Record.Value)
	case 'K':
		return length(c.Record.Key)
	case 'H':
		return int64(len(c.Record.Headers))
	case 'e':
		return int64(c.LeaderEpoch)
	case 'x':
		return c.ProducerID
	case 'y':
		return int64(c.ProducerEpoch)
	case 'q':
		return int64(c.Record.Sequence)
	}
	return int64(c.Partition)
}

// length is Kafka's length of a nullable field: -1 for null.
func length(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

func (f *Format) appendBytes(dst, b []byte, modifier string) []byte {
	switch {
	case b == nil:
		return append(dst, f.Null...)
	case modifier == "hex":
		return hex.AppendEncode(dst, b)
	case modifier == "base64":
		return base64.StdEncoding.AppendEncode(dst, b)
	}
	return append(dst, b...)
}

func (f *Format) appendHeaders(dst []byte, headers []record.Header) []byte {
	for i, h := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, h.Key...)
		dst = append(dst, '=')
		dst = f.appendBytes(dst, h.Value, "")
	}
	return dst
}

// appendOffset prints an offset that nobody told the producer (acks 0) as "-".
func appendOffset(dst []byte, offset int64) []byte {
	if offset < 0 {
		return append(dst, none...)
	}
	return strconv.AppendInt(dst, offset, 10)
}

func appendTimestamp(dst []byte, ms int64, modifier string) []byte {
	if modifier == "" {
		return strconv.AppendInt(dst, ms, 10)
	}
	if ms == record.NoTimestamp {
		return append(dst, none...)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}
