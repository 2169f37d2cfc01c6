package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"logdir/store/corrupt"
	"logdir/store/vfs/memfs"
)

// An id from Kafka's own tests, as bytes and as text.
var fooID = UUID{0: 0x10, 14: 0x30, 15: 0x39}

func TestUUID(t *testing.T) {
	if got := fooID.String(); got != "EAAAAAAAAAAAAAAAAAAwOQ" {
		t.Error(got)
	}
	for _, c := range []struct {
		text string
		want UUID
		ok   bool
	}{
		{"EAAAAAAAAAAAAAAAAAAwOQ", fooID, true},
		{"EAAAAAAAAAAAAAAAAAAwOQ==", fooID, true},
		{"AAAAAAAAAAAAAAAAAAAAAA", MigratingDir, true},
		{"AAAAAAAAAAAAAAAAAAAAAQ", UnassignedDir, true},
		{"AAAAAAAAAAAAAAAAAAAAAg", LostDir, true},
		{"", UUID{}, false},
		{"EAAAAAAAAAAAAAAAAAAwO", UUID{}, false},
		{"EAAAAAAAAAAAAAAAAAAwOQA", UUID{}, false},
		{"EAAAAAAAAAAAAAAAAAAwOQ=", UUID{}, false},
		{"EAAAAAAAAAAAAAAAAAA+OQ", UUID{}, false},
		{"EAAAAAAAAAAAAAAAAAA\n\nOQ", UUID{}, false},
	} {
		got, err := ParseUUID(c.text)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	if !LostDir.IsReserved() || !(UUID{15: 99}).IsReserved() || (UUID{15: 100}).IsReserved() || fooID.IsReserved() {
		t.Error("the hundred lowest ids are reserved, and no other")
	}
}

func TestRandomUUID(t *testing.T) {
	seen := map[UUID]bool{}
	for range 200 {
		id := RandomUUID()
		text := id.String()
		back, err := ParseUUID(text)
		if seen[id] || err != nil || back != id || strings.Contains(text, "-") || id[6]>>4 != 4 || id[8]>>6 != 2 {
			t.Fatalf("%s %x %v", text, id[:], err)
		}
		seen[id] = true
	}
}

const goodPartitionMetadata = "version: 0\ntopic_id: EAAAAAAAAAAAAAAAAAAwOQ"

func TestPartitionMetadata(t *testing.T) {
	want := PartitionMetadata{0, fooID}
	if got := string(AppendPartitionMetadata(nil, want)); got != goodPartitionMetadata || len(got) != 43 {
		t.Errorf("%q", got)
	}
	for _, text := range []string{
		goodPartitionMetadata,
		goodPartitionMetadata + "\n",
		goodPartitionMetadata + "\nmore lines\n\n",
		strings.ReplaceAll(goodPartitionMetadata, "\n", "\r\n"),
		"v:  \t0\nt: EAAAAAAAAAAAAAAAAAAwOQ", // the keys are not looked at
	} {
		got, err := ParsePartitionMetadata([]byte(text))
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := ParsePartitionMetadata([]byte("version: 7\ntopic_id: EAAAAAAAAAAAAAAAAAAwOQ")); err != nil || got.Version != 7 {
		t.Errorf("a newer version is read: %v, %v", got, err)
	}
}

func TestDamagedPartitionMetadata(t *testing.T) {
	bad := corrupt.BadMetadata
	for _, c := range []struct {
		text string
		want damage
	}{
		{"", damage{bad, 0, 0, "", "no bytes: Kafka 2.8 left the file so until it knew the id, newer brokers do not start"}},
		{"version: 0\n", damage{bad, 11, 0, "", "one line, not version and topic_id"}},
		{"version 0\nx", damage{bad, 0, 9, "version", `line 1: "version 0" is not "version: value"`}},
		{"version:0\nx", damage{bad, 0, 9, "version", `line 1: "version:0" is not "version: value"`}},
		{"version: \nx", damage{bad, 0, 9, "version", `line 1: "version: " is not "version: value"`}},
		{"version: x\n", damage{bad, 9, 1, "version", `line 1: version "x" is no number`}},
		{"version: -1\n", damage{bad, 9, 2, "version", "line 1: version -1"}},
		{"version: 0\ntopic_id EAAA", damage{bad, 11, 13, "topic_id", `line 2: "topic_id EAAA" is not "topic_id: value"`}},
		{"version: 0\ntopic_id: a: b", damage{bad, 11, 14, "topic_id", `line 2: "topic_id: a: b" is not "topic_id: value"`}},
		{"version: 0\ntopic_id: EAAA", damage{bad, 21, 4, "topic_id", `line 2: id "EAAA" is not 22 characters of base64`}},
		{"version: 0\ntopic_id: EAAAAAAAAAAAAAAAAAA!OQ", damage{bad, 21, 22, "topic_id", `line 2: id "EAAAAAAAAAAAAAAAAAA!OQ" is not base64 with the URL alphabet`}},
		{"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", damage{bad, 21, 22, "topic_id", "line 2: id AAAAAAAAAAAAAAAAAAAAAA is all zeros"}},
		{"version: 0\ntopic_id: \xff", damage{bad, 21, 1, "", "line 2: byte 0xff is not UTF-8"}},
	} {
		_, err := ParsePartitionMetadata([]byte(c.text))
		if diff := cmp.Diff(c.want, damageOf(t, err)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// Java's syntax, by example.
func TestProperties(t *testing.T) {
	text := "#\n" +
		"! a comment \\\n" + // a backslash joins no comment
		"  \t\n" +
		"a=1\n" +
		"  b : 2\r\n" +
		"c   3  \r" +
		"d\n" +
		"e = x=y:z \\\n" +
		"     joined\n" +
		"k\\ \\=\\:\\#=v\\t\\n\\r\\f\\\\\\q\n" +
		"u=\\u00e9\\uD83D\\uDE00\n" +
		"latin=\xe9\n" +
		"a=4\n" +
		"last\\"
	want := [][2]string{
		{"a", "1"},
		{"b", "2"},
		{"c", "3  "},
		{"d", ""},
		{"e", "x=y:z joined"},
		{"k =:#", "v\t\n\r\f\\q"},
		{"u", "\u00e9\U0001f600"},
		{"latin", "\u00e9"},
		{"a", "4"},
		{"last", ""},
	}
	props, err := ParseProperties([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]string
	for _, p := range props {
		got = append(got, [2]string{p.Key, p.Value})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v, _ := props.Get("a"); v != "4" {
		t.Errorf("the last one does not win: %q", v)
	}
	if e := props[4]; e.Line != 8 || text[e.Pos:e.Pos+e.Size] != "e = x=y:z \\\n     joined" {
		t.Errorf("e stands on line %d: %q", e.Line, text[e.Pos:e.Pos+e.Size])
	}
}

func TestBadEscape(t *testing.T) {
	for _, c := range []struct {
		text string
		want damage
	}{
		{"a=1\nb=x\\u12", damage{corrupt.BadMetadata, 7, 4, "", `line 2: "\\u12" is no \uXXXX escape`}},
		{"a=\\u12g4\n", damage{corrupt.BadMetadata, 2, 6, "", `line 1: "\\u12g4" is no \uXXXX escape`}},
	} {
		_, err := ParseProperties([]byte(c.text))
		if diff := cmp.Diff(c.want, damageOf(t, err)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestPropertiesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want Properties
		for i := range rapid.IntRange(0, 8).Draw(t, "entries") {
			want.Set(rapid.StringN(1, 12, -1).Draw(t, fmt.Sprintf("key%d", i)), rapid.StringN(0, 12, -1).Draw(t, fmt.Sprintf("value%d", i)))
		}
		text := AppendProperties(nil, want, time.Unix(0, 0))
		got, err := ParseProperties(text)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v, %v", text, got, err)
		}
		for i, p := range got {
			if p.Key != want[i].Key || p.Value != want[i].Value {
				t.Fatalf("%q: read %q=%q, wrote %q=%q", text, p.Key, p.Value, want[i].Key, want[i].Value)
			}
		}
	})
}

// The file as a broker of 3.7 wrote it, and as it is written again.
const goodMetaProperties = "#\n" +
	"#Thu Jun 27 06:21:58 UTC 2024\n" +
	"node.id=0\n" +
	"directory.id=RcOhbj_ZhlsWrWDWaYIUew\n" +
	"version=1\n" +
	"cluster.id=G13gPvLWR7u_hUqWhAPD3A\n"

func TestMetaPropertiesAsKafkaWritesThem(t *testing.T) {
	m, err := ParseMetaProperties([]byte(goodMetaProperties))
	if err != nil {
		t.Fatal(err)
	}
	if m.Version != 1 || m.NodeID != 0 || m.ClusterID != "G13gPvLWR7u_hUqWhAPD3A" || m.DirectoryID.String() != "RcOhbj_ZhlsWrWDWaYIUew" {
		t.Errorf("%+v", m)
	}
	when := time.Date(2024, 6, 27, 6, 21, 58, 0, time.UTC)
	if diff := cmp.Diff(goodMetaProperties, string(AppendMetaProperties(nil, m, when))); diff != "" {
		t.Error(diff)
	}
}

func TestMetaPropertiesOfAllAges(t *testing.T) {
	for _, c := range []struct {
		text string
		want MetaProperties
	}{
		{"", MetaProperties{Version: 0, NodeID: NoNodeID}},
		{"version=0\nbroker.id=1\n", MetaProperties{Version: 0, NodeID: 1}},
		{"broker.id=1001\ncluster.id=a\\:b\n", MetaProperties{Version: 0, NodeID: 1001, ClusterID: "a:b"}},
		{"version=1\r\nnode.id=3\r\ncluster.id=x\r\n", MetaProperties{Version: 1, NodeID: 3, ClusterID: "x"}},
	} {
		got, err := ParseMetaProperties([]byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		got.Properties = nil
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestMetaPropertiesKeepsOtherKeys(t *testing.T) {
	m, err := ParseMetaProperties([]byte("version=0\nbroker.id=1\nour.own=x y\n"))
	if err != nil {
		t.Fatal(err)
	}
	m.ClusterID, m.DirectoryID = "c", &fooID
	want := "#\n#Thu Jan 01 00:00:00 UTC 1970\nbroker.id=1\ndirectory.id=EAAAAAAAAAAAAAAAAAAwOQ\nversion=0\ncluster.id=c\nour.own=x y\n"
	if diff := cmp.Diff(want, string(AppendMetaProperties(nil, m, time.Unix(0, 0).UTC()))); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedMetaProperties(t *testing.T) {
	bad := corrupt.BadMetadata
	for _, c := range []struct {
		text string
		want damage
	}{
		{"version=2\n", damage{bad, 0, 9, "version", "line 1: version 2"}},
		{"#\nversion=one\n", damage{bad, 2, 11, "version", `line 2: version "one" is no int32`}},
		{"broker.id=x\n", damage{bad, 0, 11, "broker.id", `line 1: broker.id "x" is no int32`}},
		{"version=1\nnode.id=99999999999\n", damage{bad, 10, 19, "node.id", `line 2: node.id "99999999999" is no int32`}},
		{"version=1\nnode.id=1\n", damage{bad, 0, 20, "cluster.id", "version 1 without cluster.id"}},
		{"version=1\ncluster.id=a\n", damage{bad, 0, 23, "node.id", "version 1 without node.id"}},
		{"directory.id=xyz\n", damage{bad, 0, 16, "directory.id", `line 1: id "xyz" is not 22 characters of base64`}},
		{"directory.id=AAAAAAAAAAAAAAAAAAAAAg\n", damage{bad, 0, 35, "directory.id", "line 1: directory id AAAAAAAAAAAAAAAAAAAAAg is reserved"}},
		{"broker.id=\\u00\n", damage{bad, 10, 5, "", `line 1: "\\u00\n" is no \uXXXX escape`}},
	} {
		_, err := ParseMetaProperties([]byte(c.text))
		if diff := cmp.Diff(c.want, damageOf(t, err)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestCleanShutdown(t *testing.T) {
	if got := string(AppendCleanShutdown(nil, 83)); got != `{"version":0,"brokerEpoch":83}` {
		t.Error(got)
	}
	unknown := CleanShutdown{-1, UnknownBrokerEpoch}
	for text, want := range map[string]CleanShutdown{
		"":                                unknown,
		`{"version":0,"brokerEpoch":83}`:  {0, 83},
		`{"version":0,"brokerEpoch":-1}`:  {0, -1},
		`{"version":0}`:                   unknown,
		`{"version":0,"brokerEpoch":"x"}`: unknown,
		"\x00\x00":                        unknown,
	} {
		if got := ParseCleanShutdown([]byte(text)); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestCleanShutdownFile(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	if _, clean, err := ReadCleanShutdown(fsys, "d"); clean || err != nil {
		t.Errorf("without a marker: %v, %v", clean, err)
	}
	if err := WriteCleanShutdown(fsys, "d", 7); err != nil {
		t.Fatal(err)
	}
	if m, clean, err := ReadCleanShutdown(fsys, "d"); !clean || err != nil || m.BrokerEpoch != 7 {
		t.Errorf("%+v, %v, %v", m, clean, err)
	}
	for range 2 { // a marker that is gone is no error
		if err := RemoveCleanShutdown(fsys, "d"); err != nil {
			t.Fatal(err)
		}
	}
	if _, clean, _ := ReadCleanShutdown(fsys, "d"); clean {
		t.Error("the marker is still there")
	}
}

// Both versions as Kafka writes them.
const (
	quorumV0 = `{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}`
	quorumV1 = `{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}`
)

func TestQuorumState(t *testing.T) {
	for text, want := range map[string]QuorumState{
		quorumV0: {LeaderID: 1, LeaderEpoch: 1, VotedID: -1, CurrentVoters: []int32{1, 2}},
		quorumV1: {DataVersion: 1, LeaderID: 1, LeaderEpoch: 1, VotedID: -1},
	} {
		got, err := ParseQuorumState([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if again := string(AppendQuorumState(nil, got)); again != text {
			t.Errorf("written %s\nread    %s", again, text)
		}
	}
}

func TestDamagedQuorumState(t *testing.T) {
	for _, c := range []struct {
		old, changed string // in quorumV1
		pos          int64
		field        string
	}{
		{`{"leaderId"`, `["leaderId"`, 11, ""},
		{`"leaderId"`, `"leaderIx"`, 0, "leaderId"},
		{`"leaderEpoch":1`, `"leaderEpoch":"1"`, 30, "leaderEpoch"},
		{`"votedId":-1,`, ``, 0, "votedId"},
		{`"data_version":1`, `"data_version":2`, 88, "data_version"},
		{`"data_version":1`, `"data_version":0`, 0, "appliedOffset"},
		{`AAAAAA"`, `AAAAA"`, 44, "votedDirectoryId"},
		{`1}`, `1`, 102, ""},
	} {
		text := strings.Replace(quorumV1, c.old, c.changed, 1)
		_, err := ParseQuorumState([]byte(text))
		got := damageOf(t, err)
		if got.Kind != corrupt.BadMetadata || got.Pos != c.pos || got.Field != c.field {
			t.Errorf("%s: %+v, want byte %d, field %q", text, got, c.pos, c.field)
		}
	}
}

// Damage in a file names the file.
func TestMetadataFiles(t *testing.T) {
	fsys := memfs.New()
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	meta := MetaProperties{Version: 1, NodeID: 2, ClusterID: "c"}
	err := errors.Join(
		WritePartitionMetadata(fsys, "d/p", PartitionMetadata{0, fooID}),
		WriteMetaProperties(fsys, "d/m", meta, time.Unix(0, 0)),
		WriteOffsets(fsys, "d/bad", nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPartitionMetadata(fsys, "d/p"); err != nil || got.TopicID != fooID {
		t.Error(got, err)
	}
	if got, err := ReadMetaProperties(fsys, "d/m"); err != nil || got.NodeID != 2 || got.ClusterID != "c" {
		t.Error(got, err)
	}
	for name, read := range map[string]func() error{
		"partition.metadata": func() error { _, err := ReadPartitionMetadata(fsys, "d/bad"); return err },
		"quorum-state":       func() error { _, err := ReadQuorumState(fsys, "d/bad"); return err },
	} {
		if err := read(); err == nil || !strings.HasPrefix(err.Error(), "d/bad: bad-metadata at byte ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPartitionMetadata(f *testing.F) {
	f.Add([]byte(goodPartitionMetadata))
	f.Add([]byte("version: 0\ntopic_id: : \n"))
	f.Add([]byte(": : \n: "))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParsePartitionMetadata(data)
		if err != nil {
			if d := damageOf(t, err); d.Pos < 0 || d.Pos+d.Size > int64(len(data)) {
				t.Errorf("%+v in %d bytes", d, len(data))
			}
			return
		}
		if again, err := ParsePartitionMetadata(AppendPartitionMetadata(nil, m)); err != nil || again != m {
			t.Error(m, again, err)
		}
	})
}

func FuzzMetaProperties(f *testing.F) {
	f.Add([]byte(goodMetaProperties))
	f.Add([]byte("a\\\n b\\u00e9 : \\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMetaProperties(data)
		if err != nil {
			if d := damageOf(t, err); d.Pos < 0 || d.Pos+d.Size > int64(len(data)) {
				t.Errorf("%+v in %d bytes", d, len(data))
			}
			return
		}
		text := AppendMetaProperties(nil, m, time.Unix(0, 0))
		again, err := ParseMetaProperties(text)
		if err != nil || again.NodeID != m.NodeID || again.ClusterID != m.ClusterID || again.Version != m.Version {
			t.Errorf("%+v became %q, %+v, %v", m, text, again, err)
		}
	})
}

func FuzzQuorumState(f *testing.F) {
	f.Add([]byte(quorumV0))
	f.Add([]byte(quorumV1))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseQuorumState(data)
		if err != nil {
			if d := damageOf(t, err); d.Pos < 0 || d.Pos+d.Size > int64(len(data)) {
				t.Errorf("%+v in %d bytes", d, len(data))
			}
			return
		}
		if again, err := ParseQuorumState(AppendQuorumState(nil, s)); err != nil || cmp.Diff(s, again) != "" {
			t.Error(err, cmp.Diff(s, again))
		}
	})
}
