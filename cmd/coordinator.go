package cmd

import (
	"errors"
	"path/filepath"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/corrupt"
)

// replayCoordinator feeds read every log of an internal topic: those in the coordinator
// folder of a cluster, or those that stand in a broker's log directory. A cluster has none
// before its first group or transaction. damage is the first of each log.
func (e *Env) replayCoordinator(v *cluster.View, topic string, read func(*store.LogReader) ([]*corrupt.Error, error)) (damage []error, err error) {
	logs := v
	if v.Kind == store.KindCluster {
		logs, err = cluster.OpenView(e.FS, filepath.Join(v.Path, cluster.CoordinatorDir))
		if refused, ok := errors.AsType[*store.Error](err); ok && refused.Class == store.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	refs, err := logs.AllPartitions()
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if ref.Topic != topic || ref.PutAside() {
			continue
		}
		log, err := logs.Reader(ref)
		if err != nil {
			return damage, err
		}
		bad, err := read(log)
		if err != nil {
			return damage, readError(ref.Rel, err)
		}
		if len(bad) > 0 {
			damage = append(damage, e.coordinatorDamage(v, logs, ref, bad[0]))
		}
	}
	return damage, nil
}

// coordinatorDamage names the coordinator folder of a cluster, which is what is to be repaired.
func (e *Env) coordinatorDamage(v, logs *cluster.View, ref store.PartitionRef, d *corrupt.Error) error {
	if logs == v {
		return e.damageAt(v, ref, d)
	}
	d.Path = v.Rel(d.Path)
	return store.DamageFound(d, ref.TopicPartition).
		WithHint("logdir recover --dry-run -d %s %s", store.ShellWord(logs.Path), ref.TopicPartition)
}
