package group

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"logdir/store"
	"logdir/store/checkpoint"
	"logdir/store/message"
	"logdir/store/record"
)

// script is a log of __consumer_offsets under construction. Each call is one batch.
type script struct {
	t     *testing.T
	next  int64
	state *State
	last  record.Batch // that was fed
}

func newScript(t *testing.T) *script { return &script{t: t, state: NewState()} }

// batch feeds one record; producer -1 is outside of transactions.
func (s *script) batch(producer int64, key, value []byte) {
	s.t.Helper()
	m := record.NoProducer()
	m.BaseOffset = s.next
	if producer >= 0 {
		m.ProducerID, m.ProducerEpoch, m.Transactional = producer, 0, true
	}
	b := record.NewBuilder()
	b.Reset(m)
	b.Append(&record.Record{Offset: s.next, Key: key, Value: value})
	s.feed(b.Build(nil))
}

func (s *script) feed(raw []byte, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	b, damage := record.Parse(raw)
	if damage != nil {
		s.t.Fatal(damage)
	}
	s.next++
	s.last = b
	s.state.Update(&b)
}

// commit commits offset o of orders:p for group g; a negative offset is a tombstone.
func (s *script) commit(producer int64, g string, p int32, o int64) {
	s.t.Helper()
	c := OffsetCommit{Group: g, Topic: "orders", Partition: p, Offset: o, LeaderEpoch: -1, ExpireTimestamp: -1}
	key, err := c.AppendKey(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if o < 0 {
		s.batch(producer, key, nil)
		return
	}
	value, err := c.AppendValue(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.batch(producer, key, value)
}

// mark ends the transaction of a producer.
func (s *script) mark(producer int64, end record.ControlType) {
	s.t.Helper()
	m := record.NoProducer()
	m.BaseOffset, m.ProducerID, m.ProducerEpoch = s.next, producer, 0
	s.feed(record.AppendEndTxnMarker(nil, m, record.EndTxnMarker{Type: end}, 0))
}

// put writes a record of any type from the members of its value; nil is a tombstone.
func (s *script) put(typ int16, group, member string, value *message.Object) {
	s.t.Helper()
	t, ok := TypeOf(typ)
	if !ok {
		s.t.Fatalf("no type %d", typ)
	}
	o := (&message.Object{}).Set("group", group).Set("groupId", group).Set("memberId", member)
	key, err := t.AppendKey(nil, o)
	if err != nil {
		s.t.Fatal(err)
	}
	var raw []byte
	if value != nil {
		if raw, err = t.AppendValue(nil, 0, value); err != nil {
			s.t.Fatal(err)
		}
	}
	s.batch(-1, key, raw)
}

func object(members ...any) *message.Object {
	o := &message.Object{}
	for i := 0; i < len(members); i += 2 {
		o.Set(members[i].(string), members[i+1])
	}
	return o
}

// String lists groups with their offsets and members.
func (s *script) String() string {
	var text strings.Builder
	for _, g := range s.state.Groups() {
		fmt.Fprintf(&text, "%s %s %s %d:", g.ID, g.Kind, g.State(), g.Generation())
		for _, c := range g.Offsets() {
			fmt.Fprintf(&text, " %d=%d", c.Partition, c.Offset)
		}
		for _, m := range g.Members() {
			fmt.Fprintf(&text, " %s@%s%v", m.ID, m.ClientHost, m.Assignment)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func (s *script) want(lines ...string) {
	s.t.Helper()
	want := strings.Join(append(lines, ""), "\n")
	if diff := cmp.Diff(want, s.String()); diff != "" {
		s.t.Error(diff)
	}
}

func TestCommits(t *testing.T) {
	s := newScript(t)
	s.commit(-1, "b", 1, 7)
	s.commit(-1, "a", 0, 3)
	s.commit(-1, "a", 0, 5)
	s.commit(-1, "a", 2, 1)
	s.want("a classic Empty -1: 0=5 2=1", "b classic Empty -1: 1=7")
	s.commit(-1, "a", 0, -1)
	s.commit(-1, "b", 1, -1)
	s.commit(-1, "nobody", 1, -1)
	s.want("a classic Empty -1: 2=1") // a group of which nothing is left is gone
}

func TestTransactionalCommits(t *testing.T) {
	s := newScript(t)
	s.commit(-1, "g", 0, 1)
	s.commit(9, "g", 0, 5)
	s.commit(8, "g", 1, 6)
	s.want("g classic Empty -1: 0=1")
	s.mark(8, record.Abort)
	s.mark(9, record.Commit)
	s.want("g classic Empty -1: 0=5")

	// What was written later wins, although the marker comes later still.
	s.commit(9, "g", 0, 7)
	s.commit(-1, "g", 0, 8)
	s.mark(9, record.Commit)
	s.want("g classic Empty -1: 0=8")

	// What is deleted does not come back when a transaction commits that had it before.
	s.commit(9, "g", 0, 9)
	s.commit(9, "g", 1, 9)
	s.commit(-1, "g", 0, -1)
	s.mark(9, record.Commit)
	s.want("g classic Empty -1: 1=9")
	s.commit(-1, "g", 0, 8)
	s.commit(-1, "g", 1, -1)

	// A transaction that is open at the end of one log is not that of another.
	s.commit(9, "g", 0, 99)
	s.state.EndLog()
	s.mark(9, record.Commit)
	s.want("g classic Empty -1: 0=8")
}

func TestClassicGroup(t *testing.T) {
	blob, err := AppendAssignment(nil, 0, object("assignedPartitions", []any{
		object("topic", "orders", "partitions", []any{int64(1), int64(0)}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t)
	member := func(id string, assignment []byte) *message.Object {
		return object("memberId", id, "clientHost", "/h", "assignment", assignment)
	}
	s.put(TypeGroupMetadata, "g", "", object("protocolType", "consumer", "generation", int64(4), "protocol", "range",
		"members", []any{member("m2", []byte{}), member("m1", blob)}))
	s.want("g classic Stable 4: m1@/h[orders:0 orders:1] m2@/h[]")

	// A group of Kafka Connect has blobs of its own.
	s.put(TypeGroupMetadata, "c", "", object("protocolType", "connect", "generation", int64(1), "members", []any{member("w", blob)}))
	s.put(TypeGroupMetadata, "g", "", object("protocolType", "consumer", "generation", int64(5)))
	s.want("c classic Stable 1: w@/h[]", "g classic Empty 5:")
	s.put(TypeGroupMetadata, "g", "", nil)
	s.want("c classic Stable 1: w@/h[]")
}

// A member has had a partition all along only as far as no generation is missing: compaction
// took those that nobody has anything from.
func TestMissingGenerations(t *testing.T) {
	blob, err := appendAssignment(nil, []store.TopicPartition{tp("orders", 0)})
	if err != nil {
		t.Fatal(err)
	}
	s := newScript(t)
	for _, c := range []struct{ generation, since int32 }{{1, 1}, {2, 1}, {4, 4}, {5, 4}} {
		s.put(TypeGroupMetadata, "g", "", object("protocolType", "consumer", "generation", int64(c.generation),
			"members", []any{object("memberId", "a", "assignment", blob)}))
		g, _ := s.state.Group("g")
		if got := g.owners[tp("orders", 0)]; got.member != "a" || got.generation != c.since {
			t.Errorf("generation %d: %+v, want since %d", c.generation, got, c.since)
		}
	}
}

// A group whose coordinator assigns: epochs tell its state.
func TestConsumerGroup(t *testing.T) {
	id := checkpoint.UUID{15: 1}
	s := newScript(t)
	s.put(3, "g", "", object("epoch", int64(1)))
	s.want("g consumer Empty 1:")
	s.put(5, "g", "m", object("clientHost", "/h", "subscribedTopicNames", []any{"orders"}))
	s.want("g consumer Assigning 1: m@/h[]")
	s.put(6, "g", "", object("assignmentEpoch", int64(1)))
	s.want("g consumer Reconciling 1: m@/h[]")
	assigned := []any{object("topicId", id, "partitions", []any{int64(2)})}
	s.put(8, "g", "m", object("memberEpoch", int64(1), "state", int64(1), "assignedPartitions", assigned))
	s.want(fmt.Sprintf("g consumer Reconciling 1: m@/h[%s:2]", id))
	s.put(8, "g", "m", object("memberEpoch", int64(1), "assignedPartitions", assigned))
	s.want(fmt.Sprintf("g consumer Stable 1: m@/h[%s:2]", id))
	s.commit(-1, "g", 2, 10)
	s.put(8, "g", "m", nil)
	s.put(5, "g", "m", nil)
	s.put(3, "g", "", nil)
	s.want("g consumer Empty -1: 2=10")
}

func TestShareAndStreamsGroups(t *testing.T) {
	s := newScript(t)
	s.put(11, "share", "", object("epoch", int64(2)))
	s.put(10, "share", "m", object("clientHost", "/s"))
	s.put(17, "streams", "", object("epoch", int64(3)))
	s.put(20, "streams", "", object("assignmentEpoch", int64(3)))
	s.put(19, "streams", "m", object("clientHost", "/t"))
	s.put(22, "streams", "m", object("memberEpoch", int64(3), "activeTasks", []any{object("subtopologyId", "0", "partitions", []any{int64(5)})}))
	s.want("share share Stable 2: m@/s[]", "streams streams Stable 3: m@/t[0:5]")
}

// Records that cannot be read, or that a newer broker wrote, change nothing.
func TestUnreadableRecords(t *testing.T) {
	s := newScript(t)
	s.commit(-1, "g", 0, 1)
	before := s.String()
	for _, r := range [][2][]byte{
		{nil, {0, 3}},
		{{}, nil},
		{{0, 99, 1}, {0}},
		{{0, 1, 0, 1, 'g'}, nil},
		{{0, 2, 0, 1, 'g'}, {0, 9, 9}},
		{{0, 2, 0, 1, 'g'}, {0}},
	} {
		s.batch(-1, r[0], r[1])
	}
	if got := s.String(); got != before {
		t.Errorf("%s, was %s", got, before)
	}
}

func TestMiniKafka(t *testing.T) {
	s, err := ParseMiniKafka([]byte(`{"groups":{"billing":[{"offset":3,"partition":0,"topic":"orders"}],"empty":[]},"version":1}`))
	if err != nil {
		t.Fatal(err)
	}
	g, ok := s.Group("billing")
	if c, committed := g.Offset(store.TopicPartition{Topic: "orders"}); !ok || !committed || c.Offset != 3 {
		t.Errorf("%+v", c)
	}
	if _, err := ParseMiniKafka([]byte(`{"groups":`)); err == nil {
		t.Error("half a file was read")
	}
}

// No record makes a State fall over.
func FuzzState(f *testing.F) {
	for _, c := range [][2]string{
		{"0001000267310003666f6f00000002", "0003000000000000002a0000000500016d0000018bcfe56800"},
		{"000200026731", "00030008636f6e73756d657200000001000572616e676500026d310000018bcfe568000000000100026d31ffff00016300022f68000493e00000afc8000000190003000000010003666f6fffffffff00000000ffffffffffff000000170003000000010003666f6f0000000100000000ffffffff"},
		{"000300026732", "0000000000030100080000000000000009"},
	} {
		f.Add(unhex(f, c[0]), unhex(f, c[1]), false)
		f.Add(unhex(f, c[0]), unhex(f, c[1]), true)
	}
	f.Fuzz(func(t *testing.T, key, value []byte, transactional bool) {
		s := newScript(t)
		producer := int64(-1)
		if transactional {
			producer = 1
		}
		s.batch(producer, key, value)
		s.mark(1, record.Commit)
		s.batch(producer, key, nil)
		if len(s.state.Groups()) > 1 {
			t.Errorf("two groups of one key: %s", s)
		}
	})
}

// Commits are replayed without a trace but the newest: a log of many takes no more memory
// than one of few.
func TestReplayAllocatesNothing(t *testing.T) {
	s := newScript(t)
	for range 3 {
		s.commit(-1, "g", 7, 1000)
		s.commit(-1, "g", 8, 1000)
	}
	b := s.last
	if n := testing.AllocsPerRun(100, func() { s.state.Update(&b) }); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
