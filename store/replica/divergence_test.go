package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"logdir/store/checkpoint"
)

// TestDivergence: where a follower cuts. Histories read epoch@start.
func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name        string
		leader      string
		leaderEnd   int64
		own         string
		ownEnd      int64
		mark, wants int64
	}{
		{"caught up", "0@0", 5, "0@0", 5, 4, 5},
		{"behind in the same epoch", "0@0", 9, "0@0", 5, 4, 5},
		{"behind by an epoch", "0@0 1@7", 9, "0@0", 5, 4, 5},
		{"ahead of a leader that lost its tail", "0@0", 3, "0@0", 5, 4, 3},
		{"KIP-101: the old leader's tail", "0@0 1@1", 2, "0@0", 2, 1, 1},
		{"KIP-101: nothing lost at a bounce", "0@0", 2, "0@0", 2, 1, 2},
		{"an epoch the leader never had", "0@0 2@2", 4, "0@0 1@1", 4, 1, 1},
		// Two epochs on each side that the other does not know. One answer would leave
		// offsets 1 and 2 in place: epoch 2 ends at 3, and so does the follower's epoch 1.
		{"KIP-279: asks again", "0@0 2@2 4@3", 4, "0@0 1@1 3@3", 4, 1, 1},
		{"KIP-279: three times", "0@0 2@4 4@6 6@8", 9, "0@0 1@3 3@5 5@7", 9, 1, 3},
		{"a leader elected at its end", "0@0 3@2", 2, "0@0 1@2", 5, 0, 2},
		{"an epoch noted without records is none", "0@0 2@5", 8, "0@0 1@5", 5, 3, 5},
		{"a leader that starts above", "5@100", 120, "1@0", 50, 40, 50},
		{"above all epochs of the leader: the mark", "0@0", 9, "0@0 7@4", 6, 3, 3},
		{"a leader without history: the mark", "", 9, "0@0", 6, 3, 3},
		{"a follower without history: the mark", "0@0", 9, "", 6, 3, 3},
		{"an empty follower", "0@0", 9, "", 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := history(t, c.own)
			got := divergence(state{0, c.leaderEnd, history(t, c.leader)}, state{0, c.ownEnd, own}, c.mark)
			if got != c.wants {
				t.Errorf("cut at %d, want %d", got, c.wants)
			}
			if !slices.Equal(own, history(t, c.own)) {
				t.Error("the follower's history was changed")
			}
		})
	}
}

// history reads epoch@start, separated by blanks.
func history(t *testing.T, text string) checkpoint.Epochs {
	t.Helper()
	var h checkpoint.Epochs
	for word := range strings.FieldsSeq(text) {
		var e checkpoint.EpochEntry
		if _, err := fmt.Sscanf(word, "%d@%d", &e.Epoch, &e.StartOffset); err != nil {
			t.Fatal(err)
		}
		h = append(h, e)
	}
	return h
}
