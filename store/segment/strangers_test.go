package segment_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"logdir/store/record"
	"logdir/store/segment"
	"logdir/store/vfs"
	"logdir/store/vfs/memfs"
)

// cleaned is a batch of the offsets from base on, one for each character, of which only
// those with a value other than a dot are left: "a.c" holds base and base+2. A horizon, ms,
// is what a cleaner gives a batch with a tombstone; 0 for none.
func cleaned(t *testing.T, base int64, values string, horizon int64) []byte {
	t.Helper()
	m := record.NoProducer()
	m.BaseOffset, m.LastOffset, m.LeaderEpoch = base, base+int64(len(values))-1, 0
	m.HasDeleteHorizon, m.DeleteHorizon = horizon != 0, horizon
	b := record.NewBuilder()
	b.Reset(m)
	for i, v := range values {
		if v != '.' {
			b.Append(&record.Record{Offset: base + int64(i), Timestamp: 1700000000000, Key: []byte("k"), Value: []byte(string(v))})
		}
	}
	raw, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestStrangers holds batches of segment 0 that belong to the segment at 10, or to the one at 20,
// against what stands there.
func TestStrangers(t *testing.T) {
	first := cleaned(t, 10, "abc", 0)
	for _, c := range []struct {
		name       string
		front      [][]byte
		ten, later [][]byte
		copies     bool
		alone      string
	}{
		{"one copy", [][]byte{first}, [][]byte{first}, nil, true, ""},
		{"none stands there", [][]byte{first}, [][]byte{cleaned(t, 13, "d", 0)}, nil, false, ""},
		{"one of another segment", [][]byte{first, cleaned(t, 20, "x", 0)}, [][]byte{first}, [][]byte{cleaned(t, 20, "x", 0)}, true, ""},
		{"records taken out", [][]byte{first, cleaned(t, 13, "d.f", 0)}, [][]byte{first, cleaned(t, 13, "def", 0)}, nil, true, ""},
		{"given a horizon", [][]byte{first, cleaned(t, 13, "def", 9)}, [][]byte{first, cleaned(t, 13, "def", 0)}, nil, true, ""},
		{"another record", [][]byte{first, cleaned(t, 13, "dEf", 0)}, [][]byte{first, cleaned(t, 13, "def", 0)}, nil, false, ""},
		{"another last offset", [][]byte{first, cleaned(t, 13, "de", 0)}, [][]byte{first, cleaned(t, 13, "def", 0)}, nil, false, ""},
		{
			"in a gap and behind the end",
			[][]byte{first, cleaned(t, 13, "d", 0), cleaned(t, 14, "ef", 0), cleaned(t, 30, "z", 0)},
			[][]byte{first, cleaned(t, 14, "ef", 0)},
			[][]byte{cleaned(t, 20, "x", 0)},
			true, "13..13 30..30",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := memfs.New()
			for base, log := range map[int64][][]byte{0: c.front, 10: c.ten, 20: c.later} {
				if err := vfs.WriteAtomic(fs, segment.FileName(base, segment.LogSuffix), join(log...)); err != nil {
					t.Fatal(err)
				}
			}
			for _, atOnce := range []bool{false, true} {
				copies, alone := strangers(t, fs, join(c.front...), atOnce)
				if copies != c.copies || copies && alone != c.alone {
					t.Errorf("at once %v: copies %v, alone %q, want %v, %q", atOnce, copies, alone, c.copies, c.alone)
				}
			}
		})
	}
}

// strangers judges those of the segment at 0, whose bytes are raw, all together or one by one.
func strangers(t *testing.T, fs vfs.ReadFS, raw []byte, atOnce bool) (copies bool, alone string) {
	t.Helper()
	const limit = 10
	path := filepath.Join(".", segment.FileName(0, segment.LogSuffix))
	var found segment.Strangers
	s := segment.NewScanner(bytes.NewReader(raw), int64(len(raw)), segment.Options{Limit: limit})
	for s.Next() {
		if !found.Add(s.Damage(), s.Batch(), limit) {
			t.Fatalf("%v is none", s.Damage())
		}
		if atOnce {
			continue
		}
		if err := found.LookFor(fs, path, limit); err != nil {
			t.Fatal(err)
		}
	}
	copies, err := found.AreCopies(fs, path, limit)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, x := range found.Alone() {
		list = append(list, fmt.Sprintf("%d..%d", x.Base, x.Last))
	}
	return copies, strings.Join(list, " ")
}
