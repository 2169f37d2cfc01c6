package cluster

import (
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/corrupt"
)

// Role is what a replica is to its partition.
type Role string

// The roles. A lone log directory does not know them.
const (
	Leader   Role = "leader"
	Follower Role = "follower"
	Offline  Role = "offline" // its broker is down
	NoRole   Role = ""
)

// Offsets are the marks of one replica.
type Offsets struct {
	Ref  store.PartitionRef
	Role Role
	// LogStart is the first offset kept, LogEnd the next to be written.
	LogStart, LogEnd int64
	// HighWatermark is what this replica knows of it, or -1 where nothing says.
	HighWatermark int64
	// Damage is what stands at the tail instead of a batch; LogEnd is before it.
	Damage *corrupt.Error
}

// Offsets finds the marks of a replica.
func (v *View) Offsets(ref store.PartitionRef) (Offsets, error) {
	o := Offsets{Ref: ref, Role: v.role(ref)}
	r, err := v.Reader(ref)
	if err != nil {
		return o, err
	}
	o.LogStart = r.Start()
	if o.LogEnd, o.Damage, err = r.End(); err != nil {
		return o, err
	}
	mark, known, err := v.HighWatermark(ref, o.LogStart, o.LogEnd)
	if o.HighWatermark = mark; !known {
		o.HighWatermark = corrupt.Unknown
	}
	return o, err
}

func (v *View) role(ref store.PartitionRef) Role {
	if v.Meta == nil {
		return NoRole
	}
	_, p, err := v.Meta.Partition(ref.TopicPartition)
	switch {
	case err != nil:
		return NoRole
	case !v.Meta.IsUp(ref.Broker):
		return Offline
	case p.LeaderID() == ref.Broker:
		return Leader
	}
	return Follower
}

// HighWatermark is what a replica that has logStart to logEnd knows of the high watermark: a
// leader that is the whole ISR, its log end; MiniKafka's, the smallest log end of all
// replicas; any other, what its broker has checkpointed, but never outside the log. known
// is false where nothing says.
func (v *View) HighWatermark(ref store.PartitionRef, logStart, logEnd int64) (mark int64, known bool, err error) {
	if v.Kind == store.KindMiniKafka {
		return v.smallestEnd(ref.TopicPartition)
	}
	if v.Meta != nil {
		_, p, err := v.Meta.Partition(ref.TopicPartition)
		if err == nil && p.LeaderID() == ref.Broker && p.Alone() {
			return logEnd, true, nil
		}
	}
	mark, known, err = v.checkpointed(filepath.Dir(ref.Dir), checkpoint.HighWatermarkFile, ref.TopicPartition)
	return min(max(mark, logStart), logEnd), known, err
}

// smallestEnd is the high watermark that MiniKafka works out when it opens.
func (v *View) smallestEnd(tp store.TopicPartition) (mark int64, known bool, err error) {
	refs, err := v.Resolve([]string{tp.String()}, true)
	if err != nil {
		return 0, false, err
	}
	for _, ref := range refs {
		r, err := v.Reader(ref)
		if err != nil {
			return 0, false, err
		}
		end, _, err := r.End()
		if err != nil {
			return 0, false, err
		}
		if !known || end < mark {
			mark, known = end, true
		}
	}
	return mark, known, nil
}
