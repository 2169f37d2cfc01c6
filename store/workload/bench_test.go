package workload_test

import (
	"fmt"
	"testing"

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
