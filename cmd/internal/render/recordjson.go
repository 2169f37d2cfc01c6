package render

import "strconv"

// Envelope writes records as JSON, one object a line, keys in this order:
//
//	topic partition offset timestamp key value headers
//
// and with Meta also leader_epoch producer_id producer_epoch sequence broker. A key or
// value that is not UTF-8 appears as key_base64 or value_base64, a header value with a
// third element "base64". RecordParser reads the same back.
type Envelope struct{ Meta bool }

// AppendRecord writes one record and a line break. It allocates nothing but what dst
// needs to grow.
func (e Envelope) AppendRecord(dst []byte, c *RecordContext) []byte {
	r := c.Record
	dst = append(dst, `{"topic":`...)
	dst = AppendJSONString(dst, c.Topic)
	dst = appendNumberKey(dst, `,"partition":`, int64(c.Partition))
	dst = append(dst, `,"offset":`...)
	dst = appendKnown(dst, r.Offset)
	dst = appendNumberKey(dst, `,"timestamp":`, r.Timestamp)
	dst = AppendJSONMember(append(dst, ','), "key", r.Key)
	dst = AppendJSONMember(append(dst, ','), "value", r.Value)
	dst = append(dst, `,"headers":`...)
	dst = AppendJSONHeaders(dst, r.Headers)
	if e.Meta {
		dst = appendMeta(dst, c)
	}
	return append(dst, "}\n"...)
}

func appendMeta(dst []byte, c *RecordContext) []byte {
	dst = appendNumberKey(dst, `,"leader_epoch":`, int64(c.LeaderEpoch))
	dst = appendNumberKey(dst, `,"producer_id":`, c.ProducerID)
	dst = appendNumberKey(dst, `,"producer_epoch":`, int64(c.ProducerEpoch))
	dst = appendNumberKey(dst, `,"sequence":`, int64(c.Record.Sequence))
	return appendNumberKey(dst, `,"broker":`, int64(c.Broker))
}

func appendNumberKey(dst []byte, key string, v int64) []byte {
	return strconv.AppendInt(append(dst, key...), v, 10)
}

func appendKnown(dst []byte, v int64) []byte {
	if v < 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, v, 10)
}
