package cmd

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"logdir/cmd/internal/live"
	"logdir/store"
	"logdir/store/cluster"
)

// create makes the topics that are not there, if that is asked for.
func (x *clusterExport) create(ctx context.Context) error {
	var missing []live.NewTopic
	for _, name := range x.targets() {
		if store.InternalTopic(name) {
			return store.Errorf(store.Refused, "INVALID_TOPIC_EXCEPTION", "%s is Kafka's own: clients cannot write to it", name).
				WithHint("--topic-map %s=OTHER sends it elsewhere", name)
		}
		if x.topics[name] != nil {
			continue
		}
		if !x.o.createTopics {
			return store.Errorf(store.Refused, "UNKNOWN_TOPIC_OR_PARTITION", "topic %s is not in the cluster", name).
				WithHint("--create-topics makes it")
		}
		missing = append(missing, x.newTopic(name))
	}
	if err := x.cluster.CreateTopics(ctx, missing, x.o.dryRun); err != nil {
		return err
	}
	for _, n := range missing {
		x.tellCreated(n)
	}
	return x.lookAgain(ctx, len(missing) > 0)
}

// newTopic is a topic with the partition count and the configs of its source.
func (x *clusterExport) newTopic(name string) live.NewTopic {
	n := live.NewTopic{Name: name, Partitions: x.partitions(name), Replication: x.o.replication, Configs: map[string]string{}}
	if meta := x.plan.view.Meta; meta != nil {
		if t, err := meta.Topic(x.sourceOf(name)); err == nil {
			for k, v := range t.Configs {
				if !strings.HasPrefix(k, "logdir.") && k != cluster.ReplicaLagTime {
					n.Configs[k] = v
				}
			}
		}
	}
	return n
}

func (x *clusterExport) tellCreated(n live.NewTopic) {
	done := "created"
	if x.o.dryRun {
		done = "would be created"
		x.topics[n.Name] = &live.Topic{Name: n.Name, Leaders: make([]int32, n.Partitions), Configs: n.Configs}
	}
	x.env.Note("topic %s %s with %d partition(s)", n.Name, done, n.Partitions)
}

// lookAgain reads the topics once more, with those just made.
func (x *clusterExport) lookAgain(ctx context.Context, created bool) (err error) {
	if !created || x.o.dryRun {
		return nil
	}
	x.topics, err = x.cluster.Topics(ctx, x.targets())
	return err
}

// sourceOf is the topic of the directory that becomes a topic of the cluster.
func (x *clusterExport) sourceOf(target string) string {
	at := slices.IndexFunc(x.plan.sources, func(s *exportSource) bool { return s.Target == target })
	return x.plan.sources[at].Topic
}

// partitions is how many partitions the source of a topic has: as its metadata says, or as
// far as the folders tell.
func (x *clusterExport) partitions(target string) int32 {
	topic := x.sourceOf(target)
	if meta := x.plan.view.Meta; meta != nil {
		if t, err := meta.Topic(topic); err == nil {
			return int32(len(t.Partitions))
		}
	}
	refs, err := x.plan.view.Resolve(nil, true)
	last := x.highest(topic)
	for _, ref := range refs {
		if err == nil && ref.Topic == topic {
			last = max(last, ref.Partition)
		}
	}
	return last + 1
}

// highest is the last partition of a topic that is exported.
func (x *clusterExport) highest(topic string) int32 {
	last := int32(0)
	for _, s := range x.plan.sources {
		if s.Topic == topic {
			last = max(last, s.Partition)
		}
	}
	return last
}

// checkPartitions compares partition counts. Where only folders tell how many partitions
// the source has, others may be on other brokers: the cluster may have more then.
func (x *clusterExport) checkPartitions() error {
	for _, name := range x.targets() {
		have, want := int32(len(x.topics[name].Leaders)), x.partitions(name)
		switch {
		case have == want:
		case have > want && x.plan.view.Meta == nil:
			x.env.Note("topic %s has %d partitions in the cluster, %d in the directory", name, have, want)
		default:
			return store.Errorf(store.Refused, "INVALID_PARTITIONS", "topic %s has %d partition(s) in the cluster, %d in the directory", name, have, want).
				WithHint("make one with %d partitions, and name it with --topic-map %s=NAME", want, x.sourceOf(name))
		}
	}
	return nil
}

// readGroups finds where the groups of --groups stand in the directory.
func (x *clusterExport) readGroups() error {
	if len(x.o.groups) == 0 {
		return nil
	}
	known, err := x.env.readGroups()
	if err != nil {
		return err
	}
	for _, id := range x.o.groups {
		g, ok := known.Group(id)
		if !ok {
			return store.Errorf(store.NotFound, "GROUP_ID_NOT_FOUND", "group %s is not in the directory", id).
				WithHint("logdir group list")
		}
		for _, s := range x.plan.sources {
			if o, ok := g.Offset(s.TopicPartition); ok {
				x.groups = append(x.groups, live.GroupOffset{Group: id, TopicPartition: s.TopicPartition, Offset: o.Offset})
			}
		}
	}
	return nil
}

// wantedOffsets are the offsets that need a translation, ascending, each once.
func wantedOffsets(groups []live.GroupOffset) map[store.TopicPartition][]int64 {
	wanted := map[store.TopicPartition][]int64{}
	for _, g := range groups {
		wanted[g.TopicPartition] = append(wanted[g.TopicPartition], g.Offset)
	}
	for tp, offsets := range wanted {
		slices.Sort(offsets)
		wanted[tp] = slices.Compact(offsets)
	}
	return wanted
}

func integer(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
