package decode

import (
	"encoding/hex"
	"strings"
	"testing"

	"logdir/store/record"
)

func TestControlJSON(t *testing.T) {
	const uuid = "20000000000000000000000000004d00" // as it stands in the file
	tests := []struct {
		name  string
		typ   record.ControlType
		value string // hex, blanks between fields
		want  string // "" if it does not parse
	}{
		{
			"leader change", record.LeaderChange,
			// version, leader, voters {id, tags}, granting voters, tags
			"0000 00000001 03 00000001 00 00000002 00 02 00000001 00 00",
			`{"version":0,"leaderId":1,"voters":[{"voterId":1},{"voterId":2}],"grantingVoters":[{"voterId":1}]}`,
		},
		{
			"leader change with directories", record.LeaderChange,
			"0001 00000001 02 00000001 " + uuid + " 00 01 00",
			`{"version":1,"leaderId":1,"voters":[{"voterId":1,"voterDirectoryId":"IAAAAAAAAAAAAAAAAABNAA"}],"grantingVoters":[]}`,
		},
		{
			"snapshot header", record.SnapshotHeader, "0000 0000018bcfe56800 00",
			`{"version":0,"lastContainedLogTimestamp":1700000000000}`,
		},
		{"snapshot footer, a tag is skipped", record.SnapshotFooter, "0000 01 07 02 aabb", `{"version":0}`},
		{"kraft version", record.KRaftVersion, "0000 0001 00", `{"version":0,"kRaftVersion":1}`},
		{
			"voters", record.KRaftVoters,
			// version, voters: id, directory, endpoints {name, host, port, tags}, feature {min, max, tags}, tags, tags
			"0000 02 00000001 " + uuid + " 02 03 4341 02 68 2385 00 0000 0001 00 00 00",
			`{"version":0,"voters":[{"voterId":1,"voterDirectoryId":"IAAAAAAAAAAAAAAAAABNAA",` +
				`"endpoints":[{"name":"CA","host":"h","port":9093}],` +
				`"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}`,
		},
		{"an end marker is none of them", record.Commit, "0000 00000005", ""},
		{"cut short", record.SnapshotHeader, "0000 0000018bcf", ""},
		{"more voters than bytes", record.LeaderChange, "0000 00000001 ffffffff0f", ""},
		{"no tag section", record.KRaftVersion, "0000 0001", ""},
		{"empty", record.SnapshotFooter, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			value, err := hex.DecodeString(strings.ReplaceAll(tt.value, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ControlJSON([]byte("<"), tt.typ, value)
			if want := "<" + tt.want; string(got) != want || ok != (tt.want != "") {
				t.Errorf("got  %s %v\nwant %s", got, ok, want)
			}
		})
	}
}

func FuzzControlJSON(f *testing.F) {
	f.Add(int16(record.LeaderChange), []byte{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0, 1, 0})
	f.Add(int16(record.KRaftVoters), []byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, typ int16, value []byte) {
		out, ok := ControlJSON(nil, record.ControlType(typ), value)
		if ok && len(out) > 100*(len(value)+10) {
			t.Errorf("%d bytes of JSON from %d bytes", len(out), len(value))
		}
	})
}
