package cluster

import (
	"slices"

	"logdir/store"
)

// Orphans lists the folders of partitions that no metadata names: what a crash inside a
// creation or a deletion leaves. They are sorted by broker, topic and partition.
func (v *View) Orphans() ([]store.PartitionRef, error) {
	if v.Meta == nil {
		return nil, nil
	}
	var out []store.PartitionRef
	dirs, err := v.LogDirs()
	if err != nil {
		return nil, err
	}
	for _, l := range dirs {
		refs, err := v.Partitions(l)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if v.Meta.orphan(ref) {
				out = append(out, ref)
			}
		}
	}
	return out, nil
}

// orphan tells whether nobody owns the folder. One that is being deleted is no orphan
// of ours: a broker would go on with it.
func (m *Meta) orphan(ref store.PartitionRef) bool {
	if ref.PutAside() {
		return false
	}
	_, p, err := m.Partition(ref.TopicPartition)
	return err != nil || !slices.Contains(p.Replicas, ref.Broker)
}
