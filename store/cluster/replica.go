package cluster

import (
	"context"

	"logdir/store"
)

// OpenReplica opens broker's replica of a partition for writing. The caller holds the
// partition's lock. The broker must be up; its .lock is taken, shared, until Close.
func (c *Cluster) OpenReplica(ctx context.Context, tp store.TopicPartition, broker int32) (*store.Log, error) {
	return nil, store.Errorf(store.Failed, "", "not yet")
}

// LogConfig is how the logs of a topic are written.
func (c *Cluster) LogConfig(tp store.TopicPartition) (store.Config, error) {
	return store.Config{}, store.Errorf(store.Failed, "", "not yet")
}

// Reader opens broker's replica of a partition for reading.
func (c *Cluster) Reader(tp store.TopicPartition, broker int32) (*store.LogReader, error) {
	return nil, store.Errorf(store.Failed, "", "not yet")
}

// SetRecoveryPoints notes how far each partition of a broker is synced, in its
// recovery-point-offset-checkpoint: once at the end of a command that synced.
func (c *Cluster) SetRecoveryPoints(ctx context.Context, broker int32, points map[store.TopicPartition]int64) error {
	return store.Errorf(store.Failed, "", "not yet")
}

// SetHighWatermarks notes high watermarks in a broker's replication-offset-checkpoint.
func (c *Cluster) SetHighWatermarks(ctx context.Context, broker int32, marks map[store.TopicPartition]int64) error {
	return store.Errorf(store.Failed, "", "not yet")
}

// HighWatermark is what broker knows as the high watermark of a partition whose log
// ends there at logEnd: its log end if it leads and is the whole ISR, else what its
// checkpoint says, never more than logEnd.
func (c *Cluster) HighWatermark(tp store.TopicPartition, broker int32, logEnd int64) (int64, error) {
	return 0, store.Errorf(store.Failed, "", "not yet")
}
