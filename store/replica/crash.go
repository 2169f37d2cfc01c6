package replica

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/cluster"
	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
)

// CrashOptions say what a crash takes along.
type CrashOptions struct {
	// LoseUnflushed cuts each log back to its recovery point, as if the machine had lost
	// its power and not only the process its life.
	LoseUnflushed bool
	// TornBytes, if above 0, is how many bytes of one more frame stay at the end of each log.
	TornBytes int
}

// Crash ends a broker without a word: the same loss of leadership as Stop, but no
// checkpoint is written and no mark.
func Crash(ctx context.Context, c *cluster.Cluster, id int32, o CrashOptions) error {
	if _, err := leave(ctx, c, id, cluster.Crashed); err != nil {
		return err
	}
	if err := c.Hold(ctx, id); err != nil { // takes a mark from before away
		return err
	}
	if !o.LoseUnflushed && o.TornBytes <= 0 {
		return nil
	}
	var errs []error
	for tp := range replicasOf(c.Meta(), id) {
		errs = append(errs, crashLog(ctx, c, tp, id, o))
	}
	return errors.Join(errs...)
}

// crashLog leaves a log as the crash does.
func crashLog(ctx context.Context, c *cluster.Cluster, tp store.TopicPartition, id int32, o CrashOptions) error {
	return withLog(ctx, c, tp, id, func(log *store.Log) error {
		end := log.End()
		if o.LoseUnflushed {
			point, _, err := c.Checkpointed(id, checkpoint.RecoveryPointFile, tp)
			if err != nil {
				return err
			}
			end = min(max(point, log.Start()), end)
		}
		torn, err := tornFrame(c, tp, log, end, o.TornBytes)
		if err != nil {
			return err
		}
		if _, err = cutLog(log, end); err != nil {
			return err
		}
		return tear(c.FS(), log.Dir(), torn)
	})
}

// tornFrame is the beginning of the frame that was being written at offset end: of the
// one that is lost there, or of one that nobody ever saw whole.
func tornFrame(c *cluster.Cluster, tp store.TopicPartition, log *store.Log, end int64, size int) ([]byte, error) {
	if size <= 0 {
		return nil, nil
	}
	frame, err := frameAt(c.FS(), log.Dir(), end)
	if err != nil {
		return nil, err
	}
	if len(frame) <= size {
		if frame, err = unseenFrame(c, tp, log, end, size); err != nil {
			return nil, err
		}
	}
	return frame[:size], nil
}

// frameAt is the frame of a log at an offset, nil at its end.
func frameAt(fsys vfs.ReadFS, dir string, offset int64) (frame []byte, err error) {
	r, err := store.OpenReader(fsys, dir, store.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	cur := r.From(offset)
	defer func() { err = errors.Join(err, cur.Close()) }()
	if cur.Next() && cur.Damage() == nil {
		frame = append(frame, cur.Batch().Raw()...)
	}
	return frame, cur.Err()
}

// unseenFrame is a frame of more than size bytes that continues the log.
func unseenFrame(c *cluster.Cluster, tp store.TopicPartition, log *store.Log, end int64, size int) ([]byte, error) {
	if size > math.MaxInt32/2 {
		return nil, store.Errorf(store.Usage, "INVALID_REQUEST", "%d torn bytes: no frame is that large", size)
	}
	config, err := c.LogConfig(tp)
	if err != nil {
		return nil, err
	}
	m := record.NoProducer()
	m.Format, m.BaseOffset, m.LeaderEpoch = config.Format, end, log.Epoch()
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{Offset: end, Timestamp: c.Now().UnixMilli(), Value: make([]byte, size)})
	return b.Build(nil)
}

// tear leaves bytes behind the end of the last segment.
func tear(fsys vfs.FS, dir string, torn []byte) error {
	if len(torn) == 0 {
		return nil
	}
	list, err := segment.List(fsys, dir)
	if err != nil || len(list.Segments) == 0 {
		return err
	}
	f, err := fsys.OpenRW(filepath.Join(dir, list.Segments[len(list.Segments)-1].Log))
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(torn, info.Size())
	}
	return errors.Join(err, f.Close())
}
