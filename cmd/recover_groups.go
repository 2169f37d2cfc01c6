package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"logdir/inspect"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/segment"
)

// groupsBeyond names the committed group offsets that lie beyond the new end of a log, each
// with the command that resets just that one.
func (s *recoverRun) groupsBeyond(ctx context.Context) []string {
	ends := map[store.TopicPartition]int64{}
	places := map[string]location{}
	for _, p := range s.plans {
		if !p.Empty() && p.HasLog && s.leads(p) {
			ends[p.Partition.TopicPartition] = p.LogEnd
		}
		if place := s.placeOf(p.Partition.PartitionRef); place.logDir != "" {
			places[place.commits()] = place
		}
	}
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		place := places[dir]
		committed, err := s.committed(ctx, place)
		if err != nil {
			out = append(out, fmt.Sprintf("committed offsets of groups could not be read: %v", err))
		}
		for _, c := range committed {
			if end, ok := ends[c.TopicPartition]; ok && c.Offset > end {
				out = append(out, fmt.Sprintf("group %s is at %d of %s, beyond the log end %d: %s",
					c.Group, c.Offset, c.TopicPartition, end, s.resetOf(c, place)))
			}
		}
	}
	return out
}

// leads says whether consumers read the replica, as far as anybody knows.
func (s *recoverRun) leads(p *recovery.Plan) bool {
	if s.view.Meta == nil {
		return true
	}
	_, meta, err := s.view.Meta.Partition(p.Partition.TopicPartition)
	return err != nil || meta.LeaderID() == p.Partition.Broker
}

// commits is where groups have committed offsets of the logs at a place: the coordinator's
// directory of a cluster, MiniKafka's own, or the log directory itself.
func (p location) commits() string {
	switch {
	case p.cluster:
		return filepath.Join(p.root, cluster.CoordinatorDir)
	case p.miniKafka():
		return p.root
	}
	return p.logDir
}

// miniKafka says that the log directory is one of MiniKafka's.
func (p location) miniKafka() bool { return !p.cluster && p.logDir != p.root }

// committed are the offsets that groups have committed, as far as they stand here.
func (s *recoverRun) committed(ctx context.Context, p location) ([]inspect.Committed, error) {
	if p.miniKafka() {
		groups, err := s.env.miniKafkaGroups(p.root)
		if err != nil {
			return nil, err
		}
		return inspect.CommittedOf(groups.Groups()), nil
	}
	entries, err := s.env.FS.ReadDir(p.commits())
	if err != nil {
		return nil, nil // no group has ever committed
	}
	var dirs []string
	for _, e := range entries {
		if d, ok := segment.ParsePartitionDir(e.Name()); ok && e.IsDir() && d.Topic == offsetsTopic && d.State == segment.Normal {
			dirs = append(dirs, filepath.Join(p.commits(), e.Name()))
		}
	}
	return inspect.ReadCommitted(ctx, s.env.FS, dirs)
}

// offsetsTopic is where groups commit.
const offsetsTopic = "__consumer_offsets"

// resetOf is the command that moves one committed offset to the log end.
func (s *recoverRun) resetOf(c inspect.Committed, p location) string {
	reset := inspect.GroupReset{Group: c.Group, TopicPartition: c.TopicPartition}
	switch {
	case !p.cluster && !p.miniKafka():
		return reset.AtBroker()
	case absolute(s.env.Global.DataDir) == p.root:
		return reset.Ours(s.env.namedDataDir())
	}
	return reset.Ours(p.root)
}
