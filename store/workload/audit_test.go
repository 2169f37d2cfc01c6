package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store/record"
)

// seenAt is a record as a consumer sees it.
type seenAt struct {
	partition, producer, sequence int
	key                           string
}

// Two producers of three messages each, on two partitions.
func TestAudit(t *testing.T) {
	const a, b = 0, 1
	tests := []struct {
		name string
		keys int
		seen []seenAt
		want Audited
	}{
		{
			name: "all in order, mixed",
			seen: []seenAt{
				{0, a, 0, ""},
				{1, b, 0, ""},
				{0, b, 1, ""},
				{0, a, 2, ""},
				{1, a, 1, ""},
				{1, b, 2, ""}, // partitions have no order between them
			},
			want: Audited{Records: 6},
		},
		{
			name: "one never comes",
			seen: []seenAt{{0, a, 0, ""}, {0, a, 2, ""}, {1, b, 0, ""}, {1, b, 1, ""}, {1, b, 2, ""}},
			want: Audited{Records: 5, Missing: 1},
		},
		{
			name: "one comes twice, also elsewhere",
			seen: []seenAt{{0, a, 0, ""}, {0, a, 0, ""}, {1, a, 0, ""}},
			want: Audited{Records: 3, Duplicates: 2, Missing: 5},
		},
		{
			name: "one overtakes its elder",
			seen: []seenAt{{0, a, 1, ""}, {0, a, 0, ""}, {0, a, 2, ""}},
			want: Audited{Records: 3, OutOfOrder: 1, Missing: 3},
		},
		{
			name: "keys stay in their partitions",
			keys: 2,
			seen: []seenAt{{0, a, 0, "k0"}, {1, a, 1, "k1"}, {0, b, 0, "k0"}},
			want: Audited{Records: 3, Missing: 3},
		},
		{
			name: "a key that strays, and one that is none",
			keys: 2,
			seen: []seenAt{{0, a, 0, "k0"}, {1, a, 1, "k0"}, {1, a, 2, "k7"}, {1, b, 0, "x"}},
			want: Audited{Records: 4, OutOfOrder: 3, Missing: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := &Plan{Producers: 2, Messages: 3, Keys: tt.keys, RecordSize: 20}
			audit := newAudit(plan, 1000, 2)
			for i, s := range tt.seen {
				r := &record.Record{Offset: int64(i), Key: []byte(s.key), Value: plan.text(1000, s.producer, s.sequence)}
				noted, ok := audit.sight(r)
				if !ok {
					t.Fatalf("%q is none of the run's", r.Value)
				}
				audit.note(s.partition, []sighting{noted}, r.Offset+1)
			}
			if diff := cmp.Diff(tt.want, audit.close(plan.Records(), &excuses{plan: plan})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// text is the value of a message without padding.
func (p *Plan) text(run int64, producer, sequence int) []byte {
	return message{run, producer, sequence}.append(nil)
}

// Records of other runs, and with numbers that the run does not have, do not count.
func TestAuditPassesOverOthers(t *testing.T) {
	plan := &Plan{Producers: 2, Messages: 3}
	audit := newAudit(plan, 1000, 1)
	for _, value := range []string{"999.0.0", "1000.2.0", "1000.0.3", "hello", ""} {
		if s, ok := audit.sight(&record.Record{Value: []byte(value)}); ok {
			t.Errorf("%q counts as %v", value, s)
		}
	}
}

// A group is through when it has read up to the log end of every partition.
func TestAuditReached(t *testing.T) {
	audit := newAudit(&Plan{Producers: 1, Messages: 1}, 1000, 3)
	audit.note(0, nil, 5)
	audit.note(0, nil, 3) // somebody reads again
	audit.note(2, nil, 7)
	for _, tt := range []struct {
		ends []int64
		want bool
	}{
		{[]int64{5, 0, 7}, true},
		{[]int64{5, -1, 6}, true}, // partition 1 has no leader
		{[]int64{6, 0, 7}, false},
		{[]int64{5, 1, 7}, false},
	} {
		if got := audit.reached(tt.ends); got != tt.want {
			t.Errorf("log ends %v: reached %v, want %v", tt.ends, got, tt.want)
		}
	}
}

// What no leader has is not missing.
func TestExcuses(t *testing.T) {
	plan := &Plan{Producers: 2, Messages: 3}
	b := record.NewBuilder()
	b.Reset(record.NoProducer())
	for sequence := range 2 {
		b.Append(&record.Record{Offset: int64(sequence), Value: plan.text(1000, 1, sequence)})
	}
	frame, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	excused := &excuses{plan: plan}
	if err := excused.add(frame); err != nil {
		t.Fatal(err)
	}
	audit := newAudit(plan, 1000, 1)
	audit.note(0, []sighting{{key: noKey, message: message{1000, 0, 0}}}, 1)
	if got := audit.close(plan.Records(), excused).Missing; got != 3 {
		t.Errorf("%d missing, want 3 of 6: one came, two are excused", got)
	}
	if err := excused.add(frame[:20]); err == nil {
		t.Error("a torn frame is no excuse")
	}
}
