package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"logdir/store/corrupt"
	"logdir/store/vfs"
)

// QuorumState is a replica's memory of KRaft elections (Kafka: QuorumStateData). LeaderID and
// VotedID are -1 for none.
type QuorumState struct {
	// DataVersion is 0 with kraft.version 0, which has ClusterID, AppliedOffset and
	// CurrentVoters, or 1, which has VotedDirectoryID.
	DataVersion      int16
	ClusterID        string
	LeaderID         int32
	LeaderEpoch      int32
	VotedID          int32
	VotedDirectoryID UUID
	AppliedOffset    int64
	CurrentVoters    []int32
}

// highestQuorumVersion is the newest data version known.
const highestQuorumVersion = 1

// quorumText is the file's JSON. Pointers tell what is missing.
type quorumText struct {
	ClusterID        *string       `json:"clusterId"`
	LeaderID         *int32        `json:"leaderId"`
	LeaderEpoch      *int32        `json:"leaderEpoch"`
	VotedID          *int32        `json:"votedId"`
	VotedDirectoryID *string       `json:"votedDirectoryId"`
	AppliedOffset    *int64        `json:"appliedOffset"`
	CurrentVoters    []quorumVoter `json:"currentVoters"`
	DataVersion      *int16        `json:"data_version"`
}

type quorumVoter struct {
	VoterID int32 `json:"voterId"`
}

// ParseQuorumState reads a quorum-state file. The error is a *corrupt.Error of kind
// bad-metadata, at the byte that the JSON reader stumbled over where there is one.
func ParseQuorumState(data []byte) (QuorumState, error) {
	var text quorumText
	if err := json.Unmarshal(data, &text); err != nil {
		return QuorumState{}, badJSON(data, err)
	}
	s, field, detail := text.state()
	if detail != "" {
		return QuorumState{}, badQuorum(data, int64(max(0, bytes.Index(data, []byte(field)))), field, detail)
	}
	return s, nil
}

// state checks that all is there that the version needs. It returns the field that is
// wrong, and why.
func (t *quorumText) state() (s QuorumState, field, detail string) {
	switch {
	case t.DataVersion == nil:
		return s, "data_version", "no data_version"
	case *t.DataVersion < 0 || *t.DataVersion > highestQuorumVersion:
		return s, "data_version", "data_version " + strconv.Itoa(int(*t.DataVersion))
	case t.LeaderID == nil:
		return s, "leaderId", "no leaderId"
	case t.LeaderEpoch == nil:
		return s, "leaderEpoch", "no leaderEpoch"
	case t.VotedID == nil:
		return s, "votedId", "no votedId"
	}
	s = QuorumState{DataVersion: *t.DataVersion, LeaderID: *t.LeaderID, LeaderEpoch: *t.LeaderEpoch, VotedID: *t.VotedID}
	if s.DataVersion == 0 {
		field, detail = t.fillV0(&s)
	} else {
		field, detail = t.fillV1(&s)
	}
	return s, field, detail
}

func (t *quorumText) fillV0(s *QuorumState) (field, detail string) {
	if t.AppliedOffset == nil {
		return "appliedOffset", "no appliedOffset"
	}
	s.AppliedOffset = *t.AppliedOffset
	if t.ClusterID != nil {
		s.ClusterID = *t.ClusterID
	}
	for _, v := range t.CurrentVoters {
		s.CurrentVoters = append(s.CurrentVoters, v.VoterID)
	}
	return "", ""
}

func (t *quorumText) fillV1(s *QuorumState) (field, detail string) {
	if t.VotedDirectoryID == nil {
		return "votedDirectoryId", "no votedDirectoryId"
	}
	id, err := ParseUUID(*t.VotedDirectoryID)
	if err != nil {
		return "votedDirectoryId", "votedDirectoryId: " + err.Error()
	}
	s.VotedDirectoryID = id
	return "", ""
}

// badJSON reports where the JSON reader gave up, and on which key if it knew it.
func badJSON(data []byte, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return badQuorum(data, max(0, e.Offset-1), e.Field, e.Field+" is a "+e.Value)
	}
	pos := int64(0)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		pos = max(0, e.Offset-1)
	}
	return badQuorum(data, pos, "", err.Error())
}

func badQuorum(data []byte, pos int64, field, detail string) error {
	err := corrupt.New(corrupt.BadMetadata, pos, int64(len(data))-pos, detail)
	err.Field = field
	return err
}

// AppendQuorumState appends the file's JSON in Kafka's order of keys.
func AppendQuorumState(dst []byte, s QuorumState) []byte {
	dst = append(dst, '{')
	if s.DataVersion == 0 {
		dst = append(dst, `"clusterId":`...)
		dst = appendJSONString(dst, s.ClusterID)
		dst = append(dst, ',')
	}
	dst = appendJSONInt(dst, "leaderId", int64(s.LeaderID))
	dst = appendJSONInt(append(dst, ','), "leaderEpoch", int64(s.LeaderEpoch))
	dst = appendJSONInt(append(dst, ','), "votedId", int64(s.VotedID))
	if s.DataVersion == 0 {
		dst = appendJSONInt(append(dst, ','), "appliedOffset", s.AppliedOffset)
		dst = append(dst, `,"currentVoters":[`...)
		for i, id := range s.CurrentVoters {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSONInt(append(dst, '{'), "voterId", int64(id)), '}')
		}
		dst = append(dst, ']')
	} else {
		dst = append(dst, `,"votedDirectoryId":"`...)
		dst = append(dst, s.VotedDirectoryID.String()...)
		dst = append(dst, '"')
	}
	return append(appendJSONInt(append(dst, ','), "data_version", int64(s.DataVersion)), '}')
}

func appendJSONInt(dst []byte, key string, n int64) []byte {
	dst = append(dst, '"')
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	return strconv.AppendInt(dst, n, 10)
}

func appendJSONString(dst []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return append(dst, `""`...)
	}
	return append(dst, text...)
}

// ReadQuorumState reads the quorum-state file name.
func ReadQuorumState(fsys vfs.ReadFS, name string) (QuorumState, error) {
	data, err := readState(fsys, name)
	if err != nil {
		return QuorumState{}, err
	}
	s, err := ParseQuorumState(data)
	return s, inFile(name, err)
}
