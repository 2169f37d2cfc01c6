package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"logdir/store"
	"logdir/store/vfs"
)

// miniKafka is MiniKafka's metadata.json:
//
//	{"topics":{"orders":{"partitions":{"0":{"leader_epoch":0,"leader_id":1,"replicas":[1]}}}},"version":1}
type miniKafka struct {
	Version int `json:"version"`
	Topics  map[string]struct {
		Partitions map[string]struct {
			Leader      *int32  `json:"leader_id"`
			LeaderEpoch int32   `json:"leader_epoch"`
			Replicas    []int32 `json:"replicas"`
		} `json:"partitions"`
	} `json:"topics"`
}

// ReadMiniKafka reads the metadata of MiniKafka's directory into our form. Its ISR is not
// stored: all replicas count.
func ReadMiniKafka(d *store.Dir) (*Meta, error) {
	name := filepath.Join(d.Path, store.MiniKafkaFile)
	raw, err := vfs.ReadAll(d.FS, name, maxMetadata)
	if err != nil {
		return nil, err
	}
	var in miniKafka
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, badMetadata(name, err)
	}
	m := &Meta{Version: Version, Configs: map[string]string{Format: "mkb1", DedupWindow: "1"}}
	if err := m.addBrokers(d); err != nil {
		return nil, err
	}
	for _, topic := range slices.Sorted(maps.Keys(in.Topics)) {
		t, err := in.topic(topic)
		if err != nil {
			return nil, badMetadata(name, err)
		}
		m.Topics = append(m.Topics, t)
	}
	return m, m.check(name)
}

func (m *Meta) addBrokers(d *store.Dir) error {
	dirs, err := d.LogDirs()
	for _, l := range dirs {
		m.Brokers = append(m.Brokers, Broker{ID: l.Broker, State: Up})
	}
	return err
}

func (in *miniKafka) topic(name string) (*Topic, error) {
	t := &Topic{Name: name}
	from := in.Topics[name].Partitions
	for n := range len(from) {
		p, ok := from[strconv.Itoa(n)]
		if !ok {
			return nil, fmt.Errorf("topic %s has %d partitions, but none of number %d", name, len(from), n)
		}
		isr := slices.Clone(p.Replicas)
		slices.Sort(isr)
		t.Partitions = append(t.Partitions, &Partition{
			Replicas: p.Replicas, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, ISR: isr,
		})
	}
	return t, nil
}
