package group

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"logdir/store/corrupt"
	"logdir/store/message"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Bytes that Kafka wrote, what they print, and that they are written again.
func TestGoldenRecords(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		wantKey, want    string
	}{
		{
			"offset commit",
			"0001000267310003666f6f00000002", "0003000000000000002a0000000500016d0000018bcfe56800",
			`{"type":"1","data":{"group":"g1","topic":"foo","partition":2}}`,
			`{"version":"3","data":{"offset":42,"leaderEpoch":5,"metadata":"m","commitTimestamp":1700000000000}}`,
		},
		{
			"group metadata",
			"000200026731",
			"00030008636f6e73756d657200000001000572616e676500026d310000018bcfe568000000000100026d31ffff00016300022f68000493e00000afc8000000190003000000010003666f6fffffffff00000000ffffffffffff000000170003000000010003666f6f0000000100000000ffffffff",
			`{"type":"2","data":{"group":"g1"}}`,
			`{"version":"3","data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"m1","currentStateTimestamp":1700000000000,"members":[{"memberId":"m1","groupInstanceId":null,"clientId":"c","clientHost":"/h","rebalanceTimeout":300000,"sessionTimeout":45000,"subscription":{"topics":["foo"],"userData":null,"ownedPartitions":[],"generationId":-1,"rackId":null},"assignment":{"assignedPartitions":[{"topic":"foo","partitions":[0]}],"userData":null}}]}}`,
		},
		{
			"consumer group metadata",
			"000300026732", "0000000000030100080000000000000009",
			`{"type":"3","data":{"groupId":"g2"}}`,
			`{"version":"0","data":{"epoch":3,"metadataHash":9}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := ParseKey(unhex(t, c.key))
			if err != nil {
				t.Fatal(err)
			}
			value, err := key.ParseValue(unhex(t, c.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.wantKey, string(key.AppendJSON(nil))) + cmp.Diff(c.want, string(value.AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
			again, err := key.AppendKey(nil, key.Object)
			if err != nil || hex.EncodeToString(again) != c.key {
				t.Errorf("key written as %x, %v", again, err)
			}
			again, err = key.AppendValue(nil, value.Version, value.Object)
			if err != nil || hex.EncodeToString(again) != c.value {
				t.Errorf("value written as %x, %v", again, err)
			}
		})
	}
}

func TestUnknownRecords(t *testing.T) {
	commit, _ := TypeOf(TypeOffsetCommit)
	for name, err := range map[string]error{
		"record type 99 is unknown":       second(ParseKey([]byte{0, 99})),
		"record type 18 is unknown":       second(ParseKey([]byte{0, 18, 0, 0})),
		"record type -1 is unknown":       second(ParseKey([]byte{0xff, 0xff})),
		"record type 1 has no version 99": second(commit.ParseValue([]byte{0, 99})),
		"record type 9 is unknown":        second(ParseKey([]byte{0, 9, 0, 0})),
	} {
		if !errors.Is(err, message.ErrUnknownType) || err.Error() != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDamagedRecords(t *testing.T) {
	key, value := unhex(t, "0001000267310003666f6f00000002"), unhex(t, "0003000000000000002a0000000500016d0000018bcfe56800")
	for cut := range key {
		if err := second(ParseKey(key[:cut])); !isDamage(err, cut) {
			t.Errorf("%d bytes of a key: %v", cut, err)
		}
	}
	commit, _ := TypeOf(TypeOffsetCommit)
	for cut := range value {
		if err := second(commit.ParseValue(value[:cut])); !isDamage(err, cut) {
			t.Errorf("%d bytes of a value: %v", cut, err)
		}
	}
	err := second(ParseKey(unhex(t, "0001000267310003666f6f000002")))
	if want := "bad-records at byte 11: OffsetCommitKey.partition: needs 4 bytes, have 3 (CORRUPT_MESSAGE)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func isDamage(err error, size int) bool {
	e, ok := errors.AsType[*corrupt.Error](err)
	return ok && e.Kind == corrupt.BadRecords && e.Pos >= 0 && e.Pos+e.Size == int64(size)
}

// The types are sorted, none stands twice, and a group is found in every key.
func TestRecordTypes(t *testing.T) {
	for i, r := range RecordTypes {
		if i > 0 && r.Type <= RecordTypes[i-1].Type {
			t.Errorf("type %d after %d", r.Type, RecordTypes[i-1].Type)
		}
		if got, ok := TypeOf(r.Type); !ok || got.Key != r.Key {
			t.Errorf("type %d is not found", r.Type)
		}
		o := &message.Object{}
		for _, f := range r.Key.Fields {
			if f.Kind == message.String {
				o.Set(f.Name, f.Name+"-value")
			}
		}
		raw, err := r.AppendKey(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ParseKey(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(&key); got != "group-value" && got != "groupId-value" {
			t.Errorf("type %d: group %q", r.Type, got)
		}
	}
}

func TestPartitionOf(t *testing.T) {
	for id, want := range map[string]int32{
		"g1": 42, "console-consumer-1": 24,
		"my-group":           12, // a negative hash: its absolute value, not its low bits
		"":                   0,
		"polygenelubricants": 0, // whose hash has no absolute value
	} {
		if got := PartitionOf(id, 50); got != want {
			t.Errorf("%q: partition %d, want %d", id, got, want)
		}
	}
}

// Two implementations that do not know of each other write the same bytes for the same commit.
func TestOffsetCommitsAgreeWithKmsg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := OffsetCommit{
			Group: rapid.String().Draw(t, "group"), Topic: rapid.String().Draw(t, "topic"), Partition: rapid.Int32().Draw(t, "partition"),
			Offset: rapid.Int64().Draw(t, "offset"), LeaderEpoch: rapid.Int32().Draw(t, "epoch"), Metadata: rapid.String().Draw(t, "metadata"),
			CommitTimestamp: rapid.Int64().Draw(t, "commit"), ExpireTimestamp: -1,
		}
		other := kmsg.OffsetCommitValue{Version: 3, Offset: c.Offset, LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata, CommitTimestamp: c.CommitTimestamp}
		if rapid.Bool().Draw(t, "expires") {
			c.LeaderEpoch, c.ExpireTimestamp = -1, rapid.Int64Min(0).Draw(t, "expiry")
			other.Version, other.ExpireTimestamp = 1, c.ExpireTimestamp
		}
		otherKey := kmsg.OffsetCommitKey{Version: 1, Group: c.Group, Topic: c.Topic, Partition: c.Partition}
		key, err := c.AppendKey(nil)
		if err != nil || !bytes.Equal(key, otherKey.AppendTo(nil)) {
			t.Fatalf("key %x, kmsg %x, %v", key, otherKey.AppendTo(nil), err)
		}
		value, err := c.AppendValue(nil)
		if err != nil || !bytes.Equal(value, other.AppendTo(nil)) {
			t.Fatalf("value %x, kmsg %x, %v", value, other.AppendTo(nil), err)
		}
		k, v := parseBoth(t, key, value)
		if diff := cmp.Diff(c, offsetCommitOf(&k, &v)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// offsetCommitOf reads a commit from the trees of its key and value.
func offsetCommitOf(k *Key, v *Value) OffsetCommit {
	return OffsetCommit{
		Group: k.Object.Str("group"), Topic: k.Object.Str("topic"), Partition: int32(k.Object.Int("partition", -1)),
		Offset: v.Object.Int("offset", -1), LeaderEpoch: int32(v.Object.Int("leaderEpoch", -1)),
		Metadata:        v.Object.Str("metadata"),
		CommitTimestamp: v.Object.Int("commitTimestamp", -1), ExpireTimestamp: v.Object.Int("expireTimestamp", -1),
	}
}

// A commit that is read without trees says what the trees say, of both types and in all
// versions.
func TestRawCommitIsTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ, _ := TypeOf(rapid.SampledFrom([]int16{TypeLegacyOffsetCommit, TypeOffsetCommit}).Draw(t, "type"))
		version := rapid.Int16Range(typ.Value.Lowest, typ.Value.Highest).Draw(t, "version")
		key, err := typ.AppendKey(nil, object("group", rapid.String().Draw(t, "group"), "topic", rapid.String().Draw(t, "topic"),
			"partition", int64(rapid.Int32().Draw(t, "partition"))))
		if err != nil {
			t.Fatal(err)
		}
		value, err := typ.AppendValue(nil, version, object("offset", rapid.Int64().Draw(t, "offset"),
			"leaderEpoch", int64(rapid.Int32().Draw(t, "epoch")), "metadata", rapid.String().Draw(t, "metadata")))
		if err != nil {
			t.Fatal(err)
		}
		k, v := parseBoth(t, key, value)
		want := offsetCommitOf(&k, &v)
		var got rawCommit
		if err := errors.Join(got.readKey(typ, key), got.readValue(typ, value)); err != nil {
			t.Fatal(err)
		}
		if string(got.group) != want.Group || string(got.topic) != want.Topic || got.partition != want.Partition ||
			got.offset != want.Offset || got.epoch != want.LeaderEpoch {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func parseBoth(t *rapid.T, key, value []byte) (Key, Value) {
	k, err := ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	v, err := k.ParseValue(value)
	if err != nil {
		t.Fatal(err)
	}
	return k, v
}

// So they do for the state of a group.
func TestGroupMetadataAgreesWithKmsg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Metadata{
			Group: "g", ProtocolType: rapid.String().Draw(t, "type"), Generation: rapid.Int32().Draw(t, "generation"),
			Protocol: rapid.String().Draw(t, "protocol"), Leader: rapid.String().Draw(t, "leader"), StateTimestamp: rapid.Int64().Draw(t, "timestamp"),
		}
		other := kmsg.GroupMetadataValue{
			Version: 3, ProtocolType: g.ProtocolType, Generation: g.Generation,
			Protocol: pointer(g.Protocol), Leader: pointer(g.Leader), CurrentStateTimestamp: g.StateTimestamp,
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			m := drawMember(t, i)
			g.Members = append(g.Members, m)
			other.Members = append(other.Members, kmsg.GroupMetadataValueMember{
				MemberID: m.MemberID, InstanceID: pointer(m.InstanceID), ClientID: m.ClientID, ClientHost: m.ClientHost,
				RebalanceTimeoutMillis: m.RebalanceTimeoutMS, SessionTimeoutMillis: m.SessionTimeoutMS,
				Subscription: m.Subscription, Assignment: m.Assignment,
			})
		}
		key, keyErr := g.AppendKey(nil)
		value, err := g.AppendValue(nil)
		if keyErr != nil || err != nil || !bytes.Equal(value, other.AppendTo(nil)) {
			t.Fatalf("value %x, kmsg %x, %v", value, other.AppendTo(nil), err)
		}
		k, v := parseBoth(t, key, value)
		if diff := cmp.Diff(g, MetadataOf(&k, &v)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func drawMember(t *rapid.T, i int) MemberMetadata {
	text := func(name string) string { return rapid.String().Draw(t, fmt.Sprintf("%s%d", name, i)) }
	blob := func(name string) []byte {
		return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, fmt.Sprintf("%s%d", name, i))...)
	}
	return MemberMetadata{
		MemberID: text("member"), InstanceID: text("instance"), ClientID: text("client"), ClientHost: text("host"),
		RebalanceTimeoutMS: rapid.Int32().Draw(t, "rebalance"), SessionTimeoutMS: rapid.Int32().Draw(t, "session"),
		Subscription: blob("subscription"), Assignment: blob("assignment"),
	}
}

// And for what consumers tell each other.
func TestBlobsAgreeWithKmsg(t *testing.T) {
	owned := (&message.Object{}).Set("topic", "t").Set("partitions", []any{int64(1), int64(2)})
	subscription := (&message.Object{}).
		Set("topics", []any{"a", "b"}).Set("userData", []byte{1}).Set("ownedPartitions", []any{owned}).
		Set("generationId", int64(5)).Set("rackId", "r")
	for version := range int16(4) {
		rack := "r"
		other := kmsg.ConsumerMemberMetadata{
			Version: version, Topics: []string{"a", "b"}, UserData: []byte{1}, Generation: 5, Rack: &rack,
			OwnedPartitions: []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "t", Partitions: []int32{1, 2}}},
		}
		got, err := AppendSubscription(nil, version, subscription)
		if err != nil || !bytes.Equal(got, other.AppendTo(nil)) {
			t.Errorf("version %d: %x, kmsg %x, %v", version, got, other.AppendTo(nil), err)
		}
		if _, back, err := ParseSubscription(got); back != version || err != nil {
			t.Errorf("version %d read as %d, %v", version, back, err)
		}
	}
	assignment := (&message.Object{}).Set("assignedPartitions", []any{owned})
	other := kmsg.ConsumerMemberAssignment{Version: 1, Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: "t", Partitions: []int32{1, 2}}}}
	got, err := AppendAssignment(nil, 1, assignment)
	if err != nil || !bytes.Equal(got, other.AppendTo(nil)) {
		t.Errorf("%x, kmsg %x, %v", got, other.AppendTo(nil), err)
	}
	if o, _, err := ParseAssignment(got); err != nil || len(o.Objects("assignedPartitions")) != 1 {
		t.Errorf("%v, %v", o, err)
	}
}

// A blob of a version that is not known yet is read as the newest known one.
func TestNewerSubscription(t *testing.T) {
	o, version, err := ParseSubscription(unhex(t, "0009000000010003666f6fffffffff00000000ffffffffffff0102"))
	if err != nil || version != 3 || len(o.List("topics")) != 1 {
		t.Errorf("%v, version %d, %v", o, version, err)
	}
}

// A blob that does not parse stays as bytes, and the rest is shown.
func TestGroupWithAStrangeBlob(t *testing.T) {
	g := Metadata{Group: "g", ProtocolType: ConsumerProtocol, Members: []MemberMetadata{{MemberID: "m", Subscription: []byte{0}, Assignment: nil}}}
	raw, err := g.AppendValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	classic, _ := TypeOf(TypeGroupMetadata)
	v, err := classic.ParseValue(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":"3","data":{"protocolType":"consumer","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":0,"members":[` +
		`{"memberId":"m","groupInstanceId":null,"clientId":"","clientHost":"","rebalanceTimeout":0,"sessionTimeout":0,"subscription":"AA==","assignment":""}]}}`
	if diff := cmp.Diff(want, string(v.AppendJSON(nil))); diff != "" {
		t.Error(diff)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(unhex(f, "0001000267310003666f6f00000002"), unhex(f, "0003000000000000002a0000000500016d0000018bcfe56800"))
	f.Add(unhex(f, "000300026732"), unhex(f, "0000000000030100080000000000000009"))
	for _, r := range RecordTypes {
		if key, err := r.AppendKey(nil, &message.Object{}); err == nil && r.Value != nil {
			if value, err := r.AppendValue(nil, 0, &message.Object{}); err == nil {
				f.Add(key, value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		k, err := ParseKey(key)
		if err != nil {
			return
		}
		k.AppendJSON(nil)
		v, err := k.ParseValue(value)
		if err != nil {
			return
		}
		again, err := k.AppendValue(nil, v.Version, v.Object)
		if err != nil {
			t.Fatal(err)
		}
		back, err := k.ParseValue(again)
		if err != nil || !bytes.Equal(v.AppendJSON(nil), back.AppendJSON(nil)) {
			t.Errorf("%s became %v, %v", v.AppendJSON(nil), back.Object, err)
		}
	})
}

func BenchmarkOffsetCommitJSON(b *testing.B) {
	key, value := unhex(b, "0001000267310003666f6f00000002"), unhex(b, "0003000000000000002a0000000500016d0000018bcfe56800")
	b.SetBytes(int64(len(key) + len(value)))
	b.ReportAllocs()
	var text []byte
	for b.Loop() {
		k, err := ParseKey(key)
		if err != nil {
			b.Fatal(err)
		}
		v, err := k.ParseValue(value)
		if err != nil {
			b.Fatal(err)
		}
		text = v.AppendJSON(k.AppendJSON(text[:0]))
	}
}
