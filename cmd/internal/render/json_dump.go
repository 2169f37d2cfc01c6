package render

import (
	"strconv"

	"logdir/inspect"
	"logdir/inspect/decode"
	"logdir/store/record"
)

// DumpJSON prints a dump as JSON Lines: one object a batch or entry, with the names of
// Kafka's dump tool in snake_case.
type DumpJSON struct {
	// Records says that batches are given with their records (--deep-iteration).
	Records bool
	// NewDecoder makes the decoder of a file's keys and values. Without it, or if it
	// returns nil, they are shown as they are.
	NewDecoder func(*inspect.DumpFile) inspect.Decoder

	decoder inspect.Decoder
	decoded *inspect.DumpFile // what decoder was made for
	head    []byte            // `{"file":"…",` of this file
	count   int               // records of this batch so far
	offset  counter
	stamp   counter
}

// Fork returns a printer of the same form for another goroutine.
func (j *DumpJSON) Fork() inspect.Printer {
	return &DumpJSON{Records: j.Records, NewDecoder: j.NewDecoder, head: j.head}
}

// File prints nothing: each object names its file.
func (j *DumpJSON) File(dst []byte, f *inspect.DumpFile) []byte {
	j.head = append(AppendJSONString([]byte(`{"file":`), f.Name), ',')
	return dst
}

// Batch begins the object of a batch.
func (j *DumpJSON) Batch(dst []byte, b *inspect.Frame) []byte {
	dst = append(dst, j.head...)
	switch b.Format() {
	case record.V2:
		dst = appendBatchJSON(dst, b)
		horizon, ok := b.DeleteHorizon()
		dst = appendOptionalJSON(append(dst, `,"delete_horizon_ms":`...), horizon, ok)
		dst = append(dst, ',')
	case record.MKB1:
		dst = append(appendBatchJSON(dst, b), ',')
		dst = appendTransactionalID(dst, b.Meta().TransactionalID)
		dst = append(dst, ',')
	default:
		dst = strconv.AppendInt(append(dst, `"offset":`...), b.LastOffset(), 10)
		dst = append(dst, ',')
	}
	dst = appendPlaceJSON(dst, b)
	if j.Records {
		j.count = 0
		dst = append(dst, `,"records":[`...)
	}
	return dst
}

func appendTransactionalID(dst []byte, id string) []byte {
	if id == "" {
		return append(dst, `"transactional_id":null`...)
	}
	return AppendJSONString(append(dst, `"transactional_id":`...), id)
}

// appendBatchJSON prints offsets, producer and flags.
func appendBatchJSON(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, `"base_offset":`...), b.BaseOffset(), 10)
	dst = strconv.AppendInt(append(dst, `,"last_offset":`...), b.LastOffset(), 10)
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(b.Count()), 10)
	dst = strconv.AppendInt(append(dst, `,"base_sequence":`...), int64(b.BaseSequence()), 10)
	dst = strconv.AppendInt(append(dst, `,"last_sequence":`...), int64(b.LastSequence()), 10)
	dst = strconv.AppendInt(append(dst, `,"producer_id":`...), b.ProducerID(), 10)
	dst = strconv.AppendInt(append(dst, `,"producer_epoch":`...), int64(b.ProducerEpoch()), 10)
	dst = strconv.AppendInt(append(dst, `,"partition_leader_epoch":`...), int64(b.LeaderEpoch()), 10)
	dst = strconv.AppendBool(append(dst, `,"is_transactional":`...), b.IsTransactional())
	return strconv.AppendBool(append(dst, `,"is_control":`...), b.IsControl())
}

// appendPlaceJSON prints position, time, size, format and checksum.
func appendPlaceJSON(dst []byte, b *inspect.Frame) []byte {
	dst = strconv.AppendInt(append(dst, `"position":`...), b.Pos, 10)
	dst = append(dst, timestampKeys[b.TimestampType()+1]...)
	dst = strconv.AppendInt(dst, b.MaxTimestamp(), 10)
	dst = strconv.AppendInt(append(dst, `,"size":`...), int64(b.Size()), 10)
	if b.Format() == record.MKB1 {
		dst = append(dst, `,"magic":"MKB1"`...)
	} else {
		dst = strconv.AppendInt(append(dst, `,"magic":`...), int64(b.Magic), 10)
		dst = append(append(append(dst, `,"compresscodec":"`...), b.Codec().String()...), '"')
	}
	dst = strconv.AppendUint(append(dst, `,"crc":`...), uint64(b.StoredCRC()), 10)
	return strconv.AppendBool(append(dst, `,"isvalid":`...), b.Valid)
}

// timestampKeys by record.TimestampType, from NoTimestampType = -1 on.
var timestampKeys = [...]string{`,"no_timestamp_type":`, `,"create_time":`, `,"log_append_time":`}

func appendOptionalJSON(dst []byte, v int64, present bool) []byte {
	if !present {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, v, 10)
}

// Record adds a record to the object of its batch.
func (j *DumpJSON) Record(dst []byte, b *inspect.Frame, r *record.Record) []byte {
	if j.count++; j.count > 1 {
		dst = append(dst, ',')
	}
	dst = j.offset.append(append(dst, `{"offset":`...), r.Offset)
	dst = j.stamp.append(append(dst, `,"timestamp":`...), r.Timestamp)
	dst = appendSmall(append(dst, `,"key_size":`...), sizeOf(r.Key))
	dst = appendSmall(append(dst, `,"value_size":`...), sizeOf(r.Value))
	if b.Format() <= record.V1 {
		dst = strconv.AppendBool(append(dst, `,"is_valid":`...), r.CRCValid)
		dst = strconv.AppendUint(append(dst, `,"crc":`...), uint64(r.CRC), 10)
	} else {
		dst = appendSmall(append(dst, `,"sequence":`...), int(r.Sequence))
	}
	dst = append(dst, ',')
	if b.IsControl() {
		dst = appendControlJSON(dst, r)
	} else {
		dst = j.appendDataJSON(dst, b, r)
	}
	return append(dst, '}')
}

func (j *DumpJSON) appendDataJSON(dst []byte, b *inspect.Frame, r *record.Record) []byte {
	if j.NewDecoder != nil {
		if j.decoded != b.File {
			j.decoder, j.decoded = j.NewDecoder(b.File), b.File
		}
		if j.decoder != nil {
			return appendDecodedJSON(dst, j.decoder, r)
		}
	}
	dst = AppendJSONMember(dst, "key", r.Key)
	dst = AppendJSONMember(append(dst, ','), "value", r.Value)
	return AppendJSONHeaders(append(dst, `,"headers":`...), r.Headers)
}

func appendDecodedJSON(dst []byte, d inspect.Decoder, r *record.Record) []byte {
	key, value := d.JSON(r)
	dst = appendRawJSON(append(dst, `"key":`...), key)
	dst = appendRawJSON(append(dst, `,"value":`...), value)
	return AppendJSONHeaders(append(dst, `,"headers":`...), r.Headers)
}

func appendRawJSON(dst, v []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	return append(dst, v...)
}

// EndBatch closes the object of a batch.
func (j *DumpJSON) EndBatch(dst []byte, b *inspect.Frame) []byte {
	if j.Records {
		dst = append(dst, ']')
	}
	if marker, ok := b.Marker(); ok {
		dst = append(append(append(dst, `,"end_txn_marker":"`...), marker.String()...), '"')
	}
	if b.Damage != nil {
		dst = AppendJSONString(append(dst, `,"damage":`...), b.Damage.Error())
	}
	return append(dst, "}\n"...)
}

// Row prints an entry as one object.
func (j *DumpJSON) Row(dst []byte, _ *inspect.DumpFile, fields []inspect.Field) []byte {
	dst = append(dst, j.head...)
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendSnake(append(dst, '"'), f.Name), `":`...)
		if f.IsText {
			dst = AppendJSONString(dst, f.Text)
		} else {
			dst = appendOptionalJSON(dst, f.Int, !f.Absent)
		}
	}
	return append(dst, "}\n"...)
}

// appendSnake appends a name of Kafka's in snake_case: "baseOffset" as "base_offset".
func appendSnake(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			dst = append(dst, '_')
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// Invalid prints an object for bytes that are no frame.
func (j *DumpJSON) Invalid(dst []byte, _ *inspect.DumpFile, pos, size int64, _ bool) []byte {
	dst = append(dst, j.head...)
	dst = strconv.AppendInt(append(dst, `"position":`...), pos, 10)
	dst = strconv.AppendInt(append(dst, `,"invalid_bytes":`...), size, 10)
	return append(dst, "}\n"...)
}

// Line prints nothing: remarks are for people.
func (j *DumpJSON) Line(dst []byte, _ *inspect.DumpFile, _ string) []byte { return dst }

// appendControlJSON prints what a control record says.
func appendControlJSON(dst []byte, r *record.Record) []byte {
	t, err := record.ParseControl(r)
	if err != nil {
		return append(dst, `"control_type":null`...)
	}
	dst = append(append(append(dst, `"control_type":"`...), controlName(t)...), '"')
	dst = strconv.AppendInt(append(dst, `,"control_type_id":`...), int64(t), 10)
	if t == record.Abort || t == record.Commit {
		if marker, err := record.ParseEndTxnMarker(r); err == nil {
			dst = strconv.AppendInt(append(dst, `,"coordinator_epoch":`...), int64(marker.CoordinatorEpoch), 10)
		}
		return dst
	}
	if out, ok := decode.ControlJSON(append(dst, `,"data":`...), t, r.Value); ok {
		return out
	}
	return AppendJSONMember(append(dst, ','), "value", r.Value)
}
