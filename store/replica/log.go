package replica

import (
	"log/slog"

	"logdir/store"
	"logdir/store/cluster"
)

// logBroker tells of something that a broker did, or that became of it.
func logBroker(c *cluster.Cluster, what string, id int32, attrs ...slog.Attr) {
	c.Info("broker", what, append([]slog.Attr{slog.Int("broker", int(id))}, attrs...)...)
}

func partitionAttrs(tp store.TopicPartition) []slog.Attr {
	return []slog.Attr{slog.String("topic", tp.Topic), slog.Int("partition", int(tp.Partition))}
}

// logElection tells who leads now.
func logElection(c *cluster.Cluster, e Election) {
	c.Info("broker", "elect", append(partitionAttrs(e.TopicPartition),
		slog.Int("from", int(e.From)), slog.Int("to", int(e.To)), slog.Int("leader_epoch", int(e.LeaderEpoch)),
		slog.Bool("clean", e.Clean), slog.Int64("log_end", e.LogEnd))...)
}

// logFetched tells how the followers moved in a round.
func logFetched(c *cluster.Cluster, moved []Fetched) {
	for _, m := range moved {
		c.Info("replica", "fetch", append(partitionAttrs(m.TopicPartition),
			slog.Int("follower", int(m.Follower)), slog.Int64("from", m.From), slog.Int64("to", m.To),
			slog.Int64("truncated_to", m.TruncatedTo), slog.Int64("high_watermark", m.HighWatermark))...)
	}
}
