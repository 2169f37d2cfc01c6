package group

import (
	"os"
	"path/filepath"
	"testing"

	"logdir/fixtures"
)

func TestResetMiniKafka(t *testing.T) {
	const file = `{"groups":{"a<b":[{"offset":3,"partition":0,"topic":"orders"},{"offset":7,"partition":1,"topic":"orders"}],"empty":[]},"version":1}`
	for _, c := range []struct {
		name, group string
		positions   []Position
		want        string
	}{
		{"nothing", "a<b", nil, file},
		{
			"one of two", "a<b",
			[]Position{{Topic: "orders", Partition: 1, Offset: 5}},
			`{"groups":{"a<b":[{"offset":3,"partition":0,"topic":"orders"},{"offset":5,"partition":1,"topic":"orders"}],"empty":[]},"version":1}`,
		},
		{
			"a new one between", "empty",
			[]Position{{Topic: "x", Partition: 2, Offset: 1}, {Topic: "b", Partition: 9, Offset: 0}},
			`{"groups":{"a<b":[{"offset":3,"partition":0,"topic":"orders"},{"offset":7,"partition":1,"topic":"orders"}],` +
				`"empty":[{"offset":0,"partition":9,"topic":"b"},{"offset":1,"partition":2,"topic":"x"}]},"version":1}`,
		},
		{
			"a new group", "c",
			[]Position{{Topic: "x", Offset: 1}},
			`{"groups":{"a<b":[{"offset":3,"partition":0,"topic":"orders"},{"offset":7,"partition":1,"topic":"orders"}],` +
				`"c":[{"offset":1,"partition":0,"topic":"x"}],"empty":[]},"version":1}`,
		},
	} {
		got, err := ResetMiniKafka([]byte(file), c.group, c.positions)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
	if _, err := ResetMiniKafka([]byte(`{"groups":`), "a", []Position{{Topic: "x"}}); err == nil {
		t.Error("half a file was changed")
	}
}

// A file that MiniKafka wrote is written again to the byte.
func TestMiniKafkaIsSpelledAsItIs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures.Corpus(t, "minikafka"), "*", "data", MiniKafkaFile))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseMiniKafka(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range s.Groups() {
			got, err := ResetMiniKafka(data, g.ID, g.Offsets())
			if err != nil || string(got) != string(data) {
				t.Errorf("%s: %s\nwant %s (%v)", file, got, data, err)
			}
		}
	}
}
