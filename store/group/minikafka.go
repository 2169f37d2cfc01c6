package group

import (
	"encoding/json"
	"fmt"

	"logdir/store/corrupt"
)

// MiniKafkaFile holds what MiniKafka's groups have committed:
//
//	{"groups":{"billing":[{"offset":3,"partition":0,"topic":"orders"}]},"version":1}
const MiniKafkaFile = "offsets.json"

type miniKafkaOffset struct {
	Offset    int64  `json:"offset"`
	Partition int32  `json:"partition"`
	Topic     string `json:"topic"`
}

// ParseMiniKafka reads the file. Its groups have no members: those live in MiniKafka's memory.
func ParseMiniKafka(data []byte) (*State, error) {
	var in struct {
		Version int                          `json:"version"`
		Groups  map[string][]miniKafkaOffset `json:"groups"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", MiniKafkaFile, corrupt.Newf(corrupt.BadMetadata, 0, int64(len(data)), "%v", err))
	}
	s := NewState()
	for id, offsets := range in.Groups {
		g := s.group(id)
		for _, o := range offsets {
			g.commit(place{s.topics.number([]byte(o.Topic)), o.Partition}, kept{offset: o.Offset, epoch: -1})
		}
	}
	return s, nil
}
