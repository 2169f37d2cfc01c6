package client

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/cluster"
	"logdir/store/compress"
	"logdir/store/record"
)

// A compacted topic takes the batches in front of the first that has a record without a key,
// and nothing of that one or behind it. An empty key is a key.
func TestUnkeyedIntoCompacted(t *testing.T) {
	keyed, unkeyed := &record.Record{Key: []byte{}, Value: []byte("k")}, &record.Record{Value: []byte("u")}
	for _, tt := range []struct {
		name, policy string
		format       record.Format
		codec        compress.Codec
		batches      [][]*record.Record
		want         []string
		refused      bool
	}{
		{"keys only", "compact", record.V2, compress.None, [][]*record.Record{{keyed, keyed}}, []string{"acked 0..1"}, false},
		{"one of two", "compact", record.V2, compress.Zstd, [][]*record.Record{{keyed, unkeyed}}, []string{"failed -1..-1"}, true},
		{"behind others", "delete,compact", record.V2, compress.None, [][]*record.Record{{keyed}, {unkeyed}, {keyed}}, []string{"acked 0..0", "failed -1..-1", "failed -1..-1"}, true},
		{"MKB1", "compact", record.MKB1, compress.None, [][]*record.Record{{unkeyed}}, []string{"failed -1..-1"}, true},
		{"not compacted", "delete", record.V2, compress.None, [][]*record.Record{{keyed, unkeyed}}, []string{"acked 0..1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			configs := map[string]string{cluster.CleanupPolicy: tt.policy}
			if tt.format == record.MKB1 {
				configs[cluster.Format] = "mkb1"
			}
			topic := openTopic(t, newCluster(t, 1, cluster.NewTopic{Configs: configs}), TopicOptions{LeaderEpoch: AnyEpoch})
			got, err := sendBatches(t, topic, Batching{Partitions: 1, Size: 1 << 20, Linger: -1, Identity: NoIdentity, Format: tt.format, Codec: tt.codec}, tt.batches)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			e, ok := errors.AsType[*store.Error](err)
			if tt.refused != (ok && e.Class == store.Refused && e.Name == "INVALID_RECORD") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// sendBatches sends records to partition 0 in batches as they are given.
func sendBatches(t *testing.T, topic *Topic, b Batching, batches [][]*record.Record) (outcomes []string, err error) {
	t.Helper()
	a := NewAccumulator(b, ignore)
	for _, records := range batches {
		for _, r := range records {
			if err := a.Append(0, r, start); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.CloseAll(); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSession(topic, Sending{Topic: "t", Acks: AcksLeader, Sleep: noSleep}, func(r Result) error {
		outcomes = append(outcomes, outcomeText(r))
		return nil
	})
	if err := s.Send(t.Context(), a.Take()); err != nil {
		t.Fatal(err)
	}
	return outcomes, s.Err()
}
