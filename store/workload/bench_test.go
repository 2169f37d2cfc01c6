package workload_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/vfs"
	"logdir/store/workload"
)

// BenchmarkProducers writes the same number of 100-byte records to 8 partitions by one
// producer and by many, without keys and with.
func BenchmarkProducers(b *testing.B) {
	const records = 1_000_000
	for _, keys := range []int{0, 100} {
		for _, producers := range []int{1, 10, 1000} {
			b.Run(fmt.Sprintf("keys=%d/producers=%d", keys, producers), func(b *testing.B) {
				c := newTopic(b, vfs.OS(), b.TempDir()+"/data", cluster.NewTopic{Partitions: 8})
				plan := workload.Plan{
					Topic: "t", Producers: producers, Messages: records / producers,
					Keys: keys, RecordSize: 100, Acks: client.AcksLeader,
				}
				b.SetBytes(records * int64(plan.RecordSize))
				for b.Loop() {
					run(b, c, plan)
				}
			})
		}
	}
}

// BenchmarkManyAgainstOne writes a million records of 100 bytes to 8 partitions by one
// producer and by a thousand, in turns, and tells how fast the many are: at least half as fast
// is the figure to reach.
func BenchmarkManyAgainstOne(b *testing.B) {
	for _, keys := range []int{0, 100} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			c := newTopic(b, vfs.OS(), b.TempDir()+"/data", cluster.NewTopic{Partitions: 8})
			var one, many []time.Duration
			for b.Loop() {
				one = append(one, elapsed(b, c, 1, keys))
				many = append(many, elapsed(b, c, 1000, keys))
			}
			b.ReportMetric(median(one).Seconds()/median(many).Seconds(), "many/one")
		})
	}
}

// elapsed is how long some producers take for a million records.
func elapsed(b *testing.B, c *cluster.Cluster, producers, keys int) time.Duration {
	b.Helper()
	return run(b, c, workload.Plan{
		Topic: "t", Producers: producers, Messages: 1_000_000 / producers,
		Keys: keys, RecordSize: 100, Acks: client.AcksLeader,
	}).Elapsed
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
