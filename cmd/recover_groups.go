package cmd

import (
	"context"
	"fmt"
	"path/filepath"

	"logdir/inspect"
	"logdir/recovery"
	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/group"
	"logdir/store/segment"
)

// groupsBeyond names the committed group offsets that lie beyond the new end of a log, each
// with the command that resets just that one.
func (s *recoverRun) groupsBeyond(ctx context.Context) []string {
	ends := map[store.TopicPartition]int64{}
	for _, p := range s.plans {
		if !p.Empty() && p.HasLog && s.leads(p) {
			ends[p.Partition.TopicPartition] = p.LogEnd
		}
	}
	committed, err := inspect.ReadCommitted(ctx, s.env.FS, s.offsetLogs())
	if err != nil {
		return []string{fmt.Sprintf("committed offsets of groups could not be read: %v", err)}
	}
	var out []string
	for _, c := range committed {
		if end, ok := ends[c.TopicPartition]; ok && c.Offset > end {
			out = append(out, fmt.Sprintf("group %s is at %d of %s, beyond the log end %d: logdir group reset-offsets %s%s -t %s --to end",
				c.Group, c.Offset, c.TopicPartition, end, s.dataDirFlag(), c.Group, c.TopicPartition))
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

// offsetLogs are the partition directories in which groups commit: the coordinator's in a
// cluster, and those that stand beside the partitions in a bare log directory.
func (s *recoverRun) offsetLogs() []string {
	var dirs []string
	seen := map[string]bool{}
	for _, p := range s.plans {
		place := s.placeOf(p.Partition.PartitionRef)
		dir := place.logDir
		if place.cluster {
			dir = filepath.Join(place.root, cluster.CoordinatorDir)
		}
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := s.env.FS.ReadDir(dir)
		if err != nil {
			continue // no group has ever committed
		}
		for _, e := range entries {
			if d, ok := segment.ParsePartitionDir(e.Name()); ok && e.IsDir() && d.Topic == group.Topic && d.State == segment.Normal {
				dirs = append(dirs, filepath.Join(dir, e.Name()))
			}
		}
	}
	return dirs
}
