package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/record"
)

// NewTopic says what topic is to be made.
type NewTopic struct {
	Name              string
	Partitions        int
	ReplicationFactor int
	// Assignment gives the replicas of each partition, the leader first; nil places them
	// round robin. With it the two numbers above do not count.
	Assignment [][]int32
	Configs    map[string]string
}

// maxPartitions bounds a topic: a partition number has five digits in the longest names.
const maxPartitions = 100_000

// PlanTopic checks everything about a new topic and returns what would be published.
func (m *Meta) PlanTopic(n NewTopic) (*Topic, error) {
	if err := store.ValidateTopic(n.Name); err != nil {
		return nil, err
	}
	if _, there := m.find(n.Name); there {
		return nil, store.Errorf(store.Refused, "TOPIC_ALREADY_EXISTS", "topic %s is there already", n.Name).
			WithHint("logdir topic describe %s", n.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Configs)) {
		if err := CheckConfig(name, n.Configs[name]); err != nil {
			return nil, err
		}
	}
	assignment, err := m.assign(n)
	if err != nil {
		return nil, err
	}
	partitions, err := m.placeAll(assignment)
	if err != nil {
		return nil, err
	}
	return &Topic{Name: n.Name, ID: checkpoint.RandomUUID().String(), Configs: maps.Clone(n.Configs), Partitions: partitions}, nil
}

func (m *Meta) assign(n NewTopic) ([][]int32, error) {
	switch {
	case n.Assignment != nil:
		return n.Assignment, nil
	case n.Partitions < 1 || n.Partitions > maxPartitions:
		return nil, store.Errorf(store.Usage, "INVALID_PARTITIONS", "%d partitions: want 1 to %d", n.Partitions, maxPartitions)
	case n.ReplicationFactor < 1:
		return nil, store.Errorf(store.Usage, "INVALID_REPLICATION_FACTOR", "replication factor %d: want at least 1", n.ReplicationFactor)
	}
	return m.autoAssign(0, n.Partitions, n.ReplicationFactor)
}

// MetricTwins lists the topics whose metrics would bear the same name.
func (m *Meta) MetricTwins(name string) []string {
	var twins []string
	for _, t := range m.Topics {
		if t.Name != name && store.MetricName(t.Name) == store.MetricName(name) {
			twins = append(twins, t.Name)
		}
	}
	return twins
}

// CreateTopic makes a topic: folders first, metadata last.
func (c *Cluster) CreateTopic(ctx context.Context, n NewTopic) (*Topic, error) {
	var made *Topic
	err := c.Update(ctx, func(m *Meta) error {
		t, err := m.PlanTopic(n)
		if err != nil {
			return err
		}
		if err := c.layDown(ctx, m, t, 0); err != nil {
			return err
		}
		if err := c.Failpoint(store.FailTopicCreate); err != nil {
			return err
		}
		m.put(t)
		made = t
		return nil
	})
	return made, err
}

// layDown makes the folders of a topic's partitions from number from on, and gives each
// its lines in the checkpoints. All of it is synced when it returns.
func (c *Cluster) layDown(ctx context.Context, m *Meta, t *Topic, from int) error {
	id, err := checkpoint.ParseUUID(t.ID)
	if err != nil {
		return err
	}
	format := m.Settings(t).format()
	points := map[int32]Points{}
	for n, p := range t.Partitions[from:] {
		tp := store.TopicPartition{Topic: t.Name, Partition: int32(from + n)}
		for _, broker := range p.Replicas {
			if err := c.Hold(ctx, broker); err != nil {
				return err
			}
			if err := store.CreatePartition(c.fs, c.ReplicaDir(tp, broker), id, format); err != nil {
				return fmt.Errorf("%s on broker %d: %w", tp, broker, err)
			}
			if points[broker] == nil {
				points[broker] = Points{}
			}
			points[broker][tp] = 0
		}
	}
	return c.publishFolders(ctx, points)
}

// publishFolders syncs the entries of new partitions in their log dirs and checkpoints
// their zeros.
func (c *Cluster) publishFolders(ctx context.Context, points map[int32]Points) error {
	for _, broker := range slices.Sorted(maps.Keys(points)) {
		if err := c.fs.SyncDir(c.BrokerDir(broker)); err != nil {
			return err
		}
		if err := c.SetRecoveryPoints(ctx, broker, points[broker]); err != nil {
			return err
		}
		if err := c.SetHighWatermarks(ctx, broker, points[broker]); err != nil {
			return err
		}
	}
	return nil
}

// format is the frame format that a topic is written in.
func (s Settings) format() record.Format {
	if s.Text(Format) == "mkb1" {
		return record.MKB1
	}
	return record.V2
}

// Change says what is to be altered of a topic.
type Change struct {
	// Partitions is the new number of partitions, 0 to keep it.
	Partitions int
	Set        map[string]string
	Delete     []string // configs that fall back to their default
	// DryRun checks everything and writes nothing.
	DryRun bool
}

// AlterTopic changes a topic, and returns it as it is then.
func (c *Cluster) AlterTopic(ctx context.Context, name string, change Change) (*Topic, error) {
	if change.DryRun {
		m, err := ReadMeta(c.fs, c.path)
		if err != nil {
			return nil, err
		}
		return m.alter(name, change)
	}
	var altered *Topic
	err := c.Update(ctx, func(m *Meta) error {
		had := m.partitionCount(name)
		t, err := m.alter(name, change)
		if err != nil {
			return err
		}
		altered = t
		if len(t.Partitions) == had {
			return nil
		}
		return c.layDown(ctx, m, t, had)
	})
	return altered, err
}

// configure applies the configs of a change.
func (t *Topic) configure(change Change) error {
	configs := maps.Clone(t.Configs)
	if configs == nil {
		configs = map[string]string{}
	}
	for _, name := range change.Delete {
		if err := CheckConfigName(name); err != nil {
			return err
		}
		delete(configs, name)
	}
	for _, name := range slices.Sorted(maps.Keys(change.Set)) {
		if err := CheckConfig(name, change.Set[name]); err != nil {
			return err
		}
		configs[name] = change.Set[name]
	}
	t.Configs = configs
	return nil
}

// alter applies a change to the metadata.
func (m *Meta) alter(name string, change Change) (*Topic, error) {
	t, err := m.Topic(name)
	if err != nil {
		return nil, err
	}
	if err := t.configure(change); err != nil {
		return nil, err
	}
	if change.Partitions != 0 {
		err = m.grow(t, change.Partitions)
	}
	return t, err
}

// grow adds partitions up to the number to.
func (m *Meta) grow(t *Topic, to int) error {
	have := len(t.Partitions)
	switch {
	case to == have:
		return store.Errorf(store.Refused, "INVALID_PARTITIONS", "topic %s has %d partitions already", t.Name, have)
	case to < have:
		return store.Errorf(store.Refused, "INVALID_PARTITIONS", "topic %s has %d partitions, and they cannot become fewer", t.Name, have)
	case to > maxPartitions:
		return store.Errorf(store.Usage, "INVALID_PARTITIONS", "%d partitions: want at most %d", to, maxPartitions)
	}
	assignment, err := m.autoAssign(have, to, t.ReplicationFactor())
	if err != nil {
		return err
	}
	added, err := m.placeAll(assignment)
	if err != nil {
		return err
	}
	t.Partitions = append(t.Partitions, added...)
	return nil
}

// partitionCount is how many partitions a topic has, 0 if it is not there.
func (m *Meta) partitionCount(name string) int {
	at, found := m.find(name)
	if !found {
		return 0
	}
	return len(m.Topics[at].Partitions)
}
