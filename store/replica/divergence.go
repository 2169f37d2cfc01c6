package replica

import (
	"slices"

	"logdir/store/checkpoint"
)

// state is what counts of a replica's log in a round.
type state struct {
	start, end int64
	epochs     checkpoint.Epochs
}

// divergence is the offset at which a follower's log leaves its leader's: everything
// below is the same, everything from there on is to be cut. mark is the follower's high
// watermark, which counts where epochs tell nothing.
//
// The follower asks where the epoch of its last record ends (KIP-101). If the leader
// answers with an epoch that the follower never saw, whole epochs are to go, and it asks
// again with what is left (KIP-279): two unclean elections in a row, and one answer would
// keep records that the leader does not have.
func divergence(leader, own state, mark int64) int64 {
	end := own.end
	for {
		epochs := slices.Clone(own.epochs)
		epochs.TruncateFromEnd(end)
		last, known := epochs.Latest()
		if !known {
			return min(mark, end)
		}
		answer := leader.epochs.EndOffsetFor(last.Epoch, leader.end)
		if answer.Epoch == checkpoint.Undefined {
			return min(mark, end)
		}
		mine := epochs.EndOffsetFor(answer.Epoch, end)
		end = min(mine.EndOffset, end)
		if mine.Epoch == answer.Epoch {
			return min(end, answer.EndOffset)
		}
	}
}
