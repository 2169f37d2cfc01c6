package replica

import (
	"context"
	"errors"
	"slices"

	"logdir/store"
	"logdir/store/cluster"
)

// DefaultMaxBytes is Kafka's replica.fetch.max.bytes.
const DefaultMaxBytes = 1 << 20

// Options say who fetches, and how.
type Options struct {
	// MaxBytes is how much one follower fetches in one round, at least one batch.
	// 0 means DefaultMaxBytes.
	MaxBytes int
	// Only, if not empty, are the brokers whose replicas move; Except are those whose do not.
	Only, Except []int32
	// Sync forces what was fetched to the disk at Close.
	Sync bool
	// DryRun works out one round and writes nothing.
	DryRun bool
}

// Fetched is what a round did for one follower.
type Fetched struct {
	store.TopicPartition
	Follower int32
	// From is the follower's log end before it fetched, To the one after.
	From, To int64
	// TruncatedTo is where its log was cut before, or NotTruncated.
	TruncatedTo int64
	// LeaderEnd, HighWatermark and ISR are the leader's, after the round.
	LeaderEnd, HighWatermark int64
	ISR                      []int32
}

// NotTruncated says that no log had to be cut.
const NotTruncated = -1

// Behind tells whether the leader has more.
func (f Fetched) Behind() bool { return f.To < f.LeaderEnd }

// Fetcher drives the followers of a cluster. It is not safe for use by several
// goroutines at once.
type Fetcher struct {
	cluster *cluster.Cluster
	o       Options
	logs    *cluster.OpenLogs
	frames  []byte // reused: what one follower fetches
	dead    error  // a failpoint fired: nothing may be tidied up
}

// NewFetcher returns a Fetcher of the cluster's followers.
func NewFetcher(c *cluster.Cluster, o Options) *Fetcher {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return &Fetcher{cluster: c, o: o, logs: cluster.NewOpenLogs(c, o.Sync)}
}

// Round lets every follower that may move fetch once. It is what acks=all drives.
func (f *Fetcher) Round(ctx context.Context, tp store.TopicPartition) error {
	_, err := f.Fetch(ctx, tp)
	return err
}

// Fetch runs one round of a partition: each live follower that may move, by number. With
// an error the result has the followers that moved nonetheless. A partition without a
// leader is LEADER_NOT_AVAILABLE.
func (f *Fetcher) Fetch(ctx context.Context, tp store.TopicPartition) (moved []Fetched, err error) {
	if f.o.DryRun {
		return f.round(ctx, tp)
	}
	if err := f.logs.MakeRoom(ctx, tp); err != nil {
		return nil, err
	}
	lock, err := f.cluster.Locks().Partition(ctx, tp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := f.cluster.Reload(); err != nil {
		return nil, err
	}
	moved, err = f.round(ctx, tp)
	logFetched(f.cluster, moved)
	return moved, err
}

func (f *Fetcher) round(ctx context.Context, tp store.TopicPartition) ([]Fetched, error) {
	r, err := f.begin(ctx, tp)
	if err != nil {
		return nil, err
	}
	return r.run()
}

// moves tells whether a broker's replica is one of those that fetch.
func (f *Fetcher) moves(broker int32) bool {
	if slices.Contains(f.o.Except, broker) {
		return false
	}
	return len(f.o.Only) == 0 || slices.Contains(f.o.Only, broker)
}

// Close syncs what was fetched, if it is to, and closes the logs.
func (f *Fetcher) Close(ctx context.Context) error {
	if f.dead != nil {
		return nil
	}
	return f.logs.Close(ctx)
}
