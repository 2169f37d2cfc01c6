package render

import (
	"strconv"

	"logdir/inspect/decode"
	"logdir/store/record"
)

// appendControl prints what a control record says. A type that Kafka does not know, or
// a value that does not parse, is shown by its type alone.
func appendControl(dst []byte, r *record.Record) []byte {
	t, err := record.ParseControl(r)
	if err != nil {
		return dst
	}
	if t == record.Abort || t == record.Commit {
		marker, err := record.ParseEndTxnMarker(r)
		if err != nil {
			return appendControlType(dst, t)
		}
		dst = append(append(dst, " endTxnMarker: "...), t.String()...)
		return strconv.AppendInt(append(dst, " coordinatorEpoch: "...), int64(marker.CoordinatorEpoch), 10)
	}
	if label, known := controlLabels[t]; known {
		if out, ok := decode.ControlJSON(append(dst, label...), t, r.Value); ok {
			return out
		}
	}
	return appendControlType(dst, t)
}

// controlLabels are Kafka's words for KRaft's control records; one has a colon.
var controlLabels = map[record.ControlType]string{
	record.LeaderChange:   " LeaderChange: ",
	record.SnapshotHeader: " SnapshotHeader ",
	record.SnapshotFooter: " SnapshotFooter ",
	record.KRaftVersion:   " KRaftVersion ",
	record.KRaftVoters:    " KRaftVoters ",
}

func appendControlType(dst []byte, t record.ControlType) []byte {
	dst = append(append(dst, " controlType: "...), controlName(t)...)
	dst = strconv.AppendInt(append(dst, '('), int64(t), 10)
	return append(dst, ')')
}

// controlName is Kafka's name of a control type, UNKNOWN for those it does not know.
func controlName(t record.ControlType) string {
	if t < record.Abort || t > record.KRaftVoters {
		return "UNKNOWN"
	}
	return t.String()
}
