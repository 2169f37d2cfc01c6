// Package message reads and writes the messages that Kafka stores as keys and values of
// its internal topics, and as control records, from schemas that are data. A message
// becomes an ordered tree, which prints as the JSON of Kafka's own tools. RecordTypes are the
// records of a coordinator's topic: pairs of such messages.
//
// All integers are big-endian. A message has no length and no field names: whoever reads
// it must know its schema and its version. From some version on a schema may be
// flexible: strings, bytes and arrays are then compact, and every struct ends in tagged fields.
//
//	type             plain                              flexible
//	bool             one byte, 0 or 1                   same
//	int8 .. int64    1, 2, 4 or 8 bytes                 same
//	uint16           2 bytes                            same
//	float64          8 bytes, IEEE 754                  same
//	uuid             16 bytes                           same
//	string           int16 length, UTF-8                uvarint length+1, UTF-8
//	bytes            int32 length                       uvarint length+1
//	array            int32 count, elements              uvarint count+1, elements
//	struct           its fields in order                its fields in order, tagged fields
//	null             length or count -1                 length or count 0
//	nullable struct  int8: -1 null, 1 present           same; tagged: uvarint 0 null, 1 present
//
// A uvarint is cut into groups of seven bits, the lowest first, with the high bit set on all but
// the last byte; unlike the varints of a record it is not zig-zag. 300 is ac 02.
//
//	 uvarint      uvarint  uvarint
//	+------------+--------+--------+-------------+- -
//	| how many n | tag 0  |  size  | size bytes  |   tagged fields: n of them, tags rising
//	+------------+--------+--------+-------------+- -
//
// A tagged field that has its default value is left out. One that is not known is kept as
// bytes, so that the message is written again as it was.
package message
