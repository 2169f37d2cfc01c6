package workload_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/client"
	"logdir/store/cluster"
	"logdir/store/compress"
	"logdir/store/record"
	"logdir/store/vfs/memfs"
)

// setting is a way to write and keep the same records.
type setting struct {
	name      string
	configs   map[string]string
	batchSize int
	codec     compress.Codec
	fsync     store.Fsync
	reopen    int // close everything after so many records; 0 never does
}

// TestSettingsDoNotMatter writes one sequence of records under many settings. Whatever the
// segments, indexes, batches, codecs and syncs, every fetch from every offset brings the
// same records, and every look-up by time the same offset.
func TestSettingsDoNotMatter(t *testing.T) {
	segments := func(size, interval string) map[string]string {
		return map[string]string{cluster.SegmentBytes: size, cluster.IndexInterval: interval}
	}
	plain := setting{name: "defaults", batchSize: 16 << 10}
	others := []setting{
		{name: "a record in each batch", batchSize: 1},
		{name: "a batch in each segment", batchSize: 700, configs: segments("900", "4096")},
		{name: "small segments, dense index", batchSize: 500, configs: segments("3000", "1")},
		{name: "no index at all", batchSize: 500, configs: segments("1000000", "1000000")},
		{name: "sparse index over tiny batches", batchSize: 1, configs: segments("9000", "2000")},
		{name: "gzip", batchSize: 4000, codec: compress.Gzip},
		{name: "snappy", batchSize: 4000, codec: compress.Snappy},
		{name: "lz4", batchSize: 4000, codec: compress.LZ4, configs: segments("5000", "1")},
		{name: "zstd", batchSize: 16 << 10, codec: compress.Zstd},
		{name: "synced always, opened again often", batchSize: 900, fsync: store.FsyncAlways, reopen: 70, configs: segments("5000", "500")},
		{name: "never synced", batchSize: 900, fsync: store.FsyncNever, reopen: 110},
	}
	want := plain.fetches(t)
	for _, s := range others {
		t.Run(s.name, func(t *testing.T) {
			if diff := cmp.Diff(want, s.fetches(t)); diff != "" {
				t.Errorf("(-defaults +%s):\n%s", s.name, diff)
			}
		})
	}
}

const (
	metaRecords    = 500
	metaPartitions = 3
)

// metaRecord is the n-th record of the sequence. Times rise, with a step back now and then.
func metaRecord(n int, r *rand.Rand) record.Record {
	value := strings.Repeat(string(rune('a'+n%26)), r.IntN(80))
	rec := record.Record{
		Timestamp: int64(1_000_000 + 10*n - 35*(n%7/6)),
		Key:       fmt.Appendf(nil, "k%d", r.IntN(20)),
		Value:     fmt.Appendf(nil, "%d %s", n, value),
		Headers:   []record.Header{{Key: []byte("n"), Value: []byte{byte(n)}}},
	}
	if n%50 == 0 {
		rec.Value = nil
	}
	return rec
}

// write produces the sequence.
func (s setting) write(t *testing.T) *cluster.Cluster {
	t.Helper()
	fs := memfs.New()
	newTopic(t, fs, "data", cluster.NewTopic{Partitions: metaPartitions, Configs: s.configs})
	r := rand.New(rand.NewPCG(1, 2))
	step := s.reopen
	if step == 0 {
		step = metaRecords
	}
	for from := 0; from < metaRecords; from += step {
		s.session(t, s.open(t, fs), from, min(from+step, metaRecords), r)
	}
	return s.open(t, fs)
}

func (s setting) open(t *testing.T, fs *memfs.FS) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Open(fs, "data", cluster.Options{LockTimeout: time.Second, Fsync: s.fsync})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// session produces the records from..to-1 of the sequence, as one producer.
func (s setting) session(t *testing.T, c *cluster.Cluster, from, to int, r *rand.Rand) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	topic, err := client.OpenTopic(c, "t", client.TopicOptions{LeaderEpoch: client.AnyEpoch, Sync: s.fsync != store.FsyncNever})
	must(err)
	session := client.NewSession(topic, client.Sending{Topic: "t", Acks: client.AcksLeader}, func(client.Result) error { return nil })
	placer := client.NewPlacer(client.Placement{Partitions: metaPartitions, LogEnds: topic.LogEnds})
	a := client.NewAccumulator(client.Batching{
		Partitions: metaPartitions, Size: s.batchSize, Linger: -1, Format: record.V2, Codec: s.codec, Identity: client.NoIdentity,
	}, placer.BatchClosed)
	for n := from; n < to; n++ {
		rec := metaRecord(n, r)
		must(client.Put(placer, a, &rec, time.Time{}))
		if n%100 == 99 {
			must(session.Send(context.Background(), a.Take()))
		}
	}
	must(a.CloseAll())
	must(session.Send(context.Background(), a.Take()))
	must(session.Err())
	must(topic.Close(context.Background()))
}

// fetches is what every fetch and look-up brings, as text.
func (s setting) fetches(t *testing.T) (all []string) {
	t.Helper()
	c := s.write(t)
	for p := range int32(metaPartitions) {
		tp := store.TopicPartition{Topic: "t", Partition: p}
		leader, _, err := c.Meta().LeaderOf(tp)
		if err != nil {
			t.Fatal(err)
		}
		log, err := c.Reader(tp, leader)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fetchAll(t, tp, log)...)
	}
	return all
}

// fetchAll fetches from every seventh offset on, some to the end and some a few records, and
// looks up times.
func fetchAll(t *testing.T, tp store.TopicPartition, log *store.LogReader) (all []string) {
	t.Helper()
	end, damage, err := log.End()
	if err != nil || damage != nil {
		t.Fatal(err, damage)
	}
	fetcher := client.NewFetcher()
	for from := int64(0); from <= end; from += 7 {
		to := end
		if from%2 == 0 {
			to = min(end, from+3)
		}
		next, err := fetcher.Run(client.Fetch{Log: log, From: from, To: to}, func(_ *record.Batch, r *record.Record) error {
			all = append(all, fmt.Sprintf("%s from %d: %d @%d %q %q %q null=%v", tp, from, r.Offset, r.Timestamp, r.Key, r.Value, r.Headers, r.Value == nil))
			return nil
		})
		if err != nil || next != to {
			t.Fatalf("%s: a fetch of %d..%d ends at %d: %v", tp, from, to, next, err)
		}
	}
	for at := int64(999_900); at < 1_000_000+10*metaRecords+100; at += 13 {
		offset, timestamp, ok, err := log.OffsetForTime(at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s at %d: %d @%d %v", tp, at, offset, timestamp, ok))
	}
	return all
}
