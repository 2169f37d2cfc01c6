package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/vfs"
)

// Version is the version of cluster.json that this program writes and reads.
const Version = 1

// maxMetadata bounds what is read of cluster.json: some million partitions.
const maxMetadata = 256 << 20

// BrokerState says whether a broker takes part.
type BrokerState string

// The states of a broker.
const (
	Up      BrokerState = "up"
	Stopped BrokerState = "stopped" // closed cleanly
	Crashed BrokerState = "crashed" // gone without a word
)

// Meta is the content of cluster.json: what Kafka keeps in its metadata log.
//
//	{"version":1,"cluster_id":"…","auto_replicate":false,"configs":{…},
//	 "brokers":[{"id":1,"state":"up"}, …],
//	 "topics":[{"name":"orders","id":"…","configs":{…},
//	            "partitions":[{"replicas":[1,2],"leader":1,"leader_epoch":0,"isr":[1,2]}, …]}, …]}
//
// Brokers are sorted by id, topics by name; the n-th partition of a topic is number n.
type Meta struct {
	Version       int               `json:"version"`
	ClusterID     string            `json:"cluster_id"`
	AutoReplicate bool              `json:"auto_replicate,omitempty"`
	Configs       map[string]string `json:"configs,omitempty"` // defaults of every topic
	Brokers       []Broker          `json:"brokers"`
	Topics        []*Topic          `json:"topics"`
}

// Broker is one broker of the cluster.
type Broker struct {
	ID    int32       `json:"id"`
	State BrokerState `json:"state"`
}

// Topic is a topic and its partitions.
type Topic struct {
	Name       string            `json:"name"`
	ID         string            `json:"id"` // Kafka's topic id, base64url
	Configs    map[string]string `json:"configs,omitempty"`
	Partitions []*Partition      `json:"partitions"`
}

// Partition is who holds a partition and who leads it.
type Partition struct {
	Replicas    []int32 `json:"replicas"` // in assignment order, the preferred leader first
	Leader      *int32  `json:"leader"`   // nil: none
	LeaderEpoch int32   `json:"leader_epoch"`
	ISR         []int32 `json:"isr"` // sorted
	// Followers is what a leader remembers of its followers from round to round, sorted
	// by broker. It is empty unless a config of the topic needs it.
	Followers []FollowerState `json:"followers,omitempty"`
}

// FollowerState is what the leader of a partition remembers of one follower.
type FollowerState struct {
	Broker int32 `json:"broker"`
	// Epoch is the leader epoch in which it last fetched: where that is an older one, a
	// follower under logdir.truncation=hw has yet to cut its log.
	Epoch int32 `json:"epoch"`
	// CaughtUp is when it last had all that the leader had, ms (Kafka:
	// lastCaughtUpTimeMs); replica.lag.time.max.ms counts from it.
	CaughtUp int64 `json:"caught_up"`
}

// LeaderID is the leading broker, or store.NoBroker.
func (p *Partition) LeaderID() int32 {
	if p.Leader == nil {
		return store.NoBroker
	}
	return *p.Leader
}

// Lead makes broker the leader, or takes leadership away with store.NoBroker. The
// leader epoch is the caller's business.
func (p *Partition) Lead(broker int32) {
	if broker == store.NoBroker {
		p.Leader = nil
		return
	}
	p.Leader = &broker
}

// InSync tells whether broker is in the ISR.
func (p *Partition) InSync(broker int32) bool { return slices.Contains(p.ISR, broker) }

// JoinISR adds broker to the ISR, which stays sorted.
func (p *Partition) JoinISR(broker int32) {
	if at, found := slices.BinarySearch(p.ISR, broker); !found {
		p.ISR = slices.Insert(p.ISR, at, broker)
	}
}

// LeaveISR takes broker out of the ISR.
func (p *Partition) LeaveISR(broker int32) {
	p.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(b int32) bool { return b == broker })
}

// Alone tells whether the leader is the whole ISR. Its high watermark is then its log
// end, and no checkpoint says so.
func (p *Partition) Alone() bool { return len(p.ISR) == 1 && p.ISR[0] == p.LeaderID() }

// Broker finds a broker by id.
func (m *Meta) Broker(id int32) (*Broker, error) {
	at, found := slices.BinarySearchFunc(m.Brokers, id, func(b Broker, id int32) int { return cmp.Compare(b.ID, id) })
	if !found {
		return nil, store.Errorf(store.NotFound, "BROKER_ID_NOT_REGISTERED", "broker %d is not there", id).
			WithHint("logdir broker list")
	}
	return &m.Brokers[at], nil
}

// IsUp tells whether broker takes part just now.
func (m *Meta) IsUp(broker int32) bool {
	b, err := m.Broker(broker)
	return err == nil && b.State == Up
}

// Topic finds a topic by name; the error suggests the nearest one.
func (m *Meta) Topic(name string) (*Topic, error) {
	at, found := m.find(name)
	switch {
	case found:
		return m.Topics[at], nil
	case store.InternalTopic(name): // the coordinator's, which is no topic of the brokers
		return nil, store.UnknownTopic(name, nil).WithHint("logdir dump-segment --decode %s/%s-0", CoordinatorDir, name)
	}
	return nil, store.UnknownTopic(name, m.TopicNames())
}

func (m *Meta) find(name string) (int, bool) {
	return slices.BinarySearchFunc(m.Topics, name, func(t *Topic, n string) int { return cmp.Compare(t.Name, n) })
}

// TopicNames lists the topics by name.
func (m *Meta) TopicNames() []string {
	names := make([]string, len(m.Topics))
	for i, t := range m.Topics {
		names[i] = t.Name
	}
	return names
}

// Partition finds one partition.
func (m *Meta) Partition(tp store.TopicPartition) (*Topic, *Partition, error) {
	t, err := m.Topic(tp.Topic)
	if err != nil {
		return nil, nil, err
	}
	if tp.Partition < 0 || int(tp.Partition) >= len(t.Partitions) {
		return nil, nil, store.Errorf(store.NotFound, "UNKNOWN_TOPIC_OR_PARTITION",
			"%s: topic %s has partitions 0 to %d", tp, tp.Topic, len(t.Partitions)-1)
	}
	return t, t.Partitions[tp.Partition], nil
}

// ReplicationFactor is the number of replicas of the first partition.
func (t *Topic) ReplicationFactor() int {
	if len(t.Partitions) == 0 {
		return 0
	}
	return len(t.Partitions[0].Replicas)
}

// put adds or replaces a topic, keeping the order.
func (m *Meta) put(t *Topic) {
	at, found := m.find(t.Name)
	if found {
		m.Topics[at] = t
		return
	}
	m.Topics = slices.Insert(m.Topics, at, t)
}

// drop takes a topic out.
func (m *Meta) drop(name string) {
	if at, found := m.find(name); found {
		m.Topics = slices.Delete(m.Topics, at, at+1)
	}
}

// ReadMeta reads the cluster.json of a data directory.
func ReadMeta(fsys vfs.ReadFS, data string) (*Meta, error) {
	name := filepath.Join(data, store.ClusterFile)
	raw, err := vfs.ReadAll(fsys, name, maxMetadata)
	if err != nil {
		return nil, err
	}
	m := &Meta{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, badMetadata(name, err)
	}
	return m, m.check(name)
}

// WriteMeta replaces cluster.json in one step.
func WriteMeta(fsys vfs.FS, data string, m *Meta) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return vfs.WriteAtomic(fsys, filepath.Join(data, store.ClusterFile), append(raw, '\n'))
}

// exists tells whether there is a cluster at data.
func exists(fsys vfs.ReadFS, data string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(data, store.ClusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
