package client

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func logEnds(ends ...int64) func() ([]int64, error) {
	return func() ([]int64, error) { return ends, nil }
}

// place runs n records without a key through p, telling it of a closed batch after
// every closeAfter of them.
func place(t *testing.T, p *Placer, n, closeAfter int) []int {
	t.Helper()
	var at []int
	for i := range n {
		partition, err := p.Place(nil)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, partition)
		if (i+1)%closeAfter == 0 {
			p.BatchClosed(partition)
		}
	}
	return at
}

func TestUnkeyedPlacement(t *testing.T) {
	for _, c := range []struct {
		name    string
		unkeyed Unkeyed
		ends    []int64
		want    []int // of six records, a batch closing after every second
	}{
		{"sticky starts at the lowest end", Sticky, []int64{7, 3, 9}, []int{1, 1, 2, 2, 0, 0}},
		{"the lowest number wins a tie", Sticky, []int64{4, 2, 2}, []int{1, 1, 2, 2, 0, 0}},
		{"round robin moves with every record", RoundRobin, []int64{1, 1, 0}, []int{2, 0, 1, 2, 0, 1}},
		{"no leader, no record", Sticky, []int64{Unavailable, 5, 5}, []int{1, 1, 2, 2, 1, 1}},
		{"round robin skips it too", RoundRobin, []int64{0, Unavailable, 5}, []int{0, 2, 0, 2, 0, 2}},
		{"one partition", RoundRobin, []int64{8}, []int{0, 0, 0, 0, 0, 0}},
		{"no leader anywhere: the session will say so", Sticky, []int64{Unavailable, Unavailable}, []int{0, 0, 0, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewPlacer(Placement{Partitions: len(c.ends), Unkeyed: c.unkeyed, LogEnds: logEnds(c.ends...)})
			if diff := cmp.Diff(c.want, place(t, p, 6, 2)); diff != "" {
				t.Errorf("partitions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStickyIgnoresOtherPartitionsBatches(t *testing.T) {
	p := NewPlacer(Placement{Partitions: 3, LogEnds: logEnds(0, 0, 0)})
	p.BatchClosed(0) // before any record without a key: nothing to move
	first, _ := p.Place(nil)
	p.BatchClosed(2)
	second, _ := p.Place(nil)
	if first != 0 || second != 0 {
		t.Errorf("placed on %d and %d, want 0 and 0", first, second)
	}
}

func TestKeysNeedNoLogEnds(t *testing.T) {
	broken := errors.New("asked for log ends")
	p := NewPlacer(Placement{Partitions: 3, Hash: MD5, LogEnds: func() ([]int64, error) { return nil, broken }})
	if got, err := p.Place([]byte("alice")); got != 1 || err != nil {
		t.Errorf("keyed: %d, %v, want 1", got, err)
	}
	if _, err := p.Place(nil); !errors.Is(err, broken) {
		t.Errorf("unkeyed: %v, want %v", err, broken)
	}
}

func TestParseUnkeyed(t *testing.T) {
	for _, u := range []Unkeyed{Sticky, RoundRobin} {
		if got, err := ParseUnkeyed(u.String()); err != nil || got != u {
			t.Errorf("%v: got %v, %v", u, got, err)
		}
	}
	if _, err := ParseUnkeyed("random"); err == nil {
		t.Error("random is no placement")
	}
}
