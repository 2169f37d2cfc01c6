package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"logdir/store"
)

// MaxOpenLogs bounds the logs, and with them the files, that OpenLogs holds open.
const MaxOpenLogs = 64

// OpenLogs holds logs of replicas open from one append to the next. What other processes
// do to them meanwhile is seen when they are opened again, under the partition's lock.
type OpenLogs struct {
	cluster *Cluster
	sync    bool
	logs    []openLog        // the last used stands last
	synced  map[int32]Points // recovery points to note, by broker
}

type openLog struct {
	tp     store.TopicPartition
	broker int32
	log    *store.Log
}

// NewOpenLogs returns an OpenLogs without logs. With sync they are forced to the disk
// before they are closed.
func NewOpenLogs(c *Cluster, sync bool) *OpenLogs {
	return &OpenLogs{cluster: c, sync: sync, synced: map[int32]Points{}}
}

// Open is a broker's log of a partition, opened or brought up to date. The caller holds
// the partition's lock, and made room before it took that.
func (l *OpenLogs) Open(ctx context.Context, tp store.TopicPartition, broker int32) (*store.Log, error) {
	if at := l.find(tp, broker); at >= 0 {
		o := l.logs[at]
		l.logs = append(slices.Delete(l.logs, at, at+1), o)
		return o.log, o.log.Refresh()
	}
	log, err := l.cluster.OpenReplica(ctx, tp, broker)
	if err != nil {
		return nil, err
	}
	l.logs = append(l.logs, openLog{tp, broker, log})
	return log, nil
}

// Drop closes a log that must be opened anew. The caller holds the lock.
func (l *OpenLogs) Drop(tp store.TopicPartition, broker int32) error {
	at := l.find(tp, broker)
	if at < 0 {
		return nil
	}
	o := l.logs[at]
	l.logs = slices.Delete(l.logs, at, at+1)
	return l.settle(o)
}

// MakeRoom closes the logs that were not used for longest, before those of another
// partition are opened. It comes before that partition's lock: no lock is held while
// waiting for a second.
func (l *OpenLogs) MakeRoom(ctx context.Context, tp store.TopicPartition) error {
	for len(l.logs) >= MaxOpenLogs && !l.has(tp) {
		oldest := l.logs[0]
		l.logs = slices.Delete(l.logs, 0, 1)
		if err := l.release(ctx, oldest); err != nil {
			return err
		}
	}
	return nil
}

// Close settles all logs and notes in the brokers' checkpoints how far they are synced.
func (l *OpenLogs) Close(ctx context.Context) error {
	var errs []error
	for _, o := range l.logs {
		errs = append(errs, l.release(ctx, o))
	}
	l.logs = nil
	for broker, points := range l.synced {
		errs = append(errs, l.cluster.SetRecoveryPoints(ctx, broker, points))
	}
	clear(l.synced)
	return errors.Join(errs...)
}

// Len is how many logs are open.
func (l *OpenLogs) Len() int { return len(l.logs) }

func (l *OpenLogs) find(tp store.TopicPartition, broker int32) int {
	return slices.IndexFunc(l.logs, func(o openLog) bool { return o.tp == tp && o.broker == broker })
}

func (l *OpenLogs) has(tp store.TopicPartition) bool {
	return slices.ContainsFunc(l.logs, func(o openLog) bool { return o.tp == tp })
}

// release settles a log under its partition's lock. A broker that went down meanwhile
// took its log along.
func (l *OpenLogs) release(ctx context.Context, o openLog) error {
	lock, err := l.cluster.Locks().Partition(ctx, o.tp)
	if err != nil {
		return errors.Join(err, o.log.Close())
	}
	if err = l.cluster.Reload(); err == nil && l.cluster.Meta().IsUp(o.broker) {
		err = o.log.Refresh()
		if err == nil {
			err = l.settle(o)
		}
	} else {
		err = errors.Join(err, o.log.Close())
	}
	return errors.Join(err, lock.Close())
}

// settle syncs a log, keeps its recovery point for the checkpoint, and closes it.
func (l *OpenLogs) settle(o openLog) (err error) {
	defer func() { err = errors.Join(err, o.log.Close()) }()
	if !l.sync {
		return nil
	}
	point, err := o.log.Flush()
	if err != nil {
		return fmt.Errorf("%s of broker %d: %w", o.tp, o.broker, err)
	}
	if l.synced[o.broker] == nil {
		l.synced[o.broker] = Points{}
	}
	l.synced[o.broker][o.tp] = point
	return nil
}
