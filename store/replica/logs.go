package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"logdir/store"
	"logdir/store/cluster"
)

// maxOpenLogs bounds the logs, and with them the files, that a Fetcher holds open.
const maxOpenLogs = 64

// openLogs holds the followers' logs open from round to round.
type openLogs struct {
	cluster *cluster.Cluster
	sync    bool
	logs    []openLog                // the last used stands last
	synced  map[int32]cluster.Points // recovery points to note, by broker
}

type openLog struct {
	tp     store.TopicPartition
	broker int32
	log    *store.Log
}

func (l *openLogs) find(tp store.TopicPartition, broker int32) int {
	return slices.IndexFunc(l.logs, func(o openLog) bool { return o.tp == tp && o.broker == broker })
}

// open is a follower's log, opened or brought up to date. The caller holds the lock.
func (l *openLogs) open(ctx context.Context, tp store.TopicPartition, broker int32) (*store.Log, error) {
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

// drop closes a log that must be opened anew. The caller holds the lock.
func (l *openLogs) drop(tp store.TopicPartition, broker int32) error {
	at := l.find(tp, broker)
	if at < 0 {
		return nil
	}
	o := l.logs[at]
	l.logs = slices.Delete(l.logs, at, at+1)
	return l.settle(o)
}

// makeRoom closes the partitions that were not used for longest, before another one is
// opened: no lock is held while waiting for a second.
func (l *openLogs) makeRoom(ctx context.Context, tp store.TopicPartition) error {
	for len(l.logs) >= maxOpenLogs && l.logs[0].tp != tp {
		oldest := l.logs[0]
		l.logs = slices.Delete(l.logs, 0, 1)
		if err := l.release(ctx, oldest); err != nil {
			return err
		}
	}
	return nil
}

// close settles all logs and notes how far they are synced.
func (l *openLogs) close(ctx context.Context) error {
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

// release settles a log under its partition's lock. A broker that went down meanwhile
// took its log along.
func (l *openLogs) release(ctx context.Context, o openLog) error {
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
func (l *openLogs) settle(o openLog) (err error) {
	defer func() { err = errors.Join(err, o.log.Close()) }()
	if !l.sync {
		return nil
	}
	point, err := o.log.Flush()
	if err != nil {
		return fmt.Errorf("%s of broker %d: %w", o.tp, o.broker, err)
	}
	if l.synced[o.broker] == nil {
		l.synced[o.broker] = cluster.Points{}
	}
	l.synced[o.broker][o.tp] = point
	return nil
}
