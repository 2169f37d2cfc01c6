package workload_test

import (
	"context"
	"testing"

	"logdir/store/cluster"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
	"logdir/store/workload"
)

// newTopic makes a cluster with the topic t.
func newTopic(t testing.TB, fs vfs.FS, dir string, topic cluster.NewTopic) *cluster.Cluster {
	t.Helper()
	_, err := cluster.Init(t.Context(), fs, dir, cluster.NewCluster{BrokerIDs: cluster.BrokerRange(3)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(fs, dir, cluster.Options{LockTimeout: lockTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	topic.Name = "t"
	if topic.ReplicationFactor == 0 {
		topic.ReplicationFactor = 1
	}
	if _, err := c.CreateTopic(context.Background(), topic); err != nil {
		t.Fatal(err)
	}
	return c
}

func inMemory(t testing.TB, topic cluster.NewTopic) *cluster.Cluster {
	return newTopic(t, memfs.New(), "data", topic)
}

func run(t testing.TB, c *cluster.Cluster, p workload.Plan) *workload.Outcome {
	t.Helper()
	o, err := workload.Run(t.Context(), c, &p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
