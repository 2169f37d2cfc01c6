package inspect

import (
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/group"
	"logdir/store/record"
	"logdir/store/segment"
)

// offsetsTopic is where groups commit their offsets.
const offsetsTopic = "__consumer_offsets"

// partitionID is the topic id that a partition's folder names.
type partitionID struct {
	ref store.PartitionRef
	id  checkpoint.UUID
}

// clusterID is the cluster that a log directory says it belongs to.
type clusterID struct{ path, id string }

func logDirOf(ref store.PartitionRef) string { return filepath.Dir(ref.Dir) }

// acrossPartitions holds partitions and log directories against each other.
func (c *check) acrossPartitions() {
	c.committedOffsets()
	c.topicIDs()
	c.twoPlaces()
	for i := range c.clusters {
		if first := c.clusters[0]; c.clusters[i].id != first.id {
			c.add(Warning, at(UnevenClusters, c.clusters[i].path, "cluster %q, %s says %q", c.clusters[i].id, first.path, first.id), "")
		}
	}
}

// topicIDs: all partitions of a topic have one id.
func (c *check) topicIDs() {
	ids := map[string]partitionID{}
	for _, p := range c.ids {
		first, seen := ids[p.ref.Topic]
		if !seen {
			ids[p.ref.Topic] = p
			continue
		}
		if first.id != p.id && p.ref.State == segment.Normal {
			c.add(Warning, at(TopicIDs, p.ref.Show(checkpoint.PartitionMetadataFile), "topic id %s, %s has %s", p.id, first.ref.Rel, first.id),
				c.scope.command(logDirOf(p.ref), "recover", "--set-topic-id", p.ref.Topic+"=ID"))
		}
	}
}

// twoPlaces: a broker has each partition once.
func (c *check) twoPlaces() {
	type replica struct {
		store.TopicPartition
		broker int32
	}
	seen := map[replica]store.PartitionRef{}
	for _, ref := range c.scope.Partitions {
		k := replica{ref.TopicPartition, ref.Broker}
		first, twice := seen[k]
		if twice && ref.State == segment.Normal && first.Dir != ref.Dir && ref.File == "" {
			c.add(Warning, at(TwoPlaces, ref.Rel, "%s stands in %s too", ref.TopicPartition, first.Rel), c.scope.command("", "diff", first.Rel, ref.Rel))
		}
		if !twice && ref.State == segment.Normal {
			seen[k] = ref
		}
	}
}

// commit is an offset that a group has committed.
type commit struct {
	key    commitKey
	offset int64
}

type commitKey struct {
	group string
	store.TopicPartition
	dir string // the log directory in which it stands
}

// committedOffsets: what a group has committed lies in the log.
func (c *check) committedOffsets() {
	seen := map[commitKey]bool{}
	for _, dir := range slices.Sorted(maps.Keys(c.scope.Groups)) {
		c.commits = append(c.commits, commits{dir, c.scope.Groups[dir]})
	}
	for _, in := range c.commits {
		for m := range in.all() {
			c.committedOffset(m, seen)
		}
	}
}

func (c *check) committedOffset(m commit, seen map[commitKey]bool) {
	tp, dir := m.key.TopicPartition, m.key.dir
	leaders, ours := c.scope.Leaders[dir]
	if ours {
		dir = leaders[tp]
	}
	log, here := c.ends[replicaDir{tp, dir}]
	k := commitKey{m.key.group, tp, ""}
	if !here || seen[k] || log.holds(m.offset) {
		return
	}
	seen[k] = true
	reset := GroupReset{Group: m.key.group, TopicPartition: tp, Start: m.offset < log.start}
	next := reset.AtBroker()
	if ours {
		next = reset.Ours(c.scope.DataDirs[dir])
	}
	c.add(Warning, at(CommittedOffset, tp.Dir(), "group %s is at %d, the log holds %d..%d", m.key.group, m.offset, log.start, log.end), next)
}

// commitReader keeps what the groups of one partition of __consumer_offsets have committed.
type commitReader struct{ groups *group.State }

func newCommitReader() *commitReader { return &commitReader{group.NewState()} }

func (r *commitReader) batch(b *record.Batch) { r.groups.Update(b) }

// commits is what is left.
func (r *commitReader) commits(dir string) commits { return commits{dir, r.groups.Groups()} }

// commits are the groups of one partition of __consumer_offsets in a log directory. Of what
// they have committed, which may be very much, they keep little more than the numbers.
type commits struct {
	dir    string
	groups []*group.Group
}

// all lists it, in a fixed order.
func (c commits) all() iter.Seq[commit] {
	return func(yield func(commit) bool) {
		for _, g := range c.groups {
			for _, tp := range g.Committed() {
				at, _ := g.Offset(tp)
				if !yield(commit{commitKey{g.ID, tp, c.dir}, at.Offset}) {
					return
				}
			}
		}
	}
}
