package render

import (
	"strconv"

	"logdir/inspect"
	"logdir/store/message"
	"logdir/store/record"
)

// DumpText prints a dump as Apache Kafka's dump tool (4.4) does, line for line.
type DumpText struct {
	// Records says that record lines are printed (--deep-iteration), PrintData that keys
	// and payloads stand in them (--print-data-log).
	Records, PrintData bool
	// SkipMetadata leaves only keys and payloads in record lines.
	SkipMetadata bool
	// NewDecoder makes the decoder of a file's keys and payloads. Without it, or if it
	// returns nil, they are shown as text.
	NewDecoder func(*inspect.DumpFile) inspect.Decoder

	decoder inspect.Decoder
	decoded *inspect.DumpFile // what decoder was made for
	offset  counter           // of the record line
	stamp   counter           // timestamp of the record line
}

// Fork returns a printer of the same form for another goroutine.
func (t *DumpText) Fork() inspect.Printer {
	return &DumpText{Records: t.Records, PrintData: t.PrintData, SkipMetadata: t.SkipMetadata, NewDecoder: t.NewDecoder}
}

// File prints the line that begins each file, and what its name tells.
func (t *DumpText) File(dst []byte, f *inspect.DumpFile) []byte {
	dst = append(append(dst, "Dumping "...), f.Name...)
	dst = append(dst, '\n')
	switch {
	case f.Kind == inspect.LogFile:
		dst = strconv.AppendInt(append(dst, "Log starting offset: "...), f.BaseOffset, 10)
	case f.Kind != inspect.SnapshotCheckpointFile:
		return dst
	case f.Base == "bootstrap.checkpoint":
		dst = append(dst, "KRaft bootstrap snapshot"...)
	default:
		dst = strconv.AppendInt(append(dst, "Snapshot end offset: "...), f.BaseOffset, 10)
		dst = strconv.AppendInt(append(dst, ", epoch: "...), int64(f.Epoch), 10)
	}
	return append(dst, '\n')
}

// Batch prints the line of a batch.
func (t *DumpText) Batch(dst []byte, b *inspect.Frame) []byte {
	switch b.Format() {
	case record.V2:
		dst = appendBatchV2(dst, b)
	case record.MKB1:
		dst = appendBatchMKB1(dst, b)
	default:
		dst = appendBatchLegacy(dst, b)
	}
	return append(dst, '\n')
}

func appendBatchV2(dst []byte, b *inspect.Frame) []byte {
	dst = appendBatchHead(dst, b)
	dst = append(dst, " deleteHorizonMs: "...)
	horizon, ok := b.DeleteHorizon()
	dst = appendOptional(dst, horizon, ok)
	dst = appendPlace(dst, b)
	dst = append(append(dst, " compresscodec: "...), b.Codec().String()...)
	return appendChecksum(dst, b)
}

// appendBatchMKB1 prints what an MKB1 frame has of Kafka's fields.
func appendBatchMKB1(dst []byte, b *inspect.Frame) []byte {
	return appendChecksum(appendPlace(appendBatchHead(dst, b), b), b)
}

func appendBatchLegacy(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, "offset: "...), b.LastOffset(), 10)
	dst = appendPlace(dst, b)
	dst = append(append(dst, " compresscodec: "...), b.Codec().String()...)
	return appendChecksum(dst, b)
}

// appendBatchHead prints offsets, producer and flags.
func appendBatchHead(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, "baseOffset: "...), b.BaseOffset(), 10)
	dst = strconv.AppendInt(append(dst, " lastOffset: "...), b.LastOffset(), 10)
	dst = strconv.AppendInt(append(dst, " count: "...), int64(b.Count()), 10)
	dst = strconv.AppendInt(append(dst, " baseSequence: "...), int64(b.BaseSequence()), 10)
	dst = strconv.AppendInt(append(dst, " lastSequence: "...), int64(b.LastSequence()), 10)
	dst = strconv.AppendInt(append(dst, " producerId: "...), b.ProducerID(), 10)
	dst = strconv.AppendInt(append(dst, " producerEpoch: "...), int64(b.ProducerEpoch()), 10)
	dst = strconv.AppendInt(append(dst, " partitionLeaderEpoch: "...), int64(b.LeaderEpoch()), 10)
	dst = strconv.AppendBool(append(dst, " isTransactional: "...), b.IsTransactional())
	return strconv.AppendBool(append(dst, " isControl: "...), b.IsControl())
}

// appendPlace prints position, time, size and magic.
func appendPlace(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, " position: "...), b.Pos, 10)
	dst = append(append(dst, ' '), b.TimestampType().String()...)
	dst = strconv.AppendInt(append(dst, ": "...), b.MaxTimestamp(), 10)
	dst = strconv.AppendInt(append(dst, " size: "...), int64(b.Size()), 10)
	dst = append(dst, " magic: "...)
	if b.Format() == record.MKB1 {
		return append(dst, b.Format().String()...)
	}
	return strconv.AppendInt(dst, int64(b.Magic), 10)
}

func appendChecksum(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendUint(append(dst, " crc: "...), uint64(b.StoredCRC()), 10)
	return strconv.AppendBool(append(dst, " isvalid: "...), b.Valid)
}

// appendOptional prints a value as Java's OptionalLong.
func appendOptional(dst []byte, v int64, present bool) []byte {
	if !present {
		return append(dst, "OptionalLong.empty"...)
	}
	return append(strconv.AppendInt(append(dst, "OptionalLong["...), v, 10), ']')
}

// Record prints the line of a record.
func (t *DumpText) Record(dst []byte, b *inspect.Frame, r *record.Record) []byte {
	prefix := "| "
	if !t.SkipMetadata {
		dst = t.appendMetadata(dst, b, r)
		prefix = " "
	}
	switch {
	case b.IsControl():
	case t.NewDecoder != nil:
		dst = t.appendDecoded(dst, prefix, b, r)
	case t.PrintData:
		dst = appendData(dst, prefix, r)
	}
	return append(dst, '\n')
}

func (t *DumpText) appendMetadata(dst []byte, b *inspect.Frame, r *record.Record) []byte {
	dst = t.offset.append(append(dst, "| offset: "...), r.Offset)
	dst = append(dst, timestampLabels[b.TimestampType()+1]...)
	dst = t.stamp.append(dst, r.Timestamp)
	dst = appendSmall(append(dst, " keySize: "...), sizeOf(r.Key))
	dst = appendSmall(append(dst, " valueSize: "...), sizeOf(r.Value))
	if b.Format() <= record.V1 {
		dst = strconv.AppendBool(append(dst, " isValid: "...), r.CRCValid)
		return strconv.AppendUint(append(dst, " crc: "...), uint64(r.CRC), 10)
	}
	dst = appendSmall(append(dst, " sequence: "...), int(r.Sequence))
	dst = appendHeaderKeys(append(dst, " headerKeys: ["...), r.Headers)
	if b.IsControl() {
		return appendControl(dst, r)
	}
	return dst
}

// timestampLabels by record.TimestampType, from NoTimestampType = -1 on.
var timestampLabels = [...]string{" NoTimestampType: ", " CreateTime: ", " LogAppendTime: "}

// sizeOf is the length of a key or value, -1 for null.
func sizeOf(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

func appendHeaderKeys(dst []byte, headers []record.Header) []byte {
	for i := range headers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = message.AppendUTF8(dst, headers[i].Key)
	}
	return append(dst, ']')
}

// appendData prints key and payload as text. prefix goes before the first of them.
func appendData(dst []byte, prefix string, r *record.Record) []byte {
	if r.Key != nil {
		dst = append(append(dst, prefix...), "key: "...)
		dst = message.AppendUTF8(dst, r.Key)
		prefix = " "
	}
	if r.Value != nil {
		dst = append(append(dst, prefix...), "payload: "...)
		dst = message.AppendUTF8(dst, r.Value)
	}
	return dst
}

func (t *DumpText) appendDecoded(dst []byte, prefix string, b *inspect.Frame, r *record.Record) []byte {
	if t.decoded != b.File {
		t.decoder, t.decoded = t.NewDecoder(b.File), b.File
	}
	if t.decoder == nil {
		return appendData(dst, prefix, r)
	}
	key, payload := t.decoder.Text(r)
	if key != nil {
		dst = append(append(append(dst, prefix...), "key: "...), key...)
		prefix = " "
	}
	if payload != nil {
		dst = append(append(append(dst, prefix...), "payload: "...), payload...)
	}
	return dst
}

// EndBatch closes a batch. The marker of an MKB1 control frame, which has no record, is
// shown like the record that Kafka keeps it in.
func (t *DumpText) EndBatch(dst []byte, b *inspect.Frame) []byte {
	marker, ok := b.Marker()
	if !ok || !t.Records {
		return dst
	}
	dst = strconv.AppendInt(append(dst, "| offset: "...), b.BaseOffset(), 10)
	dst = append(append(dst, " endTxnMarker: "...), marker.String()...)
	return append(dst, '\n')
}

// Row prints an entry as "name: value" pairs.
func (t *DumpText) Row(dst []byte, _ *inspect.DumpFile, fields []inspect.Field) []byte {
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, f.Name...), ": "...)
		switch {
		case f.Optional:
			dst = appendOptional(dst, f.Int, !f.Absent)
		case f.IsText:
			dst = append(dst, f.Text...)
		default:
			dst = strconv.AppendInt(dst, f.Int, 10)
		}
	}
	return append(dst, '\n')
}

// Invalid prints Kafka's line for trailing bytes. Kafka's tool has none for bytes in the
// middle, where it stops or goes astray.
func (t *DumpText) Invalid(dst []byte, f *inspect.DumpFile, pos, size int64, atEnd bool) []byte {
	dst = strconv.AppendInt(append(dst, "Found "...), size, 10)
	dst = append(dst, " invalid bytes at "...)
	if atEnd {
		dst = append(dst, "the end"...)
	} else {
		dst = strconv.AppendInt(append(dst, "position "...), pos, 10)
	}
	dst = append(append(dst, " of "...), f.Base...)
	return append(dst, '\n')
}

// Line prints a remark.
func (t *DumpText) Line(dst []byte, _ *inspect.DumpFile, text string) []byte {
	return append(append(dst, text...), '\n')
}
