package group

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"logdir/store/corrupt"
)

// MiniKafkaFile holds what MiniKafka's groups have committed:
//
//	{"groups":{"billing":[{"offset":3,"partition":0,"topic":"orders"}]},"version":1}
const MiniKafkaFile = "offsets.json"

// miniKafkaFile is the file, with the keys in its order.
type miniKafkaFile struct {
	Groups  map[string][]miniKafkaOffset `json:"groups"`
	Version int                          `json:"version"`
}

type miniKafkaOffset struct {
	Offset    int64  `json:"offset"`
	Partition int32  `json:"partition"`
	Topic     string `json:"topic"`
}

func readMiniKafka(data []byte) (f miniKafkaFile, err error) {
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s: %w", MiniKafkaFile, corrupt.Newf(corrupt.BadMetadata, 0, int64(len(data)), "%v", err))
	}
	return f, nil
}

// ParseMiniKafka reads the file. Its groups have no members: those live in MiniKafka's memory.
func ParseMiniKafka(data []byte) (*State, error) {
	in, err := readMiniKafka(data)
	if err != nil {
		return nil, err
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

// ResetMiniKafka is the file with committed offsets of a group set to others. Everything else
// stays, in MiniKafka's own spelling: keys sorted, no blanks.
func ResetMiniKafka(data []byte, group string, positions []Position) ([]byte, error) {
	f, err := readMiniKafka(data)
	if err != nil || len(positions) == 0 {
		return data, err
	}
	offsets := f.Groups[group]
	for _, p := range positions {
		offsets = slices.DeleteFunc(offsets, func(o miniKafkaOffset) bool { return o.Topic == p.Topic && o.Partition == p.Partition })
		offsets = append(offsets, miniKafkaOffset{Offset: p.Offset, Partition: p.Partition, Topic: p.Topic})
	}
	slices.SortFunc(offsets, func(a, b miniKafkaOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	if f.Groups == nil {
		f.Groups = map[string][]miniKafkaOffset{}
	}
	f.Groups[group] = offsets
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	err = w.Encode(f)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
