package render

import (
	"strconv"

	"logdir/store/record"
)

// Console prints a record as Kafka's console consumer does: what is asked for, in this order,
// with the key separator between and the line separator behind.
//
//	CreateTime:1767225600000  Partition:0  Offset:42  Epoch:1  name:value,name:value  key  value
type Console struct {
	Timestamp, Partition, Offset, Epoch, Headers, Key, Value bool

	KeySeparator, LineSeparator, HeadersSeparator, NullLiteral string
}

// NewConsole is a Console with Kafka's defaults.
func NewConsole() Console {
	return Console{Value: true, KeySeparator: "\t", LineSeparator: "\n", HeadersSeparator: ",", NullLiteral: "null"}
}

// AppendRecord writes one record.
func (f *Console) AppendRecord(dst []byte, c *RecordContext) []byte {
	first := true
	for _, column := range []struct {
		wanted bool
		append func([]byte, *RecordContext) []byte
	}{
		{f.Timestamp, appendTypedTime},
		{f.Partition, appendPartition},
		{f.Offset, appendNamedOffset},
		{f.Epoch, appendEpoch},
		{f.Headers, f.appendHeaders},
		{f.Key, f.appendKey},
		{f.Value, f.appendValue},
	} {
		if !column.wanted {
			continue
		}
		if !first {
			dst = append(dst, f.KeySeparator...)
		}
		dst, first = column.append(dst, c), false
	}
	if first { // nothing is wanted
		return dst
	}
	return append(dst, f.LineSeparator...)
}

func appendTypedTime(dst []byte, c *RecordContext) []byte {
	if c.Record.TimestampType == record.NoTimestampType {
		return append(dst, "NO_TIMESTAMP"...)
	}
	dst = append(append(dst, c.Record.TimestampType.String()...), ':')
	return strconv.AppendInt(dst, c.Record.Timestamp, 10)
}

func appendPartition(dst []byte, c *RecordContext) []byte {
	return strconv.AppendInt(append(dst, "Partition:"...), int64(c.Partition), 10)
}

func appendNamedOffset(dst []byte, c *RecordContext) []byte {
	return strconv.AppendInt(append(dst, "Offset:"...), c.Record.Offset, 10)
}

func appendEpoch(dst []byte, c *RecordContext) []byte {
	dst = append(dst, "Epoch:"...)
	if c.LeaderEpoch == record.NoLeaderEpoch {
		return dst
	}
	return strconv.AppendInt(dst, int64(c.LeaderEpoch), 10)
}

func (f *Console) appendHeaders(dst []byte, c *RecordContext) []byte {
	if len(c.Record.Headers) == 0 {
		return append(dst, "NO_HEADERS"...)
	}
	for i, h := range c.Record.Headers {
		if i > 0 {
			dst = append(dst, f.HeadersSeparator...)
		}
		dst = f.appendBytes(append(append(dst, h.Key...), ':'), h.Value)
	}
	return dst
}

func (f *Console) appendKey(dst []byte, c *RecordContext) []byte {
	return f.appendBytes(dst, c.Record.Key)
}

func (f *Console) appendValue(dst []byte, c *RecordContext) []byte {
	return f.appendBytes(dst, c.Record.Value)
}

func (f *Console) appendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, f.NullLiteral...)
	}
	return append(dst, b...)
}
