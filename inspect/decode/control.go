package decode

import (
	"encoding/binary"

	"logdir/store/message"
	"logdir/store/record"
)

// ControlJSON appends the value of one of KRaft's control records as Kafka's tool prints it. ok is
// false, with dst unchanged, for other types and for values that do not parse.
//
// These values are flexible messages whose first field, an int16, is their version. Kafka 4.4's
// tool takes version 0 for granted and ends at a LeaderChange of version 1; that is shown here.
func ControlJSON(dst []byte, t record.ControlType, value []byte) (out []byte, ok bool) {
	s := controlSchemas[t]
	if s == nil || len(value) < 2 {
		return dst, false
	}
	version := int16(binary.BigEndian.Uint16(value))
	o, _, damage := s.Decode(min(version, s.Highest), value)
	if damage != nil {
		return dst, false
	}
	return s.AppendJSON(dst, o), true
}

var controlSchemas = map[record.ControlType]*message.Schema{
	record.LeaderChange: message.Flexible("LeaderChangeMessage", 1,
		message.One("version", message.Int16),
		message.One("leaderId", message.Int32),
		message.Structs("voters", electionVoter),
		message.Structs("grantingVoters", electionVoter),
	),
	record.SnapshotHeader: message.Flexible("SnapshotHeaderRecord", 0,
		message.One("version", message.Int16),
		message.One("lastContainedLogTimestamp", message.Int64),
	),
	record.SnapshotFooter: message.Flexible("SnapshotFooterRecord", 0,
		message.One("version", message.Int16),
	),
	record.KRaftVersion: message.Flexible("KRaftVersionRecord", 0,
		message.One("version", message.Int16),
		message.One("kRaftVersion", message.Int16),
	),
	record.KRaftVoters: message.Flexible("VotersRecord", 0,
		message.One("version", message.Int16),
		message.Structs("voters", quorumVoter),
	),
}

var (
	electionVoter = message.Part("Voter",
		message.One("voterId", message.Int32),
		message.One("voterDirectoryId", message.UUID).From(1),
	)
	quorumVoter = message.Part("Voter",
		message.One("voterId", message.Int32),
		message.One("voterDirectoryId", message.UUID),
		message.Structs("endpoints", message.Part("Endpoint",
			message.One("name", message.String),
			message.One("host", message.String),
			message.One("port", message.Uint16),
		)),
		message.Sub("kRaftVersionFeature", message.Part("KRaftVersionFeature",
			message.One("minSupportedVersion", message.Int16),
			message.One("maxSupportedVersion", message.Int16),
		)),
	)
)
