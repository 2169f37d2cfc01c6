package decode

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"logdir/store/record"
)

// golden is one record and what Kafka's tool prints of it.
type golden struct {
	topic string
	record.Record
	want string
}

// goldenRecords reads testdata/kafka.txt.
func goldenRecords(t testing.TB) []golden {
	t.Helper()
	data, err := os.ReadFile("testdata/kafka.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	offsets := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		g := golden{topic: f[0], want: " " + f[3]}
		g.Key, g.Value, g.Offset = unhex(t, f[1]), unhex(t, f[2]), offsets[f[0]]
		offsets[f[0]]++
		all = append(all, g)
	}
	return all
}

// unhex reads "x" and hex; anything else is null.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	digits, ok := strings.CutPrefix(text, "x")
	if !ok {
		return nil
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{}, b...)
}

// printed is a decoder's text as the dump has it.
func printed(d Decoder, r *record.Record) string {
	key, payload := d.Text(r)
	var text strings.Builder
	if key != nil {
		text.WriteString(" key: " + string(key))
	}
	if payload != nil {
		text.WriteString(" payload: " + string(payload))
	}
	return text.String()
}

// What is behind "due to" is more in ours than in Kafka's text, which is often "null".
func TestTextIsKafkas(t *testing.T) {
	lines := map[string]int{}
	for _, g := range goldenRecords(t) {
		got := printed(TopicOf(g.topic).Decoder(), &g.Record)
		got, _, _ = strings.Cut(got, "due to")
		want, _, _ := strings.Cut(g.want, "due to")
		if got != want {
			t.Errorf("%s, offset %d:\n%s\nKafka:\n%s", g.topic, g.Offset, got, want)
		}
		lines[g.topic]++
	}
	for topic := range topicNames {
		if lines[topic] < 10 {
			t.Errorf("only %d records of %s", lines[topic], topic)
		}
	}
}

// The JSON of a record that can be decoded is the text, as far as that is JSON; of any other
// it is the bytes, and what is wrong with them.
func TestJSON(t *testing.T) {
	for _, g := range goldenRecords(t) {
		d := TopicOf(g.topic).Decoder()
		text := printed(d, &g.Record)
		key, payload := d.JSON(&g.Record)
		if strings.HasSuffix(text, "}") && g.topic != "__remote_log_metadata" {
			got := ""
			if key != nil {
				got = " key: " + string(key)
			}
			if got += " payload: " + string(payload); got != text {
				t.Errorf("%s, offset %d: JSON %s, text %s", g.topic, g.Offset, got, text)
			}
			continue
		}
		for _, v := range [][]byte{key, payload} {
			if v != nil && !json.Valid(v) {
				t.Errorf("%s, offset %d: %s is no JSON", g.topic, g.Offset, v)
			}
		}
	}
}

func TestJSONOfWhatIsNotKnown(t *testing.T) {
	const commit = "x0001000267310003666f6f00000002" // group g1, topic foo, partition 2
	const key = `{"type":"1","data":{"group":"g1","topic":"foo","partition":2}}`
	for _, c := range []struct {
		name           string
		topic          Topic
		key, value     string
		wantKey, wantV string
	}{
		{
			"a type of a newer broker", ConsumerOffsets, "x0063", "x0000",
			`{"hex":"0063","error":"record type 99 is unknown"}`, `{"hex":"0000"}`,
		},
		{
			"a version of a newer broker", ConsumerOffsets, commit, "x0009ff",
			key, `{"hex":"0009ff","error":"record type 1 has no version 9"}`,
		},
		{
			"a value cut short", ConsumerOffsets, commit, "x0003000000",
			key, `{"hex":"0003000000","error":"OffsetCommitValue.offset: needs 8 bytes, have 3"}`,
		},
		{"a tombstone", ConsumerOffsets, commit, "null", key, ""},
		{
			"no key", ConsumerOffsets, "null", "x0000",
			"", `{"hex":"0000","error":"message had a missing key"}`,
		},
		{
			"a metadata record of a newer broker", ClusterMetadata, "null", "x01ff0100",
			"", `{"hex":"01ff0100","error":"record type 255 is unknown"}`,
		},
		{
			"a metadata record cut short", ClusterMetadata, "x6b", "x010c00116d",
			`{"hex":"6b"}`, `{"hex":"010c00116d","error":"FeatureLevelRecord.name: needs 16 bytes, have 1"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record.Record{Key: unhex(t, c.key), Value: unhex(t, c.value)}
			k, v := c.topic.Decoder().JSON(&r)
			if string(k) != c.wantKey || string(v) != c.wantV {
				t.Errorf("key %s\nvalue %s", k, v)
			}
		})
	}
}

func TestNamesOfMetadataRecords(t *testing.T) {
	f, err := ParseMetadata(unhex(t, "x01140000"))
	if err != nil || f.Name() != "NO_OP_RECORD" || f.Type != 20 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = ParseMetadata(unhex(t, "x01020004666f6f1000000000000000000000000000303900")); err != nil {
		t.Fatal(err)
	}
	if id := f.Object.UUID("topicId").String(); f.Type != TopicRecord || f.Object.Str("name") != "foo" || id != "EAAAAAAAAAAAAAAAAAAwOQ" {
		t.Errorf("%+v", f)
	}
}

// Types are looked up by number.
func TestTypesRise(t *testing.T) {
	for _, types := range [][]FrameType{MetadataTypes, RemoteTypes} {
		for i := 1; i < len(types); i++ {
			if types[i].ID <= types[i-1].ID {
				t.Errorf("type %d behind %d", types[i].ID, types[i-1].ID)
			}
		}
	}
}

// No bytes make a decoder fall over, or print something that is no JSON where JSON is
// promised; and the text does not grow out of proportion.
func FuzzDecoders(f *testing.F) {
	for _, g := range goldenRecords(f) {
		f.Add(uint8(TopicOf(g.topic)), g.Key, g.Value)
	}
	f.Fuzz(func(t *testing.T, topic uint8, key, value []byte) {
		d := Topic(topic%uint8(ShareGroupState) + 1).Decoder()
		r := record.Record{Key: key, Value: value}
		if text := printed(d, &r); len(text) > 1000+200*(len(key)+len(value)) {
			t.Errorf("%d bytes of text of %d bytes", len(text), len(key)+len(value))
		}
		k, v := d.JSON(&r)
		if k != nil && !json.Valid(k) || v != nil && !json.Valid(v) {
			t.Errorf("no JSON: key %s, value %s", k, v)
		}
	})
}
