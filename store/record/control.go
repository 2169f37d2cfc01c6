package record

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"logdir/store/corrupt"
)

// ControlType is what a control record says (Kafka: ControlRecordType).
type ControlType int16

// The control types that Kafka knows. Readers skip others.
const (
	Abort          ControlType = 0
	Commit         ControlType = 1
	LeaderChange   ControlType = 2
	SnapshotHeader ControlType = 3
	SnapshotFooter ControlType = 4
	KRaftVersion   ControlType = 5
	KRaftVoters    ControlType = 6
)

var controlNames = [...]string{
	"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS",
}

// String is Kafka's name, or the number of a type that Kafka does not know.
func (t ControlType) String() string {
	if t >= 0 && int(t) < len(controlNames) {
		return controlNames[t]
	}
	return strconv.Itoa(int(t))
}

// Sizes of control records. Part of the on-disk format; never change.
const (
	controlKeySize   = 4 // int16 version, int16 type
	endTxnMarkerSize = 6 // int16 version, int32 coordinatorEpoch
)

// ParseControl reads the type from the key of a control record. A key version above 0 is
// read as version 0; a negative version or a short key is refused, as Kafka does.
func ParseControl(r *Record) (ControlType, *corrupt.Error) {
	if len(r.Key) < controlKeySize {
		return 0, corrupt.Newf(corrupt.BadRecords, int64(r.Pos), int64(r.Size), "control record key of %d bytes", len(r.Key))
	}
	if version := int16At(r.Key, 0); version < 0 {
		return 0, corrupt.Newf(corrupt.BadRecords, int64(r.Pos), int64(r.Size), "control record key version %d", version)
	}
	return ControlType(int16At(r.Key, 2)), nil
}

// EndTxnMarker ends a producer's transaction in one partition.
type EndTxnMarker struct {
	Type             ControlType // Abort or Commit
	CoordinatorEpoch int32
}

// ParseEndTxnMarker reads a marker from an Abort or Commit record.
func ParseEndTxnMarker(r *Record) (EndTxnMarker, *corrupt.Error) {
	t, err := ParseControl(r)
	if err != nil {
		return EndTxnMarker{}, err
	}
	if t != Abort && t != Commit {
		return EndTxnMarker{}, corrupt.Newf(corrupt.BadRecords, int64(r.Pos), int64(r.Size), "control type %s ends no transaction", t)
	}
	if len(r.Value) < endTxnMarkerSize {
		return EndTxnMarker{}, corrupt.Newf(corrupt.BadRecords, int64(r.Pos), int64(r.Size), "end marker of %d bytes", len(r.Value))
	}
	if version := int16At(r.Value, 0); version < 0 {
		return EndTxnMarker{}, corrupt.Newf(corrupt.BadRecords, int64(r.Pos), int64(r.Size), "end marker version %d", version)
	}
	return EndTxnMarker{t, int32At(r.Value, 2)}, nil
}

// AppendEndTxnMarker appends a v2 control batch of one record: 78 bytes that end the
// transaction of the producer that m names. timestamp is in ms.
func AppendEndTxnMarker(dst []byte, m Meta, marker EndTxnMarker, timestamp int64) ([]byte, error) {
	if marker.Type != Abort && marker.Type != Commit {
		return dst, fmt.Errorf("control type %s ends no transaction", marker.Type)
	}
	m.Transactional, m.Control, m.BaseSequence = true, true, NoSequence
	key := binary.BigEndian.AppendUint16(make([]byte, 2, controlKeySize), uint16(marker.Type))
	value := binary.BigEndian.AppendUint32(make([]byte, 2, endTxnMarkerSize), uint32(marker.CoordinatorEpoch))
	b := NewBuilder()
	b.Reset(m)
	b.Append(&Record{Offset: m.BaseOffset, Timestamp: timestamp, Key: key, Value: value})
	return b.Build(dst)
}
